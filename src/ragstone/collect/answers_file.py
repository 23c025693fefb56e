"""Answers that were collected elsewhere: a file of them, joined to the gold set."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import Any
from weakref import finalize

import orjson

from ragstone.collect.base import Kept, Reading, Received, Row, Trouble
from ragstone.collect.result import read_result
from ragstone.collect.returned import sample_result
from ragstone.collect.told import shown
from ragstone.collect.values import plain
from ragstone.collect.words import WORDS
from ragstone.errors import ConfigError, DataError, Problem
from ragstone.reading.fingerprints import Fingerprint
from ragstone.reading.row_ids import made_id
from ragstone.samples import SampleSource
from ragstone.text import listing, say
from ragstone.types import Language, Sample

_REPEAT = re.compile(r"(.+)#(\d+)", re.DOTALL)
_SHOWN = 5
_Rows = dict[str, list[tuple[int | None, int]]]
"""Gold id -> its answers, each with the number of its repeat if its id has one, and where it stands."""


class Spool:
    """Answers in a file without a name, told by where they stand: there may be more of them than fit in memory."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 (closed with this object at the latest)
        self.close = finalize(self, self._file.close)
        """Lets go of the file."""

    def put(self, sample: Sample) -> int:
        """Write what of a row is a result, and return where it stands."""
        at = self._file.tell()
        self._file.write(orjson.dumps(plain([_body(sample), sample.latency_s]), option=orjson.OPT_APPEND_NEWLINE))
        return at

    def at(self, place: int) -> tuple[dict[str, Any], float | None]:
        """Return the result that stands at a place, and its latency."""
        self._file.seek(place)
        body, latency_s = orjson.loads(self._file.readline())
        return body, latency_s


@dataclass(frozen=True, slots=True)
class Joined:
    """The answers of a file by the gold rows they belong to."""

    places: Mapping[str, tuple[int, ...]]
    """Gold id -> where its answers stand, in the order of their repeats."""
    spool: Spool
    repeat: int | None
    """How many answers every answered question has, None where it is one without a number: as for `--repeat`."""
    notices: tuple[str, ...]
    """What a person should know, in the screen's language."""
    fingerprint: str
    """Of all columns of the file that reach the samples."""


def joined(gold: SampleSource, answers: SampleSource, lang: Language) -> Joined:
    """Join a file of answers to a gold set.

    A row belongs to the gold row with its id (`q1#0`, `q1#1` are repeats of q1), else to the one with its question, whatever its blanks and
    its Unicode form. Several answers to each question are repeats, in the order of the file.

    Raises:
        DataError: no row fits, some questions have more answers than others, an id and a question that belong to different gold rows, or
            neither answers nor contexts in the file.
    """
    if not answers.columns & {"answer", "contexts"} and answers.errors < answers.count:
        raise DataError(answers.name, [Problem(say("calling.no_answers", lang, found=listing(answers.found, lang)))])
    search, spool = _Search(gold), Spool()
    rows: _Rows = defaultdict(list)
    problems: list[Problem] = []
    held = Fingerprint()
    for number, sample in enumerate(answers, 1):
        held.add(plain([sample.id, sample.question, _body(sample), sample.latency_s]))
        if (met := search.find(sample, number, problems, lang)) is not None:
            gold_id, repeat = met
            rows[gold_id].append((repeat, spool.put(sample)))
    if problems:
        raise DataError(answers.name, problems)
    if not rows:
        raise DataError(answers.name, [Problem(_nothing_fits(search, lang))])
    repeats = _repeat(rows, answers.name, lang)
    ordered = {name: tuple(place for _, place in sorted(found, key=lambda one: one[0] or 0)) for name, found in rows.items()}
    return Joined(ordered, spool, repeats, tuple(search.notices(rows, lang)), held.hex())


