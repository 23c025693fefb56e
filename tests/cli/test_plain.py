import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.cli.plain import clip, cut_middle, folded, one_line, safe, table
from ragstone.cli.width import width

DANGEROUS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 文本", "plain 文本"),
        ("[red]not markup[/red] :smile:", "[red]not markup[/red] :smile:"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mx", "31mx"),
        ("a\x00b\x08c", "abc"),
        ("back\rover", "back\nover"),
        ("one\r\ntwo\u2028three", "one\ntwo\nthree"),
        ("tab\there", "tab    here"),
        ("abc\u202edef\u202c", "abcdef"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("x\ud800y", "x\ufffdy"),
        (None, "None"),
    ],
)
def test_text_stays_text(text, shown):
    assert safe(text) == shown


@given(st.text())
def test_nothing_that_moves_a_terminal_is_left(text):
    assert not DANGEROUS.search(safe(text))
    assert "\n" not in one_line(text)


@given(st.text(), st.integers(4, 40))
def test_lines_keep_their_width(text, columns):
    assert width(clip(text, columns)) <= columns
    assert width(cut_middle(text, columns)) <= columns
    assert all(width(line) <= max(columns, 8) for line in folded(text, columns))


@given(st.text(alphabet="ab 退货，。\n"), st.integers(10, 40))
def test_folding_loses_no_letter(text, columns):
    assert "".join("".join(folded(text, columns)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("short", ["- short"]),
        ("x" * 20, ["- " + "x" * 10, "  " + "x" * 10]),
        ("退" * 9, ["- " + "退" * 5, "  " + "退" * 4]),
        ("a\nb", ["- a", "  b"]),
        ("", ["-"]),
    ],
)
def test_folded(text, lines):
    assert folded(text, 12, "- ") == lines


def test_a_long_name_keeps_both_ends():
    assert cut_middle("answer_correctness(beta=2)", 11) == "answe…ta=2)"


def test_a_table_aligns_wide_characters():
    assert table([["指标", "n"], ["忠实度", "10"], ["recall", "9"]], "lr") == [
        "指标     n",
        "──────────",
        "忠实度  10",
        "recall   9",
    ]


def test_a_name_too_long_for_a_table_stands_on_a_line_of_its_own():
    lines = table([["name", "value"], ["a" * 20, "1"], ["b", "2"]], "lr", 20)
    assert lines == ["name           value", "─" * 20, "a" * 20, " " * 19 + "1", "b                  2"]


@pytest.mark.parametrize("wide", ["x" * 5000, "漢" * 60, "answer_correctness(beta=2,weights=[0.5,0.5])" * 2])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_head_too_long_for_a_table_loses_its_middle(wide, at):
    head = ["name", "samples", "mean"]
    head[at] = wide
    lines = table([head, ["a" * 20, "7", "0.607"]], "lrr")
    assert max(map(width, lines)) <= 80
    assert "…" in lines[0]


@pytest.mark.no_cover  # counted, a million characters take five times as long
def test_a_word_of_a_megabyte_is_folded_at_once():
    # a chunk can be one: text without blanks, base64; work that grows with the square would take minutes here
    lines = folded("x" * 1_000_000, 80)
    assert "".join(lines) == "x" * 1_000_000
    assert {len(line) for line in lines} == {80}
    assert {width(line) for line in folded("长" * 1000 + "ｗ" * 1000, 21)[:-1]} <= {20, 21}
