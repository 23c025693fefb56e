"""The mock judge where no other is given: an OpenAI-compatible server on 127.0.0.1 that answers ragstone's questions by rule.

    python benches/stand_in.py --port 8399 [--latency fixed:50]

It decides by shared character pairs, so equal inputs get equal verdicts; it says nothing of a judge's quality. It takes the
control requests the benches send (`/_config`, `/_stats`), and cannot answer the questions of other tools.
"""

import argparse
import asyncio
import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from aiohttp import web
from made import tokens

END = re.compile(r"(?<=[。！？!?])|(?<=[.])\s+")
SHARED = 0.6
DIMENSIONS = 64
FAULT_S = 0.005


# ------------------------------------------------------------------ verdicts by rule
def claims(text: str) -> list[dict[str, Any]]:
    """Return the sentences of a text as claims."""
    return [{"text": part.strip(), "anchor": part.strip()[:20]} for part in END.split(text) if part.strip()]


def pairs(text: str) -> set[str]:
    """Return the pairs of neighbouring characters."""
    return {text[i : i + 2] for i in range(len(text) - 1)}


def covers(whole: str, part: str) -> bool:
    """True if most character pairs of `part` stand in `whole`."""
    wanted = pairs(part)
    return len(wanted & pairs(whole)) >= SHARED * len(wanted)


