"""The driver: pulls samples, runs metrics over a plan, asks each question once, writes what comes back."""

import asyncio
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ragstone.embed.base import Embedder
from ragstone.judge.base import Judge, RawReply
from ragstone.lost import Lost, Work
from ragstone.metrics.base import Metric
from ragstone.metrics.needs import Need
from ragstone.plans.base import Case, Plan
from ragstone.progress import Counts, Meter, Progress, Spent
from ragstone.questions.base import TOO_MUCH, Failed, Question, Reading, Reply
from ragstone.questions.confidence import with_confidence
from ragstone.together import fulfil, together
from ragstone.types import Score


class Records(Protocol):
    """Where replies and scores go, and where replies that are already held come from."""

    def held(self, question: Question) -> dict[str, Any] | None:
        """Return the stored line that answers the question, or None."""
        ...

    def keep_reply(self, question: Question, line: dict[str, Any]) -> None:
        """Store the line of a reply that was just received."""
        ...

    def keep_score(self, score: Score) -> None:
        """Store a finished cell."""
        ...


class Recalled(Protocol):
    """Replies that earlier runs were given."""

    async def recall(self, question: Question) -> RawReply | None:
        """Return the reply to the question, None if there is none."""
        ...

    def keep(self, question: Question, raw: RawReply) -> None:
        """Keep a whole, readable reply for later runs."""
        ...


UNPAID = "budget"
"""Why a question was not asked: there was nothing left to pay it with."""

Used = dict[str, str | None]
"""Keys of the questions something rested on; with the kind of those that did not fit and were asked in parts."""


