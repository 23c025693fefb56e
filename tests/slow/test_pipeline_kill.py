"""kill -9 wherever a pipeline leaves a trace: the next call ends as if nothing had happened, and asks again only what was under way."""

import csv
import os
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from support.pipelines import IDS, Lab, judging, lab
from support.truth_server import TruthServer

import ragstone

pytestmark = pytest.mark.slow

DYING = """
import os, signal
import ragstone.store as store
real, left = store.write_atomically, [{at}]
def write(*args, **named):
    left[0] -= 1
    if left[0] == 0 and not {after}:
        os.kill(os.getpid(), signal.SIGKILL)
    real(*args, **named)
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
store.write_atomically = write
"""
"""Dies at the n-th file that is written whole, before it or after it."""
AT_ONCE = 4
"""Requests to the judge under way at a time, as the pipeline's file says."""
TEXTS = ("id", "question", "answer", "contexts", "reference", "team")
METRICS = ("faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness")


@pytest.fixture(scope="module")
def judge() -> Iterator[TruthServer]:
    with judging() as found:
        yield found


@pytest.fixture
def made(tmp_path: Path, judge: TruthServer) -> Iterator[Lab]:
    with lab(tmp_path, judge) as found:
        yield found


def finish(made: Lab, code: str = "", *args: str) -> int:
    process = made.start(code, *args)
    _, err = process.communicate(timeout=300)
    assert process.returncode in (0, -signal.SIGKILL), err.decode()
    return process.returncode


def outcome(made: Lab) -> dict[str, Any]:
    """What a pipeline left behind, without what names this run or this moment."""
    (folder,) = made.runs()
    scores = [orjson.loads(line) for line in (folder / "scores.jsonl").read_bytes().splitlines()]
    cells = {(row["sample_id"], row["metric"]): (row["status"], row["value"]) for row in scores}
    held = made.langfuse.langfuse
    files = (path.relative_to(folder).as_posix().replace(folder.name, "RUN") for path in folder.rglob("*") if path.is_file())
    with next((folder / "exports").glob("*.csv")).open(encoding="utf-8-sig", newline="") as table:
        rows = [{name: row[name] for name in row if name.startswith((*TEXTS, *METRICS))} for row in csv.DictReader(table)]
    return {
        "cells": cells,
        "lines": len(scores),
        "files": sorted(re.sub(r"langfuse-[0-9a-f]{8}", "langfuse-HOST", name) for name in files),
        "rows": rows,
        "steps": {step: record["exit_code"] for step, record in made.index()["runs"][0]["steps"].items()},
        "held": held.held(),
        "orphans": held.orphans(),
        "sent": sorted((score["name"], score["value"]) for score in held.scores()),
    }


def asked_more_than_once(made: Lab) -> dict[str, int]:
    return {question: count for question, count in made.application.asked.items() if count > 1}


def judged_more_than_once(made: Lab) -> int:
    bodies = Counter(orjson.dumps(body, option=orjson.OPT_SORT_KEYS) for body in made.judge.chats)
    return sum(count - 1 for count in bodies.values())


@pytest.fixture(scope="module")
def unkilled(tmp_path_factory: pytest.TempPathFactory, judge: TruthServer) -> dict[str, Any]:
    with lab(tmp_path_factory.mktemp("whole"), judge) as made:
        assert finish(made) == 0
        assert asked_more_than_once(made) == {}
        assert judged_more_than_once(made) == 0
        return outcome(made)


def test_killed_at_every_file_that_is_written(made: Lab, unkilled: dict[str, Any]) -> None:
    """Each call gets one file further than the one before, dying before it and after it in turn."""
    at, deaths = 1, 0
    while finish(made, DYING.format(at=at, after=deaths % 2 == 1)) != 0:
        deaths += 1
        at = 1 + deaths // 2
        assert deaths < 100
    assert deaths > 5
    assert outcome(made) == unkilled
    assert asked_more_than_once(made) == {}
    assert judged_more_than_once(made) <= AT_ONCE * deaths, "more asked again than were under way"


@pytest.mark.parametrize("at", range(1, 26, 3))
def test_killed_once_at_a_file(made: Lab, unkilled: dict[str, Any], at: int) -> None:
    if finish(made, DYING.format(at=at, after=at % 2 == 0)) != 0:
        assert finish(made) == 0
    assert outcome(made) == unkilled
    assert asked_more_than_once(made) == {}
    assert judged_more_than_once(made) <= AT_ONCE, "more asked again than were under way"


# ------------------------------------------------------------------ while somebody is being asked
def killed_when(made: Lab, hook: Callable[[Callable[[], None]], None]) -> int:
    """Start a call that is killed as soon as the hook says so."""
    process = made.start("")
    hook(lambda: os.kill(process.pid, signal.SIGKILL))
    _, err = process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL, err.decode()
    return process.returncode


@pytest.mark.parametrize("nth", [1, 3, len(IDS)])
def test_killed_while_collecting(made: Lab, unkilled: dict[str, Any], nth: int) -> None:
    def hook(kill: Callable[[], None]) -> None:
        made.application.before = lambda _: kill() if made.application.asked.total() == nth else None

    killed_when(made, hook)
    made.application.before = lambda _: None
    assert finish(made) == 0
    assert outcome(made) == unkilled
    assert sum(asked_more_than_once(made).values()) <= 2 * 2, "more asked again than were under way"


@pytest.mark.parametrize("nth", [1, 10, 25])
def test_killed_while_judging(made: Lab, unkilled: dict[str, Any], nth: int) -> None:
    def hook(kill: Callable[[], None]) -> None:
        made.judge.instead = lambda body: kill() if len(made.judge.chats) >= nth else None

    killed_when(made, hook)
    made.judge.instead = lambda body: None
    assert finish(made) == 0
    assert outcome(made) == unkilled
    assert asked_more_than_once(made) == {}
    assert judged_more_than_once(made) <= AT_ONCE


@pytest.mark.parametrize("nth", [3, 5, 8, 12, 14])
def test_killed_while_sending(made: Lab, unkilled: dict[str, Any], nth: int) -> None:
    script = made.langfuse.langfuse

    def hook(kill: Callable[[], None]) -> None:
        def serve(asked: Any) -> Any:
            reply = script(asked)
            if len(made.langfuse.seen) == nth:
                kill()
            return reply

        made.langfuse.script = serve

    killed_when(made, hook)
    made.langfuse.script = script
    assert finish(made) == 0
    assert outcome(made) == unkilled
    assert asked_more_than_once(made) == {}
    assert judged_more_than_once(made) == 0


def test_killed_while_asking_anew_the_plain_call_goes_on(made: Lab) -> None:
    assert finish(made) == 0
    made.application.prompt = " Please call us."

    def hook(kill: Callable[[], None]) -> None:
        made.application.before = lambda _: kill() if made.application.asked.total() == len(IDS) + 3 else None

    process = made.start("", "--from", "collect")
    hook(lambda: os.kill(process.pid, signal.SIGKILL))
    process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL
    made.application.before = lambda _: None
    assert finish(made) == 0
    assert len(made.runs()) == 2
    answers = [row["answer"] for row in ragstone.load(made.runs()[1]).samples or ()]
    assert all(answer.endswith(" Please call us.") for answer in answers)
    assert max(made.application.asked.values()) <= 3
    assert (made.runs()[1] / "comparison.json").is_file()
