"""Probabilities of tokens over HTTP: asked for only where they are known to be given, and never a reason for anything to differ."""

import re
from pathlib import Path
from typing import Any

import orjson
import pytest
from support.asking import judge
from support.scores import reply_rows, score_rows
from support.server import Answer, Seen, Server, refuse, say
from support.truth_server import TruthServer, answering

import ragstone
from ragstone.judge.scripted import ScriptedJudge
from ragstone.questions.base import Question, ask
from ragstone.questions.kinds import KINDS
from ragstone.replay import replay
from ragstone.transport.memory import Memory

REPLY = '{"verdicts":[{"id":1,"reason":"可以","verdict":1}]}'
ASKED = {"contexts": [{"id": 1, "text": "x"}], "question": "q", "reference": "r"}
QUESTION: Question = ask(KINDS["rate_contexts"], "zh", 0, "task: rate_contexts/1\nRate.", ASKED)


def spelled(text: str) -> dict[str, Any]:
    """The logprobs of a reply: every word a token, each with a probability of 0.9."""
    return {"content": [{"token": piece, "logprob": -0.105360516, "bytes": list(piece.encode())} for piece in re.findall(r"\w+|\W", text)]}


def telling(seen: Seen) -> Answer:
    """Give the reply, and probabilities to those who ask."""
    answer = say(REPLY)
    if seen.body.get("logprobs"):
        answer.body["choices"][0]["logprobs"] = spelled(REPLY)
    return answer


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path)


async def test_asked_for_where_memory_says_that_they_are_given(memory):
    async with Server(telling) as server:
        memory.keep(server.url, "m-1", {"logprobs": True, "window": 4096})
        asking = judge(server.url, memory=memory)
        reply = await asking.complete(QUESTION)
        await asking.close()
        assert server.seen[0].body["logprobs"] is True
        assert reply.confidence == {"verdicts/1": 0.9}
        assert asking.identity.parameters["logprobs"] is True
        assert "logprobs" not in asking.requested
        assert memory.recall(server.url, "m-1")["window"] == 4096


@pytest.mark.parametrize("known", [{}, {"logprobs": False}, {"logprobs": "yes"}, {"logprobs": 1}])
async def test_not_asked_for_anywhere_else(memory, known):
    async with Server(telling) as server:
        memory.keep(server.url, "m-1", known | {"of": "others"})
        memory.keep(server.url, "m-2", {"logprobs": True})
        for asking in (judge(server.url, memory=memory), judge(server.url)):
            assert (await asking.complete(QUESTION)).confidence is None
            await asking.close()
        assert not any("logprobs" in seen.body for seen in server.seen)


async def test_a_user_who_asks_for_them_himself_gets_them_and_one_who_refuses_them_does_not(memory):
    async with Server(telling) as server:
        memory.keep(server.url, "m-1", {"logprobs": True})
        for wanted, expected in ((True, {"verdicts/1": 0.9}), (False, None)):
            asking = judge(server.url, memory=memory, extra_body={"logprobs": wanted})
            assert (await asking.complete(QUESTION)).confidence == expected
            await asking.close()
        assert [seen.body["logprobs"] for seen in server.seen] == [True, False]


async def test_a_refusal_costs_one_request_once_and_is_remembered(memory):
    def refusing(seen: Seen) -> Answer:
        return refuse(400, "logprobs is not supported by this model") if "logprobs" in seen.body else say(REPLY)

    async with Server(refusing) as server:
        memory.keep(server.url, "m-1", {"logprobs": True, "window": 4096})
        for _ in range(2):
            asking = judge(server.url, memory=memory)
            for _ in range(2):
                reply = await asking.complete(QUESTION)
                assert (reply.text, reply.confidence) == (REPLY, None)
            await asking.close()
        assert [("logprobs" in seen.body) for seen in server.seen] == [True, False, False, False, False]
        facts = memory.recall(server.url, "m-1")
        assert (facts["logprobs"], facts["window"]) == (False, 4096)


async def test_an_endpoint_that_takes_the_parameter_and_gives_nothing_costs_nothing(memory):
    async with Server([say(REPLY)]) as server:
        memory.keep(server.url, "m-1", {"logprobs": True})
        asking = judge(server.url, memory=memory)
        assert (await asking.complete(QUESTION)).confidence is None
        assert len(server.seen) == 1
        await asking.close()


