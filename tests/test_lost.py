"""Cells lost to trouble that passes: which get one more try, and that all else stays as it was."""

from pathlib import Path
from typing import Any

import pytest
from support.fault_server import Call, Fault, FaultServer, error, reply
from support.needs import sample
from support.server import Answer
from support.told_rows import shared_out, table

import ragstone
from ragstone.lost import MOST, OTHERS, PASSING, Lost
from ragstone.metrics.faithfulness import Faithfulness
from ragstone.plans.base import Case
from ragstone.replay import replay
from ragstone.types import Score

FAITHFULNESS = Faithfulness()
ROWS = [shared_out(f"row-{n:02}-", n % 4, 3, "zh" if n % 2 else "en") for n in range(12)]


def case(number: int, repeat: int = 0) -> Case:
    return Case(sample(answer="a").model_copy(update={"id": f"s{number}"}), "zh", repeat)


def failed(reason: str) -> Score:
    return Score(sample_id="s", metric="faithfulness", status="failed", reason=reason)


def lost(count: int, reason: str = "timeout") -> Lost:
    found = Lost()
    for number in range(count):
        found.note(case(number), FAITHFULNESS, {}, failed(reason))
    return found


@pytest.mark.parametrize(
    ("score", "again"),
    [
        *((failed(reason), True) for reason in sorted(PASSING)),
        *((failed(reason), False) for reason in ("budget", "blocked", "too_long", "truncated", "verdicts 1/2", "collect:timeout")),
        (Score(sample_id="s", metric="m", status="ok", value=0.0), False),
        (Score(sample_id="s", metric="m", status="not_applicable", reason="bad_reply"), False),
    ],
)
def test_only_failures_that_may_pass_count(score: Score, again: bool) -> None:
    found = Lost()
    found.note(case(0), FAITHFULNESS, {}, score)
    assert bool(found.worth_another_try(1000)) == again


@pytest.mark.parametrize(
    ("count", "troubles", "again"),
    [(0, 50, 0), (1, OTHERS - 1, 0), (1, OTHERS, 1), (3, 3 * OTHERS - 1, 0), (3, 3 * OTHERS, 3), (MOST, 10**6, MOST), (MOST + 1, 10**6, 0)],
)
def test_another_try_needs_trouble_that_mostly_passed(count: int, troubles: int, again: int) -> None:
    assert len(lost(count).worth_another_try(troubles)) == again


def test_the_cells_of_a_case_come_together_and_repeats_apart() -> None:
    found = Lost()
    metrics: list[Any] = [Faithfulness(), Faithfulness()]
    for metric in metrics:
        found.note(case(1), metric, {"answer": 5}, failed("timeout"))
    found.note(case(1, repeat=1), FAITHFULNESS, {}, failed("timeout"))
    assert found.worth_another_try(1000) == [(case(1), metrics, {"answer": 5}), (case(1, 1), [FAITHFULNESS], {})]


# ------------------------------------------------------------------ whole runs
def evaluate(folder: Path, fault: Fault, **more: Any) -> tuple[ragstone.Run, list[str]]:
    """Evaluate all rows; returns the run and the user texts of all chat requests."""
    said: list[str] = []

    def heard(call: Call) -> Answer | None:
        said.append(call.seen.user)
        return fault(call)

    with FaultServer(table(ROWS), heard) as server:
        url = {"judge": "m", "base_url": server.url, "embeddings": "e"}
        run = ragstone.evaluate([told.row for told in ROWS], out=folder, no_cache=True, retries=1, **url, **more)
    return run, said


def unlucky(call: Call) -> Answer | None:
    """Every request fares badly the first time; one of them the second time as well."""
    twice = call.kind == "split_claims" and call.input["of"] == "answer" and call.about("row-03-")
    return error(500, "internal error") if call.nth < 1 + twice else None


def test_a_cell_that_had_bad_luck_is_measured_in_the_end(tmp_path: Path) -> None:
    told: list[ragstone.Progress] = []
    run, _ = evaluate(tmp_path / "run", unlucky, on_progress=told.append)
    assert [score for score in run.scores if score.status == "failed"] == []
    assert max(now.failed for now in told) > 0, "it was lost for a while"
    assert (told[-1].done, told[-1].total, told[-1].failed) == (60, 60, 0)
    lines = (tmp_path / "run/scores.jsonl").read_bytes().splitlines()
    assert len(lines) == 60, "the last line of a cell counts"
    assert replay(tmp_path / "run").changed == []


def test_one_bad_text_in_fair_weather_gets_its_four_asks_and_no_more(tmp_path: Path) -> None:
    run, said = evaluate(tmp_path / "run", lambda call: reply("Sorry.") if call.about("row-03-") else None)
    assert {score.reason for score in run.scores if score.sample_id.startswith("row-03-") and score.status == "failed"} == {"bad_reply"}
    assert len(said) == len(set(said))


def test_trouble_that_lasts_is_not_met_once_more(tmp_path: Path) -> None:
    run, said = evaluate(tmp_path / "run", lambda call: error(500, "internal error") if call.about("row-0") else None)
    assert {score.reason for score in run.scores if score.status == "failed"} == {"server_error"}
    assert max(said.count(user) for user in said) == 2
