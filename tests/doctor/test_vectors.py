"""The probes of an embeddings endpoint against servers that take fewer texts, mix them up, or have no such route."""

from typing import Any

import pytest
from support.clock import no_waiting
from support.server import HANG, Answer, Seen, Server, refuse, vector, vectors

from ragstone.doctor.examine import _probe
from ragstone.doctor.findings import MOST, Examined
from ragstone.doctor.line import Line
from ragstone.doctor.vectors import SIZES, VectorProbes, texts
from ragstone.transport.endpoint import EMBEDDINGS, Endpoint, Key
from ragstone.transport.memory import Memory


async def no_wait(seconds: float) -> None:
    pass


async def probe(
    script: Any, *, batch_size: int = 10, timeout: float = 5.0, most: int = MOST, memory: Any = None
) -> tuple[Examined, Server]:
    async with Server(embeddings=script) as server:
        line = Line(Endpoint(server.url, "bge", Key(None, "K"), EMBEDDINGS, "en"), timeout, most, no_wait)
        return await _probe(line, VectorProbes(line, "bge", batch_size), memory), server


def codes(examined: Examined) -> dict[str, str]:
    return {finding.probe: finding.code for finding in examined.findings}


def embed(seen: Seen) -> Answer:
    return vectors(*(vector(text) for text in seen.body["input"]))


SOUND = {"batch": "batch_taken", "dimension": "dimension_found", "order": "order_kept", "equal": "equal_exact"}


async def test_a_good_endpoint_takes_two_requests(tmp_path):
    examined, server = await probe(embed, memory=Memory(tmp_path))
    assert codes(examined) == SOUND
    assert [f.values for f in examined.findings if f.probe == "dimension"] == [{"size": 8}]
    assert examined.usable
    assert (examined.requests, examined.advice) == (2, {"batch_size": 32})
    assert Memory(tmp_path).recall(server.url, "bge")["batch_size"] == 32
    first, second = (seen.body["input"] for seen in server.seen)
    assert len(first) == 32
    assert first[0] == first[-1]
    assert second == first[3::-1]
    assert all(text.strip() for text in first)
    assert any("三层" in text for text in first)
    assert all(seen.body["encoding_format"] == "float" for seen in server.seen)


def most(limit: int, message: str, status: int = 400) -> Any:
    return lambda seen: embed(seen) if len(seen.body["input"]) <= limit else refuse(status, message)


@pytest.mark.parametrize(
    ("script", "size", "requests"),
    [
        (most(10, "batch size is invalid, it should not be larger than 10.: input.contents"), 10, 3),
        (most(25, "input array must not hold more than 25 texts"), 25, 3),
        (most(10, "too many inputs"), 10, 4),
        (most(16, "请求的文本条数超过上限 16"), 16, 3),
        (most(1, "input must be a string"), 1, 6),
        (most(4, "payload too large", 413), 4, 5),
    ],
)
async def test_the_batch_is_probed_down(script, size, requests):
    examined, server = await probe(script)
    assert len(server.seen[-2].body["input"]) == size
    assert examined.usable
    assert examined.advice == {"batch_size": size}
    assert examined.requests == len(server.seen) == requests
    assert codes(examined)["batch"] == "batch_smaller"
    assert ("order" in codes(examined)) == (size > 1), "one text has no order"


async def test_vectors_are_placed_by_index():
    def shuffled(seen: Seen) -> Answer:
        given = [vector(text) for text in seen.body["input"]]
        return vectors(*given[::-1], indices=range(len(given))[::-1])

    examined, _ = await probe(shuffled)
    assert codes(examined) == SOUND


async def test_vectors_that_come_in_the_wrong_order_are_noticed():
    def sorted_by_text(seen: Seen) -> Answer:
        return vectors(*(vector(text) for text in sorted(seen.body["input"])))

    examined, _ = await probe(sorted_by_text)
    assert codes(examined)["order"] == "order_wrong"
    assert not examined.usable
    assert examined.trouble is not None
    assert "--embeddings" in examined.trouble


async def test_the_same_vector_for_every_text_is_noticed():
    examined, _ = await probe(lambda seen: vectors(*([1.0, 2.0] for _ in seen.body["input"])))
    assert codes(examined)["order"] == "vectors_alike"
    assert not examined.usable


@pytest.mark.parametrize(("noise", "code"), [(1e-5, "equal_close"), (0.3, "equal_apart")])
async def test_vectors_of_equal_texts_may_differ_a_little(noise, code):
    def noisy(seen: Seen) -> Answer:
        rows = [vector(text) for text in seen.body["input"]]
        return vectors(*([row[0] * (1 + noise * seen.nth), *row[1:]] for row in rows))

    examined, _ = await probe(noisy)
    assert codes(examined)["equal"] == code
    assert examined.usable


@pytest.mark.parametrize(
    ("script", "code"),
    [
        (lambda seen: vectors(*(vector(t) for t in seen.body["input"][:-1])), "vectors_missing"),
        (lambda seen: vectors(*(vector(t, 8 + i % 2) for i, t in enumerate(seen.body["input"]))), "dimension_mixed"),
    ],
)
async def test_what_cannot_be_used_is_told(script, code):
    examined, _ = await probe(script)
    assert codes(examined)["dimension"] == code
    assert not examined.usable
    assert examined.requests == 1


async def test_a_refused_encoding_is_left_out(tmp_path):
    def bare(seen: Seen) -> Answer:
        return refuse(400, "Unknown parameter: encoding_format") if "encoding_format" in seen.body else embed(seen)

    examined, server = await probe(bare, memory=Memory(tmp_path))
    assert codes(examined) == {**SOUND, "encoding": "encoding_refused"}
    assert Memory(tmp_path).recall(server.url, "bge")["embeddings_dropped"].keys() == {"encoding_format"}
    assert len(server.seen) == 3


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (refuse(404, {"detail": "Not Found"}), ("404", "--embeddings-base-url")),
        (refuse(401, "no key"), ("401", "K")),
        (refuse(500, "boom"), ("boom", "--embeddings-base-url")),
        (Answer(200, b"<html></html>"), ("200", "--embeddings-base-url")),
        (HANG, ("timeout", "--embeddings-base-url")),
    ],
)
@no_waiting
async def test_an_endpoint_without_vectors_is_told_with_address_and_setting(answer, words):
    examined, server = await probe([answer], timeout=3.0)
    assert not examined.usable
    assert examined.trouble is not None
    assert all(word in examined.trouble for word in (server.url, "bge", *words))
    assert examined.requests == len(server.seen) <= 3
    assert [(f.probe, f.state) for f in examined.findings] == [("batch", "no")]


async def test_no_more_requests_than_there_are():
    examined, server = await probe(lambda seen: refuse(400, "no"), most=3)
    assert len(server.seen) == 3
    assert not examined.usable


@pytest.mark.parametrize("count", SIZES)
def test_texts_are_not_blank_and_hold_both_languages(count):
    made = texts(count)
    assert len(made) == count
    assert len(set(made)) == (count - 1 if count > 2 else count)