class AnswersApplication:
    """A file of answers, "asked" like an application: no row waits for anything."""

    def __init__(self, found: Joined, lang: Language) -> None:
        self._found, self._lang = found, lang

    @property
    def asked(self) -> Mapping[str, Any]:
        """The fingerprint of the answers; the file may lie anywhere."""
        return {"platform": "answers", "answers": self._found.fingerprint}

    @property
    def mapping(self) -> Mapping[str, Any]:
        """Nothing: columns are found when the file is read."""
        return {}

    @property
    def repeat(self) -> int | None:
        """How many answers every question has."""
        return self._found.repeat

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know of the join."""
        return self._found.notices

    def expect(self, rows: int) -> None:
        """Nothing depends on it."""

    async def ask(self, row: Row) -> Kept:
        """Look up the answer of a row; one that is not there is told as `not_found`.

        Raises:
            ConfigError: the file holds repeats, and the row is not one.
        """
        if row.repeat is None and (self.repeat or 1) > 1:
            raise ConfigError(say("calling.several", self._lang, count=self.repeat))
        found = self._found.places.get(row.gold.id, ())
        at = row.repeat or 0
        if at >= len(found):
            return Kept(row.id, trouble=Trouble("not_found", say("calling.not_found", self._lang)))
        body, latency_s = self._found.spool.at(found[at])
        return Kept(row.id, (Received("ask", body),), latency_s, 1, requests=0)

    def read(self, kept: Kept) -> Reading:
        """Find answer and chunks in the row of the file."""
        if kept.trouble is not None or not kept.received:
            return Reading(trouble=kept.trouble or Trouble("not_found", say("calling.not_found", self._lang)))
        reading = read_result(kept.received[-1].body, self._lang)
        if reading.trouble is None or reading.trouble.word != "platform_error":
            return reading
        word, colon, message = reading.trouble.message.partition(": ")
        return Reading(reading.found, Trouble(word, message)) if colon and word in WORDS else reading

    async def close(self) -> None:
        """Let go of the answers."""
        self._found.spool.close()


def _body(sample: Sample) -> dict[str, Any]:
    body = sample_result(sample)
    return body if {"contexts", "error"} & body.keys() else {"answer": None, **body}


# ------------------------------------------------------------------ joining
class _Search:
    """Finds the gold row of an answer, and remembers what it met."""

    def __init__(self, gold: SampleSource) -> None:
        self.ids: dict[str, str | None] = {}
        self.questions: dict[str, list[str]] = defaultdict(list)
        self.unknown: list[str] = []
        self.reworded: list[str] = []
        self.by_question = 0
        for sample in gold:
            self.ids[sample.id] = sample.question
            if sample.question:
                self.questions[folded(sample.question)].append(sample.id)

    def find(self, sample: Sample, number: int, problems: list[Problem], lang: Language) -> tuple[str, int | None] | None:
        """Return the gold row of an answer and the number of its repeat, None if there is none; doubts are added to `problems`."""
        asked = self.questions.get(folded(sample.question), []) if sample.question else []
        gold_id, repeat = self._by_id(sample, doubted=_made(sample) and len(asked) < 2)
        if gold_id is None:
            return self._by_question(sample, number, asked, problems, lang)
        if sample.question and asked and gold_id not in asked:
            text = say("calling.id_against_question", lang, id=sample.id, other=asked[0])
            problems.append(Problem(text, number, "question"))
        elif sample.question and not asked and self.ids[gold_id]:
            self.reworded.append(sample.id)
        return gold_id, repeat

    def _by_id(self, sample: Sample, *, doubted: bool) -> tuple[str | None, int | None]:
        if sample.id in self.ids and not doubted:
            return sample.id, None
        match = _REPEAT.fullmatch(sample.id)
        return (match[1], int(match[2])) if match and match[1] in self.ids else (None, None)

    def _by_question(
        self, sample: Sample, number: int, asked: list[str], problems: list[Problem], lang: Language
    ) -> tuple[str, int | None] | None:
        if len(asked) > 1:
            problems.append(Problem(say("calling.question_twice", lang, ids=some(asked, lang)), number, "question"))
        elif asked:
            self.by_question += 1
            return asked[0], None
        else:
            self.unknown.append(shown(sample.question, 40) if sample.question and _made(sample) else sample.id)
        return None

    def notices(self, rows: Mapping[str, object], lang: Language) -> Iterable[str]:
        """Yield what was met."""
        if self.by_question:
            yield say("calling.by_question", lang, count=self.by_question)
        if self.unknown:
            yield say("calling.unknown_rows", lang, count=len(self.unknown), ids=some(self.unknown, lang))
        if absent := [name for name in self.ids if name not in rows]:
            yield say("calling.absent", lang, count=len(absent), ids=some(absent, lang))
        if self.reworded:
            yield say("calling.reworded", lang, count=len(self.reworded), ids=some(self.reworded, lang))


def folded(question: str) -> str:
    """Return a question for comparison: NFC, blanks at the ends taken off and folded inside."""
    return " ".join(unicodedata.normalize("NFC", question).split())


def _made(sample: Sample) -> bool:
    """True if the file gave no id: then the id is made of the question, with a number if the question came before."""
    base = made_id(sample.question, 0)
    return sample.id == base or (sample.id.startswith(f"{base}-") and sample.id[len(base) + 1 :].isdigit())


def _repeat(rows: _Rows, name: str, lang: Language) -> int | None:
    counts = Counter(len(found) for found in rows.values())
    numbered = any(number is not None for found in rows.values() for number, _ in found)
    if len(counts) == 1 and all(_in_turn(found) for found in rows.values()):
        count = next(iter(counts))
        return count if count > 1 or numbered else None
    usual = counts.most_common(1)[0][0]
    odd = [f"{gold_id} ({len(found)})" for gold_id, found in rows.items() if len(found) != usual or not _in_turn(found)]
    raise DataError(name, [Problem(say("calling.uneven_repeats", lang, count=len(odd), ids=some(odd, lang), usual=usual))])


def _in_turn(found: list[tuple[int | None, int]]) -> bool:
    """True if no answer has a number, or they are 0, 1, 2 …."""
    numbers = [number for number, _ in found if number is not None]
    return not numbers or (len(numbers) == len(found) and sorted(numbers) == list(range(len(found))))


def _nothing_fits(search: _Search, lang: Language) -> str:
    return say("calling.nothing_fits", lang, count=len(search.unknown), found=some(search.unknown, lang), gold=some(list(search.ids), lang))


def some(names: list[str], lang: Language) -> str:
    """Return the first names, and how many there are besides."""
    shown = listing(names[:_SHOWN], lang)
    return shown if len(names) <= _SHOWN else say("calling.and_more", lang, shown=shown, more=len(names) - _SHOWN)
