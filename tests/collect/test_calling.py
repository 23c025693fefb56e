"""Functions are asked in threads or in the event loop; time limits, exceptions and unusable results are the row's, not the run's."""

import asyncio
import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from ragstone.collect.base import Kept, Received, Row
from ragstone.collect.calling import CallApplication, Way
from ragstone.collect.targets import application_of
from ragstone.errors import ConfigError
from ragstone.transport.retry import Backoff
from ragstone.types import Sample

AT_ONCE = Backoff(base=0.0)


def row(question="Where is the mill?", id="m1", repeat=None):
    return Row(Sample(id=id, question=question), repeat)


def application(target, *, concurrency=4, timeout=30.0, retries=0, lang="en"):
    return application_of(target, concurrency=concurrency, timeout=timeout, retries=retries, lang=lang)


def patient(function, retries):
    """An application that waits for nothing between tries."""
    way = Way(lambda gold: function(gold.question))
    return CallApplication(way, {}, concurrency=1, timeout=30, retries=retries, lang="en", backoff=AT_ONCE)


async def answer_of(target, question="磨坊在哪里？"):
    asked = application(target)
    kept = await asked.ask(row(question))
    reading = asked.read(kept)
    assert reading.trouble is None
    return reading.found.answer


def plain(question):
    return f"<{question}>"


async def asynchronous(question):
    await asyncio.sleep(0)
    return f"<{question}>"


def pieces(question):
    yield from ("<", question, ">")


async def asynchronous_pieces(question):
    for piece in ("<", question, ">"):
        yield piece


class Bot:
    def __call__(self, question):
        return f"<{question}>"

    def method(self, question):
        return f"<{question}>"


class AsynchronousBot:
    async def __call__(self, question):
        return f"<{question}>"


KINDS = [
    *(plain, asynchronous, pieces, asynchronous_pieces, Bot(), Bot().method, AsynchronousBot()),
    *(lambda question: asynchronous(question), lambda question: pieces(question), lambda question: asynchronous_pieces(question)),
]


@pytest.mark.parametrize("target", KINDS)
async def test_any_kind_of_function_is_asked(target):
    assert await answer_of(target) == "<磨坊在哪里？>"


async def test_what_came_back_is_kept_and_read_anew():
    asked = application(lambda question: {"answer": "a", "contexts": [{"text": "t", "id": 1}], "trace": object()})
    kept = await asked.ask(row(repeat=1))
    assert (kept.id, kept.attempts, kept.trouble) == ("m1#1", 1, None)
    assert kept.received == (Received("ask", {"answer": "a", "contexts": [{"text": "t", "id": 1}]}),)
    assert kept.latency_s is not None
    assert asked.notices == ("Not read from what the function returned: trace (object)",)
    again = Kept(kept.id, kept.received)
    assert application(plain).read(again) == asked.read(kept)


async def test_nothing_left_unread_is_no_notice():
    asked = application(plain)
    await asked.ask(row())
    assert asked.notices == ()


# ------------------------------------------------------------------ threads
async def test_blocking_functions_run_beside_each_other_as_many_as_allowed():
    together, most, lock, running = threading.Barrier(3, timeout=30), [0], threading.Lock(), [0]

    def ask(question):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        together.wait()  # three must be here at a time, or nobody goes on
        with lock:
            running[0] -= 1
        return question

    asked = application(ask, concurrency=3)
    kept = await asyncio.gather(*(asked.ask(row(id=str(n))) for n in range(9)))
    assert [one.trouble for one in kept] == [None] * 9
    assert most[0] == 3


async def test_a_call_that_hangs_is_told_and_holds_up_nobody():
    release = threading.Event()

    def ask(question):
        if question == "hang":
            release.wait(30)
        return question

    asked = application(ask, concurrency=1, timeout=0.05, retries=3)
    hung = await asked.ask(row("hang"))
    assert (hung.trouble.word, hung.attempts) == ("timeout", 1)
    assert "0.05 s" in hung.trouble.message
    assert (await asked.ask(row("next"))).trouble is None
    release.set()


