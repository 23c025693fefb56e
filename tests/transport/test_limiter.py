import asyncio

import pytest

from ragstone.transport.limiter import Gate, Limiter


async def turns() -> None:
    for _ in range(6):
        await asyncio.sleep(0)


async def test_no_more_than_the_limit_are_inside_and_first_come_is_first_served() -> None:
    limiter, inside, order, most = Limiter(2), 0, [], 0
    doors = [asyncio.Event() for _ in range(6)]

    async def one(i: int) -> None:
        nonlocal inside, most
        async with limiter:
            order.append(i)
            inside += 1
            most = max(most, inside)
            await doors[i].wait()
            inside -= 1

    tasks = [asyncio.create_task(one(i)) for i in range(6)]
    for i in (1, 0, 2, 3, 4, 5):
        await turns()
        doors[i].set()
    await asyncio.gather(*tasks)
    assert (order, most) == ([0, 1, 2, 3, 4, 5], 2)


@pytest.mark.parametrize("handed", [False, True])
async def test_a_cancelled_waiter_takes_no_place_with_it(handed: bool) -> None:
    limiter = Limiter(1)
    await limiter.__aenter__()
    waiter = asyncio.create_task(limiter.__aenter__())
    await turns()
    if handed:
        await limiter.__aexit__(None, None, None)
        waiter.cancel()
    else:
        waiter.cancel()
        await turns()
        await limiter.__aexit__(None, None, None)
    await asyncio.gather(waiter, return_exceptions=True)
    async with asyncio.timeout(1), limiter:
        pass


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


async def test_a_request_that_gets_no_answer_lets_two_more_try() -> None:
    gate = Gate(patience=0.005, most=3)
    tries = [asyncio.create_task(gate.enter()) for _ in range(5)]
    async with asyncio.timeout(5):
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
    async with asyncio.timeout(1):
        turn = await third
    assert turn is not None
    turn.leave(accepted=True)
