"""What may be wrong with a gold set, as a document, as a page and for notebooks: `ragstone.check` and `ragstone check`."""

from __future__ import annotations

import functools
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from ragstone.checks.base import SEVERITIES, Finding, Gold, Row, Severity, shown
from ragstone.checks.kinds import KINDS, findings
from ragstone.checks.texts import items_of
from ragstone.errors import ConfigError
from ragstone.reading.columns import misspelt, resolve_mapping
from ragstone.reading.fingerprints import repeat_of
from ragstone.reading.row_ids import made_id
from ragstone.samples import scan
from ragstone.shown.blocks import Block, Heading, Items, Text, to_html, to_markdown
from ragstone.text import say, screen_language
from ragstone.types import Sample

if TYPE_CHECKING:
    from ragstone.embed.base import Vector
    from ragstone.embed.bundled import BundledEmbedder
    from ragstone.samples import SampleSource
    from ragstone.types import Language

SHOWN = 5
"""Rows of a kind that the page shows, unless all are wanted."""
MOST_READ = 20_000
"""Characters of a text that are looked at: rules are made for what people write, and some take long for a megabyte of one sign."""
_TEXTS = ("question", "reference", "reference_points", "reference_alternatives", "reference_contexts")
_ANSWERED = dict.fromkeys(
    ("answer", "answer_raw", "contexts", "context_ids", "context_scores", "context_sources", "citations", "latency_s", "usage")
)
"""What an application answered: nothing here looks at it."""


@dataclass(frozen=True, slots=True, repr=False)
class Checked:
    """A gold set that was looked at."""

    file: str
    """The file as it was given, or "samples" for rows in memory."""
    rows: int
    gold_fingerprint: str
    findings: tuple[Finding, ...]
    """By row, then by kind."""
    notices: tuple[str, ...] = ()
    """What a person should know about how the file was read, in the screen's language."""

    def __repr__(self) -> str:
        """One line: rows and what was found."""
        counts = ", ".join(f"{name}s={count}" for name, count in self.counts.items())
        return f"Checked(file={self.file!r}, rows={self.rows}, {counts})"

    @property
    def counts(self) -> dict[Severity, int]:
        """Severity -> findings."""
        found = Counter(finding.severity for finding in self.findings)
        return {severity: found[severity] for severity in SEVERITIES}

    @property
    def clean(self) -> bool:
        """True without any error or warning; `check --strict` then ends with 0."""
        return not (self.counts["error"] or self.counts["warning"])

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """The document of `check --json`; texts in `lang`, unset = the language of the screen."""
        lang = lang or screen_language()
        return {
            "file": self.file,
            "rows": self.rows,
            "gold_fingerprint": self.gold_fingerprint,
            "findings": [_document(finding, lang) for finding in self.findings],
        }

    def blocks(self, lang: Language, *, every: bool = False) -> list[Block]:
        """The page of `ragstone check`; with `every` all rows of every kind."""
        return list(_page(self, lang, None if every else SHOWN))

    def to_markdown(self, lang: Language | None = None) -> str:
        """The page as Markdown, with all rows; `lang` unset = the language of the screen."""
        return to_markdown(self.blocks(lang or screen_language(), every=True))

    def _repr_html_(self) -> str:
        """The page for a notebook, in the language of the screen."""
        lang = screen_language()
        return to_html(self.blocks(lang), lang)


def check(
    gold: str | os.PathLike[str] | Iterable[Mapping[str, Any]] | Iterable[Sample],
    *,
    mapping: Mapping[str, str] | None = None,
    encoding: str = "utf-8",
    max_cell_mb: float = 1.0,
    limit: int | None = None,
    cluster: str | None = None,
) -> Checked:
    """Look for what may be wrong with a gold set: every finding has its row, a reason and a fix.

    Args:
        gold: a file or rows, as for `evaluate`; what an application answered is not looked at.
        mapping: field -> column of the source, ahead of the names known by themselves.
        encoding: the file's character encoding.
        max_cell_mb: largest cell, in millions of bytes of UTF-8.
        limit: only the first so many rows are looked at; None = all.
        cluster: rows with the same value of this column are variants of one question and count once.

    Raises:
        ConfigError: an unknown field in `mapping`, an unknown encoding, or a cluster that no row names.
        DataError: the source cannot be read; everything that is wrong with it, each problem with its row and column.
    """
    source = scan(gold, mapping=mapping, encoding=encoding, max_cell_mb=max_cell_mb, limit=limit, gold=True)
    rows = tuple(_rows(source))
    _check_cluster(cluster, rows)
    names = _names(source, mapping or {})
    found = [_named(finding, names) for finding in (*findings(gold_set(source, rows, mapping or {}, cluster)), *_cuts(rows))]
    found.sort(key=lambda f: (f.row, list(KINDS).index(f.kind), f.column or "", f.text("en")))
    return Checked(source.name, source.count, source.gold_fingerprint, tuple(found), tuple(source.notices))


# ------------------------------------------------------------------ what the checkers are given
def _check_cluster(cluster: str | None, rows: Sequence[Row]) -> None:
    keys = sorted({key for row in rows for key in row.sample.meta})
    if cluster is None or cluster in keys:
        return
    lang = screen_language()
    near = get_close_matches(cluster, keys, n=1)
    hint = say("check.nearest", lang, near=near[0]) if near else ""
    raise ConfigError(say("check.no_such_key", lang, key=cluster, nearest=hint, keys=", ".join(keys) or "–"))


