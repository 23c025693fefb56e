"""H12 and H13: demanded waits are kept, a request that is never answered costs one cell, an interrupt ends at once."""

import os
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

TWENTY = [shared_out(f"row-{n:02}-", n % 4, 3, "zh" if n % 2 else "en") for n in range(20)]
TRUE = [(n % 4) / 3 for n in range(20)]


def limited(times, **headers):
    """Refuses each distinct request so many times; `moments` are when it was asked."""
    moments = defaultdict(list)

    def fault(call):
        moments[call.seen.user].append(time.monotonic())
        return error(429, "Too many requests", **headers) if call.nth < times else None

    fault.moments = moments
    return fault


def gaps(fault):
    return [later - earlier for asked in fault.moments.values() for earlier, later in pairwise(asked)]


@pytest.mark.parametrize(("headers", "wait"), [({"Retry_After": "1"}, 1.0), ({"retry_after_ms": "700", "Retry_After": "9"}, 0.7)])
def test_h12_every_cell_is_measured_and_every_wait_kept(lab, headers, wait):
    fault = limited(1, **headers)
    done = lab.evaluate(TWENTY, fault, "--concurrency", "8", metrics="context_precision")
    assert [bool(n % 4) for n in range(20)] == done.values("context_precision")
    assert len(gaps(fault)) == 20
    assert min(gaps(fault)) >= wait
    assert max(gaps(fault)) < wait + 5
    assert done.manifest["counts"]["rate_limits"] == 20
    assert "20" in next(line for line in done.out.splitlines() if "429" in line)
    assert done.server.most_at_once <= 8


@pytest.mark.slow
@pytest.mark.parametrize("concurrency", ["1", "8"])
def test_h12_twice_refused_all_five_metrics(lab, concurrency):
    fault = limited(2, Retry_After="1")
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
@pytest.mark.parametrize("never", [HANG, DRIP], ids=["silence", "blank lines"])
def test_h13_one_request_that_is_never_answered_costs_one_cell(lab, never):
    began = time.monotonic()
    lost = TWENTY[7].id
    done = lab.evaluate(TWENTY, lambda call: never if call.about(lost) else None, "--timeout", "0.5", "--retries", "0")
    assert time.monotonic() - began < 10
    assert done.cell(lost) == "timeout"
    assert [value for n, value in enumerate(done.values()) if n != 7] == pytest.approx([v for n, v in enumerate(TRUE) if n != 7])
    shown = lab.summary(done)["faithfulness"]
    assert (shown["n"], shown["failed"], shown["reasons"]) == (19, 1, {"timeout": 1})
    assert done.code == 0, "19 of 20 is the limit of 95 %"


@pytest.mark.parametrize("kind", ["split_claims", "check_claims"])
def test_h13_the_first_of_all_requests_may_be_the_silent_one(lab, kind):
    silent = []

    def fault(call):
        if call.kind == kind and not silent:
            silent.append(call.seen.user)
        return HANG if silent and call.seen.user == silent[0] else None

    done = lab.evaluate(TWENTY[:8], fault, "--timeout", "0.5", "--retries", "0", "--concurrency", "4")
    assert sorted(str(v) for v in done.values()).count("timeout") == 1
    assert done.code == 1


def test_h13_asked_again_after_the_silence(lab):
    done = lab.evaluate(FOUR, lambda call: HANG if call.about("Kurhaus") and call.nth == 0 else None, "--timeout", "0.5")
    assert (done.code, done.values()) == (0, [1.0] * 4)


def test_h13_a_body_that_never_ends_is_a_timeout_too(lab):
    slow = Answer(200, reply("x").body, after=30)
    done = lab.evaluate(FOUR, lambda call: slow if call.about("Kurhaus", "Parken") else None, "--timeout", "0.4", "--retries", "0")
    assert done.values() == [1.0, 1.0, "timeout", 1.0]


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
        assert arrived.wait(30)
        while scores.read_bytes().count(b"\n") < 19:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.005)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert time.monotonic() - sent < 5
        assert (process.returncode, out) == (3, "")
        assert "Traceback" not in err
        code, shown, _ = lab.command(["show", "run", "--json"])
        assert code == 0
        assert '"interrupted":1' in shown.replace(" ", "")
        server.fault, before = None, len(server.calls)
        done = lab.ask(server, lab.folder / "samples.jsonl", "--concurrency", "2", "--embeddings", "local")
    assert done.values() == pytest.approx(TRUE)
    assert all(call.about("row-19-") for call in server.calls[before:])