def check(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a verdict for every claim."""
    found = []
    for claim in asked["claims"]:
        evidence = [c["id"] for c in asked["contexts"] if covers(c["text"], claim["text"])]
        verdict = "supported" if evidence else "not_found"
        found.append({"id": claim["id"], "evidence": evidence, "quote": "", "reason": "by rule", "verdict": verdict})
    return found


def rate(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a verdict for every context."""
    parts = [claim["text"] for claim in claims(asked["reference"])]
    useful = [any(covers(c["text"], part) for part in parts) for c in asked["contexts"]]
    return [{"id": c["id"], "reason": "by rule", "verdict": int(u)} for c, u in zip(asked["contexts"], useful, strict=True)]


def match(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the matches of every answer claim, and which reference claims are covered."""
    answer = []
    for claim in asked["answer_claims"]:
        ids = [r["id"] for r in asked["reference_claims"] if covers(r["text"], claim["text"])]
        answer.append({"id": claim["id"], "matches": ids, "reason": "by rule", "verdict": "supported" if ids else "not_found"})
    hit = {identifier for line in answer for identifier in line["matches"]}
    reference = [{"id": r["id"], "verdict": "covered" if r["id"] in hit else "missing"} for r in asked["reference_claims"]]
    return {"answer": answer, "reference": reference}


def invert(asked: dict[str, Any]) -> dict[str, Any]:
    """Return as many questions as asked for."""
    return {"questions": [{"question": f"{asked['answer'][:40]} ({k + 1})?", "noncommittal": False} for k in range(asked["count"])]}


ANSWERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "split_claims": lambda asked: {"claims": claims(asked["text"])},
    "split_both": lambda asked: {"answer_claims": claims(asked["answer"]), "reference_claims": claims(asked["reference"])},
    "check_claims": lambda asked: {"verdicts": check(asked)},
    "rate_contexts": lambda asked: {"verdicts": rate(asked)},
    "check_all": lambda asked: {"claims": check(asked), "contexts": rate(asked)},
    "match_claims": match,
    "invert_answer": invert,
}


def reply_to(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the reply to a question of ragstone's; anything else, such as the bare client's requests, gets a constant."""
    kind = re.match(r"task:\s*(\w+)", messages[0]["content"])
    return ANSWERS[kind[1]](json.loads(messages[-1]["content"])) if kind else {"verdict": 1}


def vector(text: str) -> list[float]:
    """Return a vector that is the same for equal texts, and never zero."""
    values = [0.01] * DIMENSIONS
    for pair in pairs(text):
        values[int(hashlib.sha256(pair.encode()).hexdigest()[:8], 16) % DIMENSIONS] += 1
    return values


# ------------------------------------------------------------------ the server
class StandIn:
    """Answers, counts, waits and fails as it is configured."""

    def __init__(self, latency: str) -> None:
        self.config: dict[str, Any] = {"latency": latency}
        self.begin()

    def begin(self) -> None:
        """Forget everything that was counted."""
        self.counts: Counter[str] = Counter()
        self.seen: Counter[bytes] = Counter()
        self.embedded: set[str] = set()
        self.first = self.last = 0.0

    def fault(self, raw: bytes, attempt: int) -> str | None:
        """Return which fault this try of a request meets, the same in every run."""
        draw = int(hashlib.sha256(raw + str(attempt).encode()).hexdigest()[:8], 16) / 2**32
        for name in ("r429", "r500", "rbad"):
            draw -= self.config.get(name, 0.0)
            if draw < 0:
                return name
        return None

    async def chat(self, request: web.Request) -> web.Response:
        """Answer a question, or fail."""
        raw = await self._arrived(request, "chat")
        messages = json.loads(raw)["messages"]
        size = sum(tokens(message["content"]) for message in messages)
        self.counts["chat_pt"] += size
        fault = self.fault(raw, self.seen[raw])
        await self._wait("chat", fault)
        if fault in ("r429", "r500"):
            return web.json_response({"error": {"message": f"refused ({fault})"}}, status=int(fault[1:]), headers={"Retry-After": "1"})
        text = json.dumps(reply_to(messages), ensure_ascii=False)
        content = text[: len(text) // 2] if fault == "rbad" else text
        choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
        usage = {"prompt_tokens": size, "completion_tokens": tokens(content)}
        return web.json_response({"object": "chat.completion", "choices": [choice], "usage": usage})

    async def embeddings(self, request: web.Request) -> web.Response:
        """Return a vector a text."""
        texts = json.loads(await self._arrived(request, "emb"))["input"]
        self.counts["emb_texts_repeat"] += sum(text in self.embedded for text in texts)
        self.embedded.update(texts)
        await self._wait("emb", None)
        return web.json_response({"data": [{"index": i, "embedding": vector(text)} for i, text in enumerate(texts)]})

    async def configure(self, request: web.Request) -> web.Response:
        """Take latency and faults, and begin anew."""
        self.config |= await request.json()
        self.begin()
        return web.json_response(self.config)

    async def stats(self, _: web.Request) -> web.Response:
        """Return what was counted."""
        waited = self.counts["chat_latency_us"] / 1e6
        return web.json_response({**self.counts, "span_s": self.last - self.first, "chat_latency_s": waited})

    async def _arrived(self, request: web.Request, path: str) -> bytes:
        raw = await request.read()
        self.first = self.first or time.monotonic()
        self.seen[raw] += 1
        self.counts[path] += 1
        self.counts[path + "_repeat"] += self.seen[raw] > 1
        return raw

    async def _wait(self, path: str, fault: str | None) -> None:
        seconds = float(self.config["latency"].partition(":")[2]) / 1000
        seconds = min(seconds, FAULT_S) if fault in ("r429", "r500") else seconds
        self.counts[path + "_latency_us"] += int(seconds * 1e6)
        await asyncio.sleep(seconds)
        self.last = time.monotonic()


def main() -> None:
    """Serve until the process is ended."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--port", type=int, default=8399)
    options.add_argument("--latency", default="fixed:0", help="fixed:MILLISECONDS")
    options.add_argument("--plugin", help="taken as other mock judges take it, and not needed")
    given = options.parse_args()
    judge, app = StandIn(given.latency), web.Application(client_max_size=64 * 2**20)
    app.router.add_post("/v1/chat/completions", judge.chat)
    app.router.add_post("/v1/embeddings", judge.embeddings)
    app.router.add_post("/_config", judge.configure)
    app.router.add_get("/_stats", judge.stats)
    web.run_app(app, host="127.0.0.1", port=given.port, access_log=None, print=None, shutdown_timeout=0.1)


if __name__ == "__main__":
    main()
