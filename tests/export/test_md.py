"""The page for a pull request: short, whole in its numbers, and never more than text."""

import io
import re

import pytest
from support.hand_made import write_run
from support.hostile_texts import HOSTILE, REFUSED

import ragstone
from ragstone.export.base import Order
from ragstone.export.content import Content
from ragstone.export.registry import exporter
from ragstone.text import say

ROW = {"sample_id": "s1", "metric": "faithfulness", "value": 0.5, "status": "ok"}
LIMIT = 65_536


def page(run, lang="en"):
    file = io.BytesIO()
    exporter("md").write(Content(run), file, Order(lang=lang))
    return file.getvalue().decode()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return ragstone.load(write_run(tmp_path_factory.mktemp("md") / "r"))


@pytest.mark.parametrize(
    ("lang", "row", "missing", "lowest"),
    [
        (
            "en",
            "| faithfulness | 0.000 | – | 1/4 | 2 | 1 | 33.3% | 0.000–0.667 | – |",
            "bad\\_reply 1 (no usable reply",
            "contradicted: Employees get 25",
        ),
        (
            "zh",
            "| 忠实度 | 0.000 | – | 1/4 | 2 | 1 | 33.3% | 0.000–0.667 | – |",
            "bad\\_reply 1（多次询问，回复均不可用）",
            "Employees get 25",
        ),
    ],
)
def test_the_page_tells_numbers_what_is_missing_and_the_signature(run, lang, row, missing, lowest):
    text = page(run, lang)
    assert text.startswith("> **!** ")
    assert say("judges.smoke_test", lang)[:20] in text
    assert say("show.samples", lang, count=4) in text
    for told in (row, missing, lowest, "interrupted 1", f"`{run.signature}`", "2026-01-05T08:00:00Z"):
        assert told in text, told
    assert len(re.findall(r"^\| ---", text, re.MULTILINE)) == 1


def test_a_meaning_is_told_once(run):
    assert page(run).count(say("show.why_collect", "en")) == 1


def test_a_run_of_bare_scores_has_no_notice_and_says_that_the_signature_is_unknown():
    text = page(ragstone.Run.from_scores([ROW]))
    assert "> **!**" not in text
    assert say("show.signature_unknown", "en").split(":")[0] in text
    assert "0.500" in text


def test_the_gold_set_is_named():
    run = ragstone.Run.from_scores([ROW], manifest={"gold_fingerprint": "ab12", "signature": "s"})
    assert page(run, "zh").rstrip().endswith(say("sheets.gold", "zh", fingerprint="ab12"))


@pytest.mark.parametrize("text", (HOSTILE | REFUSED).values(), ids=HOSTILE | REFUSED)
def test_no_text_becomes_more_than_text(text):
    lines = [{"id": "a1", "text": text, "verdict": "not_found"}, {"id": "a2", "text": text, "verdict": text}]
    rows = [{**ROW, "sample_id": text, "value": 0.1, "verdicts": lines}, {**ROW, "metric": text}]
    rows.append({**ROW, "sample_id": "s2", "value": None, "status": "failed", "reason": text})
    plain = page(ragstone.Run.from_scores(rows, None, {"run_id": text, "signature": "s"}))
    assert len(plain) < LIMIT
    assert re.search(r"(?<!\\)<|(?<!\\)!\[|(?<!\\)\]\(|https?://", plain) is None
    tables = [line for line in plain.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in tables} == {10}
    assert [line for line in plain.splitlines() if line.startswith("#")] == [line for line in plain.splitlines() if "samples: " in line][:1]


def test_a_monster_fits_into_a_comment():
    rows = [
        {"sample_id": f"s{n}", "metric": f"*{n}" * 100, "value": None, "status": "failed", "reason": f"_{n}_{m}" * 100, "repeat": 0}
        for n in range(300)
        for m in range(2)
    ]
    rows += [{**ROW, "metric": f"m{n}", "verdicts": [{"id": "a", "text": "*" * 9_000, "verdict": "missing"}], "value": 0} for n in range(9)]
    text = page(ragstone.Run.from_scores(rows, None, {"signature": "*" * 20_000, "run_id": "_" * 9_000}))
    assert say("sheets.more_metrics", "en", count=249) in text
    assert 10_000 < len(text) < LIMIT
