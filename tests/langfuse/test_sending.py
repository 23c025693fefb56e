"""Packs, halves and the ways a server takes scores: what was taken is noted, what was refused is named, and nothing else is missing."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.langfuse_server import INGESTION, ITEMS, OTLP, RUN_ITEMS, SCORES, SECRET, LangfuseServer
from support.rag_server import fail, tell

from ragstone.errors import StoppedError
from ragstone.export.receipt import Receipt, Rejected
from ragstone.langfuse.access import host_of
from ragstone.langfuse.client import CONCURRENCY, Client
from ragstone.langfuse.posting import Posting, Verdict
from ragstone.langfuse.sending import MOST_REFUSED, SIZES, Sending, packs
from ragstone.langfuse.strategy import Strategy
from ragstone.langfuse.units import Unit
from ragstone.shown.blocks import Heading, Items
from ragstone.text import say
from ragstone.transport.memory import Memory
from ragstone.transport.retry import Backoff

TIME = "2026-11-30T08:00:00.000Z"


class Notes:
    """A ledger in memory; `fails` is raised once so many packs were noted."""

    def __init__(self, fails_after: int | None = None) -> None:
        self.held = dict[tuple[str, str], str]()
        self.left = fails_after

    def holds(self, unit: Unit) -> bool:
        return self.held.get((unit.kind, unit.id)) == unit.digest

    def add(self, units: Sequence[Unit]) -> None:
        if self.left is not None:
            if self.left == 0:
                raise OSError("killed here")
            self.left -= 1
        self.held.update({(unit.kind, unit.id): unit.digest for unit in units})


@dataclass
class Course:
    """One export of units: what it was told, counts and asks."""

    server: LangfuseServer
    client: Client
    posting: Posting
    sending: Sending

    async def scores(self, units: Iterable[Unit]) -> None:
        await self.sending.send(units, self.posting.scores)


@asynccontextmanager
async def course(server: LangfuseServer, notes: Notes, memory: Memory | None = None) -> AsyncIterator[Course]:
    async def sleep(_: float) -> None:
        await asyncio.sleep(0)

    host = host_of(server.environ, "en")
    client = Client(host, backoff=Backoff(), sleep=sleep)
    try:
        version = await client.version()
        yield Course(server, client, Posting(client, Strategy(host.url, version, memory)), Sending(notes, host))
    finally:
        await client.close()


def score(number: int, value: float = 0.5, **more: object) -> Unit:
    name = f"{number:032x}"
    body = {"id": name, "name": "faithfulness", "value": value, "dataType": "NUMERIC", "traceId": f"{number + 1:032x}", "timestamp": TIME}
    return Unit("score", name, {**body, **more}, f"样本-{number}", "faithfulness")


def trace(number: int, start: str = "1764489600000000000", **more: object) -> Unit:
    spans = [
        {
            "traceId": f"{number + 1:032x}",
            "spanId": f"{number + 1:016x}",
            "name": "sample",
            "startTimeUnixNano": start,
            "endTimeUnixNano": start,
        }
    ]
    return Unit("trace", f"{number + 1:032x}", [{**spans[0], "attributes": [], **more}], f"样本-{number}")


# ------------------------------------------------------------------ every generation, and each of its troubles
GENERATIONS = {"v5": "array", "v4": "events", "dual": "events", "v3": "events"}


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("manner", [None, "partial", "rate", "flaky"])
async def test_what_arrives_is_what_was_due_and_a_second_time_adds_nothing(generation, manner, tmp_path: Path):
    units, notes = [score(n, n / 250) for n in range(250)], Notes()
    async with LangfuseServer(generation, *[m for m in [manner] if m]) as server:
        async with course(server, notes, Memory(tmp_path)) as first:
            await first.scores(units)
            assert first.sending.due == first.sending.accepted == {"score": 250}
            assert first.sending.rejected == []
            assert bool(first.sending.resent) is (manner == "partial")
        assert {one["id"]: one["value"] for one in server.langfuse.scores()} == {unit.id: unit.body["value"] for unit in units}
        assert len(server.langfuse.scores()) == 250
        before = len(server.seen)
        async with course(server, notes, Memory(tmp_path)) as second:
            await second.scores(units)
            assert (second.sending.accepted, second.sending.kept) == ({}, {"score": 250})
        assert [asked.method for asked in server.seen[before:]] == ["GET"]
        assert Strategy(server.url, (await _version(server)), Memory(tmp_path)).way == GENERATIONS[generation]


async def _version(server: LangfuseServer) -> str:
    async with course(server, Notes()) as made:
        return await made.client.version()


async def test_without_lists_and_events_scores_go_one_by_one():
    async with LangfuseServer("v4") as server:
        server.script = _closing(server, INGESTION)
        async with course(server, Notes()) as made:
            await made.scores(score(n) for n in range(30))
            assert made.sending.accepted == {"score": 30}
        assert len(server.langfuse.scores()) == 30
        assert len(server.asked(SCORES)) == 31
        assert len(server.asked(INGESTION)) == 1


def _closing(server: LangfuseServer, path: str, status: int = 404):
    return lambda asked: fail(status, {"message": "Not found"}) if asked.path == path else server.langfuse(asked)


async def test_a_remembered_way_is_asked_first_and_a_wrong_memory_costs_one_request(tmp_path: Path):
    async with LangfuseServer("v4") as server:
        for expected in ([1, 3], [0, 3], [0, 3]):
            server.seen.clear()
            async with course(server, Notes(), Memory(tmp_path)) as made:
                await made.scores(score(n) for n in range(300))
            assert [len(server.asked(SCORES)), len(server.asked(INGESTION))] == expected
        Strategy(server.url, "4.16.0", Memory(tmp_path)).took("array")
        server.seen.clear()
        async with course(server, Notes(), Memory(tmp_path)) as made:
            await made.scores(score(n) for n in range(300))
            assert made.sending.accepted == {"score": 300}
        assert [len(server.asked(SCORES)), len(server.asked(INGESTION))] == [1, 3]
        assert Strategy(server.url, "4.16.0", Memory(tmp_path)).way == "events"


async def test_a_way_that_closes_in_the_middle_is_found_out_anew():
    async with LangfuseServer("v4") as server, course(server, Notes()) as made:
        await made.scores(score(n) for n in range(200))
        server.langfuse.play("v5")
        await made.scores(score(n) for n in range(200, 900))
        assert made.sending.accepted == {"score": 900}
        assert len(server.langfuse.scores()) == 900


# ------------------------------------------------------------------ refusals
@pytest.mark.parametrize("generation", GENERATIONS)
async def test_what_is_refused_stands_alone_with_the_servers_words(generation):
    units, bad = [score(n) for n in range(230)], {3, 4, 150, 229}
    async with LangfuseServer(generation) as server:
        server.langfuse.refused = {units[n].id for n in bad}
        notes = Notes()
        async with course(server, notes) as made:
            await made.scores(units)
            told = {one.id: one for one in made.sending.rejected}
            assert told.keys() == server.langfuse.refused
            assert all("Score cannot be stored" in one.reason and one.metric == "faithfulness" for one in told.values())
            assert {one.sample_id for one in told.values()} == {f"样本-{n}" for n in bad}
            assert made.sending.accepted == {"score": 226}
        assert len(server.langfuse.scores()) == 226
        server.langfuse.refused = set()
        server.seen.clear()
        async with course(server, notes) as again:
            await again.scores(units)
            assert (again.sending.accepted, again.sending.kept, again.sending.rejected) == ({"score": 4}, {"score": 226}, [])
        assert len(server.langfuse.scores()) == 230


@settings(max_examples=25)
@given(bad=st.sets(st.integers(0, 59), max_size=12), generation=st.sampled_from([*GENERATIONS]))
def test_whatever_is_refused_everything_else_is_there(bad: set[int], generation: str):
    async def run() -> None:
        units = [score(n) for n in range(60)]
        async with LangfuseServer(generation) as server:
            server.langfuse.refused = {units[n].id for n in bad}
            async with course(server, Notes()) as made:
                await made.scores(units)
                assert {one.id for one in made.sending.rejected} == server.langfuse.refused
                assert made.sending.accepted["score"] + len(bad) == made.sending.due["score"] == 60
            assert {one["id"] for one in server.langfuse.scores()} == {unit.id for unit in units} - server.langfuse.refused

    asyncio.run(run())


async def test_one_bad_trace_of_many_is_found():
    units = [trace(n) for n in range(120)]
    async with LangfuseServer() as server, course(server, Notes()) as made:
        server.langfuse.refused = {units[77].id}
        await made.sending.send(units, made.posting.traces)
        (told,) = made.sending.rejected
        assert (told.kind, told.id, told.sample_id) == ("trace", units[77].id, "样本-77")
        assert "cannot be stored" in told.reason
        assert len(server.langfuse.spans()) == 119
        assert {asked.headers["x-langfuse-ingestion-version"] for asked in server.asked(OTLP)} == {"4"}
        assert {asked.headers.get("Content-Encoding") for asked in server.asked(OTLP)} == {"gzip"}


@pytest.mark.parametrize("status", [400, 415])
async def test_where_nothing_is_unpacked_traces_go_as_they_are(status: int):
    async with LangfuseServer() as server, course(server, Notes()) as made:
        server.script = lambda asked: fail(status, {"error": "gzip"}) if "Content-Encoding" in asked.headers else server.langfuse(asked)
        await made.sending.send([trace(n) for n in range(500)], made.posting.traces)
        assert made.sending.accepted == {"trace": 500}
        assert len(server.asked(OTLP)) <= 60


@pytest.mark.parametrize("count", ["1", 1])
async def test_spans_that_are_taken_in_part_are_found(count: object):
    units = [trace(n) for n in range(20)]
    told = {"partialSuccess": {"rejectedSpans": count, "errorMessage": "too old"}}
    async with LangfuseServer() as server, course(server, Notes()) as made:
        server.script = lambda asked: tell(told) if asked.path == OTLP and units[7].id.encode() in asked.raw else server.langfuse(asked)
        await made.sending.send(units, made.posting.traces)
        assert [(one.id, one.reason) for one in made.sending.rejected] == [(units[7].id, "too old")]
        assert made.sending.accepted == {"trace": 19}


@pytest.mark.parametrize("body", [{}, {"partialSuccess": {}}, {"partialSuccess": None}, {"partialSuccess": {"rejectedSpans": "0"}}])
async def test_spans_that_are_taken_whole(body: object):
    async with LangfuseServer() as server, course(server, Notes()) as made:
        server.script = lambda asked: tell(body) if asked.path == OTLP else server.langfuse(asked)
        await made.sending.send([trace(1)], made.posting.traces)
        assert made.sending.accepted == {"trace": 1}


@pytest.mark.parametrize("generation", ["v5", "v4"])
async def test_a_pack_that_is_too_large_is_halved(generation):
    async with LangfuseServer(generation) as server, course(server, Notes()) as made:
        server.langfuse.limits = {SCORES: 2500, INGESTION: 2500, OTLP: 1 << 30}
        await made.scores(score(n) for n in range(100))
        assert made.sending.accepted == {"score": 100}
        assert made.sending.rejected == []
        await made.scores([score(200, comment="长" * 3000)])
        (told,) = made.sending.rejected
        assert "413" in told.reason


async def test_items_of_which_one_is_refused():
    units = [Unit("item", f"集/{n}", {"id": f"集/{n}", "datasetName": "集", "input": {"q": n}}, str(n)) for n in range(12)]
    async with LangfuseServer() as server, course(server, Notes()) as made:
        server.langfuse.refused = {"集/5"}
        dataset = Unit("dataset", "集", {"name": "集"})
        (parcel,) = next(packs([dataset]))
        assert (await made.posting.dataset(parcel, known=True))[0] == "clds0000"
        assert (await made.posting.dataset(parcel, known=True))[0] == "clds0000"
        assert len(server.asked("/api/public/v2/datasets", "POST")) == 1
        await made.sending.send(units, made.posting.item)
        assert [one.id for one in made.sending.rejected] == ["集/5"]
        assert len(server.langfuse.items()) == 11
        assert len(server.asked(ITEMS)) == 12


@pytest.mark.parametrize(("generation", "there"), [("v5", False), ("v4", False), ("dual", True), ("v3", True)])
async def test_run_items_are_sent_where_the_server_has_them(generation, there, tmp_path: Path):
    async with LangfuseServer(generation) as server, course(server, Notes(), Memory(tmp_path)) as made:
        for body in ({"name": "d"},):
            (parcel,) = next(packs([Unit("dataset", "d", body)]))
            await made.posting.dataset(parcel, known=False)
        await made.sending.send([Unit("item", "d/1", {"id": "d/1", "datasetName": "d"})], made.posting.item)
        (lost,) = next(packs([Unit("run_item", "x", {"runName": "r", "datasetItemId": "gone", "traceId": "a" * 32})]))
        (link,) = next(packs([Unit("run_item", "y", {"runName": "r", "datasetItemId": "d/1", "traceId": "a" * 32})]))
        if there:
            assert await made.posting.run_item([lost]) == Verdict({"x": "HTTP 404: Dataset item not found"})
            assert await made.posting.run_item([link]) == Verdict()
            assert made.posting.run_id == "clrun0000"
        else:
            assert await made.posting.run_item([link]) is None
            assert await made.posting.run_item([link]) is None
            assert len(server.asked(RUN_ITEMS)) == 1
        assert Strategy(server.url, await made.client.version(), Memory(tmp_path)).run_items is there


async def test_a_server_that_refuses_everything_is_not_asked_a_hundred_thousand_times():
    async with LangfuseServer() as server, course(server, Notes()) as made:
        server.script = lambda asked: fail(400, {"message": "no"}) if asked.path == OTLP else server.langfuse(asked)
        with pytest.raises(StoppedError, match="refused 100 requests"):
            await made.sending.send((trace(n) for n in range(100_000)), made.posting.traces)
        assert len(server.asked(OTLP)) <= MOST_REFUSED + 2 * CONCURRENCY


async def test_words_of_the_server_hold_no_key():
    async with LangfuseServer() as server, course(server, Notes()) as made:
        told = {"accepted": 0, "rejected": 1, "errors": [{"message": f"no {SECRET} " + "x" * 2000}]}
        server.script = lambda asked: tell(told, 207) if asked.path == SCORES else server.langfuse(asked)
        await made.scores([score(1)])
        assert SECRET not in made.sending.rejected[0].reason
        assert len(made.sending.rejected[0].reason) <= 400


@pytest.mark.parametrize(
    "body", [{}, [], {"accepted": 1, "rejected": 1}, {"accepted": "?", "rejected": None, "errors": "no"}, {"errors": [1, None]}]
)
async def test_a_207_that_makes_no_sense_takes_nothing_for_granted(body):
    async with LangfuseServer() as server, course(server, Notes()) as made:
        server.script = lambda asked: tell(body, 207) if asked.path == SCORES else server.langfuse(asked)
        await made.scores(score(n) for n in range(4))
        assert made.sending.accepted == {}
        assert len(made.sending.rejected) == 4


# ------------------------------------------------------------------ stopped, killed, gone on with
async def test_suspended_then_lifted():
    units, notes = [score(n) for n in range(500)], Notes()
    async with LangfuseServer() as server:
        async with course(server, notes) as made:
            server.script = lambda asked: _after(server, asked, 2)
            with pytest.raises(StoppedError, match="usage threshold"):
                await made.scores(units)
            assert made.sending.accepted["score"] == len(server.langfuse.scores()) > 0
        server.script = server.langfuse
        async with course(server, notes) as again:
            await again.scores(units)
            assert again.sending.accepted["score"] + again.sending.kept["score"] == 500
            assert again.sending.kept["score"] == made.sending.accepted["score"]
        assert len(server.langfuse.scores()) == 500


def _after(server: LangfuseServer, asked, count: int):
    if asked.path == SCORES and asked.nth >= count:
        return fail(403, {"error": "ForbiddenError", "message": "Ingestion suspended: usage threshold exceeded"})
    return server.langfuse(asked)


@pytest.mark.parametrize("packs_noted", [0, 1, 2, 3])
async def test_killed_between_two_packs_only_what_was_not_noted_is_sent_again(packs_noted):
    units, notes = [score(n) for n in range(400)], Notes(packs_noted)
    async with LangfuseServer() as server:
        async with course(server, notes) as made:
            with pytest.raises(OSError, match="killed here"):
                await made.scores(units)
        assert len(notes.held) == 100 * packs_noted
        notes.left = None
        async with course(server, notes) as again:
            await again.scores(units)
            assert again.sending.kept["score"] == 100 * packs_noted
            assert again.sending.accepted["score"] == 400 - 100 * packs_noted
        assert len(server.langfuse.scores()) == 400, "what was sent twice is there once"


async def test_never_more_than_a_few_requests_at_once_and_never_more_units_than_that_in_memory():
    taken = 0

    def counted() -> Iterable[Unit]:
        nonlocal taken
        for n in range(2000):
            taken = n
            yield score(n)

    async with LangfuseServer() as server, course(server, Notes()) as made:
        ahead = list[int]()
        real = made.posting.scores

        async def post(pack):
            ahead.append(taken - len(made.sending.accepted and [*range(made.sending.accepted["score"])]))
            return await real(pack)

        await made.sending.send(counted(), post)
        assert server.most_at_once <= CONCURRENCY
        assert max(ahead) <= (CONCURRENCY + 2) * SIZES["score"].units


# ------------------------------------------------------------------ packs
@given(lengths=st.lists(st.integers(0, 3000), max_size=400))
def test_packs_hold_everything_once_in_order_and_fit(lengths):
    units = [Unit("score", str(n), {"comment": "x" * length}) for n, length in enumerate(lengths)]
    made = list(packs(units))
    assert [one.unit for pack in made for one in pack] == units
    assert all(len(pack) <= SIZES["score"].units for pack in made)
    assert all(len(orjson.dumps([one.unit.body for one in pack])) <= SIZES["score"].bytes for pack in made)


def test_a_unit_larger_than_a_pack_goes_alone():
    units = [Unit("score", "a", {"c": "x"}), Unit("score", "b", {"c": "x" * 950_000}), Unit("score", "c", {"c": "x"})]
    assert [[one.unit.id for one in pack] for pack in packs(units)] == [["a"], ["b"], ["c"]]


# ------------------------------------------------------------------ lists refused in part
async def test_where_every_list_is_refused_in_part_scores_soon_go_one_by_one():
    units = [score(n) for n in range(300)]
    async with LangfuseServer("v5", "partial") as server, course(server, Notes()) as made:
        await made.scores(units)
        assert made.sending.accepted == {"score": 300}
        assert made.sending.rejected == []
        assert len(server.asked(SCORES)) == 3 * (1 + 2 + 100)


@pytest.mark.parametrize(("bad", "most"), [({50}, 17), ({3, 77}, 31), (set(range(0, 100, 5)), 101)])
async def test_refused_scores_are_found_in_few_requests(bad: set[int], most: int):
    units = [score(n) for n in range(100)]
    async with LangfuseServer() as server, course(server, Notes()) as made:
        server.langfuse.refused = {units[n].id for n in bad}
        await made.scores(units)
        assert {one.id for one in made.sending.rejected} == server.langfuse.refused
        assert len(server.asked(SCORES)) <= most


@pytest.mark.parametrize(("modes", "named"), [(("v5", "partial"), 100), (("v4", "partial"), 1)])
async def test_what_was_refused_at_first_is_named_though_it_was_taken_in_the_end(modes: tuple[str, ...], named: int):
    units = [score(n) for n in range(100)]
    async with LangfuseServer(*modes) as server, course(server, Notes()) as made:
        await made.scores(units)
        first = made.sending.at_first
        assert made.sending.rejected == []
        assert len(first) == len({one.id for one in first}) == named
        assert units[1].id in {one.id for one in first}
        assert {one.id for one in first} <= {unit.id for unit in units}
        assert all("Score refused" in one.reason and one.sample_id and one.metric for one in first)


async def test_every_reason_of_a_list_is_kept():
    async with LangfuseServer() as server, course(server, Notes()) as made:
        told = {
            "accepted": 28,
            "rejected": 2,
            "errors": [{"message": f"no {SECRET}"}, {"message": "name too long"}, {"message": "name too long"}],
        }
        server.script = lambda asked: tell(told, 207) if asked.path == SCORES and asked.nth == 0 else server.langfuse(asked)
        await made.scores(score(n) for n in range(30))
        assert made.sending.accepted == {"score": 30}
        (reason,) = {one.reason for one in made.sending.at_first}
        assert reason.count("name too long") == 1
        assert SECRET not in reason


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_receipt_names_what_was_refused_at_first(lang):
    first = [Rejected("score", f"id{n}", "try again", f"样本-{n}", "faithfulness") for n in range(3)]
    receipt = Receipt(to="langfuse", target="t", due={"score": 3}, accepted={"score": 2}, rejected=(first[2],), at_first=(*first,))
    blocks = receipt.blocks(lang)
    at = blocks.index(Heading(say("export.at_first", lang, count=2)))
    (line,) = blocks[at + 1].items if isinstance(blocks[at + 1], Items) else ()
    assert "try again" in line
    assert [name in line for name in ("id0", "id1", "id2")] == [True, True, False]
    assert [one["id"] for one in receipt.to_dict()["at_first"]] == ["id0", "id1", "id2"]
