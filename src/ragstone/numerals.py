"""The numbers a text states, in one spelling: 十五, １５ and fifteen are all "15". Pure."""

import functools
import re
import unicodedata
from collections.abc import Callable, Iterator
from decimal import Decimal

from ragstone.resources import read_toml

_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_TENS = {"十": 10, "百": 100, "千": 1000}
_MYRIADS = {"万": 10**4, "亿": 10**8}
_FORMAL = str.maketrans("壹贰貳叁參肆伍陆陸柒捌玖拾佰仟萬億兩○", "一二二三三四五六六七八九十百千万亿两〇")
_CHINESE = "零〇一二两三四五六七八九十百千万亿"
_LONGEST = 30
_LEAP_MONTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def numbers(text: str) -> list[str]:
    """Return the numbers stated in `text`, in order, each normalised so that equal numbers are equal strings.

    Integers and decimals lose thousands separators and closing zeros ("1,200.50" -> "1200.5"); Chinese numerals and
    English number words are read (十五 -> "15", 3万 -> "30000", two million -> "2000000"); percentages end in "%"
    (百分之五 -> "5%"); dates are "2024-05-01", "2024-05" or "05-01"; times "9:30"; digit groups that look like a phone
    number are one run of digits ("010-1234 5678" -> "01012345678"); versions and section numbers stay ("3.2.1").
    """
    plain = unicodedata.normalize("NFKC", text).translate(_FORMAL).casefold()
    found: list[str] = []
    for match in _pattern().finditer(plain):
        name = match.lastgroup or ""
        found += _READERS[name](match)
    return found


@functools.cache
def _pattern() -> re.Pattern[str]:
    en, zh = read_toml("languages", "en.toml"), read_toml("languages", "zh.toml")
    months = "|".join([*en["months"], *(rf"{m}(?:t)?\b\.?" for m in en["month_abbreviations"])])
    words = "|".join(sorted(en["number_words"], key=len, reverse=True))
    magnitudes = "|".join(en["magnitudes"])
    spoken = rf"(?:{words})(?:[- ](?:(?:(?<=hundred )|(?<=thousand ))and )?(?:{words}|{magnitudes}))*"
    number = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?"
    measures = "|".join(sorted({*zh["units"], *zh["counters"]}, key=len, reverse=True))
    digit, day = "[零〇一二三四五六七八九]", r"[12]\d|3[01]|0?[1-9]"
    year = r"(?:,?\s+(?P<{}y>(?:19|20)\d\d)\b)?"
    hanzi_day = "[二三]?十[一二三四五六七八九]?|[一二三四五六七八九]"
    hanzi_month = "十[一二]?|[一二三四五六七八九]"
    parts = {
        "zhdate": rf"(?<!\d)(?:(?P<zy>\d{{4}}|{digit}{{4}})\s*年\s*)?(?P<zm>1[0-2]|0?[1-9]|{hanzi_month})\s*月"
        rf"(?:\s*(?P<zd>{day}|{hanzi_day})\s*[日号])?",
        "isodate": rf"(?<![\d.-])(?P<iy>(?:19|20)\d\d)(?P<sep>[-/.])(?P<im>0?[1-9]|1[0-2])(?P=sep)(?P<id>{day})(?![\d])",
        "mdy": rf"\b(?P<mm>{months})\s+(?P<md>{day})(?:st|nd|rd|th)?\b{year.format('m')}",
        "dmy": rf"(?<![\d.])(?P<dd>{day})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<dm>{months})\b{year.format('d')}",
        "clock": r"(?<![\d:.])(?P<ch>[01]?\d|2[0-4]):(?P<cm>[0-5]\d)(?::[0-5]\d)?(?!:?\d)",
        "time": r"(?<![\d:.])(?P<th>[01]?\d|2[0-4])\s*点\s*(?:(?P<tm>[0-5]?\d)\s*分|(?P<half>半))",
        "phone": r"(?<![\d.\w])(?:\+\d{1,3}[ -]?)?(?:\(\d{2,5}\)|\d{2,5})(?:[ -]{1,2}\d{3,8}){1,3}(?![.,]?\d)|(?<![\d.])\+\d{7,15}",
        "version": r"(?<![\d.])\d+(?:\.\d+){2,}(?!\d)",
        "rate": rf"(?P<base>百|千|万)分之(?:(?P<arabic>{number})|(?P<hanzi>[{_CHINESE}]+(?:点{digit}+)?))",
        "percent": rf"(?P<psign>(?<![\w)])-)?(?P<pnumber>{number})\s*(?:(?P<mark>[%‰])|percent\b|per cent\b)",
        "mixed": rf"(?:{number}\s*[百千万亿]{{1,4}})+(?:\d+(?!\.?\d))?",
        "plain": rf"(?P<sign>(?<![\w)])-)?(?P<value>{number})(?:\s*(?P<big>{magnitudes})\b)?",
        "spoken": rf"\b(?P<said>{spoken})\b(?P<rate_word>\s+(?:percent|per cent)\b)?",
        "chinese": rf"(?P<run>[{_CHINESE}]+)(?:点(?P<decimals>{digit}+)(?![分钟半]))?(?={measures})|(?P<free>[{_CHINESE}]{{2,}})",
    }
    return re.compile("|".join(f"(?P<{name}>{part})" for name, part in parts.items()), re.ASCII)


