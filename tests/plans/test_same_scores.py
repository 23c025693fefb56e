"""The three plans give the same scores, whatever the rows; failures stay where they fell."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from support.judges import Counting
from support.made_rows import made

import ragstone
from ragstone.embed.scripted import ScriptedEmbedder
from ragstone.judge.base import Identity, RawReply
from ragstone.judge.scripted import ScriptedJudge
from ragstone.plans.joint import OF_ENDPOINT
from ragstone.questions.base import MAX_CONTEXTS, Question

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
    """Everything of a cell but the questions it rests on."""
    return {cell: {name: value for name, value in row.items() if name != "questions"} for cell, row in found.items()}


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
