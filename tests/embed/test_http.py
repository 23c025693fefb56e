"""HttpEmbedder on real sockets: batches, order, what is refused, what is remembered."""

import asyncio
import base64
from typing import Any

import numpy as np
import pytest
from support.asking import KEY, embedder
from support.clock import no_waiting
from support.server import HANG, PAGE, Answer, Seen, Server, embed, refuse, vector, vectors

import ragstone.embed.http as module
from ragstone.errors import AuthError, ConfigError, EndpointError


def inputs(server: Server) -> list[list[str]]:
    return [s.body["input"] for s in server.asked("embeddings")]


def shown(outcomes: list[Any]) -> list[Any]:
    return [o if isinstance(o, str) else o.tolist() for o in outcomes]


def right(*texts: str) -> list[list[float]]:
    return [vector(t) for t in texts]


async def run(script: Any, *texts: str, **options: Any) -> tuple[list[Any], Server, Any]:
    async with Server(embeddings=script) as server:
        asked = embedder(server.url, **options)
        try:
            return shown(await asked.embed(texts)), server, asked
        finally:
            await asked.close()


async def test_a_request_holds_strings_and_asks_for_floats() -> None:
    got, server, asked = await run(embed, "一", "two")
    seen = server.seen[0]
    assert (seen.path, seen.headers["Authorization"]) == ("/v1/embeddings", f"Bearer {KEY}")
    assert seen.body == {"model": "e-1", "input": ["一", "two"], "encoding_format": "float"}
    assert (got, asked.dimension, asked.identity.model, asked.identity.endpoint) == (right("一", "two"), 8, "e-1", server.url)


async def test_texts_of_many_callers_share_requests_and_equal_ones_are_asked_once() -> None:
    async with Server() as server:
        asked = embedder(server.url, batch_size=6)
        got = await asyncio.gather(*(asked.embed([f"q{i}", "same", f"a{i}"]) for i in range(8)))
        again = await asked.embed(["same", "q0"])
        await asked.close()
    assert [shown(g) for g in got] == [right(f"q{i}", "same", f"a{i}") for i in range(8)]
    assert shown(again) == right("same", "q0")
    assert sorted(len(batch) for batch in inputs(server)) == [5, 6, 6]
    assert sum(batch.count("same") for batch in inputs(server)) == 1


@no_waiting
async def test_a_text_on_its_way_is_not_asked_again() -> None:
    async with Server(embeddings=lambda seen: vectors(vector("a")) if seen.nth else Answer(body=embed(seen).body, after=0.05)) as server:
        asked = embedder(server.url)
        first = asyncio.create_task(asked.embed(["a"]))
        while not server.seen:
            await asyncio.sleep(0.001)
        assert shown(await asked.embed(["a"])) == shown(await first)
        await asked.close()
    assert inputs(server) == [["a"]]


async def test_only_so_many_vectors_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 2)
    async with Server() as server:
        asked = embedder(server.url)
        for text in ("a", "b", "a", "c", "a", "b"):
            await asked.embed([text])
        await asked.close()
    assert inputs(server) == [["a"], ["b"], ["c"], ["b"]]


@pytest.mark.parametrize("blank", ["", "  ", "\n", "\u3000"])
async def test_blank_texts_are_never_sent(blank: str) -> None:
    got, server, _ = await run(embed, blank, "a", blank)
    assert (got, inputs(server)) == (["embedding_zero", *right("a"), "embedding_zero"], [["a"]])
    got, server, _ = await run(embed, blank)
    assert (got, server.seen) == (["embedding_zero"], [])


def turned(seen: Seen) -> Answer:
    texts = seen.body["input"]
    return vectors(*(vector(t) for t in reversed(texts)), indices=list(reversed(range(len(texts)))))


def coded(seen: Seen) -> Answer:
    return vectors(*(base64.b64encode(np.array(vector(t), dtype="<f4").tobytes()).decode() for t in seen.body["input"]))


@pytest.mark.parametrize("script", [turned, coded], ids=["turned", "base64"])
async def test_order_and_encoding_of_the_server_do_not_matter(script: Any) -> None:
    got, _, _ = await run(script, "a", "b", "c")
    assert got == right("a", "b", "c")


def lame(seen: Seen) -> Answer:
    """One text has no vector, one a zero one, one holds NaN, one is too short."""
    told = {"none": None, "zero": [0.0] * 8, "nan": [float("nan")] * 8, "short": [1.0] * 3}
    rows = [(i, told.get(t, vector(t))) for i, t in enumerate(seen.body["input"]) if t != "none"]
    raw = str({"data": [{"index": i, "embedding": row} for i, row in rows]}).replace("'", '"').replace("nan", "NaN")
    return Answer(body=raw.encode())


async def test_each_text_fails_for_itself() -> None:
    got, server, _ = await run(lame, "a", "none", "zero", "nan", "short", "b")
    assert got == [*right("a"), "embedding_missing", "embedding_zero", "embedding_missing", "embedding_dimension", *right("b")]
    assert inputs(server)[1:] == [["none"], ["nan"]]


async def test_a_lost_vector_is_asked_for_once_more() -> None:
    got, server, _ = await run(lambda seen: embed(seen) if seen.nth else Answer(body={"data": []}), "a", "b")
    assert (got, inputs(server)) == (right("a", "b"), [["a", "b"], ["a"], ["b"]])
    got, server, _ = await run(lambda seen: embed(seen) if seen.nth else Answer(body={"data": []}), "a")
    assert (got, inputs(server)) == (right("a"), [["a"], ["a"]])


