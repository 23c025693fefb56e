"""kill -9 at random points of a collection: no row is lost, and none is asked again whose good answer was written."""

import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from support.rag_server import HANG, Asked, Reply, ThreadedRagServer, fail, tell

ROWS = 500
CONCURRENCY = 8
KILLS = 6
SETTINGS = """
[collect]
platform = "custom"
url = "{url}"
path = "/ask"
body = {{ q = "$question" }}
answer = "text"
contexts = "hits"
context_text = "body"
context_id = "id"
error = "error"
timeout = 2
retries = 3
"""
FAILING = {f"q{n}" for n in range(0, ROWS, 20)}
"""One row in twenty: the application says so in words."""
HANGING = "q137"


class Application:
    """What the server answers; counts the requests of each row, and those it answered well."""

    def __init__(self) -> None:
        self.asked, self.answered = Counter[str](), Counter[str]()
        self._lock = threading.Lock()

    def __call__(self, asked: Asked) -> Reply:
        name = str(asked.body["q"]).split()[1]
        with self._lock:
            self.asked[name] += 1
            nth = self.asked[name]
        if name in FAILING:
            return tell({"error": "retrieval failed"})
        if name == HANGING and nth == 1:
            return HANG
        if int(name[1:]) % 17 == 3 and nth == 1:
            return fail(429, Retry_After="0.1")
        time.sleep(0.002)  # otherwise all is over before anything is killed
        with self._lock:
            self.answered[name] += 1
        return tell({"text": f"answer {name}", "hits": [{"id": f"c-{name}", "body": f"chunk {name}"}]})


def start(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "ragstone", "collect", "gold.jsonl", "--to", "s.jsonl", "--concurrency", str(CONCURRENCY), "--quiet"]
    with (folder / "err").open("wb") as errors:
        return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=errors)


def well_kept(folder: Path) -> set[str]:
    """The rows whose good answer stands in the raw file."""
    raw = folder / "s.jsonl.raw.jsonl"
    whole = raw.read_bytes().rpartition(b"\n")[0].splitlines() if raw.exists() else []
    return {
        line["id"]
        for line in map(orjson.loads, whole)
        if "id" in line and line["trouble"] is None and "text" in (line["received"] or [{"body": ()}])[-1]["body"]
    }


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    rows = [{"id": f"q{n}", "question": f"question q{n} ?", "reference": f"answer q{n}"} for n in range(ROWS)]
    (tmp_path / "gold.jsonl").write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_a_killed_collection_goes_on_where_it_was(folder: Path, seed: int) -> None:
    application, rng, kills = Application(), random.Random(seed), 0
    with ThreadedRagServer(application) as server:
        (folder / "ragstone.toml").write_text(SETTINGS.format(url=server.url))
        while True:
            kept, before = well_kept(folder), Counter(application.asked)
            process = start(folder)
            if kills < KILLS:
                while process.poll() is None and sum(application.asked.values()) == before.total():
                    time.sleep(0.005)
                time.sleep(rng.uniform(0, 0.4))
                process.send_signal(signal.SIGKILL)
            code = process.wait(120)
            again = {name for name in kept if application.asked[name] > before[name]}
            assert again == set(), "asked again after their answer was written"
            if code != -signal.SIGKILL:
                break
            kills += 1
        assert code == 0, (folder / "err").read_text()
    assert kills == KILLS
    samples = [orjson.loads(line) for line in (folder / "s.jsonl").read_bytes().splitlines()]
    assert [row["id"] for row in samples] == [f"q{n}" for n in range(ROWS)]
    for row in samples:
        if row["id"] in FAILING:
            assert row["error"].startswith("platform_error: ")
            assert row["contexts"] is None
        else:
            wanted = (f"answer {row['id']}", [f"chunk {row['id']}"], [f"c-{row['id']}"], None)
            assert (row["answer"], row["contexts"], row["context_ids"], row["error"]) == wanted
    assert application.asked[HANGING] >= 2
    assert all(application.asked[f"q{n}"] >= 2 for n in range(3, ROWS, 17) if f"q{n}" not in FAILING), "429 was met and got over"
    assert application.answered.keys() == {row["id"] for row in samples} - FAILING
    assert sum(count - 1 for count in application.answered.values()) <= kills * CONCURRENCY, "only what was under way at a kill"
