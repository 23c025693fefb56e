import asyncio
from typing import Any

import pytest

from ragstone import progress
from ragstone.progress import Counts, Meter, Progress, RowMeter, RowProgress
from ragstone.types import Score

OK = Score(sample_id="s", metric="m", value=1.0, status="ok")
FAILED = Score(sample_id="s", metric="m", status="failed", reason="timeout")


def line(**columns: Any) -> dict[str, Any]:
    return {"kind": "split_claims", "attempts": 1, "usage": None, "error": None, **columns}


@pytest.mark.parametrize(
    ("lines", "counts"),
    [
        ([line()], Counts(requests=1, unknown_usage=1)),
        ([line(attempts=3, rate_limits=2, usage={"prompt_tokens": 5, "completion_tokens": None})], Counts(3, 2, 2, prompt_tokens=5)),
        ([line(error="bad_reply", usage={}), line(error="timeout", usage={})], Counts(2, bad_replies=1)),
        ([line(kind="cosine", attempts=0)], Counts()),
        ([line(from_cache=True)], Counts(from_cache=1)),
    ],
)
def test_lines_of_replies_are_added_up(lines: list[dict[str, Any]], counts: Counts) -> None:
    found = Counts()
    for each in lines:
        found.add(each)
    assert found == counts


def meter(seen: list[Progress], counts: Counts, answered: list[int], awaited: str = "") -> Meter:
    return Meter(counts, 4, seen.append, lambda: len(answered), lambda: awaited)


def test_only_what_this_call_asked_is_told_and_no_pace_before_the_first_reply() -> None:
    counts, seen, answered = Counts(requests=40, prompt_tokens=100), list[Progress](), list[int]()
    telling = meter(seen, counts, answered)
    telling.tick(OK)
    assert (seen[-1].done, seen[-1].requests, seen[-1].left_s) == (1, 0, None)
    counts.requests, counts.prompt_tokens = 42, 130
    answered.append(1)
    telling.tick(FAILED)
    last = seen[-1]
    assert (last.done, last.total, last.failed, last.requests, last.prompt_tokens) == (2, 4, 1, 2, 30)
    assert last.left_s is not None


async def test_a_host_that_owes_its_first_reply_is_named_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "BEAT", 0.01)
    seen, answered = list[Progress](), list[int]()
    telling = meter(seen, Counts(), answered, "judge.example")
    beating = asyncio.ensure_future(telling.beat())
    while not seen:
        await asyncio.sleep(0.005)
    telling.over.set()
    await beating
    assert seen[-1].awaited == "judge.example"
    answered.append(1)
    telling.tell()
    assert seen[-1].awaited == ""


async def test_an_application_that_owes_its_first_row_is_named_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "BEAT", 0.01)
    seen = list[RowProgress]()
    telling = RowMeter(4, seen.append, "rag.example")
    telling.tell()
    assert (seen.pop().awaited, telling.done) == ("", 0)
    beating = asyncio.ensure_future(telling.beat())
    while not seen:
        await asyncio.sleep(0.005)
    telling.over.set()
    await beating
    assert (seen[-1].awaited, seen[-1].left_s) == ("rag.example", None)
    telling.tick(failed=True, requests=3)
    assert seen[-1].left_s == pytest.approx(3 * seen[-1].elapsed_s)
    telling.take_back(1)
    assert (seen[-1].done, seen[-1].failed, seen[-1].requests, seen[-1].awaited) == (0, 0, 3, "rag.example")
