"""The rules of asking, written once: what is asked again, how often, and how work is cut when a reply was cut by length.

- A reply that cannot be read is asked again, shown to the judge, up to MAX_ASKS asks in all; then `bad_reply`.
- Places of a reply without a readable verdict are asked again up to MAX_REASKS times; then they are left missing.
- `truncated` work is halved until it fits or is a single item; any other failure word ends the exchange.

No two requests of an exchange are alike: what is asked again carries the number of the ask.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from ragstone.questions.base import Failed, Kind, Question, Reading, Reply, Slot, ask, system_prompt
from ragstone.resources import read_toml
from ragstone.types import Language

MAX_ASKS = 4
"""Asks for a reply that can be read at all."""
MAX_REASKS = 2
"""Further asks for what a readable reply left missing."""
SHOWN = 2000
"""Characters of a bad reply that are shown to the judge again."""

T = TypeVar("T")
R = TypeVar("R")
Talk = Generator[list[Question], list[Reply], R]
"""Yields questions to be asked at once, receives their replies in order, returns a result."""

Items = dict[Slot, dict[str, Any]]
"""Items of replies by the place they fill."""


@dataclass(frozen=True, slots=True)
class Asker:
    """What stays the same in all requests of an exchange."""

    kind: Kind
    language: Language
    repeat: int

    def question(self, input: dict[str, Any]) -> Question:
        """Return the question that puts this user JSON."""
        return ask(self.kind, self.language, self.repeat, system_prompt(self.kind, self.language), input)

    def problem(self, word: str, number: int, **values: object) -> str:
        """Tell the judge, in its language, why it is asked for the `number`-th time.

        These sentences are part of a request, so changing one changes the keys of stored replies.
        """
        sentences: dict[str, str] = read_toml("questions", "prompts", "problems.toml")[word]
        return sentences[self.language].format(number=number, **values)


@dataclass(frozen=True, slots=True)
class Heard:
    """A reply that can be read, and how many asks it took so far."""

    reading: Reading
    asks: int


def listen(asker: Asker, input: dict[str, Any], *, first: int = 1, last: int = MAX_ASKS) -> Talk[Heard | Failed]:
    """Ask until a reply can be read, asks `first` to `last`; Failed with the transport's word, or `bad_reply`."""
    extra: dict[str, Any] = {}
    for number in range(first, last + 1):
        (reply,) = yield [asker.question(input | extra)]
        if (word := failure(reply)) is not None:
            return Failed(word)
        if reply.reading.problem is None:
            return Heard(reply.reading, number)
        extra = {"previous_reply": shown(reply.raw), "problem": asker.problem(reply.reading.problem, number + 1)}
    return Failed("bad_reply")


def failure(reply: Reply) -> str | None:
    """Return the word of a reply that did not come; what a driver notes of a readable reply is none."""
    noted = reply.error is None or (reply.raw is not None and reply.error.startswith(("verdicts ", "bad_reply")))
    return None if noted else reply.error


def shown(raw: str | None) -> str:
    """Return a bad reply as it is shown to the judge: its start, as text that can be sent."""
    return (raw or "")[:SHOWN].encode("utf-8", "replace").decode()


@dataclass(frozen=True, slots=True)
class Gathered:
    """The verdicts that came; `trouble` is why the missing ones could not be asked for again, None if they could."""

    items: Items
    trouble: Failed | None = None


def settle(asker: Asker, input: dict[str, Any], narrow: Callable[[Sequence[Slot]], dict[str, Any]]) -> Talk[Items | Failed]:
    """Gather verdicts, all or nothing where a request failed."""
    gathered = yield from gather(asker, input, narrow)
    return gathered if isinstance(gathered, Failed) else gathered.trouble or gathered.items


