"""A disk that fills up: the run stops with the file named, nothing is lost, and it goes on once there is room.

Run as a script it plays one ending after the other inside a mount namespace of its own, where `DISK` is a small tmpfs:
mounts of a test that dies are gone with it.
"""

import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import orjson
import pytest

GOLD = Path(str(files("ragstone").joinpath("gold")))
STEPS = 9
PAGE = 4096


def ragstone(*args: object, **limits: int) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        import resource

        for name, value in limits.items():
            resource.setrlimit(getattr(resource, name), (value, value))

    command = [sys.executable, "-m", "ragstone", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "RAGSTONE_LANG": "en"}, preexec_fn=limit, check=False)


def evaluate(run: Path, **limits: int) -> subprocess.CompletedProcess[str]:
    truth = f"scripted:{GOLD / 'truth.json'}"
    return ragstone("evaluate", GOLD / "samples.jsonl", "--out", run, "--quiet", "--judge", truth, "--embeddings", truth, **limits)


def held(run: Path, name: str) -> bytes:
    return (run / name).read_bytes() if (run / name).exists() else b""


def pages(path: Path) -> int:
    """The bytes that a file takes on a tmpfs."""
    return -(-path.stat().st_size // PAGE) * PAGE


def stops_in_order(run: Path, ended: subprocess.CompletedProcess[str]) -> str:
    """Check what a run leaves that found no room, and return the name of the file that had none."""
    assert ended.returncode == 3, ended.stderr
    told = re.search(rf"cannot write {re.escape(str(run))}/(\S+): (No space left on device|File too large)\. .*make room", ended.stderr)
    assert told, ended.stderr
    assert not list(run.rglob("*.part"))
    for name in ("samples.jsonl", "replies.jsonl", "scores.jsonl"):
        lines = held(run, name)
        assert lines == b"" or lines.endswith(b"\n")
        assert all(isinstance(orjson.loads(line), dict) for line in lines.splitlines())
    shown = ragstone("show", run)
    assert shown.returncode == (0 if (run / "scores.jsonl").exists() else 2), shown.stderr
    assert "Traceback" not in shown.stderr
    return told[1]


def goes_on(run: Path, replies: bytes, scores: bytes) -> None:
    """Check that the run ends as one that never stopped, and asks nothing again."""
    ended = evaluate(run)
    assert ended.returncode == 0, ended.stderr
    assert held(run, "scores.jsonl") == scores
    assert held(run, "replies.jsonl").startswith(replies)
    keys = [orjson.loads(line)["key"] for line in held(run, "replies.jsonl").splitlines()]
    assert len(keys) == len(set(keys))
    assert ragstone("replay", run).returncode == 0


@pytest.mark.slow
def test_files_that_may_not_grow_stop_a_run_and_lose_nothing(tmp_path: Path) -> None:
    assert evaluate(tmp_path / "unbroken").returncode == 0
    scores, seen = held(tmp_path / "unbroken", "scores.jsonl"), set()
    sizes = sorted((tmp_path / "unbroken" / name).stat().st_size for name in ("samples.jsonl", "scores.jsonl", "replies.jsonl"))
    for number, size in enumerate((sizes[0] // 2, sizes[0] + 100, sizes[1] // 2, sizes[1] + 100, sizes[2] - 100)):
        run = tmp_path / str(number)
        seen.add(stops_in_order(run, evaluate(run, RLIMIT_FSIZE=size)))
        goes_on(run, held(run, "replies.jsonl"), scores)
    assert len(seen) >= 2, seen


@pytest.mark.slow
def test_a_full_disk_stops_a_run_and_loses_nothing(tmp_path: Path) -> None:
    apart = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    tried = subprocess.run(
        [*apart, "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert tried.returncode == 0, f"this test needs root or user namespaces, to mount a small disk: {tried.stderr}"
    played = subprocess.run([*apart, sys.executable, __file__, str(tmp_path)], capture_output=True, text=True, check=False)
    assert played.returncode == 0, played.stdout + played.stderr
    assert set(played.stdout.split()) >= {"samples.jsonl", "replies.jsonl", "scores.jsonl"}, played.stdout


def play(folder: Path) -> None:
    """Let disks of growing sizes run full; print the file that found no room on each."""
    assert evaluate(folder / "unbroken").returncode == 0
    scores = held(folder / "unbroken", "scores.jsonl")
    parts = {path.name: pages(path) for path in (folder / "unbroken").rglob("*") if path.is_file()}
    whole = sum(parts.values())
    disk = folder / "disk"
    disk.mkdir()
    # the last sizes hold the whole run, but not the copy that puts its scores in order
    for size in (*range(4 * PAGE, whole, whole // STEPS), whole + PAGE, whole + parts["scores.jsonl"] // 2):
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)], check=True)
        run = disk / "run"
        print(stops_in_order(run, evaluate(run)))
        replies = held(run, "replies.jsonl")
        still_full = evaluate(run)
        assert still_full.returncode == 3, still_full.stderr
        assert held(run, "replies.jsonl").startswith(replies)
        subprocess.run(["mount", "-o", f"remount,size={4 * whole}", str(disk)], check=True)
        goes_on(run, replies, scores)
        subprocess.run(["umount", str(disk)], check=True)


if __name__ == "__main__":
    play(Path(sys.argv[1]))
