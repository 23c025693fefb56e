"""The page of `ragstone export`: what was written or what arrived, what has no value and why, what was refused and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from ragstone.shown.blocks import Block, Code, Heading, Items, Table, Text
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.export.receipt import Receipt, Rejected
    from ragstone.exporting import Written
    from ragstone.types import Language

KINDS = frozenset(
    ("dataset", "item", "trace", "run_item", "score", "mean", "span", "param", "tag", "metric", "artifact")  # kinds that have a word
)
IDS_SHOWN = 5
"""Refused things named for each reason; the JSON document names them all."""
REASONS_SHOWN = 10


def written_blocks(done: Written, lang: Language) -> Iterator[Block]:
    """Yield what is said of a file or folder."""
    counts = {"name": done.to, "samples": done.samples, "cells": done.cells}
    if done.path is None:
        told = [say("export.would_print" if done.dry_run else "export.printed", lang, **counts)]
    else:
        told = [say("export.would_write" if done.dry_run else "export.written", lang, path=done.path, size=size(done.bytes), **counts)]
    if done.unmeasured:
        told.append(say("export.empty_cells", lang, **_unmeasured(done.unmeasured, lang)))
    if done.dry_run:
        told.append(say("export.nothing_written", lang))
    yield Text(("" if lang == "zh" else " ").join(told))
    if done.notice:
        yield Text(say("judges.smoke_test", lang), warning=True)


def receipt_blocks(receipt: Receipt, lang: Language) -> Iterator[Block]:
    """Yield what is said of something sent to another system."""
    yield Heading(say("export.title", lang, name=receipt.to, target=receipt.target))
    if receipt.notice:
        yield Text(say("judges.smoke_test", lang), warning=True)
    yield Text(_verdict(receipt, lang), warning=bool(receipt.missing))
    if receipt.due:
        yield _table(receipt, lang)
    if receipt.rejected:
        yield Heading(say("export.rejected", lang, count=len(receipt.rejected)))
        yield Items(tuple(_reasons(receipt.rejected, lang)))
    if taken := _taken_after_all(receipt):
        yield Heading(say("export.at_first", lang, count=len(taken)))
        yield Items(tuple(_reasons(taken, lang)))
    if receipt.unmeasured:
        yield Text(say("export.unsent_cells", lang, **_unmeasured(receipt.unmeasured, lang)))
    for notice in receipt.notices:
        yield Text(notice)
    if receipt.missing:
        yield Text(say("export.again", lang))
    if receipt.links:
        yield Heading(say("export.look", lang))
        yield from map(Code, receipt.links)
    if receipt.signature:
        yield Code(receipt.signature)


def size(count: int) -> str:
    """Return a number of bytes as people read it: 812 B, 12.3 kB, 4.0 MB."""
    if count < 1000:
        return f"{count} B"
    return f"{count / 1000:.1f} kB" if count < 999_950 else f"{count / 1e6:.1f} MB"


def _verdict(receipt: Receipt, lang: Language) -> str:
    due, sent, kept = (sum(counts.values()) for counts in (receipt.due, receipt.accepted, receipt.kept))
    requests = {"requests": receipt.requests, "retried": receipt.retried}
    if receipt.dry_run:
        return say("export.would_send", lang, due=due - kept, kept=kept, requests=receipt.requests)
    if receipt.missing:
        return say("export.missing", lang, missing=receipt.missing, due=due, **requests)
    if not sent:
        return say("export.nothing_new", lang, due=due, **requests)
    return say("export.all_there", lang, due=due, sent=sent, kept=kept, **requests)


def _table(receipt: Receipt, lang: Language) -> Table:
    columns = ("due", "kept") if receipt.dry_run else ("due", "sent", "kept", "missing")
    head = (say("export.column_kind", lang), *(say(f"export.column_{name}", lang) for name in columns))
    rows = []
    for kind, due in receipt.due.items():
        sent, kept = receipt.accepted.get(kind, 0), receipt.kept.get(kind, 0)
        found = {"due": due, "sent": sent, "kept": kept, "missing": due - sent - kept}
        rows.append((kind_word(kind, lang), *(str(found[name]) for name in columns)))
    return Table(head, tuple(rows), "l" + "r" * len(columns))


def kind_word(kind: str, lang: Language) -> str:
    """Return the word for a kind of thing; an unknown one as it is."""
    return say(f"export.kind_{kind}", lang) if kind in KINDS else kind


def _reasons(rejected: Iterable[Rejected], lang: Language) -> Iterator[str]:
    """One line a reason, with the first things it met: the same trouble of a thousand scores is told once."""

    def by(one: Rejected) -> tuple[str, str]:
        return one.kind, one.reason

    groups = [(key, list(held)) for key, held in groupby(sorted(rejected, key=by), key=by)]
    groups.sort(key=lambda group: -len(group[1]))
    for (kind, reason), held in groups[:REASONS_SHOWN]:
        named = say("show.comma", lang).join(_name(one) for one in held[:IDS_SHOWN])
        more = say("export.more_ids", lang, count=len(held) - IDS_SHOWN) if len(held) > IDS_SHOWN else ""
        yield say("export.reason", lang, kind=kind_word(kind, lang), count=len(held), reason=reason, named=named + more)
    if len(groups) > REASONS_SHOWN:
        yield say("export.more_reasons", lang, count=len(groups) - REASONS_SHOWN)


def _taken_after_all(receipt: Receipt) -> list[Rejected]:
    missing = {(one.kind, one.id) for one in receipt.rejected}
    return [one for one in receipt.at_first if (one.kind, one.id) not in missing]


def _name(one: Rejected) -> str:
    """Whom it is about, for a person; the id, where that is all there is."""
    about = " ".join(part for part in (one.sample_id, one.metric) if part)
    return f"{about} [{one.id}]" if about else one.id


def _unmeasured(reasons: Mapping[str, int], lang: Language) -> dict[str, object]:
    told = say("show.comma", lang).join(f"{reason} {count}" for reason, count in reasons.items())
    return {"count": sum(reasons.values()), "reasons": told}