async def test_an_asynchronous_call_that_hangs_is_cancelled():
    cancelled = []

    async def ask(question):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(question)
            raise

    kept = await application(ask, timeout=0.01).ask(row())
    assert (kept.trouble.word, cancelled) == ("timeout", ["Where is the mill?"])


def test_blocking_parts_of_asynchronous_calls_neither_wait_for_each_other_nor_hold_up_the_end():
    release, together = threading.Event(), threading.Barrier(40, timeout=30)

    def part(question):
        (release if question == "hang" else together).wait(30)
        return question

    async def ask(question):
        return await asyncio.to_thread(part, question)

    async def all_rows():
        asked = application(ask, concurrency=50, timeout=0.05)
        hung = await asked.ask(row("hang"))
        asked = application(ask, concurrency=50)
        return hung, await asyncio.gather(*(asked.ask(row(id=str(n))) for n in range(40)))

    hung, kept = asyncio.run(all_rows())
    assert not release.is_set()  # the loop has been closed all the same
    release.set()
    assert hung.trouble.word == "timeout"
    assert [one.trouble for one in kept] == [None] * 40


@pytest.mark.parametrize("own", [True, False])
async def test_the_loop_has_its_own_threads_back_in_the_end(own):
    async def ask(question):
        return await asyncio.to_thread(lambda: threading.current_thread().name)

    loop = asyncio.get_running_loop()
    if own:
        loop.set_default_executor(ThreadPoolExecutor(1, thread_name_prefix="of-the-host"))
    before = loop._default_executor
    first, second = application(ask), application(ask)
    for asked in (first, second):
        reading = asked.read(await asked.ask(row()))
        assert reading.found.answer == "ragstone-call"
    await first.close()
    assert second.read(await second.ask(row())).found.answer == "ragstone-call"
    await second.close()
    await second.close()
    assert loop._default_executor is before
    assert (await ask("")).startswith("of-the-host" if own else "asyncio")


async def test_what_a_thread_of_an_asynchronous_call_raises_is_told():
    def part():
        raise ValueError("no way")

    async def ask(question):
        return await asyncio.to_thread(part)

    assert str((await application(ask).ask(row())).trouble) == "call_failed: ValueError: no way"


async def test_the_end_of_the_run_ends_an_asynchronous_call():
    started = asyncio.Event()

    async def ask(question):
        started.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(application(ask).ask(row()))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


# ------------------------------------------------------------------ exceptions
class APIConnectionError(Exception):
    pass


class MyRateLimitError(APIConnectionError):
    pass


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("no\n  way"), "ValueError: no way"),
        (KeyError("context"), "KeyError: 'context'"),
        (RuntimeError(), "RuntimeError"),
        (StopIteration("x"), "StopIteration: x"),
        (SystemExit(3), "SystemExit: 3"),
        (asyncio.CancelledError(), "CancelledError"),
        (ValueError("长" * 600), "ValueError: " + "长" * 500 + "…"),
    ],
)
@pytest.mark.parametrize("threaded", [True, False])
async def test_an_exception_is_the_rows_trouble(error, told, threaded):
    def ask(question):
        raise error

    async def asynchronous(question):
        raise error

    if not threaded and isinstance(error, StopIteration):
        told = "RuntimeError: coroutine raised StopIteration"
    kept = await application(ask if threaded else asynchronous, retries=3).ask(row())
    assert (kept.trouble.word, kept.trouble.message, kept.attempts, kept.stop) == ("call_failed", told, 1, None)


@pytest.mark.parametrize("error", [TimeoutError("slow"), ConnectionResetError("gone"), APIConnectionError("x"), MyRateLimitError("y")])
async def test_passing_trouble_is_asked_again(error):
    calls = []

    def ask(question):
        calls.append(question)
        if len(calls) < 3:
            raise error
        return "at last"

    asked = patient(ask, retries=2)
    kept = await asked.ask(row())
    assert (asked.read(kept).found.answer, kept.attempts, len(calls)) == ("at last", 3, 3)