@dataclass(slots=True)
class Driver:
    """Runs cases. One a run; everything it needs is given to it, nothing is shared between drivers."""

    plan: Plan
    judge: Judge
    embedder: Embedder
    records: Records
    counts: Counts = field(default_factory=Counts)
    recalled: Recalled | None = None
    """None = nothing is taken from earlier runs."""
    asking: dict[str, asyncio.Future[Reply]] = field(default_factory=dict)
    """Questions on their way: an equal question waits for the same reply."""
    answered: int = 0
    """Questions answered in this call, otherwise than from what was held."""
    judging: int = 0
    """Questions on their way to the judge; the others go to the embedder."""
    unpaid: int = 0
    """Cells that failed because there was nothing left to pay their requests with."""
    lost: Lost | None = None
    """Where lost cells get one more try, None = nowhere."""
    again: bool = False
    """True while cells that were lost get one more try: then no failed reply is taken from what is held."""

    async def run(self, work: Iterable[Work], *, workers: int, total: int, on_progress: Callable[[Progress], None] | None = None) -> None:
        """Run all work, `workers` cases at a time, in the order given. Raises StoppedError when the run must stop.

        `on_progress` is called after every cell, and every few seconds while none ends.
        """
        meter = Meter(self.counts, total, on_progress, lambda: self.answered, self._awaited)
        source = iter(work)
        await together([self._workers(source, meter, workers), meter.beat()])

    def _awaited(self) -> str:
        """The host that owes a reply just now, else empty."""
        asked = self.judge if self.judging else self.embedder
        return asked.identity.endpoint.partition("://")[2].partition("/")[0] if self.asking else ""

    async def _workers(self, source: Iterator[Work], meter: Meter, workers: int) -> None:
        try:
            await together([self._worker(source, meter) for _ in range(workers)])
            if self.lost is not None and (lost := self.lost.worth_another_try(self.counts.troubles - meter.before.troubles)):
                self.again = True
                meter.take_back(sum(len(metrics) for _, metrics, _ in lost))
                source = iter(lost)
                await together([self._worker(source, meter) for _ in range(workers)])
        finally:
            meter.over.set()

    async def _worker(self, source: Iterator[Work], meter: Meter) -> None:
        for case, metrics, clipped in source:
            desk = _Desk(self, case)
            used: list[Used] = [{} for _ in metrics]
            try:
                await together([self._cell(desk, *cell, clipped, meter) for cell in zip(metrics, used, strict=True)])
            finally:
                self._assign(desk.paid, metrics, used)
            # a run answered wholly from memory would otherwise never let others, or Ctrl-C, have a turn
            await asyncio.sleep(0)

    def _assign(self, paid: dict[str, Spent], metrics: Sequence[Metric], used: Sequence[Used]) -> None:
        """Count each request under the first metric that rests on it, in the order of the run; an unfinished one under the first."""
        for key, spent in paid.items():
            owner = next((metric for metric, keys in zip(metrics, used, strict=True) if key in keys), metrics[0])
            self.counts.assign(owner.text, spent, key)

    async def _cell(self, desk: "_Desk", metric: Metric, keys: Used, clipped: dict[str, Any], meter: Meter) -> None:
        score: Score = await desk.drive(metric.evaluate(desk.case.sample), keys)
        parts = sorted({kind for kind in keys.values() if kind})
        notes = {name: told for name, told in (("clipped", clipped), ("in_parts", parts)) if told and score.status != "failed"}
        detail = {**score.detail, **notes} if notes else score.detail
        score = score.model_copy(update={"repeat": desk.case.repeat, "questions": tuple(keys), "detail": detail})
        self.records.keep_score(score)
        self.unpaid += score.reason == UNPAID
        if self.lost is not None:
            self.lost.note(desk.case, metric, clipped, score)
        meter.tick(score)

    async def ask(self, question: Question, paid: dict[str, Spent]) -> Reply:
        """Answer one question: from what the run holds, from an equal question on its way, or by asking; `paid` hears what it took."""
        if (asked := self.asking.get(question.key)) is not None:
            return await asyncio.shield(asked)  # a case that ends must not take the reply from the others
        if (line := self.records.held(question)) is not None and not (self.again and line.get("error")):
            return _stored(question, line)
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self.asking[question.key] = reply
        try:
            return await fulfil(reply, self._request(question, paid))
        finally:
            del self.asking[question.key]

    async def _request(self, question: Question, paid: dict[str, Spent]) -> Reply:
        raw, reading = await self._recall(question) or await self._put(question)
        if raw.error == UNPAID and not raw.attempts:  # nothing was sent, so there is nothing to keep
            return Reply(question.key, None, reading, UNPAID)
        line = reply_line(question, raw, reading)
        paid[question.key] = spent = Spent.of(line)
        self.counts.add(line, spent)
        self.answered += not raw.from_cache
        self.records.keep_reply(question, line)
        if self.recalled and question.kind.prompted and not raw.from_cache and line["error"] is None:
            self.recalled.keep(question, raw)
        return Reply(question.key, raw.text, with_confidence(reading, raw.confidence), raw.error)

    async def _recall(self, question: Question) -> tuple[RawReply, Reading] | None:
        """Return what an earlier run was given, if it can be read whole."""
        raw = await self.recalled.recall(question) if self.recalled and question.kind.prompted else None
        if raw is None or raw.text is None:
            return None
        reading = question.kind.read(question.input, raw.text)
        return None if reading.problem or reading.missing else (raw, reading)

    async def _put(self, question: Question) -> tuple[RawReply, Reading]:
        """Put the question to the judge or the embedder."""
        self.judging += question.kind.prompted
        try:
            raw = await (self.judge.complete(question) if question.kind.prompted else self._cosines(question))
        finally:
            self.judging -= question.kind.prompted
        if raw.text is None and raw.error is None:  # a judge of the user's own that says neither
            raw = replace(raw, error="empty_reply")
        return raw, question.kind.read(question.input, raw.text) if raw.text is not None else Reading()

    async def _cosines(self, question: Question) -> RawReply:
        from ragstone.embed.cosine import cosines, unusable

        started = time.perf_counter()
        text, others = question.input["text"], question.input["others"]
        vectors = await self.embedder.embed([text, *others])
        failed = unusable(vectors)
        took = round(time.perf_counter() - started, 4)
        if failed is not None:
            return RawReply(error=failed, latency_s=took, attempts=0)
        return RawReply(text=cosines(vectors), latency_s=took, attempts=0)


