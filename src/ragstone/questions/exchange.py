"""The rules of asking, written once: what is asked again, how often, and how work is cut when a reply was cut by length.

- A reply that cannot be read is asked again, shown to the judge, up to MAX_ASKS asks in all; then `bad_reply`.
- Places of a reply without a readable verdict are asked again up to MAX_REASKS times; then they are left missing.
- Work whose reply was cut by length (`truncated`) or whose prompt is too long (`too_long`) is halved until it fits or
  cannot be halved; any other failure word ends the exchange.

No two requests of an exchange are alike: what is asked again carries the number of the ask.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from ragstone.language import halved
from ragstone.questions.base import TOO_MUCH, Failed, Kind, Question, Reading, Reply, Slot, ask, system_prompt
from ragstone.resources import read_toml
from ragstone.tokens import estimate
from ragstone.types import Language

MAX_ASKS = 4
"""Asks for a reply that can be read at all."""
MAX_REASKS = 2
"""Further asks for what a readable reply left missing."""
SHOWN = 2000
"""Characters of a bad reply that are shown to the judge again."""
LEAST = 100
"""Characters of a text that any judge has room for: no text of fewer than twice as many is cut for a prompt that is too long."""

T = TypeVar("T")
R = TypeVar("R")
W = TypeVar("W")
Text = tuple[int, str]
"""A text with its id in the request."""
Talk = Generator[list[Question], list[Reply], R]
"""Yields questions to be asked at once, receives their replies in order, returns a result."""

Items = dict[Slot, dict[str, Any]]
"""Items of replies by the place they fill."""


class Asker(NamedTuple):
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


class Heard(NamedTuple):
    """A reply that can be read, and how many asks it took so far."""

    reading: Reading
    asks: int


def listen(asker: Asker, input: dict[str, Any], *, first: int = 1, last: int = MAX_ASKS) -> Talk[Heard | Failed]:
    """Ask until a reply can be read, asks `first` to `last`; Failed with the transport's word, or `bad_reply`."""
    asking = input
    for number in range(first, last + 1):
        (reply,) = yield [asker.question(asking)]
        if (word := failure(reply)) is not None:
            return Failed(word)
        if reply.reading.problem is None:
            return Heard(reply.reading, number)
        asking = input | {"previous_reply": shown(reply.raw), "problem": asker.problem(reply.reading.problem, number + 1)}
    return Failed("bad_reply")


def failure(reply: Reply) -> str | None:
    """Return the word of a reply that did not come; what a driver notes of a readable reply is none."""
    noted = reply.error is None or (reply.raw is not None and reply.error.startswith(("verdicts ", "bad_reply")))
    return None if noted else reply.error


def shown(raw: str | None) -> str:
    """Return a bad reply as it is shown to the judge: its start, as text that can be sent."""
    return (raw or "")[:SHOWN].encode("utf-8", "replace").decode()


class Gathered(NamedTuple):
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


class Cutting(NamedTuple, Generic[W]):
    """How a sort of work is cut where it does not fit into one request; `why` is a word of TOO_MUCH."""

    halve: Callable[[W, str], Sequence[W] | None]
    """(work, why) -> its two halves, None if it has none."""
    weigh: Callable[[W, str], int]
    """(work, why) -> how much of what there was too much of it takes: of the reply or of the prompt."""


