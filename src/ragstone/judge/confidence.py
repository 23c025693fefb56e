"""How sure a judge was of its verdicts: the probability of the tokens that spell them, where an endpoint tells it. Pure.

The confidence of a verdict is the product of the probabilities of all tokens that overlap the characters of its word. A token
may reach beyond the word (a quote, a comma) and a word may be spelled by several ways of cutting it into tokens, so it is
a lower bound of the probability of that word. What does not line up, token by token, with the reply is left out: nothing
is guessed.
"""

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

from ragstone.questions.base import Question
from ragstone.questions.numbering import read_id
from ragstone.questions.reading import Shape, find_reply, has_verdict

LONGEST = 20
"""Characters of the longest verdict that has a confidence; a longer one is a sentence, whose probability says something else."""
DRAFTS = 8
"""How many lists of a reply are looked at, from the last one back."""

_PART = re.compile(rb'("(?:[^"\\]++|\\.)*+")|([{\[])|([}\]])|(:)|(,)|([^\s"{}\[\]:,]+)', re.DOTALL)
_BARE = re.compile(rb"\[(?=\s*\{)")
_MENDED = {b"True": b"true", b"False": b"false", b"None": b"null"}

Span = tuple[int, int]
Row = dict[str, Span]
"""Where the values of an item of a list stand, by key."""


def told(question: Question, text: str, data: Mapping[str, Any]) -> dict[str, float] | None:
    """Return the confidences that a chat completion tells, None if it tells none; `text` is the reply it holds."""
    logprobs = data["choices"][0].get("logprobs")
    tokens = logprobs.get("content") if isinstance(logprobs, dict) else None
    return confidences(question, text, tokens) or None if tokens else None


def confidences(question: Question, text: str, tokens: object) -> dict[str, float]:
    """Return the confidence of each verdict in [0, 1], rounded to 4 decimals, by list and id of the reply ("verdicts/3").

    Args:
        question: what was asked; generated questions have their place from 1 as id.
        text: the reply.
        tokens: `logprobs.content` of the chat completion: [{"token", "logprob", "bytes"?}, ...].

    Of several objects in the reply that one counts which is read. {} if the tokens are not the reply's; an id with unlike
    verdicts, a verdict of more than LONGEST characters or with a token of unknown probability has none.
    """
    words = _words(question)
    spelled = _spelled(text, tokens) if words else None
    found, _ = find_reply(question.input, text, _shape(words)) if spelled else (None, None)
    if spelled is None or found is None:
        return {}
    raw, sure = text.encode("utf-8", "replace"), {}
    for name, word in words.items():
        for id, span in _verdicts(raw, name, word, found[name], alone=len(words) == 1):
            if (probability := spelled.probability(span)) is not None:
                sure[f"{name}/{id}"] = probability
    return sure


def _words(question: Question) -> dict[str, str]:
    """Return the lists of verdicts a reply holds, each with the key its verdicts stand under."""
    lists = (question.kind.schema or {}).get("properties", {})
    keys = {name: listed.get("items", {}).get("properties", {}) for name, listed in lists.items()}
    return {name: word for name, held in keys.items() for word in ("verdict", "noncommittal") if word in held}


def _shape(words: Mapping[str, str]) -> Shape:
    return Shape({name: has_verdict if word == "verdict" else partial(_has, word) for name, word in words.items()})


def _has(word: str, item: Any) -> bool:
    return isinstance(item, dict) and word in item


# ------------------------------------------------------------------ tokens
@dataclass(frozen=True, slots=True)
class _Spelled:
    """The tokens of a reply: where each begins in its UTF-8 bytes, and what its logarithm of probability is."""

    begins: Sequence[int]
    """With the end of the last token behind."""
    logs: Sequence[object]

    def probability(self, span: Span) -> float | None:
        """Return the product over the tokens that overlap the span; None where one is unknown."""
        logs = []
        for place in range(bisect_right(self.begins, span[0]) - 1, len(self.logs)):
            if self.begins[place] >= span[1]:
                break
            if (log := _log(self.logs[place])) is None:
                return None
            logs.append(log)
        return round(math.exp(math.fsum(logs)), 4) if logs else None


