"""The truth table behind the scripted judge and embedder: what is true of each text, written by a person.

A table is a JSON object of up to seven sections, each an object keyed by text; every lookup goes by `language.fold`, so
case, blanks and punctuation do not matter:

    claims     text -> its claims, each a string or {"text", "anchor"}
    checks     claim -> {"supported": [context texts], "contradicted": [context texts]}
    useful     question -> [context texts]
    matches    answer claim -> {"supported": [reference claims], "contradicted": [reference claims]}
    questions  answer -> the reverse questions, each a string or {"question", "noncommittal"}
    cosines    text -> {other text: cosine}, symmetric
    vectors    text -> [numbers]

A listed text may be shortened to a prefix of at least 12 characters followed by "…".
"""

import difflib
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Generic, Self, TypeVar, cast

import orjson
from pydantic import BeforeValidator, Field, ValidationError

from ragstone.errors import ConfigError, ScriptError
from ragstone.judge.base import Identity
from ragstone.language import fold
from ragstone.text import say, screen_language
from ragstone.types import Record

T = TypeVar("T")

PREFIX = 12
"""Fewest characters a shortened text keeps before its "…"."""


class ScriptedClaim(Record):
    """A claim of a text; `anchor` is a verbatim piece of that text."""

    text: str
    anchor: str | None = None


class ScriptedQuestion(Record):
    """A question that an answer would answer."""

    question: str
    noncommittal: bool = False


class Sides(Record):
    """The texts that support a claim and those that contradict it; in neither list = not found."""

    supported: tuple[str, ...] = ()
    contradicted: tuple[str, ...] = ()


def _wrap(field: str) -> BeforeValidator:
    return BeforeValidator(lambda entry: {field: entry} if isinstance(entry, str) else entry)


_Claims = tuple[Annotated[ScriptedClaim, _wrap("text")], ...]
_Questions = tuple[Annotated[ScriptedQuestion, _wrap("question")], ...]
_CosineNumber = Annotated[float, Field(ge=-1, le=1)]
_VectorNumbers = Annotated[tuple[float, ...], Field(min_length=1)]


class FromTable:
    """What is made from a truth table can be made from a file, a dict or several tables."""

    def __init__(self, table: "TruthTable", source: str = "truth table") -> None:
        self._source = source
        self._identity = Identity(model="scripted", endpoint="scripted", parameters={"table": table.digest})

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read the truth table of a JSON file; raises ConfigError naming file, section and place if it is malformed."""
        return cls(TruthTable.from_file(path), str(path))

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Self:
        """Take a truth table as it would stand in a file; raises ConfigError if it is malformed."""
        return cls(TruthTable.from_dict(table))

    @classmethod
    def merge(cls, *tables: "TruthTable | Mapping[str, Any]") -> Self:
        """Join several truth tables; raises ConfigError where two disagree."""
        return cls(TruthTable.merge(*tables))

    @property
    def identity(self) -> Identity:
        """Tells one truth table from another."""
        return self._identity


class TruthTable(Record):
    """A validated truth table (see the module). In each section no two keys are equal after folding."""

    claims: dict[str, _Claims] = Field(default_factory=dict)
    checks: dict[str, Sides] = Field(default_factory=dict)
    useful: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    matches: dict[str, Sides] = Field(default_factory=dict)
    questions: dict[str, _Questions] = Field(default_factory=dict)
    cosines: dict[str, dict[str, _CosineNumber]] = Field(default_factory=dict)
    vectors: dict[str, _VectorNumbers] = Field(default_factory=dict)

    @property
    def digest(self) -> str:
        """8 hex digits that change with anything the table says."""
        return hashlib.sha256(orjson.dumps(self.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS)).hexdigest()[:8]

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read a JSON file.

        Raises:
            ConfigError: the file cannot be read, is no JSON object, or a section is malformed; the text names the place.
        """
        try:
            content = orjson.loads(Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf"))
        except (OSError, orjson.JSONDecodeError) as trouble:
            raise ConfigError(say("judges.table_unreadable", screen_language(), source=path, trouble=trouble)) from trouble
        return cls.from_dict(content, source=str(path))

    @classmethod
    def from_dict(cls, table: Mapping[str, Any], source: str = "truth table") -> Self:
        """Validate a table held in memory; `source` is what errors call it.

        Raises:
            ConfigError: a section is unknown or malformed, or two entries for one text disagree.
        """
        if not isinstance(table, Mapping):
            raise ConfigError(say("judges.table_no_object", screen_language(), source=source))
        try:
            record = cls.model_validate(dict(table))
        except ValidationError as trouble:
            raise ConfigError(_explain(trouble, source)) from None
        return cls.merge(record, source=source)

    @classmethod
    def merge(cls, *tables: Self | Mapping[str, Any], source: str = "truth table") -> Self:
        """Join tables. Lists of `checks`, `useful` and `matches` are united; other entries for one text must be equal.

        Raises:
            ConfigError: as for `from_dict`, or two tables disagree about a text.
        """
        records = [t if isinstance(t, cls) else cls.from_dict(cast(Mapping[str, Any], t), source) for t in tables]
        sections = {name: _unite(name, [getattr(r, name) for r in records], source) for name in cls.model_fields}
        joined = cls.model_validate(sections)
        _check_listed(joined, source)
        _check_numbers(joined, source)
        return joined


class Section(Generic[T]):
    """One section of a table, looked up by folded text."""

    def __init__(self, name: str, entries: Mapping[str, T], source: str) -> None:
        self._name, self._source = name, source
        self._texts = list(entries)
        self._entries = {fold(text): entry for text, entry in entries.items()}

    def __contains__(self, text: str) -> bool:
        return fold(text) in self._entries

    def find(self, text: str, kind: str) -> T:
        """Return the entry of `text`.

        Raises:
            ScriptError: there is none; the text names the kind asked, the section and the nearest text it holds.
        """
        try:
            return self._entries[fold(text)]
        except KeyError:
            near = _nearest(text, self._texts)
            missing = say("judges.script_missing", screen_language(), kind=kind, source=self._source, section=self._name, text=_short(text))
            raise ScriptError(missing + near) from None


def pick(listed: Iterable[str], items: Sequence[Mapping[str, Any]], source: str) -> list[int]:
    """Return the ids of the `items` ({"id", "text"}) that `listed` names, in the order of `items`.

    Raises:
        ScriptError: a shortened text fits several different items.
    """
    folded = [(item["id"], fold(item["text"])) for item in items]
    texts = {text for _, text in folded}
    chosen: set[str] = set()
    for text in listed:
        start = fold(text)
        hits = {start} & texts or ({t for t in texts if t.startswith(start)} if text.rstrip().endswith("…") else set())
        if len(hits) > 1:
            raise ScriptError(say("judges.script_ambiguous", screen_language(), source=source, text=_short(text), count=len(hits)))
        chosen |= hits
    return [id for id, text in folded if text in chosen]


# ------------------------------------------------------------------ joining
def _unite(name: str, sections: Sequence[Mapping[str, Any]], source: str) -> dict[str, Any]:
    join = _JOINS.get(name, _join_equal)
    texts: dict[str, str] = {}
    united: dict[str, Any] = {}
    for text, entry in (pair for section in sections for pair in section.items()):
        key = texts.setdefault(fold(text), text)
        joined = join(united[key], entry) if key in united else entry
        if joined is None:
            raise ConfigError(say("judges.table_conflict", screen_language(), source=source, section=name, text=_short(text)))
        united[key] = joined
    return united


def _join_equal(one: Any, other: Any) -> Any:
    return one if one == other else None


def _join_lists(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))


