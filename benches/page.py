"""From figures to text: the pages in both languages, the block the READMEs quote, the table of the terminal. Pure."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rows import ROWS, Row

TEXTS: dict[str, Any] = tomllib.loads((Path(__file__).parent / "texts.toml").read_text(encoding="utf-8"))
LANGUAGES = ("en", "zh")
OURS = "ragstone"
BEGIN, END = "<!-- benchmarks: written by `make bench` -->", "<!-- end of benchmarks -->"
ROUNDING = 1e-9

Report = Mapping[str, Any]
"""What benchmarks.json holds: date, command, machine, versions, size, and the figures by row and tool."""


class MarkerError(Exception):
    """A README has no place for the figures."""


def say(key: str, lang: str, **values: object) -> str:
    """Return a text of texts.toml, its slots filled."""
    text: Any = TEXTS
    for part in key.split(".", 1):
        text = text[part]
    return str(text[lang]).format(**values)


# ------------------------------------------------------------------ cells
def name_of(row: Row, report: Report, lang: str) -> str:
    """Return what a row is called."""
    size = report["size"]
    small, large = (f"{count:,}" if lang == "en" else str(count) for count in size["memory"])
    slots = {"slow_ms": f"{size['slow_ms']:g}", "quick_ms": f"{size['quick_ms']:g}", "memory_small": small, "memory_large": large}
    return say(f"row.{row.key}", lang, **slots)


def label(tool: str, report: Report, lang: str) -> str:
    """Return the head of a tool's column."""
    version = report["versions"][tool.partition("-")[0]]
    return say("ours" if tool == OURS else f"tool.{tool}", lang, version=version)


def number(value: float, row: Row) -> str:
    """Return a figure with its unit; one that rounds to the bar but misses it is shown in full."""
    shown = f"{value:.{row.digits}f}"
    if row.bar is not None and value > row.bar + ROUNDING and float(shown) <= row.bar:
        shown = f"{value:g}"
    return shown + row.unit


def cell(figure: Mapping[str, Any] | None, row: Row, lang: str, none: str = "no_figure") -> str:
    """Return what stands in a cell: a dash where nothing was measured, the text `none` where it could not be."""
    if figure is None:
        return "–"
    if figure["value"] is None:
        return say(none, lang)
    failed = figure.get("failed")
    return number(figure["value"], row) + (f" ({say('failed_too', lang, count=failed)})" if failed else "")


def is_met(row: Row, figure: Mapping[str, Any] | None) -> bool | None:
    """Return whether ragstone's figure keeps the bar; None without a bar or a figure that was asked for. No value is a miss."""
    if row.bar is None or figure is None:
        return None
    return figure["value"] is not None and figure["value"] <= row.bar + ROUNDING


def bar(row: Row, figure: Mapping[str, Any] | None, lang: str) -> str:
    """Return the bar, and whether it is kept."""
    if row.bar is None:
        return "–"
    met = is_met(row, figure)
    return f"{row.bar:g}{row.unit}" + ("" if met is None else f" · {say('met' if met else 'missed', lang)}")


# ------------------------------------------------------------------ tables
def lines(report: Report, lang: str, *, quoted: bool) -> Iterator[list[str]]:
    """Yield the head and the rows of the table as cells."""
    tools, none = report["tools"], "no_figure_quoted" if quoted else "no_figure"
    yield [say("what", lang), label(OURS, report, lang), say("bar", lang), *(label(tool, report, lang) for tool in tools[1:])]
    for row in ROWS:
        figures = report["rows"].get(row.key)
        if figures is None or (quoted and not row.quoted):
            continue
        ours = figures.get(OURS)
        others = [cell(figures.get(tool), row, lang, none) for tool in tools[1:]]
        yield [name_of(row, report, lang), cell(ours, row, lang, none), bar(row, ours, lang), *others]


def markdown(cells: Iterator[list[str]]) -> str:
    """Return a Markdown table; numbers stand to the right."""
    head, *rest = cells
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, rule, *rest))


def plain(report: Report) -> str:
    """Return the table for a terminal, with the reasons below."""
    table = [[re.sub(r"[*`]", "", text) for text in line] for line in lines(report, "en", quoted=False)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    rows = ["  ".join(t.ljust(w) if not i else t.rjust(w) for i, (t, w) in enumerate(zip(line, widths, strict=True))) for line in table]
    return "\n".join([*(row.rstrip() for row in rows), *missing(report, "en")])


def missing(report: Report, lang: str) -> list[str]:
    """Return a line for every figure that could not be had."""
    found = []
    for row in ROWS:
        for tool, figure in report["rows"].get(row.key, {}).items():
            if figure["value"] is None:
                why = say(f"why.{figure['why']}", lang, detail=figure.get("detail", ""))
                found.append(say("missing_line", lang, tool=label(tool, report, lang), row=name_of(row, report, lang), why=why))
    return found


# ------------------------------------------------------------------ pages
def page(report: Report, lang: str) -> str:
    """Return the page with every row."""
    machine, size = report["machine"], report["size"]
    parts = [f"<!-- {say('generated', lang)} -->", f"# {say('title', lang)}", say("intro", lang)]
    parts += [say(name, lang) for name in ("quick", "stand_in") if report[name]]
    parts += [markdown(lines(report, lang, quoted=False))]
    if reasons := missing(report, lang):
        parts += [f"## {say('missing_heading', lang)}", "\n".join(f"- {reason}" for reason in reasons)]
    slots = {name: " → ".join(map(str, value)) if isinstance(value, list) else f"{value:g}" for name, value in size.items()}
    slots |= dict(zip(("memory_small", "memory_large"), (f"{count:,}" for count in size["memory"]), strict=True))
    how = say("how", lang, **slots, concurrency=report["concurrency"]).strip()
    where = say("where", lang, date=report["date"], command=report["command"], minutes=report["minutes"], **machine)
    return "\n\n".join([*parts, f"## {say('how_heading', lang)}", how, where, *again(report, lang)]) + "\n"


def again(report: Report, lang: str) -> Iterator[str]:
    """Yield a line for every later run that some rows are from."""
    of = {row.key: row for row in ROWS}
    for run in report.get("again", ()):
        names = say("comma", lang).join(name_of(of[key], report, lang) for key in run["rows"])
        yield say("again", lang, **{**run, "rows": names})


def block(report: Report, lang: str) -> str:
    """Return what a README quotes."""
    link = "docs/benchmarks.md" if lang == "en" else f"docs/{lang}/benchmarks.md"
    machine = {name: report["machine"][name] for name in ("python", "cores", "cpu")}
    source = say("quoted", lang, date=report["date"], page=link, **machine)
    table = markdown(lines(report, lang, quoted=True))
    return "\n\n".join([*([say("quick", lang)] if report["quick"] else []), table, source])


def with_block(readme: str, text: str, name: str) -> str:
    """Return a README with the block between its markers.

    Raises:
        MarkerError: the markers are not there, once each and in order.
    """
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise MarkerError(f"{name} has no place for the figures: put these two lines where they should stand.\n{BEGIN}\n{END}")
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"