def _plain_number(text: str) -> str:
    if re.fullmatch(r"0\d+", text):
        return text
    whole, _, fraction = text.replace(",", "").partition(".")
    fraction = fraction.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{fraction}" if fraction else "")


def _scaled(value: Decimal | int) -> str:
    return _plain_number(format(Decimal(value), "f"))


def _date(year: str | None, month: int, day: int | None) -> Iterator[str]:
    if day is not None and day > _LEAP_MONTHS[month - 1]:
        yield from (str(month), str(day))
    else:
        yield "-".join([*([year] if year else []), f"{month:02}", *([f"{day:02}"] if day else [])])


def _read_zhdate(match: re.Match[str]) -> Iterator[str]:
    year, month, day = match["zy"], _small(match["zm"]), match["zd"]
    if year and not year.isdigit():
        year = "".join(str(_DIGITS[c]) for c in year)
    if not year and not day:
        yield str(month)
        return
    yield from _date(year, month, _small(day) if day else None)


def _small(text: str) -> int:
    return int(text) if text.isdigit() else chinese(text) or 0


def _read_isodate(match: re.Match[str]) -> Iterator[str]:
    yield from _date(match["iy"], int(match["im"]), int(match["id"]))


def _month(name: str) -> int:
    names: list[str] = read_toml("languages", "en.toml")["month_abbreviations"]
    return names.index(name[:3]) + 1


def _read_mdy(match: re.Match[str]) -> Iterator[str]:
    yield from _date(match["my"], _month(match["mm"]), int(match["md"]))


def _read_dmy(match: re.Match[str]) -> Iterator[str]:
    yield from _date(match["dy"], _month(match["dm"]), int(match["dd"]))


def _read_time(match: re.Match[str]) -> Iterator[str]:
    yield f"{int(match['th'])}:{int(match['tm'] or 30):02}"


def _read_clock(match: re.Match[str]) -> Iterator[str]:
    yield f"{int(match['ch'])}:{match['cm']}"


def _read_phone(match: re.Match[str]) -> Iterator[str]:
    groups = re.findall(r"\d+", match[0])
    marked = match[0].startswith(("+", "(", "0")) or (len(groups) > 2 and "-" in match[0])
    dashed = len(groups) == 2 and "-" in match[0] and not int(groups[0]) < int(groups[1])
    if len("".join(groups)) >= 7 and (marked or dashed or (len(groups[0]) == 3 and len(groups[1]) >= 7 and "-" in match[0])):
        yield "".join(groups)
    else:
        yield from map(_plain_number, groups)


def _read_version(match: re.Match[str]) -> Iterator[str]:
    yield match[0]


def _read_rate(match: re.Match[str]) -> Iterator[str]:
    value = _plain_number(match["arabic"]) if match["arabic"] else _with_decimals(*match["hanzi"].partition("点")[::2])
    if value is not None:
        yield value + {"百": "%", "千": "‰", "万": "‱"}[match["base"]]


