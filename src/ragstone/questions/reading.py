"""Tolerant reading of a judge's text: thoughts, fences and talk are passed over, the JSON of the reply is found.

A reply is taken only if it is JSON of its kind's shape; what could be read two ways is left unread.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import orjson

from ragstone.questions.base import Reading, Slot
from ragstone.questions.numbering import numbered_as_asked, read_id
from ragstone.questions.rewriting import rewritten
from ragstone.questions.verdicts import Verdict, Vocabulary, read_verdict

MAX_DEPTH = 60
"""Deepest nesting of a reply that is read; no kind needs more than 4."""

_TAG = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)\s*>|\u25c1(/?)think\u25b7|\[(/?)THINK\]", re.IGNORECASE)
_STRING = r'"(?:[^"\\]++|\\.)*+"?'
_TOKEN = re.compile(_STRING + r"|[{}\[\]]", re.DOTALL)
_OPENER = re.compile(r'\{(?=\s*["}])|\[(?=\s*[{"\]])')
_SLIP = re.compile(_STRING + r"|,(?=\s*[}\]])|\b(?:True|False|None)\b", re.DOTALL)
_MENDED = {",": "", "True": "true", "False": "false", "None": "null"}
_AROUND = re.compile(r"```+\s*\w*|\s+")
_SQUEEZE = re.compile(r"[\s\\]+")


class Shape(NamedTuple):
    """What a reply of a kind looks like: its lists by key, and what makes an item of each list usable."""

    lists: dict[str, Callable[[Any], bool]]
    every: bool = False
    """True if every item must be usable, because a lost one would go unnoticed; else one of a list is enough."""

    def fit(self, value: Any) -> dict[str, list[Any]] | None:
        """Return the lists of a parsed JSON value that has this shape. A bare list stands for the only list of a kind."""
        if isinstance(value, list) and len(self.lists) == 1:
            value = dict.fromkeys(self.lists, value)
        if not isinstance(value, dict):
            return None
        enough, found = all if self.every else any, {}
        for key, usable in self.lists.items():
            items = value.get(key)
            if not isinstance(items, list) or (items and not enough(map(usable, items))):
                return None
            found[key] = items
        return found

    def unwrap(self, value: Any, depth: int = 3) -> dict[str, list[Any]] | None:
        """Return what `fit` does, also where the value holds the reply, not an empty one, as its only object: {"result": {…}}."""
        lists = self.fit(value)
        if lists is not None or not depth or not isinstance(value, dict):
            return lists
        inner = [held for held in value.values() if isinstance(held, dict)]
        found = self.unwrap(inner[0], depth - 1) if len(inner) == 1 else None
        return found if found and any(found.values()) else None


class _Piece(NamedTuple):
    """A JSON value standing in a text: the lists of the reply if it has the shape of one, else None."""

    start: int
    end: int
    lists: dict[str, list[Any]] | None


def find_reply(input: dict[str, Any], raw: str, shape: Shape) -> tuple[dict[str, list[Any]] | None, str | None]:
    """Return the lists of the reply in `raw`, or None and the word for what is wrong: no_json | wrong_shape.

    Of several JSON objects the last that fits wins, a bare list only where no object fits. Whatever stands word for
    word in the user JSON is an echo of the sample, not a reply, unless the judge said nothing else. Takes time linear
    in the text, whatever the text. What is written down otherwise (see `rewritten`) is read if nothing else is found.
    """
    lists, problem = _find(input, raw, shape)
    if lists is None and (other := rewritten(raw)) is not None:
        again = _find(input, other, shape)
        return again if again[0] is not None else (lists, problem)
    return lists, problem


def _find(input: dict[str, Any], raw: str, shape: Shape) -> tuple[dict[str, list[Any]] | None, str | None]:
    if (whole := _whole(raw)) is not None:
        lists = shape.unwrap(whole)
        return lists, None if lists is not None else "wrong_shape"
    said = _spoken(raw, shape)
    pieces = list(_pieces(said, shape))
    alone = len(pieces) == 1 and _alone(said, pieces[0])
    sample = [] if alone else [_SQUEEZE.sub("", text) for text in _strings(input)]
    for piece in sorted(pieces, key=lambda p: (said[p.start] == "[", -p.start)):
        if piece.lists is not None and (alone or not (_says_nothing(said, piece) or _echoes(sample, said, piece))):
            return piece.lists, None
    return None, "wrong_shape" if pieces else "no_json"


def _whole(raw: str) -> Any:
    """Return the object a text is, None if it is not just one: what most judges say, and what needs no search."""
    text = raw.strip()
    if not text.startswith("{") or text.count("{") + text.count("[") > MAX_DEPTH:  # so few cannot be nested too deep
        return None
    try:
        return _quickly(text) or _DECODER.decode(text)
    except ValueError:
        return None


def _quickly(text: str) -> Any:
    """Return the object a text is, None where that takes the decoder that sees whether a key stands twice.

    A text with as many colons as the objects in it hold keys has no key twice.
    """
    try:
        value = orjson.loads(text)
    except ValueError:
        return None
    items = [item for items in value.values() if isinstance(items, list) for item in items if isinstance(item, dict)]
    return value if text.count(":") == len(value) + sum(map(len, items)) else None


def _pieces(said: str, shape: Shape) -> Iterator[_Piece]:
    """Yield the outermost JSON objects (and lists, where a bare list may be the reply), each once, in order."""
    budget = min(8 * len(said), len(said) + 500_000) + 1000
    position, broken = 0, False
    while budget > 0 and (opener := _OPENER.search(said, position)):
        start = opener.start()
        end, seen = _balanced(said, start)
        budget -= seen - start
        value = _parse(said[start:end]) if end else None
        lists = shape.unwrap(value)
        if isinstance(value, dict) or (lists is not None and not broken):
            yield _Piece(start, end, lists)
            position = end
        else:
            # a list inside an object that cannot be read is a part of that object, never the reply
            broken = broken or said[start] == "{"
            position = start + 1


def _balanced(raw: str, start: int) -> tuple[int, int]:
    """Return where the value opened at `start` ends, 0 if it does not or is too deep, and how far was looked."""
    open_: list[str] = []
    for token in _TOKEN.finditer(raw, start):
        mark = token[0]
        if mark in ("{", "["):
            open_.append("}" if mark == "{" else "]")
            if len(open_) > MAX_DEPTH:
                return 0, token.end()
        elif mark in ("}", "]"):
            if open_.pop() != mark:
                return 0, token.end()
            if not open_:
                return token.end(), token.end()
    return 0, len(raw)


def _unlike(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    found.clear()
    for key, value in pairs:
        if key in found and found[key] != value:
            raise ValueError(f"two values for {key}")
        found[key] = value
    return found


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


# raw line breaks inside strings are let pass: nothing else could be meant
_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_unlike, parse_constant=_constant)


def _parse(text: str) -> Any:
    """Return the JSON value, None if there is none. Trailing commas and True/False/None outside strings are mended."""
    for attempt in (text, None):
        try:
            return _DECODER.decode(attempt if attempt is not None else _SLIP.sub(lambda m: _MENDED.get(m[0], m[0]), text))
        except ValueError:
            continue
    return None


def _spoken(raw: str, shape: Shape) -> str:
    """Return the text without what was only thought. Tags inside the strings of a JSON object are text, not tags."""
    tags = list(_TAG.finditer(raw))
    if not tags:
        return raw
    objects = [(piece.start, piece.end) for piece in _pieces(raw, shape)]
    kept, begin, place = [], 0, 0
    thinking = False
    for tag in tags:
        while place < len(objects) and objects[place][1] <= tag.start():
            place += 1
        if not thinking and place < len(objects) and objects[place][0] < tag.start():
            continue
        closing = any(tag.groups())
        if not closing and not thinking:
            kept.append(raw[begin : tag.start()])
        elif closing and not thinking:
            kept.clear()
        if closing:
            begin = tag.end()
        thinking = not closing
    return "\n".join(kept if thinking else [*kept, raw[begin:]])


def _alone(said: str, piece: _Piece) -> bool:
    """True if nothing but fences and blanks stands around the piece."""
    return not _AROUND.sub("", said[: piece.start]) and not _AROUND.sub("", said[piece.end :])


def _says_nothing(said: str, piece: _Piece) -> bool:
    """True for a bare empty list: amid other words it is no reply."""
    return said[piece.start] == "[" and piece.lists is not None and not any(piece.lists.values())


def _echoes(sample: Sequence[str], said: str, piece: _Piece) -> bool:
    needle = _SQUEEZE.sub("", said[piece.start : piece.end])
    return any(needle in text for text in sample)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key != "previous_reply":
                yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


# ------------------------------------------------------------------ items
def clean(value: Any) -> str | None:
    """Return a reply's text without outer blanks and lone surrogates (no UTF-8 can hold them); None if it is none or blank."""
    if not isinstance(value, str):
        return None
    text = value.strip()
    # what is printable holds no surrogates, and is found out sooner than what can be encoded
    return (text if text.isprintable() else text.encode("utf-8", "replace").decode()) or None