def _log(value: object) -> float | None:
    """Return the logarithm of a probability; one that is above 0 by more than rounding is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not value < 1e-3:
        return None
    return min(0.0, value)


def _spelled(text: str, tokens: object) -> _Spelled | None:
    """Lay the tokens over the text; they may hold more around it: thoughts before, an end mark behind."""
    if not isinstance(tokens, list) or not all(isinstance(token, dict) for token in tokens):
        return None
    needle = text.strip().encode("utf-8", "replace")
    lead = len(text) - len(text.lstrip())
    for pieces in (map(_text, tokens), map(_bytes, tokens)):
        spelled = list(pieces)
        if needle and (at := b"".join(spelled).rfind(needle)) >= 0:
            shift = len(text[:lead].encode()) - at
            return _Spelled(list(accumulate(map(len, spelled), initial=shift)), [token.get("logprob") for token in tokens])
    return None


def _text(token: Mapping[str, Any]) -> bytes:
    text = token.get("token")
    return text.encode("utf-8", "replace") if isinstance(text, str) else b""


def _bytes(token: Mapping[str, Any]) -> bytes:
    """The bytes of a token, which may hold a part of a character."""
    try:
        return bytes(token["bytes"])
    except (KeyError, TypeError, ValueError):
        return _text(token)


# ------------------------------------------------------------------ places of verdicts
def _verdicts(raw: bytes, name: str, word: str, said: Sequence[Any], *, alone: bool) -> Iterator[tuple[int, Span]]:
    """Yield id and place of each verdict of the list `said`, which stands under `name`; the only list may stand bare."""
    ends = [match.end() for match in re.finditer(rb'"%s"\s*:\s*\[' % re.escape(name.encode()), raw)]
    if alone and not ends:
        ends = [match.end() for match in _BARE.finditer(raw)]
    for end in reversed(ends[-DRAFTS:]):
        rows = list(_rows(raw, end))
        if len(rows) == len(said) and all(_same(raw, row, item, word) for row, item in zip(rows, said, strict=True)):
            yield from _places(rows, said, word)
            return


def _places(rows: Iterable[Row], said: Sequence[Any], word: str) -> Iterator[tuple[int, Span]]:
    values: dict[int, list[Any]] = {}
    spans: dict[int, Span] = {}
    for place, (row, item) in enumerate(zip(rows, said, strict=True), 1):
        id = read_id(item.get("id")) if word == "verdict" else place
        if id is not None and word in row:
            values.setdefault(id, []).append(item[word])
            spans.setdefault(id, row[word])
    for id, (start, end) in spans.items():
        quoted = int(isinstance(values[id][0], str))
        if all(value == values[id][0] for value in values[id]) and 0 < len(str(values[id][0])) <= LONGEST:
            yield id, (start + quoted, end - quoted)


def _same(raw: bytes, row: Row, item: Any, word: str) -> bool:
    """True if the values that stand in the row are those that were read."""
    return isinstance(item, dict) and all(_value(raw, row.get(key)) == item.get(key) for key in ("id", word))


def _value(raw: bytes, span: Span | None) -> Any:
    if span is None:
        return None
    written = raw[slice(*span)]
    try:
        return json.loads(_MENDED.get(written, written), strict=False)
    except ValueError:
        return None


def _rows(raw: bytes, start: int) -> Iterator[Row]:
    """Yield the objects of the list that is open at `start`: where each plain value stands, by key."""
    depth, key, last = 1, b"", b""
    row: Row = {}
    for part in _PART.finditer(raw, start):
        string, opened, closed, colon, comma, plain = part.groups()
        if opened:
            depth += 1
            key, row = (b"", {}) if depth == 2 else (key, row)
        elif closed:
            depth -= 1
            if depth == 1:
                yield row
            elif depth == 0:
                return
        elif depth != 2:
            continue
        elif colon:
            key = last
        elif comma:
            key = b""
        elif key:
            row[key[1:-1].decode("utf-8", "replace")] = part.span()
        else:
            last = string or plain