def gold_set(source: SampleSource, rows: Sequence[Row], mapping: Mapping[str, str], cluster: str | None) -> Gold:
    """Return what the checkers are given, of a source that was read."""
    known = resolve_mapping(mapping, source.lang)
    kept = [column for column in source.found if known.field(column) is None]
    return Gold(
        rows=rows,
        language="zh" if 2 * source.languages.get("zh", 0) > source.count else "en",
        embed=_bundled(),
        misspelt={column: near for column in kept if (near := misspelt(column))},
        cluster=cluster,
    )


def _rows(source: SampleSource) -> Iterator[Row]:
    """Rows as they stand in the file; of answers collected for one question several times the first alone."""
    seen: set[tuple[str, str]] = set()
    for number, sample in enumerate(source, 1):
        question, _ = repeat_of(sample)
        asked = question, str([getattr(sample, name) for name in _TEXTS])
        if question != sample.id and asked in seen:
            continue
        seen.add(asked)
        made = source.made_ids > 0 and sample.id.startswith(made_id(sample.question, 0))
        yield Row(number, sample.model_copy(update=_ANSWERED | _cut(sample)), made)


def _cut(sample: Sample) -> dict[str, object]:
    """The texts that are longer than what is looked at, cut."""
    held = {name: getattr(sample, name) for name in _TEXTS}
    cut = {name: _shortened(value) for name, value in held.items() if value}
    return {name: value for name, value in cut.items() if value != held[name]}


def _cuts(rows: Sequence[Row]) -> Iterator[Finding]:
    """Yield text_cut: one finding for all."""
    texts = {row.number: [text for _, items in items_of(row.sample) for text in items] for row in rows}
    if cut := [number for number, held in texts.items() if any(len(text) >= MOST_READ for text in held)]:
        yield Finding("text_cut", "note", cut[0], values={"count": len(cut), "rows": tuple(cut), "most": MOST_READ})


def _shortened(value: str | Sequence[str]) -> str | tuple[str, ...]:
    return value[:MOST_READ] if isinstance(value, str) else tuple(text[:MOST_READ] for text in value)


def _bundled() -> Callable[[Sequence[str]], Sequence[Vector | None]]:
    """What turns texts into vectors; the model is loaded for the first text, since most sets are told apart by wording."""

    @functools.cache
    def model() -> BundledEmbedder:
        from ragstone.embed.bundled import BundledEmbedder

        return BundledEmbedder()

    return lambda texts: [None if isinstance(vector, str) else vector for vector in model().encode(texts)]


def _names(source: SampleSource, mapping: Mapping[str, str]) -> dict[str, str]:
    """Field, or key of meta -> what the file calls it."""
    known = resolve_mapping(mapping, source.lang)
    named = {column: known.field(column) or f"meta.{column}" for column in reversed(source.found)}
    return {field: column for column, field in named.items()}


def _named(finding: Finding, names: Mapping[str, str]) -> Finding:
    column = finding.column
    return finding if column is None else replace(finding, column=names.get(column, column))


# ------------------------------------------------------------------ the document and the page
def _document(finding: Finding, lang: Language) -> dict[str, Any]:
    place = {"row": finding.row, "id": finding.id, "column": finding.column}
    return place | {"kind": finding.kind, "severity": finding.severity, "text": finding.text(lang), "fix": finding.fix(lang)}


def _page(checked: Checked, lang: Language, most: int | None) -> Iterator[Block]:
    yield Heading(say("check.title", lang, file=checked.file))
    yield Text(say("check.rows", lang, rows=checked.rows, fingerprint=checked.gold_fingerprint))
    counts = {str(severity): count for severity, count in checked.counts.items()}
    yield Text(say("check.counts", lang, **counts) if checked.findings else say("check.nothing", lang))
    groups = {kind: sorted(held, key=_gravity) for kind in KINDS if (held := _of(checked, kind))}
    for kind, found in sorted(groups.items(), key=lambda group: _gravity(group[1][0])):
        yield from _group(kind, found, lang, most)


def _of(checked: Checked, kind: str) -> list[Finding]:
    return [finding for finding in checked.findings if finding.kind == kind]


def _gravity(finding: Finding) -> int:
    return SEVERITIES.index(finding.severity)


def _group(kind: str, found: list[Finding], lang: Language, most: int | None) -> Iterator[Block]:
    counted = Counter(finding.severity for finding in found)
    counts = say("check.comma", lang).join(say(f"check.count_{severity}", lang, count=n) for severity, n in counted.items())
    yield Heading(say("check.kind", lang, title=say(f"check.{kind}_title", lang), counts=counts))
    fixes = {finding.fix(lang) for finding in found}
    items = [_item(finding, lang, with_fix=len(fixes) > 1) for finding in found[:most]]
    if rest := len(found) - len(items):
        items.append(say("check.more", lang, count=rest))
    yield Items(tuple(items))
    if len(fixes) == 1:
        yield Text(say("check.to_do", lang, fix=fixes.pop()))


def _item(finding: Finding, lang: Language, *, with_fix: bool) -> str:
    text = finding.text(lang)
    if with_fix:
        text = say("check.with_fix", lang, text=text, fix=finding.fix(lang))
    if finding.id is None:
        return text
    values = {"row": finding.row, "id": shown(finding.id), "text": text}
    if finding.column is None:
        return say("check.place", lang, **values)
    return say("check.place_column", lang, column=shown(finding.column), **values)