@pytest.mark.parametrize(
    ("refusal", "first"),
    [
        (refuse(400, "batch size is invalid, it should not be larger than 10."), 10),
        (refuse(400, {"code": 1, "message": "input.contents: at most 10 items"}), 10),
        (refuse(413, b"Payload Too Large"), 12),
        (refuse(422, "too many inputs"), 12),
        (refuse(400, "一次最多 10 条"), 10),
    ],
)
async def test_a_smaller_batch_is_found_and_remembered(refusal: Answer, first: int) -> None:
    texts = [f"t{i}" for i in range(25)]
    async with Server(embeddings=lambda seen: refusal if len(seen.body["input"]) > 12 else embed(seen)) as server:
        asked = embedder(server.url, batch_size=25)
        assert shown(await asked.embed(texts)) == right(*texts)
        assert asked.batch_size == first
        await asked.embed([f"u{i}" for i in range(first)])
        await asked.close()
    assert [len(b) for b in inputs(server)][:3] == [25, first, first]
    assert len(inputs(server)[-1]) == first


@pytest.mark.parametrize(
    ("refusal", "word"),
    [
        (refuse(400, "input must have less than 512 tokens"), "too_long"),
        (refuse(400, {"error": {"code": "data_inspection_failed", "message": "x"}}), "blocked"),
        (refuse(400, "odd input"), "bad_reply"),
        (refuse(413, b""), "too_long"),
    ],
)
async def test_one_bad_text_fails_alone(refusal: Answer, word: str) -> None:
    texts = [f"t{i}" for i in range(7)]
    got, _, asked = await run(lambda seen: refusal if "t4" in seen.body["input"] else embed(seen), *texts)
    assert got == [*right(*texts[:4]), word, *right(*texts[5:])]
    assert asked.batch_size == 10


async def test_a_refused_encoding_is_left_out() -> None:
    got, server, asked = await run(
        lambda seen: refuse(400, "unknown field encoding_format") if "encoding_format" in seen.body else embed(seen), "a"
    )
    assert (got, len(server.seen)) == (right("a"), 2)
    assert set(asked.identity.parameters["dropped"]) == {"encoding_format"}


async def test_half_a_surrogate_does_not_lose_the_batch() -> None:
    got, server, _ = await run(embed, "a", "half \ud83d")
    assert (len(got), inputs(server)) == (2, [["a", "half ?"]])


@pytest.mark.parametrize(
    ("answer", "kind", "word"),
    [
        (refuse(401), AuthError, "RAGSTONE_EMBEDDINGS_API_KEY"),
        (refuse(404), EndpointError, r"\[embeddings\] base_url"),
        (refuse(400, "The model `e-1` does not exist"), EndpointError, r"\[embeddings\] model"),
        (refuse(400, "odd in every way"), EndpointError, "odd in every way"),
        (PAGE, EndpointError, r"/v1/embeddings sent a web page .*: Welcome\n.*\[embeddings\] base_url .* usually ends in /v1"),
        (Answer(body={"status": "ok"}), EndpointError, r"something else .*\n.* usually ends in /v1"),
        (Answer(body={"vectors": [[1.0]]}), EndpointError, 'something else .*"vectors"'),
        (Answer(body=[[1.0]]), EndpointError, "something else"),
    ],
)
async def test_what_would_fail_every_request_stops_the_run(answer: Answer, kind: type[Exception], word: str) -> None:
    async with Server(embeddings=[answer]) as server:
        asked = embedder(server.url)
        results = await asyncio.gather(*(asked.embed([f"t{i}", "x"]) for i in range(3)), return_exceptions=True)
        assert [type(r) for r in results] == [kind] * 3
        with pytest.raises(kind, match=word):
            await asked.embed(["later"])
        await asked.close()


@no_waiting
async def test_transport_trouble_is_retried_and_named() -> None:
    for trouble, word in ((refuse(429), "rate_limited"), (HANG, "timeout")):
        async with Server(embeddings=lambda seen, trouble=trouble: trouble if seen.nth else embed(seen)) as server:
            asked = embedder(server.url, timeout=1.0, retries=0)
            await asked.embed(["first"])
            assert await asked.embed(["a", "b"]) == [word] * 2
            await asked.close()
    got, server, _ = await run(lambda seen: embed(seen) if seen.nth else refuse(503), "a")
    assert (got, len(server.seen)) == (right("a"), 2)


@no_waiting
async def test_a_caller_that_gives_up_takes_nothing_from_the_others() -> None:
    async with Server(embeddings=lambda seen: Answer(body=embed(seen).body, after=0.02)) as server:
        asked = embedder(server.url)
        gone, stays = asyncio.create_task(asked.embed(["a"])), asyncio.create_task(asked.embed(["a", "b"]))
        while not server.seen:
            await asyncio.sleep(0.001)
        gone.cancel()
        assert shown(await stays) == right("a", "b")
        await asked.close()


async def test_closing_lets_nobody_wait_for_ever() -> None:
    async with Server(embeddings=[HANG]) as server:
        asked = embedder(server.url, batch_size=2, wait=60)
        waiting = asyncio.create_task(asked.embed(["a", "b", "c"]))
        while not server.seen:
            await asyncio.sleep(0.001)
        await asked.close()
        async with asyncio.timeout(60):
            assert shown(await waiting) == ["connection"] * 3


def test_credentials_in_the_address_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"\[embeddings\] base_url"):
        embedder("http://me:pw@host/v1")


async def test_neither_key_nor_query_shows() -> None:
    asked = embedder("http://host/v1?key=hidden")
    assert repr(asked) == "HttpEmbedder('e-1', 'http://host/v1')"
    assert KEY not in repr(asked.identity)
