import asyncio

import pytest
from support.asking import Waits
from support.clock import no_waiting

from ragstone.transport.limiter import Gate, Limiter
from ragstone.transport.retry import Backoff


async def turns() -> None:
    for _ in range(6):
        await asyncio.sleep(0)


async def test_no_more_than_the_limit_are_inside_and_first_come_is_first_served() -> None:
    limiter, inside, order, most = Limiter(2), 0, [], 0
    doors = [asyncio.Event() for _ in range(6)]

    async def one(i: int) -> None:
        nonlocal inside, most
        epoch = await limiter.enter()
        order.append(i)
        inside += 1
        most = max(most, inside)
        await doors[i].wait()
        inside -= 1
        limiter.leave(epoch)

    tasks = [asyncio.create_task(one(i)) for i in range(6)]
    for i in (1, 0, 2, 3, 4, 5):
        await turns()
        doors[i].set()
    await asyncio.gather(*tasks)
    assert (order, most) == ([0, 1, 2, 3, 4, 5], 2)


@pytest.mark.parametrize("handed", [False, True])
async def test_a_cancelled_waiter_takes_no_place_with_it(handed: bool) -> None:
    limiter = Limiter(1)
    epoch = await limiter.enter()
    waiter = asyncio.create_task(limiter.enter())
    await turns()
    if handed:
        limiter.leave(epoch)
        waiter.cancel()
    else:
        waiter.cancel()
        await turns()
        limiter.leave(epoch)
    await asyncio.gather(waiter, return_exceptions=True)
    async with asyncio.timeout(60):
        await limiter.enter()


async def test_repeats_come_before_those_who_have_not_been_tried() -> None:
    limiter, order = Limiter(1), []

    async def one(name: str, first: bool) -> None:
        epoch = await limiter.enter(first)
        order.append(name)
        limiter.leave(epoch)

    epoch = await limiter.enter()
    tasks = [asyncio.create_task(one(name, name == "repeat")) for name in ("a", "b", "repeat")]
    await turns()
    limiter.leave(epoch)
    await asyncio.gather(*tasks)
    assert order == ["repeat", "a", "b"]


@pytest.mark.parametrize(("after", "pauses"), [(7.0, [7.0, 7.0, 7.0]), (None, [0.25, 0.5, 1.0])])
async def test_where_nothing_gets_through_nothing_is_sent_for_a_while(after: float | None, pauses: list[float]) -> None:
    waits, over = Waits(), asyncio.Event()

    async def sleep(seconds: float) -> None:
        await waits(seconds)
        await over.wait()

    async def one(refused: bool) -> None:
        async with asyncio.timeout(60):
            limiter.leave(await limiter.enter(), refused=refused, after=after)
            await turns()

    limiter = Limiter(16, Backoff(draw=lambda: 0.0), sleep)
    for number, tries in enumerate((18, 9, 9)):
        for _ in range(tries):
            await one(refused=True)
        assert len(waits) == number + 1
        waiting = asyncio.create_task(limiter.enter())
        await turns()
        assert not waiting.done()
        over.set()
        limiter.leave(await waiting)
        over.clear()
    assert (waits, limiter.limit) == (pauses, 1)
    await one(refused=False)
    for _ in range(15):
        await one(refused=True)
    assert len(waits) == 3, "where something is taken now and then nobody pauses"


async def test_what_is_on_its_way_can_be_waited_for() -> None:
    limiter = Limiter(2)
    await limiter.idle()
    epochs = [await limiter.enter(), await limiter.enter()]
    waiting = asyncio.create_task(limiter.idle())
    limiter.leave(epochs[0])
    await turns()
    assert not waiting.done()
    limiter.leave(epochs[1])
    async with asyncio.timeout(60):
        await waiting


async def test_trouble_widens_the_gate_by_one_each_time() -> None:
    gate = Gate()
    first = await gate.enter()
    tries = [asyncio.create_task(gate.enter()) for _ in range(5)]
    await turns()
    assert first is not None
    first.leave(accepted=False, troubled=True)
    await turns()
    assert [t.done() for t in tries] == [True, True, False, False, False]
    second = await tries[0]
    assert second is not None
    second.leave(accepted=False, troubled=True)
    await turns()
    assert sum(t.done() for t in tries) == 4
    gate.release()
    for task in tries[1:]:
        if (turn := await task) is not None:
            turn.leave(accepted=False)


async def test_the_gate_lets_one_through_until_one_is_accepted() -> None:
    gate, entered = Gate(), []

    async def one(i: int) -> None:
        turn = await gate.enter()
        entered.append((i, turn is not None))
        if turn:
            await turns()
            turn.leave(accepted=i == 1)

    await asyncio.gather(*(one(i) for i in range(4)))
    assert entered == [(0, True), (1, True), (2, False), (3, False)]
    assert await gate.enter() is None


@no_waiting
async def test_a_request_that_gets_no_answer_lets_two_more_try() -> None:
    gate = Gate(patience=0.005, most=3)
    tries = [asyncio.create_task(gate.enter()) for _ in range(5)]
    async with asyncio.timeout(60):
        while sum(t.done() for t in tries) < 3:
            await asyncio.sleep(0.001)
    await asyncio.sleep(0.02)
    assert sum(t.done() for t in tries) == 3
    gate.release()
    assert [await t for t in tries[3:]] == [None, None]
    for task in tries[:3]:
        turn = await task
        assert turn is not None
        turn.leave(accepted=False)


@pytest.mark.parametrize("handed", [False, True])
async def test_a_cancelled_waiter_at_the_gate_passes_its_turn_on(handed: bool) -> None:
    gate = Gate()
    first = await gate.enter()
    second, third = asyncio.create_task(gate.enter()), asyncio.create_task(gate.enter())
    await turns()
    assert first is not None
    if handed:
        first.leave(accepted=False)
        second.cancel()
    else:
        second.cancel()
        await turns()
        first.leave(accepted=False)
    async with asyncio.timeout(60):
        turn = await third
    assert turn is not None
    turn.leave(accepted=True)
