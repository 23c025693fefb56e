"""`ragstone collect --try N`: a few answers and their chunks as they will be judged, and how they were found. Writes nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragstone.cli.plain import clip, folded, one_line
from ragstone.cli.width import pad, width
from ragstone.text import say
from ragstone.together import together

if TYPE_CHECKING:
    from ragstone.collect.base import Application, Kept, Row
    from ragstone.types import Language

COLUMNS = 80
ANSWER_SHOWN, CHUNK_SHOWN = 1200, 300
"""Characters shown of an answer and of a chunk."""
PIECES_SHOWN, PIECE_COLUMNS = 5, 24
STEPS = ("before", "then")
ANCHORS = (8, 4, 2, 1)
"""Characters by which the place after a stripped piece is found again; fewer where the next piece is near."""


@dataclass(frozen=True, slots=True)
class Tried:
    """One row that was asked: what came, and the row of the samples it would be."""

    kept: Kept
    sample: Mapping[str, Any]


async def try_rows(application: Application, rows: Sequence[Row], concurrency: int) -> list[Tried]:
    """Ask every row and return what came, in order. Nothing is written; what stops a collection is raised by the caller (`Kept.stop`).

    Raises ConfigError for a mapping that fits no response.
    """
    from ragstone.collect.rows import read_row

    gate = asyncio.Semaphore(concurrency)

    async def one(row: Row) -> Tried:
        async with gate:
            kept = await application.ask(row)
        return Tried(kept, read_row(application, row, kept))

    application.expect(len(rows))
    try:
        return await together([one(row) for row in rows])
    finally:
        await application.close()


def try_page(application: Application, tried: Sequence[Tried], lang: Language, file: str) -> str:
    """Return the page: how it is asked and read, then every row. `file` is where settings are changed."""
    advice = say("collected.try_wrong", lang, file=file) if application.mapping else say("collected.try_called", lang)
    lines = [say("collected.try_heading", lang), *_mapping(application), "", *folded(advice, COLUMNS)]
    for notice in getattr(application, "notices", ()):
        lines += ["", *folded(notice, COLUMNS)]
    for number, one in enumerate(tried, 1):
        lines += ["", *_row(number, len(tried), one, lang)]
    right = all(one.sample["error"] is None and one.kept.stop is None for one in tried)
    lines += ["", *folded(say("collected.try_nothing_written" if right else "collected.try_failed", lang), COLUMNS)]
    return "\n".join(lines)


def try_document(application: Application, tried: Sequence[Tried]) -> dict[str, Any]:
    """Return the document of `--try N --json`."""
    rows, notices = [dict(one.sample) for one in tried], list(getattr(application, "notices", ()))
    return {"collect": dict(application.asked), "mapping": dict(application.mapping), "rows": rows, "notices": notices}


def _mapping(application: Application) -> Iterator[str]:
    table = _joined(application.asked, application.mapping)
    fields = {name: shown for name, value in table.items() if (shown := (_steps if name in STEPS else _shown)(value))}
    left = min(max(map(width, fields), default=0), 20)
    for name, shown in fields.items():
        yield from folded(shown, COLUMNS, f"  {pad(name, left)}  ", " " * (left + 4))


def _joined(asked: Mapping[str, Any], mapping: Mapping[str, Any]) -> dict[str, Any]:
    """What is sent and how it is read as one table, as it stands in the settings: a further request has a share in both."""
    found = {**asked, **mapping}
    if isinstance(sent := asked.get("then"), list) and isinstance(read := mapping.get("then"), list) and len(sent) == len(read):
        found["then"] = [{**one, **other} for one, other in zip(sent, read, strict=True)]
    return found


def _shown(value: Any) -> str:
    """A value as text, several a line each; "" for what is not set."""
    if value in (None, "", [], (), {}, "none"):
        return ""
    if isinstance(value, list | tuple):
        return "\n".join(_shown(one) for one in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _steps(value: Any) -> str:
    """Further requests, a setting a line."""
    steps = value if isinstance(value, list | tuple) else [value] if value else []
    return "\n".join(f"{name} = {shown}" for step in steps for name, held in step.items() if (shown := _shown(held)))


def _row(number: int, total: int, tried: Tried, lang: Language) -> Iterator[str]:
    sample, kept = tried.sample, tried.kept
    title = say("collected.try_row", lang, number=number, total=total, id=one_line(sample["id"]))
    yield from folded(title, COLUMNS)
    yield "─" * min(COLUMNS, width(title))
    yield from _field("question", str(sample.get("question") or ""), lang)
    if sample["error"]:
        yield from _field("error", str(sample["error"]), lang)
    yield from _answer(sample, lang)
    if kept.latency_s is not None:
        key = "collected.try_seconds" if kept.attempts <= 1 else "collected.try_seconds_tries"
        yield from _field("latency", say(key, lang, seconds=f"{kept.latency_s:.2f}", attempts=kept.attempts), lang)
    if not sample["error"]:
        yield from _chunks(sample, lang)


def _field(name: str, text: str, lang: Language) -> list[str]:
    return folded(text, COLUMNS, say(f"collected.try_{name}", lang))


def _answer(sample: Mapping[str, Any], lang: Language) -> Iterator[str]:
    answer, raw = sample["answer"], sample["answer_raw"]
    if answer is None:
        yield from _field("answer", say("collected.try_no_answer", lang), lang)
        return
    yield from _field("answer", _cut(answer, ANSWER_SHOWN) or say("collected.try_blank", lang), lang)
    yield from _told_cut(answer, ANSWER_SHOWN, lang)
    if raw is not None and raw != answer and (pieces := _stripped(raw, answer)):
        yield from _field("stripped", pieces, lang)


def _stripped(raw: str, answer: str) -> str:
    """What stands in the raw answer and not in the judged one, each piece once."""
    pieces, i, j = dict[str, None](), 0, 0
    while i < len(raw):
        if j < len(answer) and raw[i] == answer[j]:
            i, j = i + 1, j + 1
            continue
        end = next((at for size in ANCHORS if (at := raw.find(answer[j : j + size], i)) >= 0), -1) if j < len(answer) else len(raw)
        if end < 0:  # more than taken out: the text was changed
            break
        if piece := one_line(raw[i:end]):
            pieces[piece] = None
        i = end
    shown = [clip(piece, PIECE_COLUMNS) for piece in list(pieces)[:PIECES_SHOWN]]
    return "  ".join([*shown, *(["…"] if len(pieces) > PIECES_SHOWN else [])])


def _chunks(sample: Mapping[str, Any], lang: Language) -> Iterator[str]:
    contexts = sample["contexts"]
    if not contexts:
        yield from _field("contexts", say("collected.try_null" if contexts is None else "collected.try_empty", lang), lang)
        return
    yield from _field("contexts", say("collected.try_count", lang, count=len(contexts)), lang)
    for i, text in enumerate(contexts):
        lead = f"  {i + 1}. "
        about = " · ".join(_about(sample, i, lang))
        yield from folded(about, COLUMNS, lead) if about else ()
        yield from folded(_cut(text, CHUNK_SHOWN) or say("collected.try_blank", lang), COLUMNS, " " * len(lead) if about else lead)
        yield from _told_cut(text, CHUNK_SHOWN, lang, " " * len(lead))


def _about(sample: Mapping[str, Any], i: int, lang: Language) -> Iterator[str]:
    ids, scores, sources = (sample[f"context_{name}"] for name in ("ids", "scores", "sources"))
    if scores and scores[i] is not None:
        yield say("collected.try_score", lang, score=f"{scores[i]:.4g}")
    if ids:
        yield say("collected.try_id", lang, id=one_line(ids[i]))
    if sources and sources[i] is not None:
        yield say("collected.try_source", lang, source=one_line(sources[i]))


def _cut(text: str, shown: int) -> str:
    return text[:shown] if text.strip() else ""


def _told_cut(text: str, shown: int, lang: Language, margin: str = "  ") -> list[str]:
    return folded(say("collected.try_cut", lang, shown=shown, total=len(text)), COLUMNS, margin) if len(text) > shown else []
