"""What an endpoint taught one run holds for the next, through the cache folder, on real sockets."""

import base64
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from support.asking import KEY, embedder
from support.server import Answer, Seen, Server, embed, refuse, vector, vectors

from ragstone.transport.memory import FILE, Memory

TEXTS = [f"t{i}" for i in range(25)]


def picky(most: int, why: str = "too many inputs") -> Any:
    return lambda seen: refuse(400, why) if len(seen.body["input"]) > most else embed(seen)


async def asked(server: Server, folder: Path | None, *texts: str, **options: Any) -> Any:
    """Embed with an embedder of its own; returns it, closed."""
    one = embedder(server.url, memory=folder and Memory(folder), **options)
    try:
        assert [o.tolist() for o in await one.embed(texts)] == [vector(t) for t in texts]
    finally:
        await one.close()
    return one


def sizes(server: Server) -> list[int]:
    return [len(seen.body["input"]) for seen in server.asked("embeddings")]


@pytest.mark.parametrize(
    ("most", "why", "found"),
    [
        (10, "batch size is invalid, it should not be larger than 10", 10),
        (10, "too many inputs", 6),
        (8, "最多 8 条", 8),
        (1, "too many inputs", 1),
    ],
)
async def test_the_next_run_meets_no_refusal(tmp_path: Path, most: int, why: str, found: int) -> None:
    async with Server(embeddings=picky(most, why)) as server:
        first = await asked(server, tmp_path / "c", *TEXTS, batch_size=25)
        assert max(sizes(server)) == 25
        server.seen.clear()
        second = await asked(server, tmp_path / "c", *TEXTS, batch_size=25)
        assert (max(sizes(server)), sum(sizes(server))) == (found, 25)
    for one in (first, second):
        assert one.identity.parameters == {"encoding_format": "float", "batch_size": found}
        assert one.notices == [f"embeddings e-1: {server.url} takes {found} texts a request, not 25; smaller batches were sent"]


async def test_an_identity_tells_what_was_asked_for_until_something_is_sent(tmp_path: Path) -> None:
    """A run that is resumed must not look like another one for what was learned in between."""
    async with Server(embeddings=picky(5)) as server:
        await asked(server, tmp_path, *TEXTS)
        one = embedder(server.url, memory=Memory(tmp_path))
        assert (one.identity.parameters, one.notices, one.batch_size) == ({"encoding_format": "float"}, [], 10)
        await one.close()


async def test_nothing_is_kept_or_told_where_nothing_was_learned(tmp_path: Path) -> None:
    async with Server(embeddings=embed) as server:
        one = await asked(server, tmp_path, *TEXTS)
        assert (one.notices, (tmp_path / FILE).exists()) == ([], False)


async def test_without_a_memory_every_run_finds_out_for_itself() -> None:
    async with Server(embeddings=picky(10)) as server:
        for _ in range(2):
            await asked(server, None, *TEXTS, batch_size=25)
        assert sizes(server).count(25) == 2


async def test_less_than_is_taken_stays_what_the_settings_say(tmp_path: Path) -> None:
    async with Server(embeddings=picky(10)) as server:
        await asked(server, tmp_path, *TEXTS, batch_size=20)
        server.seen.clear()
        one = await asked(server, tmp_path, *TEXTS, batch_size=4)
        assert (max(sizes(server)), one.notices, one.identity.parameters) == (4, [], {"encoding_format": "float"})


async def test_a_dropped_parameter_is_left_out_from_the_start(tmp_path: Path) -> None:
    def script(seen: Seen) -> Answer:
        return refuse(400, "unknown field encoding_format") if "encoding_format" in seen.body else embed(seen)

    async with Server(embeddings=script) as server:
        for _ in range(2):
            one = await asked(server, tmp_path, "a")
            assert one.identity.parameters == {"dropped": {"encoding_format": "HTTP 400: unknown field encoding_format"}}
            assert one.notices == [
                f"embeddings e-1: encoding_format was left out, because {server.url} refuses it (HTTP 400: unknown field encoding_format)"
            ]
        assert ["encoding_format" in seen.body for seen in server.seen] == [True, False, False]


async def test_texts_without_a_list_are_remembered(tmp_path: Path) -> None:
    def script(seen: Seen) -> Answer:
        text = seen.body["input"]
        return vectors(vector(text)) if isinstance(text, str) else refuse(400, "input must be a string")

    async with Server(embeddings=script) as server:
        await asked(server, tmp_path, "a", "b")
        server.seen.clear()
        await asked(server, tmp_path, "a", "b")
        assert [seen.body["input"] for seen in server.seen] == ["a", "b"]


async def test_facts_of_others_stay_and_those_of_other_models_do_not_count(tmp_path: Path) -> None:
    async with Server(embeddings=picky(10)) as server:
        memory = Memory(tmp_path)
        memory.keep(server.url, "e-1", {"limit_name": "max_completion_tokens"})
        memory.keep(server.url, "e-2", {"batch_size": 3})
        await asked(server, tmp_path, *TEXTS, batch_size=25)
        assert memory.recall(server.url, "e-1").items() >= {"limit_name": "max_completion_tokens", "batch_size": 6}.items()
        assert max(sizes(server)) == 25


@pytest.mark.parametrize("size", [0, -3, True, "5", None, 2.5, [1], 10**9])
@pytest.mark.parametrize("dropped", [None, "x", ["encoding_format"], {"input": "no"}, {"model": "no"}])
async def test_a_memory_that_was_tampered_with_changes_nothing(tmp_path: Path, size: Any, dropped: Any) -> None:
    async with Server() as server:
        Memory(tmp_path).keep(server.url, "e-1", {"batch_size": size, "embeddings_dropped": dropped, "embeddings_bare": "yes"})
        one = await asked(server, tmp_path, *TEXTS)
        assert (max(sizes(server)), one.identity.parameters) == (10, {"encoding_format": "float"})


async def test_a_key_in_the_words_of_a_refusal_is_not_kept(tmp_path: Path) -> None:
    why = f"unknown field encoding_format for key {KEY}"
    async with Server(embeddings=lambda s: refuse(400, why) if "encoding_format" in s.body else embed(s)) as server:
        one = await asked(server, tmp_path, "a")
    assert KEY not in (tmp_path / FILE).read_text() + orjson.dumps(one.identity.parameters).decode() + "".join(one.notices)


async def test_cut_texts_are_counted_and_named_in_both_languages() -> None:
    def script(seen: Seen) -> Answer:
        texts = seen.body["input"]
        return vectors(*map(vector, texts), usage={"prompt_tokens": sum(min(512, len(t)) for t in texts)})

    async with Server(embeddings=script) as server:
        texts = ["差旅" * 1500, "short", "报销" * 1500]
        en, zh = [await asked(server, None, *texts, lang=lang) for lang in ("en", "zh")]
    assert en.identity.parameters["cut_texts"] == 2
    assert [f"2 {word}" in said for word, said in (("texts were probably cut", en.notices[0]), ("条文本很可能被截断", zh.notices[0]))] == [
        True,
        True,
    ]
    assert all("e-1" in one.notices[0] for one in (en, zh))


async def test_base64_that_was_not_asked_for_is_read_and_noted() -> None:
    def coded(seen: Seen) -> Answer:
        return vectors(*(base64.b64encode(np.array(vector(t), "<f4").tobytes()).decode() for t in seen.body["input"]))

    async with Server(embeddings=coded) as server:
        one = await asked(server, None, "a", "b")
    assert one.identity.parameters == {"encoding_format": "float", "received": "base64"}
