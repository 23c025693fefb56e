"""The report of `ragstone doctor`: one table, lines to copy, every setting; or the same as one JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.cli.plain import clip, folded, safe
from ragstone.cli.width import pad, width
from ragstone.config.problems import show_value
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.doctor.findings import Examined, Finding, Setting
    from ragstone.types import Language

COLUMNS = 80
MARKS = {"yes": "✓", "no": "✗", "unknown": "–"}
LONGEST = 80
"""Columns shown of an endpoint's own words, or of a value; the JSON document holds them whole."""
NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Report:
    """What an examination found; without a judge only the settings."""

    judge: Examined | None
    embeddings: Examined | None
    settings: Sequence[Setting]
    lines: str
    """The settings that follow, as TOML."""
    kept: Path | None = None
    """Where it is remembered."""

    @property
    def requests(self) -> int:
        """Requests sent in all."""
        return sum(examined.requests for examined in (self.judge, self.embeddings) if examined is not None)

    @property
    def usable(self) -> bool:
        """True if there is a judge and everything the settings name can be used."""
        return self.judge is not None and all(e.usable for e in (self.judge, self.embeddings) if e is not None)


def page(report: Report, lang: Language) -> str:
    """Return the report for people, in lines of at most 80 columns; names and addresses may be longer."""
    parts = [list(_settings(report.settings, lang))]
    if report.judge is not None:
        parts = [
            list(_table(report, lang)),
            list(_after(report, lang)),
            [say("doctor.lines" if report.usable else "doctor.lines_unusable", lang), "", report.lines.rstrip()],
            *parts,
        ]
    return "\n\n".join("\n".join(lines) for lines in parts)


def document(report: Report, lang: Language) -> dict[str, Any]:
    """Return the report as one JSON document."""
    return {
        "judge": _examined(report.judge, lang),
        "embeddings": _examined(report.embeddings, lang),
        "requests": report.requests,
        "settings": [{"name": row.name, "value": row.value, "origin": row.origin} for row in report.settings],
        "toml": report.lines,
        "usable": report.usable,
        "remembered": str(report.kept) if report.kept else None,
    }


def _examined(examined: Examined | None, lang: Language) -> dict[str, Any] | None:
    if examined is None:
        return None
    told = {"model": examined.model, "endpoint": examined.endpoint, "usable": examined.usable, "trouble": examined.trouble}
    rows = [
        {"probe": f.probe, "state": f.state, "code": f.code, "values": dict(f.values), "found": _found(f, lang), "does": _does(f, lang)}
        for f in examined.findings
    ]
    return {**told, "requests": examined.requests, "findings": rows}


def _found(finding: Finding, lang: Language) -> str:
    return say(f"doctor.found_{finding.code}", lang, **finding.values)


def _does(finding: Finding, lang: Language) -> str:
    return say(f"doctor.does_{finding.code}", lang, **finding.values)


# ------------------------------------------------------------------ the table
def _table(report: Report, lang: Language) -> Iterator[str]:
    head = [say(f"doctor.column_{name}", lang) for name in ("probe", "found", "does")]
    groups = [(role, e) for role, e in (("judge", report.judge), ("embeddings", report.embeddings)) if e is not None]
    names = [say(f"doctor.probe_{finding.probe}", lang) for _, examined in groups for finding in examined.findings]
    left = max(width(name) for name in (head[0], *names)) + 2
    middle = (COLUMNS - left - 6) // 2 + 1
    sizes = (left, middle, COLUMNS - left - middle - 6)
    yield from _row("", head, sizes)
    yield "─" * COLUMNS
    for number, (role, examined) in enumerate(groups):
        if number:
            yield ""
        yield from folded(say(f"doctor.head_{role}", lang, model=examined.model, endpoint=examined.endpoint), COLUMNS)
        for f in examined.findings:
            cells = [say(f"doctor.probe_{f.probe}", lang), _found(_clipped(f), lang), _does(f, lang)]
            yield from _row(MARKS[f.state], cells, sizes)


def _clipped(finding: Finding) -> Finding:
    values = finding.values.items()
    return replace(finding, values={name: clip(value, LONGEST) if isinstance(value, str) else value for name, value in values})


def _row(mark: str, cells: Sequence[str], sizes: Sequence[int]) -> Iterator[str]:
    """One row, its cells folded into their columns."""
    columns = [folded(cell, size) for cell, size in zip(cells, sizes, strict=True)]
    for number in range(max(map(len, columns))):
        name, found, does = ((lines[number] if number < len(lines) else "") for lines in columns)
        sign = pad("" if number else mark, 2)
        yield f"  {pad(name, sizes[0])}{sign}{pad(found, sizes[1])}  {does}".rstrip()


def _after(report: Report, lang: Language) -> Iterator[str]:
    yield say("doctor.requests", lang, count=report.requests)
    if report.kept is not None:
        yield from folded(say("doctor.remembered", lang, path=report.kept), COLUMNS)


# ------------------------------------------------------------------ the settings
def _settings(settings: Sequence[Setting], lang: Language) -> Iterator[str]:
    yield say("doctor.settings", lang)
    tables = {name: list(rows) for name, rows in groupby(sorted(settings, key=_order), key=_table_of)}
    for name, rows in tables.items():
        yield from (f"[{name}]" if name else say("doctor.settings_top", lang), *_rows(rows, lang))


def _rows(shown: Sequence[Setting], lang: Language) -> Iterator[str]:
    """Name, value and origin; a value too long for a line of 80 columns pushes its origin to the right."""
    cells = [(safe(row.name.partition(".")[2] or row.name), clip(_shown(row, lang), LONGEST), _origin(row.origin, lang)) for row in shown]
    left = max(width(name) for name, _, _ in cells)
    room = COLUMNS - left - 6 - max(width(origin) for _, _, origin in cells)
    middle = max((width(value) for _, value, _ in cells if width(value) <= room), default=0)
    for name, value, origin in cells:
        yield f"  {pad(name, left)}  {pad(value, middle)}  {origin}"


def _table_of(row: Setting) -> str:
    return row.name.partition(".")[0] if "." in row.name else "prices" if row.name == "prices" else ""


def _order(row: Setting) -> tuple[int, str]:
    """Judge and embeddings first, tables without use last; within a table as given."""
    tables = ("judge", "embeddings", "metrics", "limits", "")
    table = _table_of(row)
    return (tables.index(table), "") if table in tables else (len(tables), table)


def _shown(row: Setting, lang: Language) -> str:
    if row.name.endswith(".key"):
        return say("doctor.key_set" if row.value else "doctor.key_unset", lang)
    if row.value is None:
        return NOTHING
    return safe(row.value) if isinstance(row.value, str) else show_value(row.value)


def _origin(origin: str, lang: Language) -> str:
    word, _, name = origin.partition(" ")
    if word == "environment":
        return say("doctor.origin_environment", lang, name=name)
    return say(f"doctor.origin_{origin}", lang) if origin in ("flag", "judge", "default") else safe(origin)