async def test_passing_trouble_that_stays_is_told():
    def ask(question):
        raise TimeoutError("slow")

    kept = await patient(ask, retries=2).ask(row())
    assert (str(kept.trouble), kept.attempts) == ("call_failed: TimeoutError: slow", 3)


# ------------------------------------------------------------------ results that cannot be read
async def test_results_that_cannot_be_read_stop_the_run_after_the_first_rows():
    asked = application(lambda question: {"anwser": "a"}, lang="zh")
    asked.expect(100)
    stops = [(await asked.ask(row(id=str(n)))).stop for n in range(3)]
    assert stops[:2] == [None, None]
    assert isinstance(stops[2], ConfigError)
    assert "是否想写 `answer`" in str(stops[2])


async def test_fewer_rows_stop_earlier():
    asked = application(lambda question: 7)
    asked.expect(1)
    kept = await asked.ask(row())
    assert str(kept.trouble).startswith("call_failed: what came back is of type int")
    assert isinstance(kept.stop, ConfigError)


async def test_after_a_good_row_they_are_rows_that_failed():
    results = iter(["fine", 7, 7, 7, 7, 7])
    asked = application(lambda question: next(results), concurrency=1)
    asked.expect(6)
    kept = [await asked.ask(row(id=str(n))) for n in range(6)]
    assert [one.stop for one in kept] == [None] * 6
    assert [one.trouble is None for one in kept] == [True] + [False] * 5


async def test_a_value_that_json_cannot_hold_is_told_with_its_place():
    kept = await application(lambda question: {"answer": "a", "contexts": [{"text": "t", "id": object()}]}).ask(row())
    assert str(kept.trouble) == "call_failed: contexts[0].id is of type object, which JSON cannot hold"


async def test_a_generator_of_something_else_is_refused():
    kept = await application(lambda question: iter([1, 2])).ask(row())
    assert kept.trouble.word == "call_failed"
    assert "of type list" in kept.trouble.message


async def test_a_column_that_is_missing_is_told_before_the_call():
    called = []
    with pytest.raises(ConfigError, match="`tone`"):
        await application(lambda question, tone: called.append(tone)).ask(row())
    with contextlib.suppress(ConfigError):
        await application(lambda question, tone="calm": called.append(tone)).ask(row())
    assert called == ["calm"]


SECRET = "sk-7Qx2LmZr9TbWk4Vd"


async def asked_with(function):
    environ = {"RAGSTONE_COLLECT_API_KEY": SECRET, "MONKEY": "business", "HOME_KEY": "/home/me/.ssh/id2", "TOKEN": "placeholder"}
    made = application_of(function, concurrency=1, timeout=30.0, retries=0, lang="en", environ=environ)
    return await made.ask(row())


@pytest.mark.parametrize("before", ["", "x" * 490, "x" * 495])
async def test_a_secret_that_an_exception_tells_is_masked(before):
    def ask(question):
        raise RuntimeError(f"{before} refused {SECRET}")

    kept = await asked_with(ask)
    assert "7Qx2" not in str(kept.trouble)
    assert "refused"[:3] in str(kept.trouble)


async def test_a_secret_that_a_function_returns_is_masked_and_nothing_else():
    kept = await asked_with(lambda question: {"answer": f"the key {SECRET}", "contexts": ["business", "placeholder", {"text": SECRET}]})
    assert SECRET not in str(kept.received)
    assert kept.received[0].body["answer"] == "the key sk-…Vd"
    assert kept.received[0].body["contexts"][:2] == ["business", "placeholder"]


async def test_an_exception_without_a_text_is_told_by_its_name():
    class Mute(Exception):
        def __str__(self):
            raise ValueError

    def ask(question):
        raise Mute

    assert str((await asked_with(ask)).trouble) == "call_failed: Mute"


@pytest.mark.parametrize(
    "returned", ["x" * 1_000_001, {"answer": "假" * 333_334}, {"answer": "a", "contexts": ["x" * 600_000, "y" * 600_000]}]
)
async def test_what_no_file_of_samples_can_hold_is_told(returned):
    made = application(lambda question: returned)
    assert made.read(await made.ask(row())).trouble.word == "too_large"
