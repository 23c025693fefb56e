import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.numerals import chinese, numbers


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("十五天", ["15"]),
        ("三十个工作日", ["30"]),
        ("１５天", ["15"]),
        ("百分之五", ["5%"]),
        ("百分之三点五", ["3.5%"]),
        ("千分之三", ["3‰"]),
        ("5 %", ["5%"]),
        ("5 percent", ["5%"]),
        ("five per cent", ["5%"]),
        ("1,200.50元", ["1200.5"]),
        ("12.0", ["12"]),
        ("100", ["100"]),
        ("3万5千元", ["35000"]),
        ("1.5亿", ["150000000"]),
        ("2 million", ["2000000"]),
        ("two hundred and five days", ["205"]),
        ("twenty-five days", ["25"]),
        ("一万零五百", ["10500"]),
        ("两百五十", ["250"]),
        ("壹佰贰拾元", ["120"]),
        ("两年", ["2"]),
        ("三倍", ["3"]),
        ("第三条", ["3"]),
        ("第3.2节", ["3.2"]),
        ("版本3.2.1", ["3.2.1"]),
        ("保修一年", ["1"]),
        ("one year", ["1"]),
        ("三点五公里", ["3.5"]),
        ("十分钟", ["10"]),
        ("2024年5月1日", ["2024-05-01"]),
        ("2024-05-01", ["2024-05-01"]),
        ("2024/5/1", ["2024-05-01"]),
        ("二〇二四年五月一日", ["2024-05-01"]),
        ("May 1, 2024", ["2024-05-01"]),
        ("1 May 2024", ["2024-05-01"]),
        ("the 31st of March", ["03-31"]),
        ("3 月 31 日前", ["03-31"]),
        ("2024年5月", ["2024-05"]),
        ("5月", ["5"]),
        ("9:30", ["9:30"]),
        ("9点半", ["9:30"]),
        ("9点30分", ["9:30"]),
        ("010-12345678", ["01012345678"]),
        ("+86 138-0000-1111", ["8613800001111"]),
        ("400-800-8820", ["4008008820"]),
        ("10-15天", ["10", "15"]),
        ("2023-2024", ["2023", "2024"]),
        ("气温 -5 度", ["-5"]),
        ("铁锹 90 把、救生衣 110 件", ["90", "110"]),
        ("2月30日", ["2", "30"]),
    ],
)
def test_numbers_have_one_spelling(text, found):
    assert numbers(text) == found


ENDINGS = [
    ".",
    ",",
    ";",
    ":",
    "!",
    "?",
    ")",
    "]",
    '"',
    "'",
    "”",
    "’",
    "。",
    "，",
    "；",
    "：",
    "！",
    "？",
    "）",
    "】",
    "」",
    "…",
    "...",
    '."',
    ".)",
    ".\n",
]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The support number is 400-800-1234", ["4008001234"]),
        ("Call 020 7946 0958", ["02079460958"]),
        ("Call (020) 7946-0958", ["02079460958"]),
        ("Call +44 20 7946 0958", ["442079460958"]),
        ("Call +442079460958", ["+442079460958"]),
        ("Support hotline: 400-800-1234", ["4008001234"]),
        ("客服电话是400-800-1234", ["4008001234"]),
        ("值班室 010-6655-1234", ["01066551234"]),
        ("手机 138-0000-1111", ["13800001111"]),
        ("as in 2023-2024", ["2023", "2024"]),
        ("500-800", ["500", "800"]),
        ("room 120-450", ["120", "450"]),
        ("on 2024-05-01", ["2024-05-01"]),
        ("on 2024.5.1", ["2024-05-01"]),
        ("at 9:30", ["9:30"]),
        ("早上9:30", ["9:30"]),
        ("version 3.2.1", ["3.2.1"]),
        ("1,200.50", ["1200.5"]),
        ("3万5千", ["35000"]),
        ("2万5", numbers("2万5")),
        ("5%", ["5%"]),
        ("on 1 May 2024", ["2024-05-01"]),
        ("-5", ["-5"]),
        ("twenty-five", ["25"]),
    ],
)
def test_what_ends_a_sentence_changes_no_number(text, found, ending):
    found = [number.lstrip("+") for number in found]
    assert [number.lstrip("+") for number in numbers(text + ending)] == found
    assert [number.lstrip("+") for number in numbers(f"{text}{ending} Next")] == found


@pytest.mark.parametrize(
    "text",
    ["万一停电", "十分重要", "千万不要", "一般情况", "提供一个证明", "one should know", "第一，检查电源", "统一办理", "no number here"],
)
def test_words_that_only_look_like_numbers(text):
    assert numbers(text) == []


@given(st.integers(1, 99_999_999))
def test_chinese_numerals_are_read_back(value):
    assert chinese(spelt(value)) == value


def spelt(value: int) -> str:
    """The full Chinese numeral, written another way than the reader reads it."""
    digits = "零一二三四五六七八九"
    if value >= 10_000:
        high, low = divmod(value, 10_000)
        return spelt(high) + "万" + ("" if not low else ("零" if low < 1000 else "") + spelt(low))
    text, zero = "", False
    for power, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = value // power % 10
        if digit:
            text += ("零" if zero and text else "") + digits[digit] + name
        zero = not digit
    return text


@given(st.text(st.one_of(st.sampled_from("0123456789零一二十百千万亿点分之年月日-.,:+() %twohundred"), st.characters()), max_size=40))
def test_no_text_breaks_the_reader(text):
    assert all(isinstance(number, str) and number for number in numbers(text))


@given(st.decimals(0, 10**9, places=3))
def test_decimals_keep_their_value(value):
    (found,) = numbers(f"共 {value:,} 元")
    assert float(found) == float(value)


def test_endless_digits_are_read():
    assert numbers("9" * 10_000) == ["9" * 10_000]
    assert numbers("一" * 10_000) == []


@pytest.mark.parametrize(("text", "found"), [("2024 年{}3 月", ["2024-03"]), ("第 5 批{}3 月", ["5", "3"]), ("on{}May 3", ["05-03"])])
def test_thousands_of_blanks_are_passed_by_once(text, found):
    assert numbers(text.format(" ")) == numbers(text.format(" " * 40_000))
    assert numbers(text.format(" ")) == found
