import asyncio

from ragstone.embed.awaited import Asked, all_of


async def test_a_call_waits_for_the_last_of_its_texts() -> None:
    one, other = Asked(), Asked()
    call = asyncio.create_task(all_of({one, other}))
    await asyncio.sleep(0)
    one.settle("timeout")
    await asyncio.sleep(0)
    assert not call.done()
    other.settle("blocked")
    await call
    assert (one.outcome, other.outcome) == ("timeout", "blocked")


async def test_a_call_that_gives_up_takes_nothing_from_the_others() -> None:
    text = Asked()
    leaver, stayer = (asyncio.create_task(all_of({text})) for _ in range(2))
    await asyncio.sleep(0)
    leaver.cancel()
    await asyncio.sleep(0)
    text.settle("timeout")
    await stayer
    assert leaver.cancelled()
    assert text.outcome == "timeout"
