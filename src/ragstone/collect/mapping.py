"""Reading an answer and its chunks out of responses, as a mapping says. Pure: nothing is sent, and no response can make it fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import orjson

from ragstone.collect import readers
from ragstone.collect.answer import answer_of
from ragstone.collect.base import Found, Kept, Reading, Received, Trouble
from ragstone.collect.chunks import chunk_text, chunks_in
from ragstone.collect.expressions import search
from ragstone.collect.sizes import too_large
from ragstone.collect.streams import Assembled, assemble, assembled, events_in, is_stream
from ragstone.collect.told import message_in
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.collect.base import Chunk
    from ragstone.collect.spec import Spec
    from ragstone.types import Language


@dataclass(frozen=True, slots=True)
class Look:
    """What the responses of a row hold so far."""

    found: Found | None
    trouble: Trouble | None
    lacking: tuple[tuple[int, Any], ...]
    """Index and raw object of every chunk that came without text."""


def parsed(spec: Spec, received: Received, lang: Language = "en") -> Any:
    """Return a response in the shape the mapping expects: a stream put together, then through the platform's reader."""
    body = received.body
    if isinstance(body, str) and is_stream(body, spec):
        body = assemble(body, spec, lang)
    elif (events := events_in(body)) is not None:
        body = assembled(events, spec, lang)
    if spec.reader is None or received.step == "before":
        return body
    return _reshaped(body, readers.read(spec.reader, body))


def _reshaped(body: Any, shaped: Any) -> Any:
    return body.with_keys(shaped) if isinstance(body, Assembled) and isinstance(shaped, dict) else shaped


def look(spec: Spec, body: Any, later: Sequence[Any] = (), lang: Language = "en") -> Look:
    """Return what a parsed response holds; `later` are the parsed responses of steps `per = "answer"`, in the order sent.

    A missing answer is no trouble while a step that reads one has not been sent.
    """
    answer, trouble = answer_of(spec, body, later, lang)
    if trouble:
        return Look(None if answer is None else Found(answer, None, strip=spec.strip), trouble, ())
    chunks, lacking, trouble = chunks_in(spec, body, later, lang)
    trouble = trouble or too_large(answer, chunks or (), lang)
    if answer is None and chunks is None:
        trouble = trouble or _no_chunks(spec, later, lang)
    if trouble:
        return Look(Found(answer, None, strip=spec.strip), trouble, ())
    return Look(Found(answer, chunks, _usage(spec, body, later), spec.strip), None, lacking)


def read(spec: Spec, kept: Kept, lang: Language = "en") -> Reading:
    """Return what the kept responses of one row come to. Never raises."""
    asked = next((received for received in kept.received if received.step == "ask"), None)
    if asked is None:
        return Reading(None, kept.trouble or Trouble("no_answer", say("mapping.no_response", lang)))
    later = [parsed(spec, r, lang) for r in kept.received if r.step == "then" and r.chunk is None]
    seen = look(spec, parsed(spec, asked, lang), later, lang)
    if kept.trouble:
        return Reading(None if seen.found is None else replace(seen.found, chunks=None), kept.trouble)
    if seen.trouble or seen.found is None or seen.found.chunks is None:
        return Reading(seen.found, seen.trouble)
    return _filled(spec, kept, seen.found, seen.found.chunks, lang)


def _filled(spec: Spec, kept: Kept, found: Found, chunks: tuple[Chunk, ...], lang: Language) -> Reading:
    """The texts of further requests in their chunks."""
    texts, told = _fetched(spec, kept)
    chunks = tuple(replace(c, text=texts.get(at)) if c.text is None else c for at, c in enumerate(chunks))
    without = sum(chunk.text is None for chunk in chunks)
    if not without:
        trouble = too_large(None, chunks, lang)
        return Reading(replace(found, chunks=None if trouble else chunks), trouble)
    if not any(step.per == "chunk" for step in spec.then):
        return Reading(replace(found, chunks=None))
    reason = say("mapping.no_chunk_text_told" if told else "mapping.no_chunk_text", lang, count=without, told=told or "")
    return Reading(replace(found, chunks=None), Trouble("no_chunk_text", reason))


def _fetched(spec: Spec, kept: Kept) -> tuple[dict[int, str], str | None]:
    """Texts by index of chunk, and what the application said where it gave none."""
    texts: dict[int, str] = {}
    told: str | None = None
    paths = [step.text for step in spec.then if step.per == "chunk" and step.text]
    for received in kept.received:
        if received.step != "then" or received.chunk is None:
            continue
        body = parsed(spec, received)
        found = next((text for path in paths if (text := chunk_text(spec, search(path, body))) is not None), None)
        if found is not None:
            texts[received.chunk] = found
        else:
            told = told or message_in(body)
    return texts, told


def _no_chunks(spec: Spec, later: Sequence[Any], lang: Language) -> Trouble | None:
    """An application that only retrieves has no answer; it fails where it tells no chunks."""
    steps = [step for step in spec.then if step.per == "answer"]
    if spec.answer is not None or (not later and any(step.answer or step.contexts for step in steps)):
        return None
    path = next((step.contexts for step in reversed(steps) if step.contexts), None) or spec.contexts or ""
    return Trouble("no_answer", say("mapping.no_chunks", lang, path=path))


def _usage(spec: Spec, body: Any, later: Sequence[Any]) -> dict[str, Any] | None:
    if spec.usage is None:
        return None
    found = next((value for source in (body, *later) if isinstance(value := search(spec.usage, source), dict)), None)
    try:
        return None if found is None else orjson.loads(orjson.dumps(found))
    except (TypeError, ValueError):  # a usage that no file can hold
        return None
