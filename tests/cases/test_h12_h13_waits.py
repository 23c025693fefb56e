"""H12 and H13: demanded waits are kept, a request that is never answered costs one cell, an interrupt ends at once."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from itertools import pairwise

import pytest
from support.fault_server import error, reply
from support.server import DRIP, HANG, Answer
from support.told_rows import FOUR, shared_out

import ragstone

TWENTY = [shared_out(f"row-{n:02}-", n % 4, 3, "zh" if n % 2 else "en") for n in range(20)]
TRUE = [(n % 4) / 3 for n in range(20)]


def limited(times, headers):
    """Refuses each distinct request so many times, with the headers of its call; `moments` are when it was asked."""
    moments = defaultdict(list)

    def fault(call):
        moments[call.seen.user].append(time.monotonic())
        return error(429, "Too many requests", **headers(call)) if call.nth < times else None

    fault.moments = moments
    return fault


def gaps(fault, text=""):
    """Seconds between the tries of each request that holds `text`."""
    found = [moments for user, moments in fault.moments.items() if text in user]
    return [later - earlier for asked in found for earlier, later in pairwise(asked)]


def test_h12_every_cell_is_measured_and_every_wait_kept(lab):
    """Even rows are told to wait in seconds, odd ones in milliseconds, which win over seconds."""
    fault = limited(1, lambda call: {"Retry_After": "1"} if call.about("item row") else {"retry_after_ms": "600", "Retry_After": "9"})
    done = lab.evaluate(TWENTY, fault, "--concurrency", "8", metrics="context_precision")
    assert [bool(n % 4) for n in range(20)] == done.values("context_precision")
    assert (len(gaps(fault, "item row")), len(gaps(fault, "编号row"))) == (10, 10)
    assert min(gaps(fault, "item row")) >= 1.0
    assert 0.6 <= min(gaps(fault, "编号row")) <= max(gaps(fault, "编号row")) < 9
    assert done.manifest["counts"]["rate_limits"] == 20
    assert "20" in next(line for line in done.out.splitlines() if re.search(r"\b429\b", line))
    assert done.server.most_at_once <= 8


@pytest.mark.slow
@pytest.mark.parametrize("concurrency", ["1", "8"])
def test_h12_twice_refused_all_five_metrics(lab, concurrency):
    fault = limited(2, lambda call: {"Retry_After": "1"})
    rows = TWENTY if concurrency == "8" else list(FOUR[:1])
    done = lab.evaluate(rows, fault, "--concurrency", concurrency, metrics="all")
    assert done.code == 0
    assert min(gaps(fault)) >= 1.0
    assert done.manifest["counts"]["rate_limits"] == 2 * len(fault.moments)


def test_h12_a_moment_in_the_past_or_nonsense_is_no_reason_to_wait_or_fail(lab):
    turn = iter(["Wed, 21 Oct 2015 07:28:00 GMT", "soon", "-5", "0"] * 5)
    done = lab.evaluate(
        TWENTY[:4], lambda call: error(429, "slow", Retry_After=next(turn)) if call.nth < 1 and call.kind == "split_claims" else None
    )
    assert done.values() == pytest.approx(TRUE[:4])


def test_h12_refused_to_the_end_is_rate_limited_and_counted(lab):
    done = lab.evaluate(FOUR, lambda call: error(429, "busy", Retry_After="0") if call.about("VPN", "token") else None, "--retries", "1")
    assert done.values() == [1.0, 1.0, 1.0, "rate_limited"]
    assert done.manifest["counts"]["rate_limits"] == 2
    assert done.code == 1


def test_h12_other_passing_trouble_is_asked_again(lab):
    statuses = dict(zip((row.id for row in TWENTY), (408, 409, 425, 500, 502, 503, 504, 520, 529), strict=False))

    def fault(call):
        status = next((status for id, status in statuses.items() if call.about(id)), None)
        return error(status, "try later") if status and call.nth == 0 and call.kind == "split_claims" else None

    done = lab.evaluate(TWENTY[:10], fault)
    assert (done.code, done.values()) == (0, pytest.approx(TRUE[:10]))
    assert done.manifest["counts"]["retries"] == 9


# ------------------------------------------------------------------ H13
def test_h13_one_request_that_is_never_answered_costs_one_cell(lab):
    silent = []

    def fault(call):
        if not silent:  # the very first of all requests, which goes out alone
            silent.append(call.seen.user)
        return HANG if call.seen.user == silent[0] else None

    began = time.monotonic()
    done = lab.evaluate(TWENTY, fault, "--timeout", "5", "--retries", "0")
    assert time.monotonic() - began < 60
    lost = done.values().index("timeout")
    assert [value for n, value in enumerate(done.values()) if n != lost] == pytest.approx([v for n, v in enumerate(TRUE) if n != lost])
    shown = lab.summary(done)["faithfulness"]
    assert (shown["n"], shown["failed"], shown["reasons"]) == (19, 1, {"timeout": 1})
    assert done.code == 0, "19 of 20 is the limit of 95 %"


def test_h13_whatever_keeps_a_request_from_ending_is_a_timeout(lab):
    """Silence, blank lines for ever, a reply too late; silence at the first try only is asked again."""
    ways = {"row-03-": HANG, "row-07-": DRIP, "row-11-": Answer(200, reply("x").body, after=60)}

    def fault(call):
        if call.about("row-15-") and call.nth == 0:
            return HANG
        return next((way for id, way in ways.items() if call.about(id) and call.kind == "check_claims"), None)

    done = lab.evaluate(TWENTY, fault, "--timeout", "5", "--retries", "1", "--concurrency", "32")
    assert {row.id: done.cell(row.id) for row in TWENTY if isinstance(done.cell(row.id), str)} == dict.fromkeys(ways, "timeout")
    assert done.cell("row-15-") == 1.0
    assert done.code == 1


@pytest.mark.parametrize("slow", [HANG, DRIP], ids=["silent", "blank lines"])
def test_h13_a_deadline_ends_the_run_with_what_was_done_and_the_same_command_goes_on(lab, slow):
    with lab.server(TWENTY, lambda call: slow if call.about("row-19-") else None) as server:
        began = time.monotonic()
        stopped = lab.ask(server, lab.write(TWENTY), "--deadline", "8", cli=True, finished=False)
        assert time.monotonic() - began < 60
        assert (stopped.code, stopped.out) == (3, "")
        assert "deadline of 8 s" in stopped.err
        assert "19 of 20 cells" in stopped.err
        shown = ragstone.load(stopped.folder).summary().to_dict()["metrics"][0]
        assert (shown["n"], shown["reasons"]) == (19, {"interrupted": 1})
        server.fault, before = None, len(server.calls)
        done = lab.ask(server, lab.folder / "samples.jsonl", "--deadline", "600")
    assert done.values() == pytest.approx(TRUE)
    assert all(call.about("row-19-") for call in server.calls[before:])


@pytest.mark.skipif(os.name == "nt", reason="no such signals there")
def test_h13_ctrl_c_exits_at_once_with_what_was_done_on_disk(lab):
    arrived = threading.Event()

    def fault(call):
        if call.about("row-19-"):
            arrived.set()
            return HANG
        return None

    with lab.server(TWENTY, fault) as server:
        command = [sys.executable, "-m", "ragstone", "evaluate", str(lab.write(TWENTY)), "--out", "run", "--judge", "m"]
        command += ["--base-url", server.url, "--metrics", "faithfulness", "--concurrency", "2", "--no-cache"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        scores = lab.folder / "run" / "scores.jsonl"
        assert arrived.wait(300)
        while scores.read_bytes().count(b"\n") < 19:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.005)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
        assert time.monotonic() - sent < 60
        assert (process.returncode, out) == (3, "")
        assert "Traceback" not in err
        code, shown, _ = lab.command(["show", "run", "--json"])
        assert code == 0
        assert '"interrupted":1' in shown.replace(" ", "")
        server.fault, before = None, len(server.calls)
        done = lab.ask(server, lab.folder / "samples.jsonl", "--concurrency", "2", "--embeddings", "local")
    assert done.values() == pytest.approx(TRUE)
    assert all(call.about("row-19-") for call in server.calls[before:])