# ------------------------------------------------------------------ whole runs
ROW = {"id": "w", "question": "保修多久？", "answer": "保修一年。", "contexts": ["标准保修一年。", "食堂开门。"], "reference": "一年。"}
TRUTH = {
    "claims": {"保修一年。": ["保修期为一年"], "一年。": ["保修一年"]},
    "checks": {"保修期为一年": {"supported": ["标准保修一年。"]}, "保修一年": {}},
    "useful": {"保修多久？": ["标准保修一年。"]},
    "matches": {"保修期为一年": {"supported": ["保修一年"]}},
    "questions": {"保修一年。": ["保修几年？"] * 3},
}


def evaluate(server: TruthServer, out: Path, **settings: Any) -> int:
    """Evaluate, and return how many requests it took."""
    before = len(server.chats)
    ragstone.evaluate([ROW], out=out, **{"judge": "m", "base_url": server.base_url} | settings)
    return len(server.chats) - before


def confidences(run: Path) -> dict[tuple[str, str], float]:
    return {(row["metric"], line["id"]): line["confidence"] for row in score_rows(run) for line in row["verdicts"] if "confidence" in line}


def values(run: Path) -> dict[str, Any]:
    return {row["metric"]: (row["value"], [(line["id"], line["verdict"]) for line in row["verdicts"]]) for row in score_rows(run)}


def test_runs_with_and_without_differ_in_nothing_else(tmp_path):
    with answering(ScriptedJudge.from_dict(TRUTH)) as server:
        server.logprobs = spelled
        store = {"cache": str(tmp_path / "cache")}
        assert evaluate(server, tmp_path / "without", **store) == 7
        memory = Memory(tmp_path / "cache")
        memory.keep(server.base_url, "m", {**_facts(memory, server), "logprobs": True})
        assert evaluate(server, tmp_path / "kept", **store) == 0  # no part of the key of the cache
        assert confidences(tmp_path / "kept") == {}
        other = {"cache": str(tmp_path / "other")}
        Memory(tmp_path / "other").keep(server.base_url, "m", {"logprobs": True})
        assert evaluate(server, tmp_path / "with", **other) == 7
        assert evaluate(server, tmp_path / "again", **other) == 0
        assert values(tmp_path / "with") == values(tmp_path / "without")
        told = confidences(tmp_path / "with")
        assert set(told.values()) == {0.9}
        assert len(told) == 1 + 3 + 2 + 1 + 2  # claims, reverse questions, contexts, claims, both sides of the match
        assert confidences(tmp_path / "again") == told
        assert replay(tmp_path / "with").changed == replay(tmp_path / "again").changed == []
        assert ragstone.load(tmp_path / "with").signature == ragstone.load(tmp_path / "without").signature
        manifest = orjson.loads((tmp_path / "with" / "manifest.json").read_bytes())
        assert manifest["judge"]["parameters"]["logprobs"] is True
        assert "also" not in manifest["judge"]["parameters"]


def _facts(memory: Memory, server: TruthServer) -> dict[str, Any]:
    return {name: held for name, held in memory.recall(server.base_url, "m").items() if name not in ("since", "at")}


def test_a_run_may_be_resumed_after_they_became_known(tmp_path):
    with answering(ScriptedJudge.from_dict(TRUTH)) as server:
        server.logprobs = spelled
        run, store = tmp_path / "run", {"cache": str(tmp_path / "cache")}
        evaluate(server, run, metrics=["faithfulness"], **store)
        Memory(tmp_path / "cache").keep(server.base_url, "m", {"logprobs": True})
        evaluate(server, run, **store)
        assert {metric for metric, _ in confidences(run)} == {
            "context_precision",
            "context_recall",
            "answer_relevancy",
            "answer_correctness",
        }
        assert "also" not in orjson.loads((run / "manifest.json").read_bytes())["judge"]["parameters"]
        assert [row.get("confidence") for row in reply_rows(run) if row["kind"] == "rate_contexts"] == [
            {"verdicts/1": 0.9, "verdicts/2": 0.9}
        ]
        assert replay(run).changed == []
