"""The report of a run: the questions answered in words, then causes, comparison, gate, trust and numbers; whatever the run holds."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.diagnosed_runs import clean, mixed
from support.evidence_rows import line, lost_cell, row

import ragstone
from ragstone.results import Run
from ragstone.shown.blocks import Table
from ragstone.shown.report import report_blocks, report_markdown
from ragstone.text import say

GOLDEN = Path(__file__).parent / "golden"
EVIL = "# <script>alert(1)</script> [x](http://evil.example) | @all\n\n## `h`"
MANIFEST: dict[str, Any] = {
    "run_id": "r-2",
    "created_at": "2026-01-02T03:04:05Z",
    "signature": "ragstone 0 | made by hand",
    "gold_fingerprint": "0123abcd",
    "judge": {"model": "judge-1", "endpoint": "https://judge.example/v1"},
    "embedder": {"model": "emb-1"},
}


def run(manifest: dict[str, Any] | None = None, **changed: Any) -> Run:
    found = mixed()
    return Run.from_scores([s.to_dict() for s in found.scores], found.samples, (MANIFEST if manifest is None else manifest) | changed)


def base() -> Run:
    rows = [each for name in ("zh-1", "en-1", "zh-2", "en-2", "zh-3") for each in clean(name)]
    samples = [sample | {"answer": "an earlier answer"} for sample in mixed().samples or ()]
    return Run.from_scores(rows, samples, MANIFEST | {"run_id": "r-1", "created_at": "2026-01-01T03:04:05Z"})


def alone(mean: float | None, metric: str = "faithfulness", n: int = 8, **manifest: Any) -> Run:
    rows = [{"sample_id": f"s{i}", "metric": metric, "value": mean, "status": "ok"} for i in range(n)]
    if mean is None:
        rows = [lost_cell(metric, sample_id=f"s{i}") for i in range(n)]
    return Run.from_scores(rows, None, manifest)


def answers(found: Run, lang: Any) -> dict[str, str]:
    """Question -> answer."""
    table = next(block for block in report_blocks(found, lang=lang) if isinstance(block, Table))
    return {question: answer for question, answer, _ in table.rows}


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_page(lang):
    new = run()
    rules = {"metrics": {"faithfulness": {"min_mean": 0.99}}, "min_coverage": 0.5}
    text = report_markdown(new, base(), gate=ragstone.gate(new, base(), rules), lang=lang)
    path = GOLDEN / f"report.{lang}.md"
    if os.environ.get("WRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("mean", "word"), [(1.0, "high"), (0.9, "high"), (0.6, "middle"), (0.2, "low"), (0.0, "low")])
@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize(
    ("metric", "asked"),
    [
        ("faithfulness", "made_up"),
        ("context_precision", "found"),
        ("context_recall", "complete"),
        ("answer_correctness", "right"),
        ("answer_correctness(beta=2)", "right"),
    ],
)
def test_a_question_is_answered_by_its_metric(metric, asked, mean, word, lang):
    said = answers(alone(mean, metric), lang)
    assert said[say(f"report.question_{asked}", lang)] == say(f"report.{asked}_{word}", lang)


@pytest.mark.parametrize(("off", "word"), [(0, "none"), (1, "few"), (5, "many"), (10, "many")])
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_off_the_question_is_counted_since_the_mean_of_relevancy_has_no_levels(off, word, lang):
    rows = [row("answer_relevancy", value=0.2 if i < off else 0.7, sample_id=f"s{i}") for i in range(10)]
    said = answers(Run.from_scores(rows), lang)[say("report.question_answers", lang)]
    assert said == say(f"report.answers_{word}_off", lang, count=off, of=10)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_what_was_not_measured_is_not_answered(lang):
    said = answers(alone(None), lang)
    why = {"en": "the endpoint did not answer in time: 8", "zh": "接口未按时答复：8"}[lang]
    assert said[say("report.question_made_up", lang)] == say("report.not_measured", lang, reasons=why)
    assert say("report.question_right", lang) not in said
    assert {"en": "answer_relevancy", "zh": "答案相关性"}[lang] in said[say("report.question_answers", lang)]


def test_a_mean_over_too_few_cells_gives_no_answer():
    rows = [row("faithfulness", line("a1", "+", "c1"), sample_id="s0"), lost_cell("faithfulness", sample_id="s1")]
    said = answers(Run.from_scores(rows), "en")
    assert said["Is it made up?"] == "Cannot be said: only 50.0% could be measured (needed: 95.0%)."


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_an_answer_that_the_interval_leaves_open_is_called_a_guess(lang):
    def said(*values):
        rows = [row("context_recall", value=value, sample_id=f"s{i}") for i, value in enumerate(values)]
        return answers(Run.from_scores(rows), lang)[say("report.question_complete", lang)]

    plain = say("report.complete_middle", lang)
    assert said(*[0.6, 0.7] * 30) == plain
    assert said(1.0, 0.0, 1.0) == say("report.a_guess", lang, answer=plain)


def test_what_the_gate_did_not_check_stands_beside_its_verdict():
    text = report_markdown(run(), gate=ragstone.gate(run(), None, {"min_coverage": 0.5}), unchecked=["Not checked: a rule."], lang="en")
    assert "> **!** Not checked: a rule." in text


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_smoke_test_is_told_before_the_answers(lang):
    text = report_markdown(run(judge={"model": "local", "endpoint": "local"}), lang=lang)
    notice = say("judges.smoke_test", lang)
    assert text.index(notice) < text.index(say("report.questions", lang))


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_without_base_and_gate_the_page_says_so(lang):
    text = report_markdown(run(), lang=lang)
    assert say("report.no_base", lang) in text
    assert say("report.no_gate", lang) in text


def test_what_is_known_already_is_not_found_out_again(monkeypatch):
    new, old = run(), base()
    known = {"diagnosis": ragstone.diagnose(new), "comparison": ragstone.compare(old, new)}
    expected = report_markdown(new, old, lang="en")
    for name in ("ragstone.shown.diagnosis.diagnose", "ragstone.shown.comparison.compare"):
        monkeypatch.setattr(name, lambda *_, **__: pytest.fail("asked again"))
    assert report_markdown(new, old, **known, lang="en") == expected


def test_levels_of_ones_own_change_the_answers():
    from ragstone.analysis.levels import Levels

    assert "Hardly" in report_markdown(alone(0.7), levels=Levels(0.6, 0.3), lang="en")
    assert "In part" in report_markdown(alone(0.7), lang="en")


def test_hostile_texts_stay_texts():
    claims = line("a1", "-", text=EVIL)
    rows = [row("faithfulness", claims, sample_id=EVIL), lost_cell("context_recall", reason=EVIL, sample_id=EVIL)]
    new = Run.from_scores(rows, [{"id": EVIL, "question": EVIL}], MANIFEST | {"run_id": EVIL, "judge": {"model": EVIL}})
    text = report_markdown(new, new, lang="en")
    assert re.search(r"(?<!\\)<script", text) is None
    assert re.search(r"(?<!\\)\]\(", text) is None
    assert [line for line in text.splitlines() if line == "## `h`"] == []


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_headings_stand_in_order(lang):
    heads = [block for block in report_blocks(run(), lang=lang) if type(block).__name__ == "Heading" and block.level <= 2]
    wanted = [say(f"report.{name}", lang) for name in ("questions", "wrong", "better", "gate", "trust", "numbers", "made_with")]
    assert [head.text for head in heads[1:]] == wanted


VALUES = st.one_of(st.none(), st.just("failed"), st.floats(0, 1))


@given(st.lists(st.tuples(st.sampled_from(["faithfulness", "context_recall", "x"]), VALUES), min_size=1, max_size=12))
def test_a_run_of_any_shape_is_a_page_that_says_n_and_total(cells):
    rows = []
    for i, (metric, value) in enumerate(cells):
        state = {None: ("not_applicable", "no_claims"), "failed": ("failed", "timeout")}.get(value, ("ok", None))
        kept = value if state[0] == "ok" else None
        rows.append({"sample_id": f"s{i}", "metric": metric, "value": kept, "status": state[0], "reason": state[1]})
    for lang in ("zh", "en"):
        text = report_markdown(Run.from_scores(rows), lang=lang)
        assert "nan" not in text.lower()
        assert "None" not in text
        for metric in {metric for metric, _ in cells}:
            of = [value for name, value in cells if name == metric]
            assert f"| {sum(isinstance(v, float) for v in of)}/{len(of)} |" in text
