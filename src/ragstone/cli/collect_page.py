"""What was collected, on a screen: rows, what failed and why, chunks, files, the next command."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragstone.cli.plain import clip, cut_middle, folded
from ragstone.text import listing, say

if TYPE_CHECKING:
    from ragstone.collecting import Collected
    from ragstone.types import Language

IDS_SHOWN = 3
COLUMNS = 80


def collected_page(found: Collected, lang: Language) -> str:
    """Return the page in lines of at most 80 columns; names of files and commands stay whole, to be copied."""
    return "\n".join(_lines(found, lang))


def _lines(found: Collected, lang: Language) -> Iterator[str]:
    key = "collected.done" if found.failed else "collected.done_all"
    yield say(key, lang, rows=found.rows, ok=found.ok, failed=found.failed)
    if found.reasons:
        yield from ("", say("collected.failed_heading", lang), *_failed(found, lang))
    if found.exposed > found.empty:  # else a notice tells it
        yield from ("", *folded(_exposed(found, lang), COLUMNS))
    for notice in found.notices:
        yield from ("", *folded(notice, COLUMNS))
    yield from ("", say("collected.files", lang, samples=found.samples), say("collected.files_raw", lang, raw=found.raw))
    yield from ("", say("collected.next", lang))
    if found.reasons.keys() - {"not_found"}:
        yield f"  {say('collected.next_retry', lang)}"
    if "not_found" in found.reasons:
        yield f"  {say('collected.next_answers', lang)}"
    yield say("collected.next_evaluate", lang, samples=shlex.quote(str(found.samples)))


def _failed(found: Collected, lang: Language) -> Iterator[str]:
    for word, rows in found.reasons.items():
        some = _some(rows.examples, rows.count, lang)
        yield from folded(say("collected.failed_line", lang, word=word, count=rows.count, ids=some), COLUMNS, "  ", "    ")
        if rows.message.strip():
            yield f"    {clip(say('collected.failed_first', lang) + rows.message, COLUMNS - 4)}"
        yield from folded(say(f"collected.word_{word}", lang), COLUMNS, "    ")


def _some(ids: Sequence[str], count: int, lang: Language) -> str:
    shown = listing((cut_middle(one, 40) for one in ids[:IDS_SHOWN]), lang)
    return shown if count <= IDS_SHOWN else say("collected.more_ids", lang, ids=shown, count=count - IDS_SHOWN)


def _exposed(found: Collected, lang: Language) -> str:
    """How many of the good rows tell what was retrieved, and for how many that was nothing."""
    every = found.exposed == found.ok
    text = say("collected.exposed_all", lang) if every else say("collected.exposed", lang, count=found.exposed, ok=found.ok)
    return text + (say("collected.retrieved_nothing", lang, count=found.empty) if found.empty else "")
