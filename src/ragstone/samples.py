"""Samples out of a file or out of memory: everything is checked first, then they are read one at a time."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from ragstone.errors import DataError, Problem
from ragstone.reading.citations import strip_citations as strip_sample
from ragstone.reading.clipping import clip
from ragstone.reading.columns import ALIASES, resolve_mapping
from ragstone.reading.formats import Table, open_table
from ragstone.reading.memory import memory_table
from ragstone.reading.row_ids import made_id
from ragstone.reading.rows import Notes, RowReader
from ragstone.reading.survey import build_sample, survey_rows
from ragstone.text import say, screen_language
from ragstone.types import Language, Sample

__all__ = ["SampleSource", "clip", "fit", "scan", "strip_citations"]

strip_citations = strip_sample

_MB = 1_000_000
_RAW = ".raw.jsonl"
"""What `ragstone collect` appends to the name of a file of samples for the responses they are read from."""


@dataclass(frozen=True)
class SampleSource:
    """Samples that were checked; iterating reads them again, one at a time, as often as wanted."""

    name: str
    """The file as it was given, or "samples" for rows in memory."""
    count: int
    columns: frozenset[str]
    """Judged columns that at least one row fills: question, answer, contexts, reference, reference_contexts."""
    missing: Mapping[str, int]
    """Judged column -> rows that lack it; rows whose collection failed are not counted."""
    notices: tuple[str, ...]
    """What a person should know before the run, in the screen's language."""
    languages: Mapping[Language, int]
    """Language -> samples."""
    errors: int
    """Rows whose collection failed (`error`)."""
    made_ids: int
    """Rows that came without an id."""
    found: tuple[str, ...]
    """All columns of the source, in the order they came."""
    gold_fingerprint: str
    """Over id, question, reference, reference_points and reference_contexts, in any row order."""
    samples_fingerprint: str
    """Over every column that can change a score, in any row order."""
    lang: Language
    _table: Table = field(repr=False)
    _reader: RowReader = field(repr=False)
    _limit: int | None = field(repr=False)
    _strip: bool = field(repr=False)
    _suffixes: Sequence[int] = field(repr=False)
    """Of each row the number in its made-up id, as `RowIds` says."""
    _stamp: tuple[int, int] | None = field(repr=False)
    """Size and time of change of the file, as it was before it was looked at."""

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Sample]:
        reader = replace(self._reader, notes=Notes())
        self._check_unchanged()
        for row in islice(self._table.rows(), self._limit):
            values, problems = ({}, [row]) if isinstance(row, Problem) else reader.read(row)
            if problems or isinstance(row, Problem):
                raise DataError(self.name, [Problem(say("samples.changed", self.lang)), *problems])
            if "id" not in values:
                suffix = self._suffixes[row.number] if row.number < len(self._suffixes) else 0
                values["id"] = made_id(values.get("question"), suffix)
            yield build_sample(values, self._strip)
        self._check_unchanged()

    def _check_unchanged(self) -> None:
        """A file whose rows are other ones by now would not fit what was told of it, fingerprints and counts."""
        if self._stamp is not None and self._stamp != _stamp(self.name):
            raise DataError(self.name, [Problem(say("samples.changed", self.lang))])


