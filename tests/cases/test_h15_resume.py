"""H15: a run that was killed goes on: nothing finished is asked again, and the file ends as that of an unbroken run."""

import json
import subprocess
import sys
import time

import pytest
from support.fault_server import error, reply
from support.server import HANG
from support.told_rows import Told, shared_out

ROWS = [shared_out(f"row-{n:02}-", n % 4, 3, "zh" if n % 3 else "en") for n in range(30)]


def unbroken(lab, server, metrics="faithfulness", rows=ROWS):
    done = lab.ask(server, lab.write(rows), metrics=metrics, out="unbroken")
    return (done.folder / "scores.jsonl").read_bytes(), [call.seen.user for call in server.calls]


def test_h15_kill_9_after_18_rows(lab):
    def slowly(call):
        if any(call.about(row.id) for row in ROWS[24:]):
            return HANG  # however late the kill comes, the run has not ended
        late = any(call.about(row.id) for row in ROWS[18:])
        return reply(call.good, after=0.15) if late else None

    with lab.server(ROWS, slowly) as server:
        command = [
            sys.executable,
            "-m",
            "ragstone",
            "evaluate",
            str(lab.write(ROWS)),
            "--out",
            "run",
            "--judge",
            "m",
            "--no-cache",
            "--quiet",
        ]
        command += ["--base-url", server.url, "--metrics", "faithfulness", "--concurrency", "4", "--embeddings", "e"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        scores = lab.folder / "run" / "scores.jsonl"
        while not scores.exists() or scores.read_bytes().count(b"\n") < 18:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.005)
        process.kill()
        process.communicate(timeout=300)
        finished = {json.loads(line)["sample_id"] for line in scores.read_bytes().splitlines() if line.endswith(b"}")}
        assert 18 <= len(finished) < 30
        held = {json.loads(line)["key"] for line in (lab.folder / "run/replies.jsonl").read_bytes().splitlines() if line.endswith(b"}")}
        server.fault, before = None, len(server.calls)
        done = lab.ask(server, lab.folder / "samples.jsonl", "--concurrency", "4")
        assert not [call for call in server.calls[before:] if any(call.about(id) for id in finished)]
        keys = [row["key"] for row in done.replies]
        assert held < set(keys)
        assert len(keys) == len(set(keys)), "no answer was asked for twice"
        assert (scores.read_bytes(), done.code) == (unbroken(lab, server)[0], 0)


def tear(path, keep):
    """Cut a file in the middle of a line, as a kill does."""
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(whole[:keep]) + whole[keep][: len(whole[keep]) // 2])


@pytest.mark.parametrize(
    ("scores", "replies", "metrics"),
    [(18, None, "faithfulness"), (0, None, "all"), (4, 9, "all"), (18, 40, "faithfulness"), (29, 11, "faithfulness")],
)
def test_h15_torn_last_lines_are_tolerated(lab, scores, replies, metrics):
    rows = ROWS if metrics == "faithfulness" else ROWS[:6]
    with lab.server(rows) as server:
        whole, asked = unbroken(lab, server, metrics, rows)
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


@pytest.mark.parametrize(
    "torn", [b"{", b'{"sample_id":"row-00-","metric":"faithf', b'{"key"', '{"sample_id":"青'.encode()[:-1], b"\x00" * 40]
)
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
        assert {call.kind for call in server.calls[before:]} == {"split_claims", "check_claims"}
        assert len(server.calls) - before == 24
        before = len(server.calls)
        changed = [Told({**ROWS[0].row, "answer": ROWS[1].row["answer"]}, {}), *ROWS[1:12]]
        path = lab.folder / "samples.jsonl"
        path.write_text("".join(json.dumps(told.row, ensure_ascii=False) + "\n" for told in changed), encoding="utf-8")
        done = lab.ask(server, path, metrics="faithfulness,context_recall")
        assert done.cell("row-00-") == 0.0, "the other row's claims stand in none of its contexts"
        assert len(server.calls) - before <= 2
