"""A mock judge in bad weather: the answers of `stand_in.py`, and between them every trouble a network and a provider know.

    python benches/storm.py --port 8399

Which request meets which trouble depends on its bytes and on how often it was sent, so a run that is repeated meets the same ones.
What a provider will never answer (`blocked`, `too_long`) is refused however often it is asked.
"""

import argparse
import asyncio
import hashlib
import json

from aiohttp import web
from stand_in import StandIn, reply_to

PASSING = {
    "429": 0.02,  # with Retry-After
    "429 bare": 0.02,
    "500": 0.02,
    "503": 0.01,
    "page": 0.005,  # a gateway's web page
    "malformed": 0.02,
    "half": 0.01,  # a reply that breaks off, said to be whole
    "cut": 0.005,  # the line breaks in the middle of a body
    "drop": 0.005,  # the line breaks before a word was said
    "empty": 0.005,
    "slow": 0.02,
    "hang": 0.002,
}
"""Share of the tries that meet each trouble."""
LASTING = {"blocked": 0.001, "too_long": 0.001}
SLOW_S, HANG_S = 0.3, (1.0, 2.0)
REFUSALS: dict[str, tuple[int, dict[str, str], str | None]] = {
    "429": (429, {"Retry-After": "1"}, "rate_limit_exceeded"),
    "429 bare": (429, {}, "rate_limit_exceeded"),
    "500": (500, {}, None),
    "503": (503, {}, None),
    "blocked": (400, {}, "content_filter"),
    "too_long": (400, {}, "context_length_exceeded"),
}


def chance(*parts: bytes) -> float:
    """Return a number in [0, 1) that is the same for the same bytes."""
    return int(hashlib.sha256(b"\0".join(parts)).hexdigest()[:8], 16) / 2**32


def drawn(shares: dict[str, float], draw: float) -> str | None:
    """Return the name a draw falls on, None for none."""
    for name, share in shares.items():
        draw -= share
        if draw < 0:
            return name
    return None


class Storm(StandIn):
    """Counts the troubles it makes by name, beside what the mock counts."""

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """Answer a question, or make trouble."""
        raw = await self._arrived(request, "chat")
        trouble = self._trouble(raw)
        if trouble is None or trouble in ("slow", "malformed", "half"):
            await asyncio.sleep(SLOW_S if trouble == "slow" else 0)
            return await self._completion(raw, trouble)
        return await self._spoil(request, raw, trouble)

    async def embeddings(self, request: web.Request) -> web.StreamResponse:
        """Return a vector a text, or make trouble that passes."""
        raw = await request.read()
        trouble = drawn(PASSING, chance(raw, str(self.seen[raw]).encode()))
        if trouble in (None, "slow", "malformed", "half"):
            return await super().embeddings(request)
        await self._arrived(request, "emb")
        self.counts[f"trouble {trouble}"] += 1
        return await self._spoil(request, raw, trouble)

    def _trouble(self, raw: bytes) -> str | None:
        trouble = drawn(LASTING, chance(raw)) or drawn(PASSING, chance(raw, str(self.seen[raw]).encode()))
        if trouble:
            self.counts[f"trouble {trouble}"] += 1
        return trouble

    async def _completion(self, raw: bytes, trouble: str | None) -> web.Response:
        self.last = asyncio.get_running_loop().time()
        text = json.dumps(reply_to(json.loads(raw)["messages"]), ensure_ascii=False)
        content = {"malformed": "I am sorry, {", "half": text[: len(text) // 2]}.get(trouble or "", text)
        choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
        usage = {"prompt_tokens": len(raw) // 4, "completion_tokens": len(content) // 4}
        return web.json_response({"object": "chat.completion", "choices": [choice], "usage": usage})

    async def _spoil(self, request: web.Request, raw: bytes, trouble: str) -> web.StreamResponse:
        if trouble in REFUSALS:
            status, headers, code = REFUSALS[trouble]
            return web.json_response({"error": {"message": f"refused: {trouble}", "code": code}}, status=status, headers=headers)
        match trouble:
            case "page":
                return web.Response(status=502, body=b"<html><title>502 Bad Gateway</title></html>", content_type="text/html")
            case "empty":
                return web.json_response({"choices": []})
            case "hang":
                await asyncio.sleep(HANG_S[0] + (HANG_S[1] - HANG_S[0]) * chance(raw, b"hang"))
                return web.json_response({"choices": []})
        return await self._break(request, begun=trouble == "cut")

    async def _break(self, request: web.Request, *, begun: bool) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        if begun:
            await response.prepare(request)
            await response.write(b'{"choices":[')
        if request.transport is not None:
            request.transport.close()
        return response


def main() -> None:
    """Serve until the process is ended."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--port", type=int, required=True)
    judge, app = Storm("fixed:0"), web.Application(client_max_size=64 * 2**20)
    app.router.add_post("/v1/chat/completions", judge.chat)
    app.router.add_post("/v1/embeddings", judge.embeddings)
    app.router.add_get("/_stats", judge.stats)
    web.run_app(app, host="127.0.0.1", port=options.parse_args().port, access_log=None, print=None, shutdown_timeout=0.1)


if __name__ == "__main__":
    main()