def scan(
    source: str | os.PathLike[str] | Iterable[Mapping[str, Any]] | Iterable[Sample],
    *,
    mapping: Mapping[str, str] | None = None,
    encoding: str = "utf-8",
    max_cell_mb: float = 1.0,
    limit: int | None = None,
    strip_citations: bool = False,
    gold: bool = False,
    lang: Language | None = None,
) -> SampleSource:
    """Check all samples of a source and return them ready to be read.

    Args:
        source: a JSONL, JSON, CSV, TSV, XLSX or Parquet file; rows: mappings or samples; or a data frame or data set (pandas, polars,
            Arrow, Hugging Face).
        mapping: field -> column of the source, ahead of the names known by themselves.
        encoding: the file's character encoding.
        max_cell_mb: largest cell, in millions of bytes of UTF-8.
        limit: only the first so many rows are looked at; None = all.
        strip_citations: take citation marks out of answers (see `strip_citations`).
        gold: the source is a gold set, in which a row may lack its question; it is the caller's to say so.
        lang: language of texts; None = the screen's.

    Raises:
        ConfigError: an unknown field in `mapping`, or an unknown encoding.
        DataError: everything that is wrong with the source, each problem with its row and column.
    """
    lang = lang or screen_language()
    columns = resolve_mapping(mapping or {}, lang)
    max_cell = int(max_cell_mb * _MB)
    stamp = _stamp(source) if isinstance(source, str | os.PathLike) else None
    table = _table(source, encoding, lang, max_cell)
    survey = survey_rows(table, RowReader(columns, table.textual, lang, max_cell, Notes(), gold), limit, strip_citations)
    return SampleSource(
        name=table.name,
        count=survey.rows,
        columns=survey.columns,
        missing=survey.missing,
        notices=tuple(survey.notices()),
        languages=dict(survey.languages),
        errors=survey.errors,
        made_ids=survey.made,
        found=tuple(survey.reader.notes.columns),
        gold_fingerprint=survey.gold.hex(),
        samples_fingerprint=survey.judged.hex(),
        lang=lang,
        _table=table,
        _reader=survey.reader,
        _limit=limit,
        _strip=strip_citations,
        _suffixes=survey.ids.suffixes,
        _stamp=stamp,
    )


def fit(source: SampleSource, needs: Mapping[str, tuple[str, ...]], explicit: bool) -> tuple[list[str], list[str]]:
    """Tell which metrics the source can feed.

    Args:
        source: the samples.
        needs: metric -> columns it cannot do without.
        explicit: True if the metrics were named by the user, False if they come from a preset.

    Returns:
        The metrics kept, and a notice for each one left out.

    Raises:
        DataError: a named metric needs a column that no row has, or a preset keeps no metric.
    """
    if source.count == source.errors:
        return list(needs), []
    lacking = {metric: [c for c in columns if c not in source.columns] for metric, columns in needs.items()}
    unfed = {metric: columns for metric, columns in lacking.items() if columns}
    kept = [metric for metric in needs if metric not in unfed]
    if unfed and (explicit or not kept):
        raise DataError(source.name, _unfed_problems(source, unfed))
    notices = [say("samples.left_out", source.lang, metric=metric, columns=", ".join(columns)) for metric, columns in unfed.items()]
    return kept, notices


def _unfed_problems(source: SampleSource, unfed: Mapping[str, list[str]]) -> list[Problem]:
    columns = dict.fromkeys(column for lacking in unfed.values() for column in lacking)
    found = ", ".join(source.found)
    problems = []
    for column in columns:
        metrics = ", ".join(metric for metric, lacking in unfed.items() if column in lacking)
        names = ", ".join((column, *ALIASES.get(column, ())))
        text = say("samples.no_row_has", source.lang, metrics=metrics, names=names, column=column, found=found)
        problems.append(Problem(text, column=column))
    if {"answer", "contexts"} <= columns.keys():
        problems.append(Problem(say("samples.collect_first", source.lang)))
    return problems


def _stamp(path: str | os.PathLike[str]) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns


def _holds_responses(path: Path) -> bool:
    """True for the file beside collected samples that holds the responses they were read from."""
    if not path.name.endswith(_RAW) or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            head = orjson.loads(file.readline(_MB))
    except (OSError, ValueError):
        return False
    return isinstance(head, dict) and {"collect", "mapping"} <= head.keys()


def _table(source: Any, encoding: str, lang: Language, max_cell: int) -> Table:
    if isinstance(source, str | os.PathLike):
        if _holds_responses(Path(source)):
            samples = Path(source).with_name(Path(source).name.removesuffix(_RAW))
            raise DataError(os.fspath(source), [Problem(say("samples.raw_file", lang, samples=samples))])
        return open_table(Path(source), encoding, lang, max_cell)
    return memory_table(source, lang)