def gather(asker: Asker, input: dict[str, Any], narrow: Callable[[Sequence[Slot]], dict[str, Any]]) -> Talk[Gathered | Failed]:
    """Ask for verdicts, then for the missing ones; what is still missing in the end is not in the result.

    `narrow` gives the user JSON that asks for the missing places. Failed only where no reply could be read at all.
    """
    heard = yield from listen(asker, input)
    if isinstance(heard, Failed):
        return heard
    items, missing = by_slot(heard.reading.parsed), heard.reading.missing
    for number in range(heard.asks + 1, heard.asks + MAX_REASKS + 1):
        if not missing:
            break
        problem = asker.problem("missing", number, places=places(missing))
        (reply,) = yield [asker.question(narrow(missing) | {"problem": problem})]
        if (word := failure(reply)) is not None:
            return Gathered(items, Failed(word))
        said = by_slot(reply.reading.parsed)
        items |= {slot: said[slot] for slot in missing if slot in said}
        missing = tuple(slot for slot in missing if slot not in said)
    return Gathered(items)


def by_slot(parsed: Any) -> Items:
    """Return the items of a parsed reply by the place they fill."""
    return {(name, item["id"]): item for name, items in (parsed or {}).items() for item in items}


def places(missing: Sequence[Slot]) -> str:
    """Write down missing places: `verdicts 2, 3; reference 1`."""
    names = dict.fromkeys(name for name, _ in missing)
    return "; ".join(f"{name} {', '.join(str(id) for n, id in missing if n == name)}" for name in names)


def complete(got: int, asked: int) -> Failed | None:
    """Return Failed("verdicts k/n") if fewer verdicts came than were asked for."""
    return None if got == asked else Failed(f"verdicts {got}/{asked}")


# ------------------------------------------------------------------ parts of the work
def together(talks: Sequence[Talk[R | Failed]]) -> Talk[list[R] | Failed]:
    """Hold several talks at once and return their results in order; the first failure ends all."""
    if len(talks) == 1:
        result = yield from talks[0]
        return result if isinstance(result, Failed) else [result]
    results: dict[int, R] = {}
    waiting: dict[int, list[Reply] | None] = dict.fromkeys(range(len(talks)))
    while waiting:
        asked: dict[int, list[Question]] = {}
        for place, replies in waiting.items():
            try:
                asked[place] = next(talks[place]) if replies is None else talks[place].send(replies)
            except StopIteration as done:
                if isinstance(done.value, Failed):
                    return done.value
                results[place] = done.value
        received = iter((yield [q for questions in asked.values() for q in questions]) if asked else ())
        waiting = {place: [next(received) for _ in questions] for place, questions in asked.items()}
    return [results[place] for place in range(len(talks))]


def by_halves(items: Sequence[T], part: Callable[[Sequence[T]], Talk[R | Failed]]) -> Talk[list[R] | Failed]:
    """Do the work on all items; where the reply is truncated, on each half, down to single items."""
    result = yield from part(items)
    if not isinstance(result, Failed):
        return [result]
    return result if result.reason != "truncated" or len(items) < 2 else (yield from halves(items, part))


def halves(items: Sequence[T], part: Callable[[Sequence[T]], Talk[R | Failed]]) -> Talk[list[R] | Failed]:
    """Do the work on two or more items whose reply was truncated when they were asked for together."""
    middle = (len(items) + 1) // 2
    return (yield from _joined([by_halves(items[:middle], part), by_halves(items[middle:], part)]))


def in_groups(items: Sequence[T], size: int, part: Callable[[Sequence[T]], Talk[R | Failed]]) -> Talk[list[R] | Failed]:
    """Do the work on groups of at most `size` items, all at once, each by halves where it must be."""
    groups = [items[i : i + size] for i in range(0, len(items), size)]
    return (yield from _joined([by_halves(group, part) for group in groups]))


def _joined(talks: Sequence[Talk[list[R] | Failed]]) -> Talk[list[R] | Failed]:
    parts = yield from together(talks)
    return parts if isinstance(parts, Failed) else [result for part in parts for result in part]


def as_items(texts: Sequence[tuple[int, str]]) -> list[dict[str, Any]]:
    """Return (id, text) pairs as they stand in the user JSON."""
    return [{"id": id, "text": text} for id, text in texts]


def ids_of(input: dict[str, Any], name: str) -> list[int]:
    """Return the ids of a list of the user JSON."""
    return [cast(int, item["id"]) for item in input[name]]
