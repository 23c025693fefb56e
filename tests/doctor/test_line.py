"""One endpoint as the doctor asks it."""

from support.server import Server, refuse, say

from ragstone.doctor.line import LONGEST_WAIT, Line
from ragstone.transport.endpoint import JUDGE, Endpoint, Key


async def test_no_wait_is_longer_than_the_doctor_has_patience():
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async with Server([refuse(429, Retry_After="90"), say("ok")]) as server:
        line = Line(Endpoint(server.url, "m", Key(None, "K"), JUDGE, "en"), 5.0, 3, sleep)
        heard = await line.ask("chat/completions", lambda: {"messages": []}, "choices")
        await line.close()
    assert heard.data is not None
    assert waits
    assert max(waits) <= LONGEST_WAIT
    assert line.used == 2


async def test_nothing_is_sent_once_the_requests_are_used_up():
    async with Server() as server:
        line = Line(Endpoint(server.url, "m", Key(None, "K"), JUDGE, "en"), 5.0, 1)
        await line.ask("chat/completions", lambda: {"messages": []}, "choices")
        heard = await line.ask("chat/completions", lambda: {"messages": []}, "choices")
        await line.close()
    assert (heard.data, heard.word, len(server.seen)) == (None, "requests", 1)
