"""What refusals teach, whatever texts share a request and in whatever order the answers come: nothing here waits for a clock.

A desk stands for the wire. Requests lie open on it until the test says which of them is answered next, by an endpoint that takes
at most so many texts at once and some texts never.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.asking import embedder
from support.server import vector

from ragstone.embed.http import HttpEmbedder
from ragstone.transport.error_body import ApiError
from ragstone.transport.exchange import Exchange, Step
from ragstone.transport.memory import Memory
from ragstone.transport.wire import Wire

TEXTS = [f"t{i}" for i in range(40)]
WORDS = {
    "count": ApiError(400, "texts exceed the limit"),
    "named": ApiError(400, "texts exceed the limit of 1"),
    "length": ApiError(400, "inputs exceed the maximum length"),
    "413": ApiError(413, ""),
    "zh": ApiError(400, "输入条数超过限制"),
    "list": ApiError(400, "input must be a string"),
    "whole": ApiError(400, "max_tokens_per_request"),
    "odd": ApiError(400, "odd input"),
}
COUNT = ["count", "named", "length", "413", "zh", "whole"]


@dataclass
class Endpoint:
    """Takes at most `most` texts at once, in a list or not, and none that is bad."""

    most: int = 1000
    bad: frozenset[str] = frozenset()
    of_bad: ApiError = field(default_factory=lambda: WORDS["count"])
    of_many: ApiError = field(default_factory=lambda: ApiError(400, "too many inputs"))
    alone: ApiError | None = None
    """What is said of a bad text alone, where that differs."""

    def __call__(self, texts: str | list[str]) -> ApiError | None:
        given = [texts] if isinstance(texts, str) else texts
        if len(given) > self.most:
            return self.of_many
        if self.bad.isdisjoint(given):
            return None
        return self.alone or self.of_bad if len(given) == 1 else self.of_bad


@dataclass
class Desk:
    """Requests that wait for their answer, in the order they were made, and how many texts each of all held."""

    endpoint: Callable[[Any], ApiError | None]
    accepted: bool = True
    sizes: list[int] = field(default_factory=list)
    open: list[tuple[Any, asyncio.Future[None]]] = field(default_factory=list)

    async def ask(self, path: str, exchange: Exchange, retries: int | None = None) -> Step:
        while True:
            texts = orjson.loads(exchange.body())["input"]
            self.sizes.append(len(texts))
            turn = asyncio.get_running_loop().create_future()
            self.open.append((texts, turn))
            await turn
            error = self.endpoint(texts)
            if error is None:
                return exchange.read({"data": [{"embedding": vector(t)} for t in ([texts] if isinstance(texts, str) else texts)]})
            step = exchange.refused(error, True) or exchange.refused(error, False)
            assert step is not None
            if step.then != "again":
                return step

    async def serve(self, work: Coroutine[Any, Any, Any], choose: Callable[[int], int]) -> Any:
        """Answer one open request after the other, as chosen, until the work is done."""
        task = asyncio.ensure_future(work)
        while not task.done():
            for _ in range(20):  # everybody gets as far as the desk
                await asyncio.sleep(0)
            if self.open:
                self.open.pop(choose(len(self.open)))[1].set_result(None)
        return task.result()

    async def close(self) -> None:
        pass


def at(desk: Desk, batch_size: int, memory: Memory | None = None) -> HttpEmbedder:
    asked = embedder("http://127.0.0.1:9/v1", batch_size=batch_size, wait=0, memory=memory)
    asked._wire = cast(Wire, desk)  # tries and waits are not what is looked at here
    return asked


def first(_: int) -> int:
    return 0


def shown(outcomes: list[Any]) -> list[Any]:
    return [o if isinstance(o, str) else o.tolist() for o in outcomes]


def learned(asked: HttpEmbedder) -> int | None:
    return asked.identity.parameters.get("batch_size")


@pytest.mark.parametrize("words", [*COUNT, "odd"])
@pytest.mark.parametrize("size", [2, 3, 5, 8, 10])
async def test_one_bad_text_teaches_no_size_wherever_it_stands(tmp_path: Path, size: int, words: str) -> None:
    for place in range(size):
        desk = Desk(Endpoint(bad=frozenset({TEXTS[place]}), of_bad=WORDS[words]))
        memory = Memory(tmp_path / str(place))
        asked = at(desk, size, memory)
        got = shown(await desk.serve(asked.embed(TEXTS[:size]), first))
        assert [isinstance(o, str) for o in got] == [i == place for i in range(size)]
        assert (learned(asked), asked.batch_size, asked.notices) == (None, size, [])
        assert memory.recall("http://127.0.0.1:9/v1", "e-1") == {}
        assert len(desk.sizes) <= 2 * size.bit_length() + 3


@pytest.mark.parametrize("words", COUNT)
@pytest.mark.parametrize("before", range(11))
async def test_one_bad_text_teaches_no_size_whatever_was_taken_before(before: int, words: str) -> None:
    for place in range(10):
        desk = Desk(Endpoint(bad=frozenset({TEXTS[20 + place]}), of_bad=WORDS[words]))
        asked = at(desk, 10)
        await desk.serve(asked.embed(TEXTS[:before]), first)
        await desk.serve(asked.embed(TEXTS[20:30]), first)
        assert (learned(asked), asked.batch_size) == (None, 10)


@pytest.mark.parametrize("alone", [*WORDS, None])
@pytest.mark.parametrize("words", COUNT)
async def test_nor_where_it_is_refused_in_other_words_when_it_is_alone(words: str, alone: str | None) -> None:
    for place in range(10):
        desk = Desk(Endpoint(bad=frozenset({TEXTS[place]}), of_bad=WORDS[words], alone=WORDS[alone] if alone else None))
        asked = at(desk, 10)
        await desk.serve(asked.embed(TEXTS[:10]), first)
        assert (learned(asked), asked.batch_size, asked.notices) == (None, 10, [])


@pytest.mark.parametrize("words", COUNT)
@pytest.mark.parametrize("bad", [{0, 1}, {0, 9}, {4, 5}, {0, 3, 6, 9}, set(range(9)), set(range(1, 10)), set(range(10))], ids=str)
async def test_several_bad_texts_teach_no_size(bad: set[int], words: str) -> None:
    desk = Desk(Endpoint(bad=frozenset(TEXTS[i] for i in bad), of_bad=WORDS[words]))
    asked = at(desk, 10)
    got = shown(await desk.serve(asked.embed(TEXTS[:10]), first))
    assert [isinstance(o, str) for o in got] == [i in bad for i in range(10)]
    assert (learned(asked), asked.batch_size) == (None, 10)


@pytest.mark.parametrize("place", range(10))
@pytest.mark.parametrize("most", [1, 3, 4, 7, 9])
async def test_a_true_limit_is_learned_beside_a_bad_text_and_kept(tmp_path: Path, most: int, place: int) -> None:
    """If not from the batch that holds it, then from the next one."""
    desk = Desk(Endpoint(most, frozenset({TEXTS[place]})))
    asked = at(desk, 10, Memory(tmp_path))
    for some in (TEXTS[:10], TEXTS[10:20]):
        await desk.serve(asked.embed(some), first)
    found = learned(asked)
    assert found is not None
    assert (most + 1) // 2 <= found <= most
    assert asked.batch_size == Memory(tmp_path).recall("http://127.0.0.1:9/v1", "e-1")["batch_size"] == found


async def test_a_limit_learned_meanwhile_outlives_the_doubt_of_another_batch() -> None:
    desk = Desk(Endpoint(most=7, bad=frozenset({"t0"})))
    asked = at(desk, 10)
    await desk.serve(asked.embed(TEXTS[:20]), lambda count: count - 1)  # the second batch is answered to its end, then the first
    assert learned(asked) == 5


async def test_what_is_taken_meanwhile_refutes_a_doubt() -> None:
    """Ten were refused for their bytes; ten others, on their way at the same time, are taken."""

    def heavy(texts: Any) -> ApiError | None:
        return ApiError(413, "") if sum(t in TEXTS[:10] for t in texts) > 5 else None

    for order in (first, lambda count: count - 1):
        desk = Desk(heavy)
        asked = at(desk, 10)
        assert shown(await desk.serve(asked.embed(TEXTS[:20]), order)) == [vector(t) for t in TEXTS[:20]]
        assert (learned(asked), asked.batch_size) == (None, 10)


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_no_order_of_answers_teaches_what_is_not_so(data: st.DataObject) -> None:
    count, size, most = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 12)), data.draw(st.integers(1, 14))
    bad = data.draw(st.frozensets(st.sampled_from(TEXTS[:count]), max_size=4))
    refusal, alone = (data.draw(st.sampled_from([*map(WORDS.get, COUNT)])) for _ in range(2))
    callers = data.draw(st.lists(st.integers(1, count), max_size=4))
    desk = Desk(Endpoint(most, bad, of_bad=refusal, alone=alone))

    async def all_of_them() -> tuple[HttpEmbedder, list[Any]]:
        asked = at(desk, size)
        edges = [0, *sorted(callers), count]
        asking = [asked.embed(TEXTS[a:b]) for a, b in pairwise(edges)]
        got = await desk.serve(_together(asking), lambda open_: data.draw(st.integers(0, open_ - 1)))
        return asked, shown([o for some in got for o in some])

    asked, got = asyncio.run(all_of_them())
    assert [o if isinstance(o, list) else None for o in got] == [None if t in bad else vector(t) for t in TEXTS[:count]]
    found = learned(asked)
    assert asked.batch_size == (found or size), "no doubt is left"
    if found is not None:
        assert (most + 1) // 2 <= found < size
        assert most < size
    elif not bad:
        assert max(desk.sizes) <= most


async def _together(asking: list[Coroutine[Any, Any, Any]]) -> list[Any]:
    return await asyncio.gather(*asking)


# --------------------------------------------------------------------------- a text that seems to be wanted without a list
@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("place", range(4))
async def test_a_text_that_is_not_taken_without_a_list_either_leaves_the_list(tmp_path: Path, size: int, place: int) -> None:
    desk = Desk(Endpoint(bad=frozenset({TEXTS[place]}), of_bad=WORDS["list"]))
    memory = Memory(tmp_path)
    asked = at(desk, size, memory)
    got = shown(await desk.serve(asked.embed(TEXTS[:4]), first))
    assert [isinstance(o, str) for o in got] == [i == place for i in range(4)]
    assert (learned(asked), asked.batch_size, memory.recall("http://127.0.0.1:9/v1", "e-1")) == (None, size, {})


async def test_lists_that_were_on_their_way_are_sent_again_without_one() -> None:
    """Both go out as lists before the first refusal comes."""
    desk = Desk(lambda texts: WORDS["list"] if isinstance(texts, list) else None)
    asked = at(desk, 1)
    got = shown(await desk.serve(asked.embed(TEXTS[:3]), lambda count: count - 1))
    assert (got, asked.batch_size) == ([vector(t) for t in TEXTS[:3]], 1)
