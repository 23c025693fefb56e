"""kill -9 at random points: the resumed run ends as an unbroken one, and asks nothing again that was answered."""

import random
import signal
import sqlite3
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path

import orjson
import pytest
from support.scores import reply_rows
from support.truth_server import TruthServer, serving

from ragstone.cache_file import NAME

GOLD = Path(str(files("ragstone").joinpath("gold")))


def start(server: TruthServer, run: Path, cache: Path | None) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "ragstone", "evaluate", str(GOLD / "samples.jsonl"), "--out", str(run), "--quiet"]
    command += ["--judge", "truth", "--base-url", server.base_url, "--embeddings", "e", "--concurrency", "4"]
    command += ["--cache", str(cache)] if cache else ["--no-cache"]
    with run.with_suffix(".err").open("wb") as errors:
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)


def answered(run: Path) -> set[str]:
    """The questions that were answered in full before the process died."""
    if not (run / "replies.jsonl").exists():
        return set()
    whole = (run / "replies.jsonl").read_bytes().rpartition(b"\n")[0].splitlines()
    return {
        row["kind"] + orjson.dumps(row["input"]).decode()
        for row in map(orjson.loads, whole)
        if row["error"] is None and row["kind"] != "cosine"
    }


@pytest.mark.slow
@pytest.mark.parametrize(("cached", "points"), [(True, 50), (False, 10)], ids=["cache", "no-cache"])
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path, cached: bool, points: int) -> None:
    truth = orjson.loads((GOLD / "truth.json").read_bytes())
    with serving(truth, delay_s=0.03) as server:
        unbroken = start(server, tmp_path / "unbroken", None)
        assert unbroken.wait(120) == 0, (tmp_path / "unbroken.err").read_text()
        asked_in_all = len(server.chats)
        assert asked_in_all > 100
        rng, kills, rounds = random.Random(20261130), 0, 0
        while kills < points:
            run, cache = tmp_path / f"broken{rounds}", tmp_path / f"cache{rounds}" if cached else None
            kills += _break(server, run, cache, rng, points - kills)
            rounds += 1
            assert (run / "scores.jsonl").read_bytes() == (tmp_path / "unbroken/scores.jsonl").read_bytes()
            keys = [row["key"] for row in reply_rows(run)]
            assert len(keys) == len(set(keys)), "a question that was answered stands in the file once"
            if cache:
                _another_run(server, tmp_path / f"after{rounds}", cache, asked_in_all)


def _another_run(server: TruthServer, run: Path, cache: Path, asked_in_all: int) -> None:
    """The cache is whole, and gives a later run all but what was on its way at one of the kills."""
    with sqlite3.connect(cache / NAME) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    db.close()
    since = len(server.chats)
    assert start(server, run, cache).wait(120) == 0, run.with_suffix(".err").read_text()
    assert len(server.chats) - since < asked_in_all
    assert any(row["from_cache"] for row in reply_rows(run))


def _break(server: TruthServer, run: Path, cache: Path | None, rng: random.Random, most: int) -> int:
    """Kill the run again and again until it gets through; return how often it was killed while it was working."""
    kills = 0
    while True:
        held, since = answered(run), len(server.chats)
        process = start(server, run, cache)
        if kills < min(most, 7):
            # wait until it is at work, then let chance decide how far it gets
            while process.poll() is None and len(server.chats) == since:
                time.sleep(0.005)
            time.sleep(rng.uniform(0, 0.25))
            process.send_signal(signal.SIGKILL)
        code = process.wait(120)
        assert code in (0, -9), run.with_suffix(".err").read_text()
        assert held <= set(server.inputs()), "what the file holds and what the server saw can be compared"
        again = held & set(server.inputs(since))
        assert again == set(), f"asked again: {sorted(again)[:2]}"
        if code == 0:
            return kills
        kills += 1
