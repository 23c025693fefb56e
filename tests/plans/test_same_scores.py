"""The three plans give the same scores, whatever the rows; failures stay where they fell."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from support.judges import Counting, Sure, sure_of
from support.made_rows import made

import ragstone
from ragstone.embed.scripted import ScriptedEmbedder
from ragstone.judge.base import Identity, RawReply
from ragstone.judge.scripted import ScriptedJudge
from ragstone.plans.joint import OF_ENDPOINT
from ragstone.questions.base import MAX_CONTEXTS, Question

pytestmark = pytest.mark.no_cover  # every line they run is run by others, and counting them takes longer than running them

GOLD = Path(str(files("ragstone").joinpath("gold")))
ALL = ("faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness")
OTHERS = ("joint", "per-context")
ROWS, TRUTH = made(100, seed=3)
SCRIPTED = ScriptedJudge.from_dict(TRUTH)
Cells = dict[tuple[str, str], dict[str, Any]]


class Hashing:
    """An embedder whose vectors come from a hash of the text."""

    identity = Identity("hashing", "local")
    requests = 0

    async def embed(self, texts: Sequence[str]) -> list[Any]:
        digests = (hashlib.sha256(text.encode()).digest()[:8] for text in texts)
        return [np.frombuffer(digest, dtype=np.uint8).astype(np.float32) - 100 for digest in digests]

    async def close(self) -> None:
        """Nothing to release."""


def judge(answer: Callable[[Question, int], RawReply | None] = lambda question, number: None) -> Counting:
    return Counting(SCRIPTED, answer)


def cells(plan: str, rows: list[Any] = ROWS, metrics: Sequence[str] = ALL, judge: Any = None, **more: Any) -> Cells:
    run = ragstone.evaluate(
        rows,
        metrics=list(metrics),
        judge=judge or SCRIPTED,
        embeddings=more.pop("embeddings", Hashing()),
        plan=plan,
        on_notice=lambda _: None,
        **more,
    )
    return {(s.sample_id, s.metric): s.to_dict() for s in run.scores}


@cache
def clean(plan: str) -> Cells:
    return cells(plan)


def told(found: Cells) -> Cells:
    """Everything of a cell but the questions it rests on, and whether they had to be asked in parts."""
    details = {cell: {name: value for name, value in row["detail"].items() if name != "in_parts"} for cell, row in found.items()}
    return {cell: {name: v for name, v in (row | {"detail": details[cell]}).items() if name != "questions"} for cell, row in found.items()}


# ------------------------------------------------------------------ the same scores
def test_the_rows_are_of_every_sort() -> None:
    outcomes = Counter((row["status"], row["reason"]) for row in clean("separate").values())
    words = {"no_context", "empty_answer", "no_claims", "no_reference_claims", "contexts_missing", "collect:timeout"}
    words |= {"missing:question", "missing:answer", "missing:reference"}
    assert words <= {reason for _, reason in outcomes}
    assert outcomes["ok", None] > 200
    details = [name for row in clean("separate").values() for name in row["detail"]]
    assert {"merged", "duplicates", "behaviour", "unsplit", "best"} <= set(details)
    assert sum(len(row.get("contexts") or ()) > MAX_CONTEXTS for row in ROWS) > 10


@pytest.mark.parametrize("plan", OTHERS)
def test_made_samples(plan: str) -> None:
    assert told(clean(plan)) == told(clean("separate"))


@pytest.mark.slow
def test_500_made_samples() -> None:
    rows, truth = made(500, seed=11)
    scripted = ScriptedJudge.from_dict(truth)
    separate, *others = (told(cells(plan, rows, judge=scripted)) for plan in ("separate", *OTHERS))
    assert len(separate) == 500 * len(ALL)
    assert others == [separate, separate]


@pytest.mark.parametrize("plan", OTHERS)
def test_the_bundled_gold_set(plan: str) -> None:
    rows = [orjson.loads(line) for line in (GOLD / "samples.jsonl").read_bytes().splitlines()]
    truth = orjson.loads((GOLD / "truth.json").read_bytes())

    def scored(plan: str) -> Cells:
        return told(cells(plan, rows, judge=ScriptedJudge.from_dict(truth), embeddings=ScriptedEmbedder.from_dict(truth)))

    assert scored(plan) == scored("separate")
    assert len(scored(plan)) == 24 * len(ALL)


@pytest.mark.parametrize("plan", OTHERS)
def test_the_answer_as_yardstick(plan: str) -> None:
    rows = ROWS[:60]
    found = [told(cells(p, rows, ["context_precision", "faithfulness"], precision_against="answer")) for p in (plan, "separate")]
    assert found[0] == found[1]
    assert {row["detail"].get("against") for row in found[0].values() if row["value"] is not None} >= {"answer"}


@pytest.mark.parametrize("plan", ["separate", *OTHERS])
def test_scores_do_not_depend_on_which_other_metrics_run(plan: str) -> None:
    rows = ROWS[:40]
    alone: Cells = {}
    for metric in ALL:
        alone |= cells(plan, rows, [metric])
    assert alone == cells(plan, rows)


# ------------------------------------------------------------------ how sure the judge was
def without_confidence(found: Cells) -> Cells:
    return {cell: {**row, "verdicts": [{k: v for k, v in line.items() if k != "confidence"} for line in row["verdicts"]]}
            for cell, row in found.items()}  # fmt: skip


@pytest.mark.parametrize("plan", ["separate", *OTHERS])
def test_how_sure_the_judge_was_changes_nothing_but_stands_on_every_verdict(plan: str) -> None:
    found = cells(plan, judge=Sure(SCRIPTED))
    assert without_confidence(found) == clean(plan)
    lines = {(cell, line["id"]): line for cell, row in found.items() for line in row["verdicts"]}
    assert sum("confidence" in line for line in lines.values()) > 0.8 * len(lines)
    ruled = {"no_context", "no_reference_claims", "no_claims", "empty_answer"}
    for (cell, id), line in lines.items():
        if "confidence" not in line and found[cell]["reason"] not in ruled:
            # no request was made, or the claim is covered by what the other side of the match says
            assert line["verdict"] in ("not_useful", "not_found", "missing") or id in found[cell]["detail"]["inconsistent"]


def test_a_verdict_line_has_the_confidence_of_its_own_verdict() -> None:
    row = {"id": "s", "question": "q", "answer": "a", "contexts": ["x", "y", "x"], "reference": "r"}
    truth = {
        "claims": {"a": ["a one", "a two"], "r": ["r one", "r two"]},
        "checks": {"a one": {"supported": ["x"]}, "a two": {}, "r one": {"supported": ["y"]}, "r two": {"contradicted": ["x"]}},
        "useful": {"q": ["x"]},
        "matches": {"a one": {"supported": ["r one"]}, "a two": {"contradicted": ["r two"]}},
        "questions": {"a": ["q1", {"question": "q2", "noncommittal": True}, "q3"]},
    }

    def confidence(plan: str, metric: str) -> dict[str, float]:
        found = cells(plan, [row], [metric], Sure(ScriptedJudge.from_dict(truth)))
        return {line["id"]: line["confidence"] for line in found["s", metric]["verdicts"]}

    for plan in ("separate", "per-context"):
        check, rate = partial(sure_of, "check_claims", "verdicts"), partial(sure_of, "rate_contexts", "verdicts")
        assert confidence(plan, "faithfulness") == {"a1": check(1), "a2": check(2)}
        assert confidence(plan, "context_recall") == {"r1": check(1), "r2": check(2)}
        assert confidence(plan, "context_precision") == {"c1": rate(1), "c2": rate(2), "c3": rate(1)}
    claims = partial(sure_of, "check_all", "claims")
    assert confidence("joint", "faithfulness") == {"a1": claims(1), "a2": claims(2)}
    assert confidence("joint", "context_recall") == {"r1": claims(3), "r2": claims(4)}
    assert confidence("joint", "context_precision") == {f"c{i}": sure_of("check_all", "contexts", n) for i, n in ((1, 1), (2, 2), (3, 1))}
    for plan in ("separate", "joint"):
        both = {f"{list[0]}{i}": sure_of("match_claims", list, i) for list in ("answer", "reference") for i in (1, 2)}
        assert confidence(plan, "answer_correctness") == both
        assert confidence(plan, "answer_relevancy") == {f"q{i}": sure_of("invert_answer", "questions", i) for i in (1, 2, 3)}


# ------------------------------------------------------------------ what fails
WORDS = ("timeout", "blocked", "truncated")
KINDS = ("split_both", "check_all", "match_claims", "invert_answer", "split_claims", "check_claims", "rate_contexts")


def failing(word: str, kind: str, share: int) -> tuple[Counting, set[str]]:
    """A judge that fails one in `share` of the questions of a kind, drawn by their keys."""
    hit: set[str] = set()

    def answer(question: Question, number: int) -> RawReply | None:
        if question.kind.name != kind or int(question.key[:8], 16) % share:
            return None
        hit.add(question.key)
        return RawReply(error=word)

    return judge(answer), hit


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("word", WORDS)
def test_a_failure_changes_no_cell_that_does_not_rest_on_it(word: str, kind: str) -> None:
    rows = ROWS[:40]
    ids = {row["id"] for row in rows}
    faulty, hit = failing(word, kind, 3)
    found = cells("joint", rows, judge=faulty)
    assert hit
    for cell, row in clean("joint").items():
        if cell[0] not in ids:
            continue
        if not hit & set(found[cell]["questions"]):
            assert found[cell] == row
        elif found[cell]["status"] == "failed":
            assert found[cell]["reason"] == word
            assert word in OF_ENDPOINT or kind not in ("split_both", "check_all"), "the separate kinds could have answered"
        else:
            assert told({cell: found[cell]}) == told({cell: row})


def test_contexts_are_still_rated_when_no_text_could_be_split() -> None:
    rows = ROWS[:60]
    faulty, _ = failing("timeout", "split_both", 1)
    found, expected = cells("joint", rows, judge=faulty), told(clean("joint"))
    precision = {cell: row for cell, row in told(found).items() if cell[1] == "context_precision"}
    assert precision == {cell: expected[cell] for cell in precision}
    assert any(row["reason"] == "timeout" for row in found.values())
