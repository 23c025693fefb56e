import asyncio

import pytest

from ragstone.together import together, within


async def test_the_first_failure_stops_the_others_and_is_raised_as_it_is() -> None:
    stopped = []

    async def waits() -> None:
        try:
            await asyncio.sleep(10)
        finally:
            stopped.append(True)

    async def fails() -> None:
        await asyncio.sleep(0)
        raise KeyError("as it is")

    with pytest.raises(KeyError, match="as it is"):
        await together([waits(), fails(), waits()])
    assert stopped == [True, True]


async def test_results_come_in_the_order_given() -> None:
    async def later(n: int) -> int:
        await asyncio.sleep(0.001 * (3 - n))
        return n

    assert await together([later(n) for n in range(3)]) == [0, 1, 2]
    assert await together([later(0)]) == [0]


async def test_what_takes_too_long_ends_with_what_is_said_of_it():
    with pytest.raises(KeyError, match="late"):
        async with within(0.001, lambda: KeyError("late")):
            await asyncio.Event().wait()


async def test_a_time_limit_of_ones_own_is_none_of_the_block_s():
    with pytest.raises(TimeoutError, match="mine"):
        async with within(60, lambda: KeyError("late")):
            raise TimeoutError("mine")


async def test_without_a_limit_there_is_time():
    async with within(None, lambda: KeyError("late")):
        await asyncio.sleep(0)