def _read_percent(match: re.Match[str]) -> Iterator[str]:
    yield (match["psign"] or "") + _plain_number(match["pnumber"]) + (match["mark"] or "%")


def _read_mixed(match: re.Match[str]) -> Iterator[str]:
    total = Decimal(0)
    for value, signs in re.findall(r"([\d,.]+)\s*([百千万亿]*)", match[0]):
        scale = 1
        for sign in signs:
            scale *= _TENS.get(sign) or _MYRIADS[sign]
        total += Decimal(value.replace(",", "")) * scale
    yield _scaled(total)


def _read_plain(match: re.Match[str]) -> Iterator[str]:
    value = _plain_number(match["value"])
    if match["big"]:
        value = _scaled(Decimal(value) * read_toml("languages", "en.toml")["magnitudes"][match["big"]])
    yield (match["sign"] or "") + value


def _read_spoken(match: re.Match[str]) -> Iterator[str]:
    words = read_toml("languages", "en.toml")
    said = match["said"]
    if said == "one" and not match["rate_word"]:
        rest = match.string[match.end() :].lstrip(" -")
        if not rest.startswith(tuple(words["units"])):
            return
    total = current = 0
    for word in re.findall(r"[a-z]+", said):
        if word in words["number_words"]:
            current += words["number_words"][word]
        elif word == "hundred":
            current = max(current, 1) * 100
        elif word != "and":
            total, current = total + max(current, 1) * words["magnitudes"][word], 0
    yield str(total + current) + ("%" if match["rate_word"] else "")


def _read_chinese(match: re.Match[str]) -> Iterator[str]:
    words = read_toml("languages", "zh.toml")
    run, decimals = match["run"] or match["free"], match["decimals"]
    measured = match["run"] is not None
    if not measured and run in words["not_numbers"]:
        return
    if run == "一" and not match.string.startswith(tuple(words["units"]), match.end()):
        return
    value = _with_decimals(run, decimals or "")
    if value is not None:
        yield value


def _with_decimals(whole: str, decimals: str) -> str | None:
    value = chinese(whole)
    if value is None:
        return None
    return _plain_number(f"{value}." + "".join(str(_DIGITS[c]) for c in decimals)) if decimals else str(value)


def chinese(text: str) -> int | None:
    """Return the value of a Chinese numeral (三十 -> 30, 二〇二四 -> 2024, 一万零五百 -> 10500), or None if it is none."""
    if len(text) > _LONGEST:
        return None
    if all(c in _DIGITS for c in text):
        return int("".join(str(_DIGITS[c]) for c in text)) if len(text) == 1 or len(text) > 2 or set(text) & set("零〇") else None
    total = section = 0
    digit: int | None = None
    last = 10**9
    for char in text:
        if char in _DIGITS:
            if digit:
                return None
            digit = _DIGITS[char]
        elif char in _TENS:
            if last <= _TENS[char] or (digit is None and char != "十" and section):
                return None
            section += (1 if digit is None or digit == 0 else digit) * _TENS[char]
            digit, last = None, _TENS[char]
        else:
            below = section + (digit or 0)
            total = (total + below) * _MYRIADS[char] if total < _MYRIADS[char] and total else total + max(below, 1) * _MYRIADS[char]
            section, digit, last = 0, None, 10**9
    return total + section + _tail(text, digit)


def _tail(text: str, digit: int | None) -> int:
    if not digit:
        return 0
    # 三万五 is 35000 and 两百五 is 250: a last digit right after a power counts one power less.
    power = {**_TENS, **_MYRIADS}.get(text[-2], 1)
    return digit * max(power // 10, 1) if power > 10 else digit


_READERS: dict[str, Callable[[re.Match[str]], Iterator[str]]] = {
    "zhdate": _read_zhdate,
    "isodate": _read_isodate,
    "mdy": _read_mdy,
    "dmy": _read_dmy,
    "clock": _read_clock,
    "time": _read_time,
    "phone": _read_phone,
    "version": _read_version,
    "rate": _read_rate,
    "percent": _read_percent,
    "mixed": _read_mixed,
    "plain": _read_plain,
    "spoken": _read_spoken,
    "chinese": _read_chinese,
}
