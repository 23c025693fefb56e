import asyncio
import gc
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from support.needs import sample

from ragstone import progress
from ragstone.judge.base import Identity, RawReply
from ragstone.lost import Work
from ragstone.metrics.faithfulness import Faithfulness
from ragstone.plans import separate
from ragstone.plans.base import Case
from ragstone.progress import Counts, Progress
from ragstone.questions import split_claims
from ragstone.questions.base import Question, Reading, ask
from ragstone.run import Driver, partial
from ragstone.types import Score


@dataclass
class Memory:
    """Records held in memory."""

    lines: dict[str, dict[str, Any]] = field(default_factory=dict)
    scores: list[Score] = field(default_factory=list)

    def held(self, question: Question) -> dict[str, Any] | None:
        return self.lines.get(question.key)

    def keep_reply(self, question: Question, line: dict[str, Any]) -> None:
        self.lines[question.key] = line

    def keep_score(self, score: Score) -> None:
        self.scores.append(score)


class Echo:
    """Splits a text at 。 and supports everything; counts how many questions it works on at once."""

    identity = Identity("echo", "here")
    requests = 0

    def __init__(self) -> None:
        self.now = self.most = self.asked = 0

    async def complete(self, question: Question) -> RawReply:
        self.now += 1
        self.asked += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        if question.kind.name == "split_claims":
            text = ",".join(f'"{part}"' for part in question.input["text"].split("。") if part)
            return RawReply(
                text=f'{{"claims":[{text}]}}', usage={"prompt_tokens": 7, "completion_tokens": 2, "cached_tokens": 1}, attempts=2
            )
        verdicts = ",".join(f'{{"id":{c["id"]},"evidence":[1],"verdict":"supported"}}' for c in question.input["claims"])
        return RawReply(text=f'{{"verdicts":[{verdicts}]}}', rate_limits=1)

    async def embed(self, texts: Any) -> list[Any]:
        raise AssertionError("nothing is embedded here")

    async def close(self) -> None:
        pass


def work(*answers: str) -> Iterator[Work]:
    for i, answer in enumerate(answers):
        row = sample(answer=answer, contexts=["c"], question="q").model_copy(update={"id": f"s{i}"})
        yield Case(row, "zh"), [Faithfulness()], {}


async def drive(judge: Echo, *answers: str, workers: int = 4, memory: Memory | None = None, **settings: Any) -> tuple[Driver, Memory]:
    memory = memory or Memory()
    driver = Driver(separate, judge, judge, memory)
    await driver.run(work(*answers), workers=workers, total=len(answers), **settings)
    return driver, memory


async def test_samples_are_pulled_as_workers_come_free_and_never_all_at_once() -> None:
    pulled, highest = 0, 0
    judge = Echo()

    def slowly() -> Iterator[Work]:
        nonlocal pulled, highest
        for item in work(*(f"答{i}" for i in range(20))):
            pulled += 1
            highest = max(highest, pulled - len(memory.scores))
            yield item

    memory = Memory()
    await Driver(separate, judge, judge, memory).run(slowly(), workers=3, total=20)
    assert len(memory.scores) == 20
    assert highest <= 3
    assert judge.most <= 3


async def test_equal_questions_under_way_share_one_reply_and_held_ones_are_not_asked() -> None:
    judge = Echo()
    _, memory = await drive(judge, "同。样", "同。样", "同。样")
    assert judge.asked == 2
    assert [s.value for s in memory.scores] == [1.0] * 3
    again = Echo()
    await drive(again, "同。样", memory=memory)
    assert again.asked == 0


async def test_a_score_names_the_questions_it_rests_on_in_the_order_asked() -> None:
    _, memory = await drive(Echo(), "甲。乙")
    (score,) = memory.scores
    assert [memory.lines[key]["kind"] for key in score.questions] == ["split_claims", "check_claims"]


async def test_counts_add_tries_tokens_and_what_is_unknown() -> None:
    driver, _ = await drive(Echo(), "甲")
    assert driver.counts == Counts(
        requests=3, retries=1, rate_limits=1, unknown_usage=1, prompt_tokens=7, completion_tokens=2, cached_tokens=1
    )