def _join_sides(one: Sides, other: Sides) -> Sides:
    return Sides(supported=_join_lists(one.supported, other.supported), contradicted=_join_lists(one.contradicted, other.contradicted))


def _join_cosines(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float] | None:
    known = {fold(text): number for text, number in one.items()}
    agree = all(known.get(fold(text), number) == number for text, number in other.items())
    return {**one, **other} if agree else None


_JOINS: dict[str, Callable[[Any, Any], Any]] = {
    "checks": _join_sides,
    "matches": _join_sides,
    "useful": _join_lists,
    "cosines": _join_cosines,
}


# ------------------------------------------------------------------ checking
def _check_listed(table: TruthTable, source: str) -> None:
    lang = screen_language()
    for name, text, items in _listings(table):
        for item in items:
            if item.rstrip().endswith("…") and len(item.rstrip(" …")) < PREFIX:
                raise ConfigError(
                    say("judges.table_prefix", lang, source=source, section=name, text=_short(text), listed=item, least=PREFIX)
                )
    for name in ("checks", "matches"):
        for text, sides in getattr(table, name).items():
            if both := {fold(t) for t in sides.supported} & {fold(t) for t in sides.contradicted}:
                listed = next(t for t in sides.supported if fold(t) in both)
                raise ConfigError(
                    say("judges.table_both_sides", lang, source=source, section=name, text=_short(text), listed=_short(listed))
                )


def _listings(table: TruthTable) -> Iterable[tuple[str, str, tuple[str, ...]]]:
    for text, listed in table.useful.items():
        yield "useful", text, listed
    for name in ("checks", "matches"):
        for text, sides in getattr(table, name).items():
            yield name, text, (*sides.supported, *sides.contradicted)


def _check_numbers(table: TruthTable, source: str) -> None:
    known: dict[frozenset[str], float] = {}
    for text, others in table.cosines.items():
        for other, number in others.items():
            pair = frozenset((fold(text), fold(other)))
            expected = known.setdefault(pair, number) if len(pair) == 2 else 1.0
            if number != expected:
                raise ConfigError(say("judges.table_cosines", screen_language(), source=source, text=_short(text), other=_short(other)))
    if len({len(v) for v in table.vectors.values()}) > 1:
        raise ConfigError(say("judges.table_vectors", screen_language(), source=source))


# ------------------------------------------------------------------ saying what is wrong
_FIELDS: dict[str, type[Record]] = {"claims": ScriptedClaim, "checks": Sides, "matches": Sides, "questions": ScriptedQuestion}


def _explain(trouble: ValidationError, source: str) -> str:
    """Say every problem of a table in one line each: where it stands and what belongs there."""
    lines = dict.fromkeys(_explain_one(error["type"], error["loc"], source) for error in trouble.errors())
    return "\n".join(lines)


def _explain_one(kind: str, place: tuple[int | str, ...], source: str) -> str:
    lang, section = screen_language(), str(place[0])
    if len(place) == 1 and kind == "extra_forbidden":
        names = ", ".join(TruthTable.model_fields)
        return say("judges.table_section", lang, source=source, section=section, names=names) + _nearest(section, TruthTable.model_fields)
    where = " > ".join(_short(str(part), 40) for part in place[1:]) or say("judges.table_whole", lang)
    line = say("judges.table_shape", lang, source=source, section=section, where=where, shape=say(f"judges.shape_{section}", lang))
    return line + (_nearest(str(place[-1]), _FIELDS[section].model_fields) if kind == "extra_forbidden" else "")


def _nearest(text: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(text, list(known), n=1, cutoff=0.5)
    return say("judges.nearest", screen_language(), text=_short(near[0])) if near else ""


def _short(text: str, most: int = 80) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
