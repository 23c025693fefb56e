"""The page of a comparison: verdicts in words, the table, what was left out, slices, claims, warnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ragstone.figures import NONE
from ragstone.shown.blocks import Block, Code, Heading, Items, Table, Text
from ragstone.shown.comparison import warning_text
from ragstone.shown.looks import looks
from ragstone.shown.verdicts import chance, decimals_of, ends, headline, label, score, signed, together, verdict_text
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.analysis.claim_changes import ClaimChange
    from ragstone.analysis.contrast import Contrast
    from ragstone.shown.comparison import Comparison
    from ragstone.types import Language

IDS_SHOWN = 10
"""Ids that are named of those left out; the JSON document has them all."""
CLAIM_KINDS = ("lost", "newly_contradicted", "newly_unsupported", "gained")
TOLD_FIRST = ("smoke_test", "key_unknown", "keys_missing")
"""Warnings that stand above the verdicts: what is below is not what was asked for."""
TOLD_ABOVE = (*TOLD_FIRST, "judge_noise_alone", "measuring_alone")
"""Warnings that the top of the page tells."""
TOLD_AT = 3
"""From the third run on the same questions, a reader is told how many there are."""


def comparison_blocks(found: Comparison, lang: Language, claims: int) -> Iterator[Block]:
    """Yield the page of a comparison; `claims` = how many claims of a kind are listed."""
    base, new = found.base.path or found.base.run_id, found.new.path or found.new.run_id
    yield Heading(say("compare.title", lang, new=new or say("compare.the_new_run", lang), base=base or say("compare.the_base_run", lang)))
    yield from verdict_blocks(found, lang)
    family = len(found.family)
    yield _table(found.metrics, found.rules.alpha, lang)
    legend = [say("compare.legend", lang, level=_level(found.rules.alpha))]
    legend += [say("compare.legend_corrected", lang, count=family)] if family > 1 else []
    yield Text(together(legend, lang))
    yield from _left(found, lang)
    yield from _slices(found, lang)
    for kind in CLAIM_KINDS:
        yield from _claims(kind, getattr(found.claims, kind), lang, claims)
    yield from _made_with(found, lang)


def verdict_blocks(found: Comparison, lang: Language) -> Iterator[Block]:
    """Yield the verdicts in words, a line a metric, between the warnings that a reader must not miss."""
    yield from (Text(warning_text(warning, lang), warning=True) for warning in found.warnings if warning.code in TOLD_FIRST)
    yield Text(headline(found, lang))
    family = len(found.family)
    yield Items(tuple(verdict_text(m, lang, family=family, alone=found.alone) for m in found.metrics if m.verdict))
    yield from _warnings(found, lang)


def _warnings(found: Comparison, lang: Language) -> Iterator[Block]:
    texts = [warning_text(warning, lang) for warning in found.warnings if warning.code not in TOLD_ABOVE]
    count = looks(found.base.path, found.base.gold_fingerprint)
    if count >= TOLD_AT:
        texts.append(say("compare.looks", lang, count=count))
    for text in texts:
        yield Text(text, warning=True)


def _table(metrics: Sequence[Contrast], alpha: float, lang: Language) -> Table:
    columns = ("metric", "n", "base", "new", "difference", "interval", "p", "wins", "verdict")
    head = tuple(say(f"compare.column_{name}", lang, level=_level(alpha)) for name in columns)
    return Table(head, tuple((label(m.metric, lang, short=True), *_numbers(m, alpha, lang)) for m in metrics), "lrrrrrrrl")


def _level(alpha: float) -> str:
    return f"{100 * (1 - alpha):.6g}%"


def _numbers(m: Contrast, alpha: float, lang: Language) -> tuple[str, ...]:
    interval = "…".join(ends(m.ci)) if m.ci else NONE
    counts = f"{m.wins}/{m.ties}/{m.losses}" if m.n else NONE
    decimals = decimals_of(m)
    means = score(m.base_mean, decimals), score(m.new_mean, decimals), signed(m.difference, decimals)
    verdict = say(f"compare.short_{m.verdict}", lang) if m.verdict else NONE
    return (str(m.n), *means, interval, chance(m.p_adjusted, alpha), counts, verdict)


def _left(found: Comparison, lang: Language) -> Iterator[Block]:
    pairs = found.pairs
    lists: list[tuple[str, str, Sequence[str]]] = [
        ("only_base", "", pairs.only_base),
        ("only_new", "", pairs.only_new),
        ("changed", "", pairs.changed),
        ("renamed", "", [f"{old} → {new}" for old, new in pairs.renamed]),
    ]
    for m in found.metrics:
        if m.verdict:
            name = label(m.metric, lang)
            lists.append(("failed", name, [sample for sample, why in m.left_out if why != "not_applicable"]))
            lists.append(("aside", name, [sample for sample, why in m.left_out if why == "not_applicable"]))
    items = tuple(
        say(f"compare.left_{what}", lang, metric=name, count=len(ids), ids=_listed(ids, lang)) for what, name, ids in lists if ids
    )
    if items:
        yield Heading(say("compare.left_title", lang))
        yield Items(items)


def _listed(ids: Sequence[str], lang: Language) -> str:
    shown = say("compare.comma", lang).join(ids[:IDS_SHOWN])
    rest = len(ids) - IDS_SHOWN
    return f"{shown} {say('compare.more', lang, count=rest)}" if rest > 0 else shown


def _slices(found: Comparison, lang: Language) -> Iterator[Block]:
    if not found.slices:
        return
    columns = ("n", "base", "new", "difference", "interval", "p", "verdict")
    head = (found.slices[0].key, *(say(f"compare.column_{name}", lang, level=_level(found.rules.alpha)) for name in columns))
    yield Heading(say("compare.slices_title", lang, key=found.slices[0].key))
    for i, metric in enumerate(found.slices[0].metrics):
        rows = []
        for part in found.slices:
            name = say("compare.no_value", lang) if part.value is None else str(part.value)
            n, base, new, difference, interval, p, _, verdict = _numbers(part.metrics[i], found.rules.alpha, lang)
            rows.append((name + (" *" if part.small else ""), n, base, new, difference, interval, p, verdict))
        if metric.verdict and any(part.metrics[i].n for part in found.slices):
            yield Heading(label(metric.metric, lang))
            yield Table(head, tuple(rows), "lrrrrrrl")
    notes = [say("compare.slices_note", lang, count=sum(m.p_adjusted is not None for part in found.slices for m in part.metrics))]
    notes += [say("compare.slices_small", lang)] if any(part.small for part in found.slices) else []
    yield Text(together(notes, lang))


def _claims(kind: str, changes: Sequence[ClaimChange], lang: Language, most: int) -> Iterator[Block]:
    if not changes:
        return
    yield Heading(say(f"compare.claims_{kind}", lang, count=len(changes)))
    items = [_claim(change, lang) for change in changes[:most]]
    if len(changes) > most:
        items.append(say("compare.more_claims", lang, count=len(changes) - most))
    yield Items(tuple(items))


def _claim(change: ClaimChange, lang: Language) -> str:
    base, new = (_ids(evidence) for evidence in (change.base_evidence, change.new_evidence))
    chunks = say("compare.claim_chunks", lang, base=base, new=new) if (base, new) != (NONE, NONE) else ""
    return say("compare.claim", lang, sample=change.sample_id, text=change.text, chunks=chunks)


def _ids(evidence: Iterable[str]) -> str:
    return " ".join(evidence) or NONE


def _made_with(found: Comparison, lang: Language) -> Iterator[Block]:
    if not (found.base.signature or found.new.signature):  # a warning above says so
        return
    base, new = (facts.signature or say("show.signature_unknown", lang) for facts in (found.base, found.new))
    if base == new:
        yield Heading(say("compare.made_with_both", lang))
        yield Code(base)
        return
    yield Heading(say("compare.made_with", lang))
    yield Code(say("compare.side_base", lang, text=base))
    yield Code(say("compare.side_new", lang, text=new))