def has_verdict(item: Any) -> bool:
    """True if an item names what it judges and a verdict."""
    return isinstance(item, dict) and read_id(item.get("id")) is not None and "verdict" in item


class VerdictList(NamedTuple):
    """A list of verdicts as a reply should hold it."""

    name: str
    ids: Sequence[int]
    """Ids asked about."""
    vocabulary: Vocabulary
    line: Callable[[int, dict[str, Any], Verdict], dict[str, Any]]
    """(id asked about, item of the reply, its verdict) -> the item in wire shape."""


def read_verdicts(input: dict[str, Any], raw: str, *lists: VerdictList) -> Reading:
    """Read a reply made of lists of verdicts: aligned by id, in the order asked, extras noted, doubts left missing."""
    found, problem = find_reply(input, raw, Shape({each.name: has_verdict for each in lists}))
    asked = sum([len(each.ids) for each in lists])
    if found is None:
        return Reading(problem=problem, asked=asked)
    parsed: dict[str, Any] = {}
    missing: list[Slot] = []
    notes: list[str] = []
    for each in lists:
        said = _by_id(found[each.name], each)
        lines = parsed[each.name] = []
        for id in each.ids:
            item, verdict = said.get(id, _UNSAID)
            if verdict is None:
                missing.append((each.name, id))
            else:
                lines.append(each.line(id, item, verdict))
        if extra := said.keys() - each.ids:
            notes += [f"{each.name}: unknown id {id}" for id in sorted(extra)]
    return Reading(parsed, None, tuple(missing), tuple(notes), asked)


_Said = tuple[dict[str, Any], Verdict | None]
_UNSAID: _Said = ({}, None)


def _by_id(items: list[Any], asked: VerdictList) -> dict[int, _Said]:
    """Return the first item of each id and the verdict of all of them, None where one cannot be read or two are unlike."""
    said: dict[int, _Said] = {}
    for item in items:
        if isinstance(item, dict) and "verdict" in item and (id := read_id(item.get("id"))) is not None:
            verdict = read_verdict(item["verdict"], asked.vocabulary)
            first, agreed = said.setdefault(id, (item, verdict))
            if verdict != agreed:
                said[id] = (first, None)
    return numbered_as_asked(said, asked.ids)
