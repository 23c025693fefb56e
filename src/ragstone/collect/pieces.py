"""The answer of a stream, joined of the pieces that the mapping finds in its events. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ragstone.collect.events import DONE, Event
from ragstone.collect.expressions import search
from ragstone.collect.values import text_of

if TYPE_CHECKING:
    from ragstone.collect.spec import Spec

_DELTA = "choices[0].delta.content"
_SURELY_MORE = 8
"""Characters from which a piece that begins with the piece before it is the whole so far, not chance."""


def text_in(events: Sequence[Event], spec: Spec) -> str | None:
    """Return the answer, or None if the mapping's `answer` finds no text in any event.

    What the model thinks aloud between `start_to_think` and `end_to_think` is no answer. Pieces that each repeat all before them
    are the text so far, of which the last is the answer.
    """
    if spec.answer is None:
        return None
    pieces: list[str] | None = None
    thinking = False
    for event in events:
        if event.data == DONE:
            continue
        thinking = thinking or _marked(event.data, "start_to_think")
        if not thinking:
            pieces = _with(pieces, event, spec)
        if _marked(event.data, "end_to_think"):
            thinking = False
    if pieces is None:
        return None
    return next(filled, "") if (filled := _so_far(events, pieces)) else "".join(pieces)


def error_in(events: Iterable[Event], spec: Spec) -> tuple[str, bool] | None:
    """Return the error text that a platform sends as a piece of the answer, and whether the answer had begun before it.

    A user's own `fail_if` is meant for whole answers, of which any piece may happen to be a part.
    """
    if "fail_if" in spec.own or spec.answer is None:
        return None
    pieces = [piece for event in events for path in (spec.answer, _DELTA) if isinstance(piece := search(path, event.data), str)]
    filled = [piece for piece in pieces if piece.strip()]
    found = (at for at, piece in enumerate(filled) if any(re.match(pattern, piece) for pattern in spec.fail_if))
    if (at := next(found, None)) is None or not all(filled[at].strip() in later for later in filled[at + 1 :]):
        return None  # an error ends the answer: where other text follows it, it was a word of it
    return filled[at], at > 0


def _with(pieces: list[str] | None, event: Event, spec: Spec) -> list[str] | None:
    if (whole := _replacing(event, spec)) is not None:
        return [whole]
    value = search(spec.answer, event.data) if spec.answer is not None else None
    piece = value if isinstance(value, str) else text_of(value) if isinstance(value, list) else None
    if piece is None:
        return pieces
    held = [] if pieces is None else pieces
    held.append(piece)
    return held


def _replacing(event: Event, spec: Spec) -> str | None:
    """The text that takes the place of all before it, if the event holds one."""
    value = search(spec.replace, event.data) if spec.replace is not None else None
    if not isinstance(value, str) and isinstance(event.data, dict):
        inner = event.data.get("data")
        if event.kind == "message_replace":
            value = event.data.get("answer")
        elif isinstance(inner, dict) and inner.get("final") is True:
            value = inner.get("answer")
    return value if isinstance(value, str) and value else None


def _marked(data: Any, flag: str) -> bool:
    if not isinstance(data, dict):
        return False
    inner = data.get("data")
    return data.get(flag) is True or (isinstance(inner, dict) and inner.get(flag) is True)


def _so_far(events: Iterable[Event], pieces: list[str]) -> Iterator[str] | None:
    """The pieces from the last one back, if each is the whole text so far."""
    told = [inner for event in events if isinstance(event.data, dict) and isinstance(inner := event.data.get("data"), dict)]
    # RAGFlow says with every piece whether it is the final one, since its pieces are no longer the text so far
    ragflow = [inner for inner in told if "answer" in inner and "reference" in inner]
    if (ragflow and not any("final" in inner for inner in ragflow)) or _cumulative(pieces):
        return (piece for piece in reversed(pieces) if piece)
    return None


def _cumulative(pieces: list[str]) -> bool:
    filled = [piece for piece in pieces if piece]
    pairs = list(pairwise(filled))
    if not pairs or not all(later.startswith(piece) for piece, later in pairs):
        return False
    growing = all(len(later) > len(piece) for piece, later in pairs)
    return len(filled[-2]) >= _SURELY_MORE or (growing and len(filled) > 3)
