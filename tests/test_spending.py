"""Tokens by metric and by kind over whole runs: the sums are the totals, whatever the order, the pace and the interruptions."""

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.made_rows import made

import ragstone
from ragstone import tokens
from ragstone.judge.base import Identity, RawReply
from ragstone.judge.scripted import ScriptedJudge
from ragstone.progress import UNASSIGNED

FIVE = ["faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness"]
PARTS = ("requests", "prompt", "completion", "cached")


class Metered(ScriptedJudge):
    """Answers after a while of its own, tells what it took, and stops the run after so many questions."""

    pace: random.Random | None = None
    left: int | None = None
    asked = 0

    async def complete(self, question: Any) -> RawReply:
        if self.left is not None and self.asked >= self.left:
            raise ragstone.StoppedError("enough")
        for _ in range(self.pace.randrange(4) if self.pace else 0):
            await asyncio.sleep(0)
        self.asked += 1
        raw = await super().complete(question)
        usage = {"prompt_tokens": len(question.body), "completion_tokens": tokens.estimate(raw.text or ""), "cached_tokens": 3}
        return RawReply(text=raw.text, usage=usage, attempts=1 + len(question.body) % 2)


def manifest(out: Path) -> dict[str, Any]:
    return json.loads((out / "manifest.json").read_bytes())


def summed(parts: dict[str, dict[str, int]]) -> dict[str, int]:
    return {part: sum(spent[part] for spent in parts.values()) for part in PARTS}


def run(out: Path, rows: Any, truth: Any, *, pace: int | None = None, stop: int | None = None, **more: Any) -> dict[str, Any]:
    judge = Metered.from_dict(truth)
    judge.pace, judge.left = None if pace is None else random.Random(pace), stop
    try:
        ragstone.evaluate(rows, judge=judge, out=out, no_cache=True, **{"metrics": FIVE, "embeddings": Flat(), **more})
    except ragstone.StoppedError:
        assert stop is not None
    return manifest(out)


class Flat:
    """Embeds every text alike."""

    identity = Identity("flat", "here")
    requests = 0

    async def embed(self, texts: Any) -> Any:
        return [np.ones(2, dtype=np.float32) for _ in texts]

    async def close(self) -> None:
        pass


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 10**6),
    metrics=st.permutations(FIVE),
    plan=st.sampled_from(["separate", "joint"]),
    stop=st.integers(0, 40),
    concurrency=st.sampled_from([1, 16]),
)
def test_parts_add_up_to_the_totals(tmp_path_factory: Any, seed: int, metrics: Any, plan: str, stop: int, concurrency: int) -> None:
    rows, truth = made(6, seed)
    rows = [row for row in rows if {"question", "answer", "contexts"} & set(row)]
    out = tmp_path_factory.mktemp("spending")
    same = {"metrics": metrics, "plan": plan}
    whole = run(out / "whole", rows, truth, **same)
    paced = run(out / "paced", rows, truth, pace=seed, concurrency=concurrency, **same)
    assert paced["tokens"] == whole["tokens"]
    broken = run(out / "broken", rows, truth, pace=seed, stop=stop, concurrency=concurrency, **same)
    resumed = run(out / "broken", rows, truth, **same)
    for tokens_ in (whole["tokens"], broken["tokens"], resumed["tokens"]):
        totals = {name: tokens_[name] for name in PARTS[1:]}
        for parts in (tokens_["by_metric"], tokens_["by_kind"]):
            assert {name: value for name, value in summed(parts).items() if name in totals} == totals
    for told in (whole, broken, resumed):
        for parts in (told["tokens"]["by_metric"], told["tokens"]["by_kind"]):
            assert summed(parts)["requests"] == told["counts"]["requests"]
    assert resumed["tokens"]["by_kind"] == whole["tokens"]["by_kind"]
    assert UNASSIGNED not in resumed["tokens"]["by_metric"]


def test_a_shared_request_counts_under_the_first_metric_of_the_run(tmp_path: Path) -> None:
    rows, truth = made(12, 4)
    kinds = {}
    for first, second in (("faithfulness", "answer_correctness"), ("answer_correctness", "faithfulness")):
        told = run(tmp_path / first, rows, truth, metrics=[first, second])["tokens"]["by_metric"]
        alone = run(tmp_path / f"{first}-alone", rows, truth, metrics=[first])["tokens"]["by_metric"]
        assert told[first] == alone[first]
        kinds[first] = told
    assert kinds["faithfulness"]["answer_correctness"]["requests"] < kinds["answer_correctness"]["answer_correctness"]["requests"]


def test_a_killed_call_leaves_what_it_asked_without_a_metric(tmp_path: Path) -> None:
    rows, truth = made(6, 1)
    whole = run(tmp_path / "run", rows, truth)
    path = tmp_path / "run" / "manifest.json"
    path.write_text(json.dumps({name: value for name, value in whole.items() if name != "tokens"}))
    again = run(tmp_path / "run", rows, truth)["tokens"]
    assert again["by_metric"] == {UNASSIGNED: summed(whole["tokens"]["by_metric"])}
    assert again["by_kind"] == whole["tokens"]["by_kind"]


def test_replies_of_earlier_runs_are_not_paid_again(tmp_path: Path) -> None:
    rows, truth = made(3, 2)
    judge = Metered.from_dict(truth)
    judge.requested = {}  # type: ignore[attr-defined]
    for name in ("first", "second"):
        ragstone.evaluate(rows, judge=judge, embeddings=Flat(), metrics=FIVE, out=tmp_path / name, cache=str(tmp_path / "cache"))
    first, second = manifest(tmp_path / "first"), manifest(tmp_path / "second")
    assert first["tokens"]["prompt"] > 0
    assert second["tokens"] == {"prompt": 0, "completion": 0, "cached": 0, "unknown": 0, "by_kind": {}, "by_metric": {}}
    assert second["counts"]["from_cache"] > 0
