"""What was collected, on a screen: rows, what failed and why, chunks, files, the next command."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragstone.cli.plain import cut_middle, folded
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.collecting import Collected
    from ragstone.types import Language

IDS_SHOWN = 3
COLUMNS = 80


def collected_page(found: Collected, lang: Language) -> str:
    """Return the page in lines of at most 80 columns; names of files and commands stay whole, to be copied."""
    return "\n".join(_lines(found, lang))


def _lines(found: Collected, lang: Language) -> Iterator[str]:
    failed = found.rows - found.ok
    key = "collect.done" if failed else "collect.done_all"
    yield say(key, lang, rows=found.rows, ok=found.ok, failed=failed)
    if found.failed:
        yield from ("", say("collect.failed_heading", lang), *_failed(found, lang))
    if found.ok:
        yield from ("", *folded(_exposed(found, lang), COLUMNS))
    yield from ("", say("collect.files", lang, samples=found.path), say("collect.files_raw", lang, raw=found.raw))
    for notice in found.notices:
        yield from ("", *folded(notice, COLUMNS))
    yield ""
    yield say("collect.next_evaluate", lang)
    yield f"  ragstone evaluate {shlex.quote(str(found.path))} --out runs/a"


def _failed(found: Collected, lang: Language) -> Iterator[str]:
    for word, ids in sorted(found.failed.items(), key=lambda item: -len(item[1])):
        yield from folded(say("collect.failed_line", lang, word=word, count=len(ids), ids=_some(ids, lang)), COLUMNS, "  ", "    ")
        yield from folded(say(f"collect.word_{word}", lang), COLUMNS, "    ")


def _some(ids: Sequence[str], lang: Language) -> str:
    shown = ", ".join(cut_middle(one, 40) for one in ids[:IDS_SHOWN])
    return shown if len(ids) <= IDS_SHOWN else say("collect.more_ids", lang, ids=shown, count=len(ids) - IDS_SHOWN)


def _exposed(found: Collected, lang: Language) -> str:
    if not found.exposed:
        return say("collect.exposed_none", lang)
    all_of_them = found.exposed == found.ok
    return say("collect.exposed_all", lang) if all_of_them else say("collect.exposed", lang, count=found.exposed, ok=found.ok)
