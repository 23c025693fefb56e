"""How runs and summaries show themselves, in a notebook and at a prompt."""

import re
from html.parser import HTMLParser

import pytest

import ragstone
from ragstone.shown.blocks import to_html
from ragstone.text import say

EVIL = "<script>alert('x')</script>&\"{{ 7*7 }}"
ROWS = [
    {"sample_id": "a", "metric": "faithfulness", "value": 1.0, "status": "ok"},
    {"sample_id": "b", "metric": "faithfulness", "value": None, "status": "failed", "reason": EVIL},
    {"sample_id": "a", "metric": EVIL, "value": 0.99996, "status": "ok"},
    {"sample_id": "b", "metric": EVIL, "value": None, "status": "not_applicable", "reason": "no_claims"},
]
SAMPLES = [{"id": "a", "question": "q", "meta": {"dept": EVIL, EVIL: "x"}}, {"id": "b", "question": "q"}]
LOCAL = {"judge": {"model": "local", "endpoint": "local"}, "signature": f"ragstone 0 | judge local {EVIL}", "run_id": EVIL}


class Page(HTMLParser):
    """Tags and texts of a page; knows whether every tag is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if data.strip():
            self.texts.append(data)


def run(manifest=LOCAL) -> ragstone.Run:
    return ragstone.Run.from_scores(ROWS, SAMPLES, manifest)


@pytest.mark.parametrize(
    ("lang", "notice", "heads", "metric"),
    [
        ("en", "local heuristic judge: smoke test, not a measurement", ["metric", "mean", "95% interval", "n/total"], "faithfulness"),
        ("zh", "本地启发式评判：仅供试运行，不是测量", ["指标", "均值", "95% 区间", "n/总数"], "忠实度"),
    ],
)
def test_the_table_says_what_show_says(lang, notice, heads, metric):
    page = Page(to_html(run().summary().blocks(lang), lang))
    assert page.open == []
    assert page.texts[1].strip() == notice
    assert page.texts[3:7] == heads
    at = page.texts.index(metric)
    assert page.texts[at : at + 8] == [metric, "1.000", "–", "1/2", "1", "0", "50.0%", "0.500–1.000"]
    assert LOCAL["signature"] in page.texts


def test_everything_is_escaped_and_there_is_no_script():
    html = run().summary(by="dept")._repr_html_()
    page = Page(html)
    assert set(page.tags) <= {
        "div",
        "p",
        "strong",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "code",
        "ul",
        "li",
        "details",
        "summary",
    }
    assert page.texts.count(EVIL) == 3  # the metric in the table, the distribution and the slices
    assert page.texts.count(f"{EVIL} *") == 1  # the slice, marked as small
    assert "{{ 7*7 }}" in html
    assert any(EVIL in text and "faithfulness: " in text for text in page.texts)


def test_text_has_no_colour_of_its_own():
    colours = set(re.findall(r"(?<![\w-])(?:color|background)\s*:\s*([^;\"]+)", run().summary()._repr_html_()))
    assert colours == {"inherit", "none"}


def test_a_mean_just_below_one_is_not_shown_as_one():
    assert ">0.999<" in run().summary()._repr_html_()


def test_slices_have_a_table_of_their_own():
    page = Page(run().summary(by="dept")._repr_html_())
    assert page.tags.count("table") == 3
    at = page.texts.index(f"{EVIL} *")
    assert page.texts[at + 1 : at + 3] == ["1", "1.000 1/1"]
    assert say("show.small_slices", "en") in page.texts
    assert Page(run().summary()._repr_html_()).tags.count("table") == 2


def test_warnings_and_low_coverage_stand_below_the_table():
    html = run().summary(by="nothing")._repr_html_()
    assert "nothing" in html
    assert "95.0%" in html


def test_a_run_shows_its_summary_and_a_broken_one_falls_back_to_text(tmp_path):
    assert run()._repr_html_() == run().summary(worst=0)._repr_html_()
    (tmp_path / "scores.jsonl").write_text("no json\n")
    broken = ragstone.load(tmp_path)
    assert broken._repr_html_() is None
    assert repr(broken).startswith("Run(")


def test_a_real_judge_gets_no_notice_and_an_unknown_signature_is_told():
    html = run({"judge": {"model": "m", "endpoint": "http://x/v1"}})._repr_html_()
    assert "smoke test" not in html
    assert say("show.signature_unknown", "en") in html


def test_at_a_prompt_a_summary_is_a_few_lines():
    rows = [{"sample_id": "s", "metric": "faithfulness", "value": 0.5, "status": "ok"}]
    summary = ragstone.Run.from_scores(rows, None, {"signature": "sig", "judge": "local", "run_id": "r1"}).summary()
    assert repr(summary) == str(summary)
    assert str(summary).splitlines() == [
        "Summary('r1', samples=1)",
        "  faithfulness  0.500  –  n=1/1 failed=0 not_applicable=0 coverage=100.0%",
        "  sig",
        "  local heuristic judge: smoke test, not a measurement",
    ]


def test_showing_itself_changes_nothing_of_a_summary():
    summary = run().summary()
    assert summary == run().summary()
    assert summary.to_dict()["samples"] == 2


# ------------------------------------------------------------------ the page as Markdown
@pytest.mark.parametrize(
    ("lang", "parts"),
    [
        (
            "en",
            [
                "### r1 · samples: 2",
                "| metric | mean | 95% interval |",
                "> **!** incomplete",
                "### Lowest scores (1)",
                "a1 contradicted: x \\| y",
            ],
        ),
        ("zh", ["### r1 · 样本数：2", "| 指标 | 均值 | 95% 区间 |", "> **!** 不完整", "a1 与之矛盾：x \\| y"]),
    ],
)
def test_the_page_as_markdown(lang, parts):
    line = {"kind": "answer_claim", "id": "a1", "text": "x | y", "verdict": "contradicted"}
    rows = [{**ROWS[0], "value": 0.5, "verdicts": [line]}, ROWS[1]]
    text = ragstone.Run.from_scores(rows, None, {"run_id": "r1"}).summary().to_markdown(lang)
    assert [part for part in parts if part not in text] == []


def test_markdown_without_a_language_is_in_that_of_the_screen(monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", "zh")
    assert run().summary().to_markdown() == run().summary().to_markdown("zh") != run().summary().to_markdown("en")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("rows", [ROWS[1:2], ROWS[3:], ROWS[:1]], ids=["failed", "not applicable", "one"])
def test_a_run_that_says_little_is_a_page_all_the_same(rows, lang):
    text = ragstone.Run.from_scores(rows).summary().to_markdown(lang)
    assert "nan" not in text.lower()
    assert "None" not in text
