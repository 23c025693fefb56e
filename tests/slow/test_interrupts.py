"""A run ended from outside while the weather is bad: it ends within seconds, nothing is lost, nothing is doubled, and it goes on."""

import contextlib
import signal
import sqlite3
import subprocess
import sys
import time

import orjson
import pytest
from support.fault_server import FaultServer, error, reply
from support.server import HANG, Answer
from support.told_rows import shared_out, table

from ragstone.cache_file import NAME
from ragstone.results import load

pytestmark = pytest.mark.slow

ROWS = [shared_out(f"row-{n:02}-", n % 3, 3, "zh" if n % 2 else "en") for n in range(16)]
GOOD = 6
"""Rows that meet no trouble."""
SOON = 15
"""Seconds within which an interrupted run must have ended; every wait of the server is much longer."""
PAGE = Answer(502, b"<html><title>502</title></html>", {"Retry-After": "90"})
WEATHER = {
    "requests hang": lambda call: HANG,
    "it waits for a repeat": lambda call: error(503, "overloaded", Retry_After="90"),
    "it pauses for a limit": lambda call: error(429, "too many requests", Retry_After="90"),
    "a gateway is down": lambda call: PAGE,
    "replies trickle in": lambda call: reply(call.good, after=0.4),
    "the cache is being written": lambda call: None,
}
ENDS = {"kill": (signal.SIGKILL,), "Ctrl-C": (signal.SIGINT,), "SIGTERM": (signal.SIGTERM,), "Ctrl-C twice": (signal.SIGINT, signal.SIGINT)}


def late(call):
    return any(call.about(row.id) for row in ROWS[GOOD:])


def start(folder, server):
    source = folder / "samples.jsonl"
    source.write_bytes(b"".join(orjson.dumps(row.row) + b"\n" for row in ROWS))
    command = [sys.executable, "-m", "ragstone", "evaluate", str(source), "--out", str(folder / "run"), "--cache", str(folder / "cache")]
    command += ["--judge", "m", "--base-url", server.url, "--embeddings", "e", "--concurrency", "4", "--lang", "en"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def lines(path):
    """The whole lines of a file; a kill may have torn the last one."""
    whole = path.read_bytes().rpartition(b"\n")[0] if path.exists() else b""
    return [orjson.loads(line) for line in whole.splitlines()]


def finish(folder, server):
    """Run the same command to its end."""
    process = start(folder, server)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return (folder / "run" / "scores.jsonl").read_bytes()


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """The scores of a run that nobody ended."""
    with FaultServer(table(ROWS)) as server:
        return finish(tmp_path_factory.mktemp("unbroken"), server)


def wait_for_trouble(process, server, folder):
    """Until some cells are done and the weather was met; then chance has it how far each request is."""
    until = time.monotonic() + 300
    while len(lines(folder / "run" / "scores.jsonl")) < GOOD or sum(map(late, server.calls)) < 3:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < until
        time.sleep(0.005)
    time.sleep(0.2)


@pytest.mark.parametrize("weather", WEATHER)
@pytest.mark.parametrize("end", ENDS)
def test_a_run_that_is_ended_in_bad_weather(tmp_path, unbroken, weather, end):
    with FaultServer(table(ROWS)) as server:
        server.fault = lambda call: WEATHER[weather](call) if late(call) else None
        process = start(tmp_path, server)
        wait_for_trouble(process, server, tmp_path)
        began = time.monotonic()
        for sign in ENDS[end]:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(sign)
            time.sleep(0.05)
        _, err = process.communicate(timeout=300)
        assert time.monotonic() - began < SOON
        finished = b"80/80 cells" in err  # a signal may also meet a process that has nothing left to do but to go
        through = weather in ("the cache is being written", "replies trickle in") and (process.returncode == 0 or finished)
        assert through or process.returncode == (-9 if end == "kill" else 3) or (end == "Ctrl-C twice" and process.returncode < 0), err
        assert b"Traceback" not in err
        done = hold_what_is_left(tmp_path)
        server.fault, before = None, len(server.calls)
        whole = finish(tmp_path, server)
        hold_the_end(tmp_path, server.calls[before:], done)
    assert whole == unbroken


def hold_what_is_left(folder):
    """Every promised cell is counted once; returns the keys that are answered."""
    cells = [(row["sample_id"], row["metric"]) for row in lines(folder / "run" / "scores.jsonl")]
    assert len(cells) == len(set(cells))
    summary = load(folder / "run").summary()
    for metric in summary.metrics:
        assert metric.total == len(ROWS)
        assert metric.n + metric.failed + metric.not_applicable == len(ROWS)
        assert set(metric.reasons) <= {"interrupted", "no_claims"}
    return {row["key"] for row in lines(folder / "run" / "replies.jsonl") if row["error"] is None}


def hold_the_end(folder, calls, keys):
    scores = lines(folder / "run" / "scores.jsonl")
    assert len(scores) == 5 * len(ROWS) == len({(row["sample_id"], row["metric"]) for row in scores})
    assert {row["status"] for row in scores} == {"ok"}
    replies = [row for row in lines(folder / "run" / "replies.jsonl") if row["error"] is None]
    assert len(replies) == len({row["key"] for row in replies}), "what was answered stands in the file once"
    assert keys <= {row["key"] for row in replies}
    answered = {orjson.dumps(row["input"]) for row in replies if row["key"] in keys}
    assert not answered & {call.seen.user.encode() for call in calls}, "nothing that was answered is asked again"
    assert len({call.seen.user for call in calls}) == len(calls)
    with sqlite3.connect(folder / "cache" / NAME) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    db.close()