@dataclass(slots=True)
class _Room(Generic[W]):
    """What is known of how much fits: all work that did, and the least weight that did not, by the word of its failure."""

    weigh: Callable[[W, str], int]
    fits: list[W] = field(default_factory=list)
    fails: dict[str, int] = field(default_factory=dict)
    heaviest: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By word, of how many works that did the weight is known, and the greatest of them."""

    def lacks(self, work: W) -> str | None:
        """Return the word for which this work would surely fail, None if it may fit."""
        for why, least in self.fails.items():
            if self.weigh(work, why) >= max(least, 1 + self._most(why)):
                return why
        return None

    def _most(self, why: str) -> int:
        known, most = self.heaviest.get(why, (0, 0))
        most = max([most, *(self.weigh(work, why) for work in self.fits[known:])])
        self.heaviest[why] = (len(self.fits), most)
        return most


def in_parts(works: Sequence[W], ask: Callable[[W], Talk[R | Failed]], cutting: Cutting[W]) -> Talk[list[tuple[W, R]] | Failed]:
    """Do all works at once, each in as many parts as it takes; return the parts with what came of them, in order.

    Of two halves the first is asked alone, so that work that never fits ends soon; work as heavy as what has failed is
    then halved unasked.
    """
    room = _Room(cutting.weigh)
    if len(works) == 1:
        return _fit(works[0], ask, cutting, room)
    return _joined([_fit(work, ask, cutting, room) for work in works])


def _joined(talks: Sequence[Talk[list[T] | Failed]]) -> Talk[list[T] | Failed]:
    found = yield from together(talks)
    return found if isinstance(found, Failed) else [part for parts in found for part in parts]


def _fit(work: W, ask: Callable[[W], Talk[R | Failed]], cutting: Cutting[W], room: _Room[W]) -> Talk[list[tuple[W, R]] | Failed]:
    why = room.lacks(work)
    if why is not None and (two := cutting.halve(work, why)) is not None:
        return (yield from _joined([_fit(half, ask, cutting, room) for half in two]))
    result = yield from ask(work)
    if not isinstance(result, Failed):
        room.fits.append(work)
        return [(work, result)]
    if (why := result.reason) not in TOO_MUCH or (two := cutting.halve(work, why)) is None:
        return result
    room.fails[why] = min(room.fails.get(why, cutting.weigh(work, why)), cutting.weigh(work, why))
    first = yield from _fit(two[0], ask, cutting, room)
    if isinstance(first, Failed):
        return first
    second = yield from _fit(two[1], ask, cutting, room)
    return second if isinstance(second, Failed) else first + second


def said_of(parts: Iterable[tuple[Iterable[Slot], Items]]) -> dict[Slot, list[dict[str, Any] | None]]:
    """Return what the parts that were asked about a place said of it, in order; None where one of them said nothing."""
    said: dict[Slot, list[dict[str, Any] | None]] = {}
    for slots, items in parts:
        for slot in slots:
            said.setdefault(slot, []).append(items.get(slot))
    return said


def whole(said: dict[Slot, list[dict[str, Any] | None]]) -> dict[Slot, list[dict[str, Any]]]:
    """Return the places of which all parts asked said something."""
    return {slot: lines for slot, found in said.items() if len(lines := [line for line in found if line is not None]) == len(found)}


def split_at(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """Return the items in groups of at most `size`."""
    return [items[i : i + size] for i in range(0, len(items), size)]


def halves(items: Sequence[T]) -> list[Sequence[T]] | None:
    """Return two halves of the items, None of fewer than two."""
    return split_at(items, (len(items) + 1) // 2) if len(items) > 1 else None


def halves_of_texts(texts: Sequence[Text], why: str) -> list[Sequence[Text]] | None:
    """Return two halves of texts; one text that is too long for a prompt by itself is cut, and both pieces keep its id."""
    if len(texts) != 1 or why != "too_long":
        return halves(texts)
    ((id, text),) = texts
    return [[(id, piece)] for piece in (halved(text, LEAST) if long(text) else None) or ()] or None


def long(text: str) -> bool:
    """True if a text may be what makes a prompt too long: a shorter one is not worth cutting for that."""
    return len(text) >= 2 * LEAST


def weight(texts: Sequence[Text]) -> int:
    """Return about how many tokens the texts are."""
    return sum(estimate(text) for _, text in texts)


def as_items(texts: Sequence[tuple[int, str]]) -> list[dict[str, Any]]:
    """Return (id, text) pairs as they stand in the user JSON."""
    return [{"id": id, "text": text} for id, text in texts]


def ids_of(input: dict[str, Any], name: str) -> list[int]:
    """Return the ids of a list of the user JSON."""
    return [item["id"] for item in input[name]]