async def test_progress_counts_cells_up_to_the_total() -> None:
    seen: list[Progress] = []
    await drive(Echo(), "甲", "乙", "丙", on_progress=seen.append)
    assert [(p.done, p.total, p.failed) for p in seen] == [(1, 3, 0), (2, 3, 0), (3, 3, 0)]
    assert seen[-1].requests >= 8


async def test_progress_tells_what_this_call_has_asked() -> None:
    seen: list[Progress] = []
    counts = Counts(requests=900, prompt_tokens=5000, completion_tokens=70)
    await Driver(separate, judge := Echo(), judge, Memory(), counts).run(work("甲"), workers=1, total=1, on_progress=seen.append)
    assert (seen[-1].requests, seen[-1].prompt_tokens, seen[-1].completion_tokens) == (3, 7, 2)
    assert counts.requests == 903


class Silent(Echo):
    """Answers nothing before it is told to."""

    identity = Identity("silent", "https://judge.example:8000/v1")

    def __init__(self) -> None:
        super().__init__()
        self.speak = asyncio.Event()

    async def complete(self, question: Question) -> RawReply:
        await self.speak.wait()
        return await super().complete(question)


async def test_nothing_is_said_of_the_time_left_while_the_first_reply_is_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "BEAT", 0.01)
    judge, seen = Silent(), []

    def hear(told: Progress) -> None:
        seen.append(told)
        if told.awaited:
            judge.speak.set()

    async with asyncio.timeout(60):  # the blank answer needs no reply: it tells nothing of the pace
        await drive(judge, "", "甲", "乙", on_progress=hear)
    waiting = next(told for told in seen if told.awaited)
    assert (waiting.done, waiting.left_s, waiting.awaited) == (1, None, "judge.example:8000")
    assert (seen[0].done, seen[0].left_s) == (1, None)
    second = next(told for told in seen if told.done == 2)
    assert second.left_s == pytest.approx(second.elapsed_s)
    assert (seen[-1].done, seen[-1].left_s, seen[-1].awaited) == (3, 0.0, "")


async def test_a_listener_that_fails_between_cells_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "BEAT", 0.01)

    def fail(told: Progress) -> None:
        raise KeyError(told.awaited)

    with pytest.raises(KeyError):
        await drive(Silent(), "甲", on_progress=fail)


async def test_a_stopped_run_leaves_no_task_behind() -> None:
    class Stops(Echo):
        async def complete(self, question: Question) -> RawReply:
            if self.asked >= 3:
                raise ConnectionAbortedError("stop")
            return await super().complete(question)

    with pytest.raises(ConnectionAbortedError):
        await drive(Stops(), *(f"答{i}" for i in range(30)))
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_what_stops_the_asker_of_a_shared_question_stops_all_who_wait_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    class Stops(Echo):
        async def complete(self, question: Question) -> RawReply:
            await super().complete(question)
            raise ConnectionAbortedError("stop")

    for _ in range(20):
        with pytest.raises(ConnectionAbortedError, match="stop"):
            await drive(Stops(), *["同一个答案"] * 8, workers=8)
    gc.collect()  # a failure nobody took notice of would be logged now
    assert not caplog.records


async def test_a_waiting_case_that_is_cancelled_leaves_the_reply_to_the_others() -> None:
    question = ask(split_claims.KIND, "zh", 0, "p", {"of": "answer", "question": "q", "text": "甲"})
    judge = Echo()
    driver = Driver(separate, judge, judge, Memory())
    first, second, third = (asyncio.create_task(driver.ask(question, {})) for _ in range(3))
    await asyncio.sleep(0)
    second.cancel()
    assert (await first).raw == (await third).raw
    assert second.cancelled()
    assert judge.asked == 1
    assert not driver.asking


def test_a_reply_that_leaves_something_out_says_how_much_there_is() -> None:
    assert partial(Reading({}, missing=(("verdicts", 2), ("verdicts", 3)), asked=6)) == "verdicts 4/6"
    assert partial(Reading({}, asked=6)) is None
