import asyncio

import pytest

from ragstone.together import together


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
