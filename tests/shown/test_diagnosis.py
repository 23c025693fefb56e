"""The diagnosis of made-up runs: its document, its page, and words instead of a crash for runs of any shape."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.diagnosed_runs import clean, mixed, refusal, sample_rows
from support.evidence_rows import line, lost_cell, row

import ragstone
from ragstone.analysis.levels import Levels
from ragstone.results import Run
from ragstone.text import say

GOLDEN = Path(__file__).parent / "golden"
KEYS = {
    *("run", "samples_total", "diagnosed", "skipped", "lost", "unattributed", "causes", "quadrants", "notes", "readings"),
    *("slices", "samples"),
}


def test_the_document_has_the_shape_it_promises():
    found = ragstone.diagnose(mixed(), by="topic").to_dict("en")
    assert set(found) == KEYS
    assert (found["samples_total"], found["diagnosed"]) == (6, 5)
    assert found["skipped"] == [{"sample_id": "en-3", "reason": "timeout"}]
    assert [(c["cause"], c["samples"], c["claims"], c["sample_ids"]) for c in found["causes"]] == [
        ("refused", 2, 2, ["zh-2", "en-2"]),
        ("contradicts_contexts", 2, 2, ["zh-1", "en-1"]),
        ("not_retrieved", 2, 2, ["zh-1", "en-1"]),
    ]
    assert found["causes"][0]["expected"] == {"yes": 1, "no": 1}
    assert found["quadrants"] == {"retrieval_generation": {"good_good": 1, "good_bad": 2, "bad_good": 0, "bad_bad": 2, "unknown": 1}}
    assert [(part["key"], part["value"], part["small"], [c["cause"] for c in part["causes"]]) for part in found["slices"]] == [
        ("topic", "保修", True, ["contradicts_contexts", "not_retrieved"]),
        ("topic", "leave", True, ["refused"]),
        ("topic", None, True, []),
    ]
    assert [(one["sample_id"], one["cause"], one["quadrant"]) for one in found["samples"]] == [
        ("zh-1", "contradicts_contexts", "bad_bad"),
        ("en-1", "contradicts_contexts", "bad_bad"),
        ("zh-2", "refused", "good_bad"),
        ("en-2", "refused", "good_bad"),
        ("zh-3", None, "good_good"),
    ]
    assert [(c["claim"], c["cause"], c["evidence"], c["expected"]) for c in found["samples"][0]["causes"]] == [
        ("a1", "contradicts_contexts", ["c1"], None),
        ("r2", "not_retrieved", [], None),
    ]
    assert [c["expected"] for one in found["samples"] for c in one["causes"] if c["cause"] == "refused"] == ["yes", "no"]
    assert found["samples"][4] == {"sample_id": "zh-3", "cause": None, "quadrant": "good_good", "causes": []}


def law(found):
    for part in (found, *found["slices"]):
        for metric in ("faithfulness", "answer_correctness"):
            total = math.fsum([*(c["points"][metric] for c in part["causes"]), part["unattributed"][metric]])
            assert total == pytest.approx(part["lost"][metric], abs=1e-9)
    claims = [c for one in found["samples"] for c in one["causes"]]
    assert math.fsum(c["points"]["total"] for c in claims) == pytest.approx(
        math.fsum(c["points"]["total"] for c in found["causes"]), abs=1e-9
    )


def test_causes_and_what_is_nobodys_add_up_everywhere():
    law(ragstone.diagnose(mixed(), by="topic").to_dict("zh"))


def test_the_same_run_gives_the_same_bytes():
    one, two = (json.dumps(ragstone.diagnose(mixed(), by="topic").to_dict("zh")) for _ in range(2))
    assert one == two


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_page(lang, monkeypatch):
    monkeypatch.setattr("ragstone.shown.diagnosis_page.readings", lambda *_: [])  # they have tests of their own
    assert ragstone.diagnose(mixed(), by="topic").to_markdown(lang) == (GOLDEN / f"diagnosis.{lang}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_page_and_the_document_tell_the_readings(lang):
    found = ragstone.diagnose(mixed())
    (*_, heading, told, _) = found.blocks(lang)
    assert heading.text == say("reading.heading", lang)
    assert 1 <= len(told.items) <= 5
    assert told.items[0] in {one["text"] for one in found.to_dict(lang)["readings"]}


def test_a_notebook_gets_html_with_sample_text_escaped(monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", "en")
    run = Run.from_scores(sample_rows("s", a1="<script>alert(1)</script> {0} {answer}"))
    html = ragstone.diagnose(run)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt; {0} {answer}" in html


def test_a_prompt_shows_causes_in_a_few_lines():
    shown = repr(ragstone.diagnose(mixed()))
    assert shown.startswith("Diagnosis(samples=6, diagnosed=5)\n")
    assert "refused (expected)" in shown
    assert len(shown.splitlines()) == 5


def test_expected_refusals_are_no_fault_on_the_page():
    found = ragstone.diagnose(mixed())
    faults = found.sums.faults
    assert [one.sample_ids for one in faults if one.cause == "refused"] == [("en-2",)]
    only = Run.from_scores(refusal("s"), [{"id": "s", "expected_behavior": "clarify"}])
    page = ragstone.diagnose(only).to_markdown("en")
    assert "Not a fault: answers that refused" in page
    assert "Try, in this order" not in page
    assert page.startswith("### What is wrong\n\nNo claim was lost to a fault")


def test_a_refusal_nobody_can_judge_says_so():
    page = ragstone.diagnose(Run.from_scores(refusal("s"))).to_markdown("en")
    assert "nobody can say whether that was right" in page


@pytest.mark.parametrize(("high", "word"), [(None, "good_bad"), (0.95, "bad_bad"), (0.3, "good_good")])
def test_the_limit_of_a_good_side(high, word):
    rows = [row("context_recall", value=0.9), row("faithfulness", line("a1", "-"), line("a2", "+"), line("a3", "+"))]
    levels = None if high is None else Levels(high, 0.2)
    found = ragstone.diagnose(Run.from_scores(rows), levels=levels)
    assert found.samples[0].quadrant == word


# ------------------------------------------------------------------ runs of any shape
SHAPES = {
    "slim": [row("faithfulness", value=0.5), row("answer_correctness", value=0.25)],
    "only_faithfulness": [row("faithfulness", line("a1", "-"), line("a2", "+"))],
    "only_relevancy": [row("answer_relevancy", value=0.5)],
    "unknown_metric": [row("tone", value=0.5)],
    "all_failed": [lost_cell("faithfulness"), lost_cell("answer_correctness", reason="bad_reply")],
    "not_applicable": [lost_cell("faithfulness", "not_applicable", "no_claims")],
    "perfect": clean("s"),
    "empty_answer": [{**row("answer_correctness", value=0.0), "reason": "empty_answer"}],
    "bare_lines": [
        {**row("faithfulness", value=0.0), "verdicts": [{"verdict": "not_found"}, {}, None, {"verdict": 7, "text": 3, "evidence": 5}]},
        {**row("answer_correctness", value=0.1), "verdicts": [{"verdict": "missing"}, {"verdict": "covered"}, {"verdict": "supported"}]},
        {**row("context_precision", value=0.1), "verdicts": [{"verdict": "useful"}, {"id": "c99999999999999", "verdict": None}]},
    ],
    "unknown_evidence": [
        row("faithfulness", line("a1", "+", "c77", "nonsense")),
        row("answer_correctness", line("a1", "!", "r99"), line("r1", "0")),
        row("context_precision", line("c1", "u")),
    ],
    "details_of_any_kind": [{**row("answer_correctness", line("r1", "0"), value=0.2), "detail": {"f1": None, "weights": "x", "flags": 3}}],
    "only_minimal_fields": [{"sample_id": "s", "metric": "faithfulness", "value": 0.5, "status": "ok"}],
}


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("shape", SHAPES)
def test_runs_of_any_shape_give_words(shape, lang):
    found = ragstone.diagnose(Run.from_scores(SHAPES[shape]))
    document = found.to_dict(lang)
    law(document)
    json.dumps(document, allow_nan=False)
    assert found.to_markdown(lang).count("\n") > 2
    assert sum(document["quadrants"]["retrieval_generation"].values()) == document["samples_total"] == 1


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "a1", "r1", "c1", "supported", "论断"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["id", "kind", "text"]), inner, max_size=2),
    max_leaves=4,
)
LINE_KEYS = st.sampled_from(["kind", "id", "text", "verdict", "evidence", "confidence", "key", "behaviour", "cosine"])
DETAIL_KEYS = st.sampled_from(["f1", "cosine", "weights", "flags", "best", "clipped", "in_parts"])
METRICS = ("faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness", "keyword_recall")
JUNK = st.fixed_dictionaries(
    {
        "metric": st.sampled_from(METRICS),
        "repeat": st.integers(0, 1),
        "verdicts": st.lists(st.dictionaries(LINE_KEYS, JSON, max_size=5), max_size=3),
        "detail": st.dictionaries(DETAIL_KEYS, JSON, max_size=3) | JSON,
        "reason": JSON,
    }
)


@given(
    st.lists(JUNK, min_size=1, max_size=4), st.dictionaries(st.sampled_from(["question", "answer", "contexts", "meta"]), JSON, max_size=3)
)
def test_junk_in_rows_and_samples_is_survived(rows, sample):
    filled = [{"sample_id": "s", "status": "ok", "value": 0.5, **one} for one in rows]
    found = ragstone.diagnose(Run.from_scores(filled, [{"id": "s", **sample}]))
    json.dumps(found.to_dict("zh"), allow_nan=False)
    assert found.to_markdown("en")


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ("slim", "no cause can be named"),
        ("only_relevancy", "Neither faithfulness nor answer_correctness was measured"),
        ("unknown_metric", "Neither faithfulness nor answer_correctness was measured"),
        ("all_failed", "No sample has a score"),
        ("not_applicable", "No sample has a score"),
        ("perfect", "No claim was lost to a fault in 1 of 1 samples"),
        ("empty_answer", "Empty answers (samples: 1)"),
    ],
)
def test_the_page_says_why_there_is_nothing_to_say(shape, said):
    assert said in " ".join(ragstone.diagnose(Run.from_scores(SHAPES[shape])).to_markdown("en").replace("\\", "").split())


def test_a_cell_that_was_promised_and_never_came_is_interrupted():
    run = Run.from_scores(clean("a"), [{"id": "a"}, {"id": "b"}], {"metrics": {"faithfulness": {}}})
    found = ragstone.diagnose(run)
    assert found.skipped == (("b", "interrupted"),)
    assert (found.samples_total, found.diagnosed, found.quadrants["unknown"]) == (2, 1, 1)


def test_a_sample_without_any_row_is_skipped():
    assert ragstone.diagnose(Run.from_scores(clean("a"), [{"id": "b"}])).skipped == (("b", "no_scores"),)


def test_of_a_doubled_row_the_last_counts():
    rows = [row("faithfulness", line("a1", "-")), row("faithfulness", line("a1", "+"))]
    assert ragstone.diagnose(Run.from_scores(rows)).samples[0].cause is None


def test_repeats_are_one_sample():
    rows = [row("faithfulness", line("a1", word), repeat=n) for n, word in enumerate("--+")]
    found = ragstone.diagnose(Run.from_scores(rows)).to_dict("en")
    assert (found["samples_total"], found["lost"]["faithfulness"]) == (1, pytest.approx(2 / 3))
    assert [(c["cause"], c["points"]["faithfulness"]) for c in found["causes"]] == [("made_up", pytest.approx(2 / 3))]


def test_a_key_nobody_has_is_told_with_the_keys_there_are():
    found = ragstone.diagnose(mixed(), by="colour").to_dict("en")
    assert [note["code"] for note in found["notes"]] == ["key_unknown"]
    assert "topic" in found["notes"][0]["text"]
    assert [(part["value"], len(found["samples"])) for part in found["slices"]] == [(None, 5)]


def test_long_and_wild_texts_are_cut_on_one_line():
    run = Run.from_scores(sample_rows("s", a1="很长的一句话 " * 60, c1="line one\nline two " * 40))
    lines = [text for text in ragstone.diagnose(run).to_markdown("zh").splitlines() if text.startswith("- s，a1")]
    assert len(lines) == 1
    assert lines[0].count("…") == 2
    assert len(lines[0]) < 300


def test_the_examples_are_the_dearest_claims_of_different_samples():
    rows = [
        *[row("faithfulness", line("a1", "-", text="cheap"), line("a2", "+"), line("a3", "+"), sample_id=f"s{n}") for n in range(3)],
        row("faithfulness", line("a1", "-", text="dear"), line("a2", "-", text="dear too"), sample_id="s9"),
    ]
    (examples,) = ragstone.diagnose(Run.from_scores(rows)).examples.values()
    assert [(one.sample_id, one.claim.text) for one in examples] == [("s9", "dear"), ("s0", "cheap")]


@pytest.mark.parametrize(
    ("rows", "label"),
    [
        ([row("answer_correctness", line("a1", "+", "r1"), line("r1", "="), cosine=0.6)], "no single claim (mostly wording)"),
        ([row("answer_correctness", value=0.4)], "no single claim"),
        ([row("faithfulness", value=0.4)], "no single claim"),
    ],
)
def test_what_no_claim_explains_is_wording_only_where_claims_were_looked_at(rows, label):
    page = ragstone.diagnose(Run.from_scores(rows)).to_markdown("en")
    assert f"| {label} |" in page.replace("\\", "")


def test_a_share_that_is_whole_but_for_rounding_is_whole():
    due = [{**one, "sample_id": f"d{n}"} for n in range(24) for one in refusal("x")]
    clean = [row("answer_correctness", line("a1", "+", "r1"), line("r1", "="), sample_id=f"c{n}", cosine=0.8) for n in range(36)]
    samples = [{"id": f"d{n}", "expected_behavior": "refuse"} for n in range(24)]
    assert "| 100.0% |" in ragstone.diagnose(Run.from_scores([*due, *clean], samples)).to_markdown("en")


@pytest.mark.parametrize(
    ("lang", "words"), [("en", "Why they have none: timeout 2, no_claims 1."), ("zh", "没有分数是因为：timeout 2、no_claims 1。")]
)
def test_a_run_without_scores_says_why(lang, words):
    rows = [lost_cell("faithfulness", sample_id="a"), lost_cell("faithfulness", sample_id="b")]
    rows.append(lost_cell("faithfulness", "not_applicable", "no_claims", "c"))
    assert words in ragstone.diagnose(Run.from_scores(rows)).to_markdown(lang).replace("\\", "")


def test_some_samples_without_claims_are_not_a_run_without_claims():
    bare = row("faithfulness", value=0.5, sample_id="bare")
    assert "holds no claims" in ragstone.diagnose(Run.from_scores([bare])).to_markdown("en")
    assert "holds no claims" not in ragstone.diagnose(Run.from_scores([bare, *clean("fine")])).to_markdown("en")


def test_a_cell_told_twice_is_noticed():
    twice = ragstone.diagnose(Run.from_scores([row("faithfulness", line("a1", "-")), row("faithfulness", line("a1", "+"))]))
    assert [notice.code for notice in twice.notices] == ["cells_doubled"]
    assert twice.sums.lost.total == 0
