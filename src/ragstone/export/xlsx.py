"""`--to xlsx`: a workbook with the sheets summary, samples, claims and failures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any, ClassVar

from ragstone.analysis.pooled import base_name
from ragstone.export.base import FileExporter, Order
from ragstone.export.columns import Column, Columns, columns_of, flat
from ragstone.export.sheet import MOST_COLUMNS, Book, Look, Sheet, Title
from ragstone.figures import meaning_of
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.analysis.levels import Levels
    from ragstone.analysis.summary import MetricSummary
    from ragstone.export.columns import Plain
    from ragstone.export.content import Content, Line
    from ragstone.shown.summary import ShownSummary

SUMMARY = (
    *(Title("metric", "strong"), Title("mean", "score"), Title("ci_low", "score"), Title("ci_high", "score"), Title("n", "plain")),
    *(Title("total", "plain"), Title("failed", "plain"), Title("not_applicable", "plain"), Title("coverage", "share")),
    *(Title("bounds_low", "score"), Title("bounds_high", "score"), Title("level", "plain"), Title("reasons", "text")),
)
_COVERAGE, _LEVEL = 8, 11
CLAIMS = ("sample_id", "metric", "repeat", "kind", "id", "text", "verdict", "evidence", "reason", "quote")
FAILURES = ("sample_id", "metric", "status", "reason", "meaning")
_LEVELS: dict[str, Look] = {"high": "good", "middle": "doubtful", "low": "bad"}
_VERDICTS: dict[str, Look] = {
    **dict.fromkeys(("supported", "covered", "useful", "committal", "found"), "good"),
    **dict.fromkeys(("not_found", "missing", "not_useful", "noncommittal"), "doubtful"),
    "contradicted": "bad",
}


class XlsxExporter(FileExporter):
    """Writes a workbook; the names of sheets and columns are the same in every language."""

    name: ClassVar[str] = "xlsx"
    extra: ClassVar[str | None] = "xlsx"
    suffix: ClassVar[str] = ".xlsx"
    binary: ClassVar[bool] = True

    def write(self, content: Content, file: IO[bytes], order: Order) -> None:
        """Write the workbook; texts that a cell cannot hold whole are cut, and told."""
        book = Book(order.lang)
        _summary(book, content.summary)
        whole = columns_of(content)
        columns = _fitting(whole)
        samples = book.sheet("samples", [_title(column, content.run.levels) for column in columns.columns], wide=True)
        claims = book.sheet("claims", [Title(name) for name in CLAIMS])
        failures = book.sheet("failures", [Title(name) for name in FAILURES])
        for line in content.lines():
            samples.append(columns.flat_row(line), _states(columns, line))
            for row in _failures(line, order):
                failures.append(row, {2: "bad" if row[2] == "failed" else "dim"})
        _claims(claims, content)
        book.describe("\n".join(fact for fact in (content.facts.notice, content.facts.signature) if fact))
        book.save(file)
        if book.cut:
            order.tell(say("sheets.cut_told", order.lang, count=book.cut))
        if columns is not whole:
            order.tell(say("sheets.columns_told", order.lang, count=len(whole.names), most=MOST_COLUMNS))


def _fitting(columns: Columns) -> Columns:
    """Return as many columns as a sheet can hold: the last ones of the user's own go first."""
    own = [column for column in columns.columns if column.kind in ("own", "contexts")]
    left_out = {column.name for column in own[max(1, len(own) - len(columns.columns) + MOST_COLUMNS) :]}
    return Columns(tuple(column for column in columns.columns if column.name not in left_out)) if left_out else columns


def _summary(book: Book, summary: ShownSummary) -> None:
    sheet, low = book.sheet("summary", SUMMARY), summary.min_coverage
    for m in summary.metrics:
        row, covered = _of_metric(m), m.coverage is not None and m.coverage >= low
        looks: dict[int, Look] = {} if m.coverage is None or covered else {_COVERAGE: "low_share"}
        if m.level and covered:
            row[_LEVEL], looks[_LEVEL] = m.level, _LEVELS[m.level]
        sheet.append(row, looks)
    run = summary.run
    facts: list[tuple[str, Plain]] = [("notice", run.notice), ("samples", summary.samples), ("signature", run.signature)]
    facts += [("interval_level", next((m.ci.level for m in summary.metrics if m.ci), None))]
    facts += [(name, getattr(run, name)) for name in ("run_id", "created_at", "gold_fingerprint")]
    rows = [((name, value), _fact_looks(name)) for name, value in facts if value is not None]
    sheet.below([((), {}), *rows])


def _fact_looks(name: str) -> dict[int, Look]:
    return {0: "warning", 1: "warning"} if name == "notice" else {0: "strong"}


def _of_metric(m: MetricSummary) -> list[Plain]:
    low, high = (max(0.0, m.ci.low), min(1.0, m.ci.high)) if m.ci else (None, None)
    reasons = ", ".join(f"{reason} {count}" for reason, count in m.reasons.items())
    return [m.metric, m.mean, low, high, m.n, m.total, m.failed, m.not_applicable, m.coverage, *m.bounds, None, reasons or None]


def _title(column: Column, levels: Levels) -> Title:
    if column.kind != "value":
        return Title(column.name, "plain" if column.kind in ("status", "reason") else "text")
    return Title(column.name, "score", "scale" if base_name(column.name) == "answer_relevancy" else levels)


def _states(columns: Columns, line: Line) -> dict[int, Look]:
    looks: dict[int, Look] = {}
    for at, column in enumerate(columns.columns):
        if column.kind == "status":
            state = column.of(line)
            if state in ("failed", "not_applicable"):
                looks[at] = "bad" if state == "failed" else "dim"
    return looks


def _failures(line: Line, order: Order) -> Iterator[list[str | None]]:
    for cell in line.cells:
        if cell is not None and cell.status != "ok":
            reason = cell.reason or "unknown"
            yield [line.id, cell.metric, cell.status, reason, meaning_of(reason, order.lang) or None]


def _claims(sheet: Sheet, content: Content) -> None:
    for row in content.scores():
        for held in row.get("verdicts") or ():
            if isinstance(held, dict):
                named: list[Plain] = [str(row["sample_id"]), str(row["metric"]), row.get("repeat") or 0]
                told = [_joined(held.get(name)) if name == "evidence" else flat(held.get(name), "own") for name in CLAIMS[3:]]
                look = _VERDICTS.get(str(held.get("verdict")))
                sheet.append([*named, *told], {6: look} if look else None)


def _joined(evidence: Any) -> Plain:
    return ", ".join(map(str, evidence)) if isinstance(evidence, list) else flat(evidence, "own")
