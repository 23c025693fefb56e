import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.cli.width import pad, width, wrap


@pytest.mark.parametrize(
    ("text", "columns"), [("abc", 3), ("忠实度", 6), ("a，b", 4), ("é", 1), ("e\u0301", 1), ("\u200b", 0), ("…", 1), ("", 0)]
)
def test_columns(text, columns):
    assert width(text) == columns


def test_padding_counts_columns():
    assert pad("忠实度", 8) == "忠实度  "
    assert pad("忠实度", 4) == "忠实度"


@pytest.mark.parametrize(
    ("text", "columns", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("上下文精确度", 6, ["上下文", "精确度"]),
        ("上下文，精确度", 6, ["上下", "文，精", "确度"]),
        ("用 faithfulness 评测", 15, ["用 faithfulness", "评测"]),
        ("看（见）", 4, ["看", "（见）"]),
        ("unbreakable", 4, ["unbreakable"]),
        ("", 4, [""]),
    ],
)
def test_lines_break_between_words_and_wide_characters(text, columns, lines):
    assert wrap(text, columns) == lines


@given(st.text(alphabet="ab 忠实，。（）", max_size=60), st.integers(8, 30))
def test_wrapping_loses_nothing_but_blanks(text, columns):
    assert "".join("".join(wrap(text, columns)).split()) == "".join(text.split())
