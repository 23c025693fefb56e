"""Blocks: one page, drawn as Markdown, HTML and text, whatever the texts in it hold."""

import re

import pytest

from ragstone.cli.blocks import COLUMNS, screen
from ragstone.cli.width import width
from ragstone.shown.blocks import Code, Heading, Items, Table, Text, escaped, to_html, to_markdown

PAGE = [
    Heading("结果 Results"),
    Table(("指标", "mean"), (("忠实度", "0.850"), ("a|b", "<b>")), "lr"),
    Text("low coverage", warning=True),
    Items(("one", "二")),
    Code("ragstone compare a b"),
]


def test_markdown_of_a_page():
    assert to_markdown(PAGE) == (
        "### 结果 Results\n\n| 指标 | mean |\n| --- | ---: |\n| 忠实度 | 0.850 |\n| a\\|b | \\<b\\> |\n\n"
        "> **!** low coverage\n\n- one\n- 二\n\n`ragstone compare a b`\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "# title",
        "- item",
        "1. item",
        "![x](http://e.example/p.png)",
        "<script>x</script>",
        "a\n\n# b",
        "`x`",
        "| a | b |",
        "@team look",
        "http://e.example",
        "www.e.example",
        "~~~",
        "***",
    ],
)
def test_no_text_becomes_markup(text):
    import markdown

    html = markdown.markdown(escaped(text), extensions=["tables"])
    assert re.fullmatch(r"<p>[^<]*</p>", html), html
    assert "@team" not in escaped(text)


@pytest.mark.parametrize("block", [Text("<i>x</i>"), Heading("<i>"), Code("<i>"), Items(("<i>",)), Table(("<i>",), (("<i>",),), "l")])
def test_html_escapes_every_value(block):
    assert "<i>" not in to_html([block], "en")


@pytest.mark.parametrize("mark", ["\x1b", "\x00", "\x08", "\x7f", "\x9b", "\u202e", "\u2067", "\u200f", "\ufeff", "\ud800"])
def test_nothing_that_steers_a_terminal_or_turns_a_line_round_is_drawn(mark):
    text = f"a{mark}b"
    page = [Text(text), Heading(text), Code(text), Items((text,)), Table((text,), ((text,),), "l")]
    assert mark not in to_markdown(page)
    assert mark not in to_html(page, "en")
    assert to_html(page, "zh").encode()


@pytest.mark.parametrize("language", ["zh", "en"])
def test_html_of_a_page_names_its_language(language):
    html = to_html(PAGE, language)
    assert f'lang="{language}"' in html
    assert "<td" in html
    assert "<li>二</li>" in html
    assert "script" not in html


@pytest.mark.parametrize("wide", ["很长的中文内容" * 12, "word " * 60, "x" * 300])
def test_no_line_on_the_screen_is_wider_than_it(wide):
    blocks = [
        Heading(wide),
        Text(wide),
        Text(wide, warning=True),
        Items((wide,)),
        Table(("a", "b"), ((wide, wide),), "ll"),
        Table(("a", "b"), ((wide, "1"),), "lr"),
        Table((wide, "b"), (("1", "1"),), "lr"),
        Table((wide, "b", "c"), ((wide, "1", "2"),), "lrr"),
    ]
    assert max(width(line) for line in screen(blocks).splitlines()) <= COLUMNS


def test_a_screen_page_reads_in_order():
    assert screen(PAGE).splitlines() == [
        "结果 Results",
        "指标     mean",
        "─────────────",
        "忠实度  0.850",
        "a|b       <b>",
        "",
        "! low coverage",
        "",
        "- one",
        "- 二",
        "",
        "ragstone compare a b",
    ]


def test_code_with_backticks_stays_code():
    assert to_markdown([Code("a `b` ``c``")]) == "``` a `b` ``c`` ```\n"