@dataclass(slots=True)
class _Desk:
    """The needs of one case: each is met once, whoever needs it."""

    driver: Driver
    case: Case
    met: dict[Need, asyncio.Future[tuple[Any, Used]]] = field(default_factory=dict)
    paid: dict[str, Spent] = field(default_factory=dict)
    """What the questions took that were asked for this case, by key."""

    async def drive(self, steps: Generator[Sequence[Any], list[Any], Any], keys: Used) -> Any:
        """Run a generator of needs and questions to its end; `keys` collects the questions it rested on."""
        try:
            asked = next(steps)
            while True:
                alone = len(asked) == 1
                asked = steps.send([await self._answer(asked[0], keys)] if alone else await self._answers(asked, keys))
        except StopIteration as done:
            return done.value

    async def _answers(self, asked: Sequence[Any], keys: Used) -> list[Any]:
        """Answer all at once; keys are joined in the order asked, so that concurrency leaves no trace."""
        apart: list[Used] = [{} for _ in asked]
        # what somebody is at already needs no task to be waited for
        new = [place for place, item in enumerate(asked) if isinstance(item, Question) or item not in self.met]
        answers = dict(zip(new, await together([self._answer(asked[place], apart[place]) for place in new]), strict=True)) if new else {}
        for place in range(len(asked)):
            if place not in answers:
                answers[place] = await self._answer(asked[place], apart[place])
            keys.update(apart[place])
        return [answers[place] for place in range(len(asked))]

    async def _answer(self, item: Any, keys: Used) -> Any:
        if isinstance(item, Question):
            keys[item.key] = None
            reply = await self.driver.ask(item, self.paid)
            if reply.error in TOO_MUCH:
                keys[item.key] = item.kind.name
            return reply
        if (met := self.met.get(item)) is not None:
            answer, used = await met
        else:
            met = self.met[item] = asyncio.get_running_loop().create_future()
            answer, used = await fulfil(met, self._meet(item))
        keys.update(used)
        return answer

    async def _meet(self, need: Need) -> tuple[Any | Failed, Used]:
        keys: Used = {}
        return await self.drive(self.driver.plan.resolve(need, self.case), keys), keys


def reply_line(question: Question, raw: RawReply, reading: Reading) -> dict[str, Any]:
    """Return the line of `replies.jsonl`. Its `error` says why the reply must not be used again, None if it may."""
    error = raw.error or ("bad_reply" if reading.problem else None) or partial(reading)
    return {
        "key": question.key,
        "kind": question.kind.name,
        "input": question.input,
        "prompt": question.prompt_hash,
        "raw": raw.text,
        "parsed": reading.parsed,
        "usage": raw.usage,
        "latency_s": raw.latency_s,
        "attempts": raw.attempts,
        "from_cache": raw.from_cache,
        "error": error,
        **({"notes": [*reading.notes, *raw.notes]} if reading.notes or raw.notes else {}),
        **({"reasoning": raw.reasoning} if raw.reasoning else {}),
        **({"confidence": raw.confidence} if raw.confidence else {}),
        **({"message": raw.message} if raw.message else {}),
        **({"rate_limits": raw.rate_limits} if raw.rate_limits else {}),
    }


def partial(reading: Reading) -> str | None:
    """Return "verdicts k/n" if the reply left something without a verdict."""
    return f"verdicts {reading.asked - len(reading.missing)}/{reading.asked}" if reading.missing else None


def _stored(question: Question, line: dict[str, Any]) -> Reply:
    """Read a stored raw reply again, so that replaying it gives what it gave."""
    raw, error = line.get("raw"), line.get("error")
    if raw is None:
        return Reply(question.key, None, Reading(), error or "empty_reply")
    return Reply(question.key, raw, with_confidence(question.kind.read(question.input, raw), line.get("confidence")))
