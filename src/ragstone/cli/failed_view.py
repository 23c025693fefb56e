"""The failed cells of a run: by reason, with what can be done about it, and the reply that spoiled each."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ragstone.cli.numbers import metric_label
from ragstone.cli.plain import clip, folded, one_line
from ragstone.cli.sample_view import question_keys, reply_text
from ragstone.cli.tables import COLUMNS
from ragstone.figures import REASONS
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.results import Run
    from ragstone.types import Language

Row = dict[str, Any]

SHOWN = 5
"""Entries listed under each reason; `--json` has all of them."""
RAW_SHOWN = 130
"""Columns of a raw reply in the list; the sample's page with --raw has all of it."""
_DONE = REASONS | {"budget"}


def failed_cells(run: Run) -> list[Row]:
    """Return every failed cell in run order with all replies it rests on, as `show --failed --json` has them."""
    rows = run.failed_rows()
    replies = run.replies(question_keys(rows))
    return [
        {
            **{name: row[name] for name in ("sample_id", "metric", "reason")},
            "replies": [replies[key] for key in question_keys([row]) if key in replies],
        }
        for row in rows
    ]


def failed_list(run: Run, lang: Language) -> Iterator[str]:
    """Yield the lines of the list: the most frequent reason first, at most SHOWN entries under each."""
    cells = failed_cells(run)
    if not cells:
        yield say("show.none_failed", lang)
        return
    yield say("failed.head", lang, count=len(cells))
    for word, found in sorted(_grouped(cells, lambda cell: _word(cell["reason"])).items(), key=lambda item: -len(item[1])):
        yield ""
        yield from _heading(word, found, lang)
        yield from _entries(found, lang)
    yield ""
    for name in ("all", "one", "again"):  # commands are copied: they must not be broken
        yield one_line(say(f"failed.{name}", lang, run=shlex.quote(str(run.path or "RUN"))))


def _heading(word: str, cells: list[Row], lang: Language) -> Iterator[str]:
    names = {one_line(cell["reason"]) for cell in cells}
    head = say("failed.reason", lang, reason=names.pop() if len(names) == 1 else one_line(word), count=len(cells))
    yield from folded(head + (say("show.colon", lang) + say(f"show.why_{word}", lang) if word in REASONS else ""), COLUMNS)
    if word in _DONE:
        yield from folded(say(f"failed.do_{word}", lang), COLUMNS, "  ")


def _entries(cells: list[Row], lang: Language) -> Iterator[str]:
    """The metrics of a sample that one reply has spoiled stand together."""
    entries = list(_grouped(cells, lambda cell: (cell["sample_id"], cell["reason"], _key(cell))).values())
    several = len({cell["reason"] for cell in cells}) > 1
    for entry in entries[:SHOWN]:
        first = entry[0]
        metrics = say("show.comma", lang).join(metric_label(cell["metric"], lang) for cell in entry)
        parts = [one_line(first["sample_id"]), metrics, *([one_line(first["reason"])] if several else [])]
        yield from folded(" · ".join(parts), COLUMNS, "  ", indent="    ")
        yield from _reply(_spoiling(first["replies"]), lang)
    if left := sum(len(entry) for entry in entries[SHOWN:]):
        yield "  " + say("failed.more", lang, count=left)


def _reply(reply: Row | None, lang: Language) -> Iterator[str]:
    if reply is None:
        return
    head = one_line(reply.get("kind", "?")) + say("show.colon", lang)
    yield from folded(head + clip(reply_text(reply, lang), RAW_SHOWN), COLUMNS, "      ")


def _spoiling(replies: list[Row]) -> Row | None:
    """The last reply that is marked as unusable, else the last one asked for."""
    return next((reply for reply in reversed(replies) if reply.get("error")), replies[-1] if replies else None)


def _key(cell: Row) -> Any:
    reply = _spoiling(cell["replies"])
    return reply and reply.get("key")


def _word(reason: Any) -> str:
    """What is counted together: without the cause of a collection's failure and the numbers of missing verdicts."""
    return str(reason).partition(":")[0].partition(" ")[0]


def _grouped(cells: Iterable[Row], by: Any) -> dict[Any, list[Row]]:
    groups: dict[Any, list[Row]] = {}
    for cell in cells:
        groups.setdefault(by(cell), []).append(cell)
    return groups
