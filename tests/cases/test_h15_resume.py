"""H15: a run that was killed goes on: nothing finished is asked again, and the file ends as that of an unbroken run."""

import subprocess
import sys
import threading
import time

import pytest
from support.server import HANG
from support.told_rows import Told, shared_out

ROWS = [shared_out(f"row-{n:02}-", n % 4, 3, "zh" if n % 3 else "en") for n in range(30)]


def unbroken(lab, server, metrics="faithfulness", rows=ROWS):
    done = lab.ask(server, lab.write(rows), metrics=metrics, out="unbroken")
    return (done.folder / "scores.jsonl").read_bytes(), [call.seen.user for call in server.calls]


@pytest.mark.parametrize("after", [18])
def test_h15_kill_9_after_18_rows(lab, after):
    held = threading.Event()

    def hold(call):
        if any(call.about(row.id) for row in ROWS[after:]):
            held.set()
            return HANG
        return None

    with lab.server(ROWS, hold) as server:
        command = [sys.executable, "-m", "ragstone", "evaluate", str(lab.write(ROWS)), "--out", "run", "--judge", "m", "--no-cache", "--quiet"]
        command += ["--base-url", server.url, "--metrics", "faithfulness", "--concurrency", "4", "--embeddings", "e"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert held.wait(30)
        scores = lab.folder / "run" / "scores.jsonl"
        while scores.read_bytes().count(b"\n") < after:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.005)
        process.kill()
        process.communicate(timeout=30)
        server.fault, before = None, len(server.calls)
        finished = {call.seen.user for call in server.calls if not any(call.about(row.id) for row in ROWS[after:])}
        done = lab.ask(server, lab.folder / "samples.jsonl", "--concurrency", "4")
        again = [call.seen.user for call in server.calls[before:]]
        assert not finished & set(again)
        assert len(again) == 2 * (30 - after)
        assert (scores.read_bytes(), done.code) == (unbroken(lab, server)[0], 0)


def tear(path, keep):
    """Cut a file in the middle of a line, as a kill does."""
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(whole[:keep]) + whole[keep][: len(whole[keep]) // 2])


@pytest.mark.parametrize("metrics", ["faithfulness", "all"])
@pytest.mark.parametrize(("scores", "replies"), [(18, None), (0, None), (18, 40), (29, 11)])
def test_h15_torn_last_lines_are_tolerated(lab, metrics, scores, replies):
    with lab.server(ROWS) as server:
        whole, asked = unbroken(lab, server, metrics)
        before = len(server.calls)
        done = lab.ask(server, lab.folder / "samples.jsonl", metrics=metrics)
        assert len(server.calls) == 2 * before, "another folder, no shared file: asked anew"
        tear(done.folder / "scores.jsonl", scores)
        if replies is not None:
            tear(done.folder / "replies.jsonl", replies)
        before = len(server.calls)
        again = lab.ask(server, lab.folder / "samples.jsonl", metrics=metrics)
        missing = 0 if replies is None else len(asked)
        assert len(server.calls) - before <= missing
    assert (again.folder / "scores.jsonl").read_bytes() == whole


@pytest.mark.parametrize("torn", [b"\n", b"{", b'{"sample_id":"row-00-","metric":"faithf', b'{"key"', '{"sample_id":"青'.encode()[:-1], b"\x00" * 40])
def test_h15_whatever_stands_on_the_last_line(lab, torn):
    with lab.server(ROWS[:4]) as server:
        whole, _ = unbroken(lab, server, rows=ROWS[:4])
        folder = lab.folder / "unbroken"
        for name in ("scores.jsonl", "replies.jsonl"):
            with (folder / name).open("ab") as file:
                file.write(torn)
        before = len(server.calls)
        lab.ask(server, lab.folder / "samples.jsonl", out="unbroken")
        assert len(server.calls) == before
    assert (folder / "scores.jsonl").read_bytes() == whole


def test_h15_failed_cells_stay_unless_asked_for(lab):
    from support.fault_server import error

    def bad(call):
        return error(400, "flagged by moderation", code="content_filter") if call.about("row-05-") else None

    with lab.server(ROWS[:10], bad) as server:
        lab.ask(server, lab.write(ROWS[:10]))
        before, server.fault = len(server.calls), None
        kept = lab.ask(server, lab.folder / "samples.jsonl")
        assert (kept.cell("row-05-"), len(server.calls)) == ("blocked", before)
        done = lab.ask(server, lab.folder / "samples.jsonl", "--retry-failed")
        assert done.cell("row-05-") == pytest.approx(1 / 3)
        assert len(server.calls) == before + 2


def test_h15_new_rows_and_new_metrics_are_added_and_changed_rows_asked_again(lab):
    with lab.server(ROWS) as server:
        lab.ask(server, lab.write(ROWS[:10]))
        before = len(server.calls)
        more = lab.ask(server, lab.write(ROWS[:12]))
        assert len(server.calls) - before == 4
        assert len(more.values()) == 12
        before = len(server.calls)
        lab.ask(server, lab.folder / "samples.jsonl", metrics="faithfulness,context_recall")
        assert all(call.kind in ("split_claims", "check_claims") and "公告" in call.seen.user + "公告" for call in server.calls[before:])
        assert len(server.calls) - before == 24
        before = len(server.calls)
        changed = [Told({**ROWS[0].row, "answer": ROWS[1].row["answer"]}, {}), *ROWS[1:12]]
        path = lab.folder / "samples.jsonl"
        import json

        path.write_text("".join(json.dumps(told.row, ensure_ascii=False) + "\n" for told in changed), encoding="utf-8")
        done = lab.ask(server, path, metrics="faithfulness,context_recall")
        assert done.cell("row-00-") == 0.0, "the other row's claims stand in none of its contexts"
        assert len(server.calls) - before <= 2
