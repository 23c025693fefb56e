"""Numbers with what they count: "5 days" and "5 %" are not compared, 24 hours and 1 day neither."""

import functools
import re
import unicodedata

from ragstone.numerals import numbers
from ragstone.resources import read_toml

_CHINESE = "〇零一二两三四五六七八九十百千万亿"
_SAME_UNIT = {
    "块钱": "元",
    "日": "天",
    "个月": "月",
    "个小时": "小时",
    "个工作日": "工作日",
    "个自然日": "自然日",
    "个季度": "季度",
    "周": "星期",
}

_DATE = re.compile(r"(?:\d{4}\s*年\s*)?\d{1,2}\s*月\s*\d{1,2}\s*[日号]|\d{4}\s*年\s*\d{1,2}\s*月")
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")
_MONEY = re.compile(r"[$¥€£]\s?(\d[\d,.]*(?:\s(?:thousand|million|billion))?)")


def measures(text: str) -> frozenset[tuple[str, str]]:
    """Return the numbers of `text`, each with its unit: ("5", "day"), ("2024-05", "month"), ("9:30", "time").

    A date counts as its month and its year besides, so that "May 2024" and "3 May 2024" share something. A number without a
    unit is left out, unless it is the whole text.
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    stated = numbers(plain)
    found = {pair for value in stated for pair in _dated(value)}
    for match in _pattern().finditer(_DATE.sub(" ", plain)):
        value = numbers(match[0])
        if len(value) == 1 and not _dated(value[0]):
            found.add((value[0], _unit(match["unit"])))
    found |= {(value, "$") for match in _MONEY.finditer(plain) for value in numbers(match[1])}
    found |= {(match[1], "th") for match in _ORDINAL.finditer(plain)}
    return frozenset(found | ({(stated[0], "")} if len(stated) == 1 and re.fullmatch(r"[\s\d.,]+", plain) else set()))


def apart(one: frozenset[tuple[str, str]], other: frozenset[tuple[str, str]]) -> tuple[str, str] | None:
    """Return what each counts in the same unit, if they share nothing of it; None if they do not speak against each other."""
    for unit in sorted({unit for _, unit in one} & {unit for _, unit in other}):
        a, b = ({value for value, held in side if held == unit} for side in (one, other))
        if not a & b:
            return _listed(a), _listed(b)
    return None


def _listed(values: set[str]) -> str:
    return " / ".join(sorted(values, key=lambda value: (len(value), value)))


def _dated(value: str) -> set[tuple[str, str]]:
    if match := re.fullmatch(r"((\d{4})-\d\d)(-\d\d)?", value):
        return {(match[2], "year of"), (match[1], "month"), *([(value, "date")] if match[3] else [])}
    if re.fullmatch(r"\d\d-\d\d", value):
        return {(value, "day of")}
    if re.fullmatch(r"(?:19|20)\d\d", value):
        return {(value, "year of")}
    return {(value, "time")} if ":" in value else {(value, "%")} if value.endswith("%") else set()


def _unit(unit: str) -> str:
    return _SAME_UNIT.get(unit, unit.removesuffix("s") if unit.isascii() else unit)


@functools.cache
def _pattern() -> re.Pattern[str]:
    zh, en = (read_toml("languages", f"{name}.toml") for name in ("zh", "en"))
    chinese = "|".join(sorted({*zh["units"], *zh["counters"]}, key=len, reverse=True))
    english = "|".join(
        sorted({*en["units"], "person", "people", "employee", "usd", "eur", "gb", "mb", "kg", "km", "cm", "mm"}, key=len, reverse=True)
    )
    words = "|".join(sorted(en["number_words"], key=len, reverse=True))
    number = rf"(?:\d[\d,]*(?:\.\d+)?\s*[百千万亿]?|[{_CHINESE}]+|\b(?:{words}))"
    return re.compile(rf"{number}\s*(?P<unit>{chinese}|(?:(?:{english})s?\b))")
