"""Runs that share a cache, over HTTP: nothing paid for is paid for again, and nothing is taken that does not fit."""

import asyncio
import contextlib
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from support.scores import reply_rows
from support.truth_server import TruthServer, kind_of, serving

import ragstone
from ragstone.cache import ReplyCache
from ragstone.cache_file import NAME, look
from ragstone.cached import CachedEmbedder
from ragstone.judge.base import Identity
from ragstone.replay import replay
from ragstone.transport.memory import FILE

GOLD = Path(str(files("ragstone").joinpath("gold")))
TRUTH = orjson.loads((GOLD / "truth.json").read_bytes())
ROWS: list[dict[str, Any]] = [orjson.loads(line) for line in (GOLD / "samples.jsonl").read_bytes().splitlines()]
SOME = [r for name in ("zh-list-1", "zh-emergency-2", "zh-contact-1", "en-list-1") for r in ROWS if r["id"] == name]


@pytest.fixture(scope="module")
def truth_server() -> Iterator[TruthServer]:
    with serving(TRUTH) as running:
        yield running


@pytest.fixture
def server(truth_server: TruthServer) -> Iterator[TruthServer]:
    truth_server.chats.clear()
    truth_server.embeddings.clear()
    yield truth_server
    truth_server.instead = lambda body: None


def evaluate(server: TruthServer, out: Path, rows: list[dict[str, Any]] = SOME, **settings: Any) -> tuple[int, int]:
    """Evaluate, and return how many chat and embedding requests it took."""
    before = len(server.chats), len(server.embeddings)
    given = {"judge": "m", "base_url": server.base_url, "embeddings": "e"} | settings
    ragstone.evaluate(rows, out=out, **given)
    return len(server.chats) - before[0], len(server.embeddings) - before[1]


def test_a_second_run_of_the_same_data_asks_nothing_and_gives_the_same(server, tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    assert evaluate(server, first)[0] == len(reply_lines(first))
    assert evaluate(server, second) == (0, 0)
    assert (first / "scores.jsonl").read_bytes() == (second / "scores.jsonl").read_bytes()
    lines = reply_lines(second)
    assert all(line["from_cache"] for line in lines)
    assert {line["key"]: line["raw"] for line in lines} == {line["key"]: line["raw"] for line in reply_lines(first)}
    assert not any(line["from_cache"] for line in reply_rows(first))
    manifest = orjson.loads((second / "manifest.json").read_bytes())
    assert manifest["counts"]["from_cache"] == len(lines)
    assert manifest["counts"]["requests"] == manifest["counts"]["embedding_requests"] == manifest["tokens"]["prompt"] == 0
    assert ragstone.load(second).signature == ragstone.load(first).signature
    assert replay(second).changed == []


def reply_lines(run: Path) -> list[dict[str, Any]]:
    return [line for line in reply_rows(run) if line["kind"] != "cosine"]


OLD, NEW = "保修一年。", "保修三年。"
TWO_ANSWERS: dict[str, Any] = {
    "claims": {OLD: ["保修期为一年"], NEW: ["保修期为三年"], "保修一年，自购买之日起。": ["保修期为一年", "自购买之日起算"]},
    "checks": {
        "保修期为一年": {"supported": ["标准保修：自购买之日起一年。"]},
        "保修期为三年": {"contradicted": ["标准保修：自购买之日起一年。"]},
        "自购买之日起算": {"supported": ["标准保修：自购买之日起一年。"]},
    },
    "useful": {"保修多久？": ["标准保修：自购买之日起一年。"]},
    "matches": {"保修期为一年": {"supported": ["保修期为一年"]}, "保修期为三年": {"contradicted": ["保修期为一年"]}},
    "questions": {OLD: ["保修几年？"] * 3, NEW: ["保修多长时间？"] * 3},
}
ROW = {
    "id": "w",
    "question": "保修多久？",
    "answer": OLD,
    "contexts": ["食堂 11:30 开门。", "标准保修：自购买之日起一年。"],
    "reference": "保修一年，自购买之日起。",
}


def test_changed_answers_ask_nothing_of_the_gold_side(tmp_path):
    with serving(TWO_ANSWERS) as server:
        assert evaluate(server, tmp_path / "a", [ROW])[0] == 7
        chats, embeddings = len(server.chats), len(server.embeddings)
        evaluate(server, tmp_path / "b", [{**ROW, "answer": NEW}])
        asked = server.chats[chats:]
        assert sorted(map(kind_of, asked)) == ["check_claims", "invert_answer", "match_claims", "split_claims"]
        users = [orjson.loads(body["messages"][1]["content"]) for body in asked]
        assert [user["text"] for user in users if "of" in user] == [NEW]
        assert [[claim["text"] for claim in user["claims"]] for user in users if "contexts" in user] == [["保修期为三年"]]
        embedded = [text for body in server.embeddings[embeddings:] for text in body["input"]]
        assert ROW["question"] not in embedded
        assert ROW["reference"] not in embedded
        assert sorted(embedded) == sorted([NEW, "保修多长时间？"])


def test_changed_references_ask_nothing_of_the_answer_side(tmp_path):
    truth = {**TWO_ANSWERS, "claims": {**TWO_ANSWERS["claims"], "一年。": ["保修期为一年"]}}
    with serving(truth) as server:
        evaluate(server, tmp_path / "a", [ROW])
        chats = len(server.chats)
        evaluate(server, tmp_path / "b", [{**ROW, "reference": "一年。"}])
        users = [orjson.loads(body["messages"][1]["content"]) for body in server.chats[chats:]]
        assert sorted(map(kind_of, server.chats[chats:])) == ["match_claims", "rate_contexts", "split_claims"]
        assert [user["text"] for user in users if "of" in user] == ["一年。"]


@pytest.mark.parametrize(
    "other", [{"judge": "m2"}, {"temperature": 0.5}, {"seed_of_judge": 1}, {"extra_body": {"top_k": 1}}, {"max_tokens": 900}], ids=str
)
def test_another_judge_takes_nothing_of_its_replies(server, tmp_path, other, monkeypatch):
    chats, _ = evaluate(server, tmp_path / "a")
    if "seed_of_judge" in other:
        monkeypatch.chdir(tmp_path)
        Path("ragstone.toml").write_text("[judge]\nseed = 1\n")
        other = {}
    assert evaluate(server, tmp_path / "b", **other) == (chats, 0)


def test_another_address_takes_nothing_at_all(server, tmp_path):
    first, _ = evaluate(server, tmp_path / "a")
    with serving(TRUTH) as elsewhere:
        chats, embeddings = evaluate(elsewhere, tmp_path / "b")
        assert chats == first
        assert {text for body in elsewhere.embeddings for text in body["input"]} == {
            text for body in server.embeddings for text in body["input"]
        }
        assert embeddings
        assert not any(line["from_cache"] for line in reply_rows(tmp_path / "b"))


def test_another_embedding_model_takes_no_vectors(server, tmp_path):
    _, embeddings = evaluate(server, tmp_path / "a")
    chats, again = evaluate(server, tmp_path / "b", embeddings="e2")
    assert (chats, bool(again)) == (0, bool(embeddings))


def test_settings_that_change_no_reply_cost_nothing(server, tmp_path):
    evaluate(server, tmp_path / "a")
    free = {"timeout": 5, "retries": 1, "concurrency": 2, "min_coverage": 0.5, "metrics": "context_recall,faithfulness"}
    assert evaluate(server, tmp_path / "b", **free) == (0, 0)


def test_repeats_are_asked_each_for_itself(server, tmp_path):
    chats, embeddings = evaluate(server, tmp_path / "a", SOME[:1])
    again, embedded = evaluate(server, tmp_path / "b", SOME[:1], repeat=2)
    assert (again, embedded) == (chats, 0)
    assert embeddings


def test_no_cache_takes_and_leaves_nothing(server, tmp_path):
    cache = str(tmp_path / "c")
    first = evaluate(server, tmp_path / "a", cache=cache)
    assert evaluate(server, tmp_path / "b", cache=cache, no_cache=True)[0] == first[0]
    assert evaluate(server, tmp_path / "c1", cache=cache) == (0, 0)
    assert evaluate(server, tmp_path / "d", cache=str(tmp_path / "other"))[0] == first[0]


def test_backends_that_do_not_say_what_they_were_asked_for_make_no_cache(tmp_path):
    truth = GOLD / "truth.json"
    ragstone.evaluate(SOME, judge=f"scripted:{truth}", embeddings=f"scripted:{truth}", cache=str(tmp_path / "c"))
    assert not (tmp_path / "c").exists()


# ------------------------------------------------------------------ what is not kept
def completion(content: str, finish: str = "stop") -> tuple[int, dict[str, Any]]:
    return 200, {"choices": [{"message": {"content": content}, "finish_reason": finish}]}


def leave_one_out(body: dict[str, Any]) -> str:
    claims = orjson.loads(body["messages"][1]["content"])["claims"]
    return orjson.dumps({"verdicts": [{"id": claim["id"], "verdict": "supported"} for claim in claims[1:]]}).decode()


@pytest.mark.parametrize(
    "bad",
    [
        lambda body: completion("no JSON at all"),
        lambda body: completion(""),
        lambda body: completion("{", "length"),
        lambda body: completion("", "content_filter"),
        lambda body: completion(leave_one_out(body)),
        lambda body: (500, {"error": {"message": "broken"}}),
    ],
    ids=["unreadable", "empty", "cut", "blocked", "partial", "failed"],
)
def test_what_could_not_be_read_whole_is_asked_again_by_the_next_run(server, tmp_path, bad):
    server.instead = lambda body: bad(body) if kind_of(body) == "check_claims" else None
    evaluate(server, tmp_path / "a", SOME[:1], metrics="faithfulness", retries=0)
    lines = [line for line in reply_rows(tmp_path / "a") if line["kind"] == "check_claims"]
    assert lines
    assert all(line["error"] for line in lines)
    server.instead = lambda body: None
    before = len(server.chats)
    evaluate(server, tmp_path / "b", SOME[:1], metrics="faithfulness")
    assert set(map(kind_of, server.chats[before:])) == {"check_claims"}
    assert ragstone.load(tmp_path / "b").scores[0].status == "ok"


def test_a_cached_reply_that_no_longer_reads_is_asked_anew(server, tmp_path):
    cache = tmp_path / "c"
    evaluate(server, tmp_path / "a", SOME[:1], metrics="faithfulness", cache=str(cache))
    with sqlite3.connect(cache / NAME) as db:
        db.execute("UPDATE entries SET value = ?", (orjson.dumps({"raw": "gone stale", "usage": None, "parameters": {}}),))
    db.close()
    chats, _ = evaluate(server, tmp_path / "b", SOME[:1], metrics="faithfulness", cache=str(cache))
    assert chats == 2
    assert evaluate(server, tmp_path / "d", SOME[:1], metrics="faithfulness", cache=str(cache)) == (0, 0)


# ------------------------------------------------------------------ what the manifest says
def refuse_temperature(body: dict[str, Any]) -> tuple[int, dict[str, Any]] | None:
    return (400, {"error": {"message": "temperature is not supported", "param": "temperature"}}) if "temperature" in body else None


def test_the_manifest_tells_the_parameters_the_cached_replies_were_had_with(server, tmp_path):
    server.instead = refuse_temperature
    evaluate(server, tmp_path / "a")
    assert evaluate(server, tmp_path / "b") == (0, 0)
    first, second = (ragstone.load(tmp_path / name) for name in "ab")
    assert "temperature" in first.manifest["judge"]["parameters"]["dropped"]
    assert second.manifest["judge"]["parameters"] == first.manifest["judge"]["parameters"]
    assert second.signature == first.signature
    assert "t=" not in second.signature


def test_replies_of_two_kinds_of_parameters_are_both_told(server, tmp_path):
    server.instead = refuse_temperature
    cache = tmp_path / "c"
    evaluate(server, tmp_path / "a", SOME[:1], cache=str(cache))
    server.instead = lambda body: None
    (cache / FILE).unlink()  # the endpoint has learned to take it, and the memory of that has run out
    evaluate(server, tmp_path / "b", SOME[:2], cache=str(cache))
    parameters = ragstone.load(tmp_path / "b").manifest["judge"]["parameters"]
    assert parameters["temperature"] == 0
    assert ["temperature" in other["dropped"] for other in parameters["also"]] == [True]


# ------------------------------------------------------------------ several runs
def test_an_interrupted_run_has_filled_the_cache_with_what_it_paid_for(server, tmp_path):
    server.instead = lambda body: (401, {"error": {"message": "key revoked"}}) if len(server.chats) > 8 else None
    with pytest.raises(ragstone.StoppedError):
        evaluate(server, tmp_path / "a", concurrency=1)
    server.instead = lambda body: None
    paid = {line["key"] for line in reply_lines(tmp_path / "a") if line["error"] is None}
    evaluate(server, tmp_path / "b")
    assert paid
    assert paid <= {line["key"] for line in reply_lines(tmp_path / "b") if line["from_cache"]}


def test_what_another_run_was_given_while_a_question_waited_for_its_turn_is_not_asked(tmp_path):
    cache = str(tmp_path / "c")
    with serving(TRUTH, delay_s=0.2) as server, ThreadPoolExecutor(2) as pool:
        fast = pool.submit(evaluate, server, tmp_path / "fast", SOME, cache=cache, concurrency=16)
        slow = pool.submit(evaluate, server, tmp_path / "slow", SOME, cache=cache, concurrency=1)
        fast.result(300), slow.result(300)
        paid = [line for line in reply_lines(tmp_path / "slow") if not line["from_cache"]]
        assert len(paid) < len(reply_lines(tmp_path / "slow")) / 2
        assert (tmp_path / "fast/scores.jsonl").read_bytes() == (tmp_path / "slow/scores.jsonl").read_bytes()


RUN = """
import sys
import ragstone

ragstone.evaluate(sys.argv[1], judge="m", base_url=sys.argv[2], embeddings="e", out=sys.argv[3], cache=sys.argv[4], concurrency=4)
"""


def test_two_processes_on_one_cache_pay_for_nothing_that_is_finished(tmp_path):
    cache = tmp_path / "c"
    with serving(TRUTH, delay_s=0.02) as server:

        def start(name: str) -> subprocess.Popen[str]:
            command = [sys.executable, "-c", RUN, str(GOLD / "samples.jsonl"), server.base_url, str(tmp_path / name), str(cache)]
            return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

        first = start("a")
        while len(server.chats) < 60 and first.poll() is None:
            time.sleep(0.01)
        for run in (first, start("b")):
            _, said = run.communicate(timeout=300)
            assert (run.returncode, said) == (0, "")
        a, b = ((tmp_path / name / "scores.jsonl").read_bytes() for name in "ab")
        assert a == b
        distinct = {line["key"] for line in reply_lines(tmp_path / "a")}
        assert look(cache).replies == len(distinct)
        taken = [line for line in reply_lines(tmp_path / "b") if line["from_cache"]]
        assert len(taken) >= 50, "what was finished before the second one began"
        assert len(server.chats) == 2 * len(distinct) - len(taken) - sum(line["from_cache"] for line in reply_lines(tmp_path / "a"))
        assert evaluate(server, tmp_path / "third", ROWS, cache=str(cache)) == (0, 0)


# ------------------------------------------------------------------ vectors
class Embedding:
    """An embedder that says what it was asked for, and counts."""

    def __init__(self, size: int) -> None:
        self.size, self.requested, self.asked = size, dict[str, Any](), list[str]()

    identity = Identity("e", "http://127.0.0.1/v1")
    requests = 0

    async def embed(self, texts: Any) -> list[Any]:
        self.asked += texts
        return ["embedding_zero" if not text.strip() else np.full(self.size, len(text) / 3, np.float32) for text in texts]

    async def close(self) -> None: ...


async def written(cache: Path, vectors: int) -> None:
    """Wait until so many vectors stand in the file."""
    async with asyncio.timeout(60):
        while look(cache).vectors < vectors:
            await asyncio.sleep(0.01)


async def test_vectors_come_back_to_the_bit_and_failures_are_not_kept(tmp_path):
    cache, inner = ReplyCache(tmp_path / "c", 100), Embedding(5)
    first = await CachedEmbedder(cache, inner).embed(["问题", " ", "问题", "answer"])
    assert inner.asked == ["问题", " ", "answer"]
    await cache.close()
    cache, inner = ReplyCache(tmp_path / "c", 100), Embedding(5)
    second = await CachedEmbedder(cache, inner).embed(["问题", " ", "问题", "answer"])
    assert inner.asked == [" "]
    assert [v if isinstance(v, str) else v.tobytes() for v in second] == [v if isinstance(v, str) else v.tobytes() for v in first]
    await cache.close()


async def test_a_model_that_changed_under_its_name_is_asked_for_all(tmp_path):
    cache = ReplyCache(tmp_path / "c", 100)
    await CachedEmbedder(cache, Embedding(5)).embed(["a"])
    await written(tmp_path / "c", 1)
    grown = Embedding(6)
    vectors = await CachedEmbedder(cache, grown).embed(["a", "bb"])
    assert [v.size for v in vectors] == [6, 6]
    assert grown.asked == ["bb", "a", "bb"]
    await cache.close()


async def test_once_the_new_length_is_known_no_old_vector_is_used_and_it_is_told(tmp_path):
    cache = ReplyCache(tmp_path / "c", 100)
    before = CachedEmbedder(cache, Embedding(5))
    await before.embed(["a", "b", "ccc"])
    assert before.notices == []
    await written(tmp_path / "c", 3)
    grown = Embedding(6)
    now = CachedEmbedder(cache, grown)
    assert [v.size for v in await now.embed(["a", "b"])] == [5, 5], "nothing tells that it has changed yet"
    assert [v.size for v in await now.embed(["new"])] == [6]
    assert [v.size for v in await now.embed(["a", "ccc"])] == [6, 6]
    assert grown.asked == ["new", "a", "ccc"]
    (notice,) = now.notices
    assert "length 5, but http://127.0.0.1/v1 gives 6" in notice
    await cache.close()


async def test_vectors_of_two_ages_in_the_cache_are_not_compared(tmp_path):
    cache = ReplyCache(tmp_path / "c", 100)
    for size, text in ((5, "a"), (6, "b")):
        await CachedEmbedder(cache, Embedding(size)).embed([text])
    await written(tmp_path / "c", 2)
    third = Embedding(7)
    assert [v.size for v in await CachedEmbedder(cache, third).embed(["a", "b"])] == [7, 7]
    assert third.asked == ["a", "b"]
    await cache.close()


def tampered(folder: Path, value: object, *, vector: bool) -> None:
    with contextlib.closing(sqlite3.connect(folder / NAME)) as db, db:
        db.execute("UPDATE entries SET value = ? WHERE vector = ?", (value, vector))


@pytest.mark.parametrize(
    "value",
    [
        *(b"", b"\xff\xfe", b"[]", b"{}", "文字", 5),
        b'{"raw":5,"usage":null,"parameters":{}}',
        b'{"raw":"{}","usage":[1],"parameters":{}}',
        b'{"raw":"{}","usage":{"prompt_tokens":"x"},"parameters":{}}',
        b'{"raw":"{}","usage":null,"parameters":[1]}',
    ],
)
def test_a_damaged_reply_is_asked_anew(server, tmp_path, value):
    asked, _ = evaluate(server, tmp_path / "a", cache=str(tmp_path / "c"))
    tampered(tmp_path / "c", value, vector=False)
    assert evaluate(server, tmp_path / "b", cache=str(tmp_path / "c")) == (asked, 0)
    assert (tmp_path / "a/scores.jsonl").read_bytes() == (tmp_path / "b/scores.jsonl").read_bytes()
    assert evaluate(server, tmp_path / "again", cache=str(tmp_path / "c")) == (0, 0)


@pytest.mark.parametrize("value", [b"", b"abc", bytes(8), np.array([np.nan], "<f4").tobytes(), np.array([1, np.inf], "<f4").tobytes(), 5])
def test_a_damaged_vector_is_asked_anew_and_never_a_number(server, tmp_path, value):
    evaluate(server, tmp_path / "a", cache=str(tmp_path / "c"))
    tampered(tmp_path / "c", value, vector=True)
    asked, embedded = evaluate(server, tmp_path / "b", cache=str(tmp_path / "c"))
    assert asked == 0 < embedded
    assert (tmp_path / "a/scores.jsonl").read_bytes() == (tmp_path / "b/scores.jsonl").read_bytes()
