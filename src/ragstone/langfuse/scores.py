"""What cells and means become: numeric scores, on the trace of their sample or on the run. A cell without a value gives no score."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ragstone.analysis.pooled import BAD
from ragstone.config.delivery import ENVIRONMENT
from ragstone.figures import confidence, interval, verdict_word
from ragstone.langfuse import ids
from ragstone.langfuse.frame import Frame
from ragstone.langfuse.payload import fitted, shortened, text
from ragstone.langfuse.units import Unit
from ragstone.text import listing, say

if TYPE_CHECKING:
    from ragstone.analysis.summary import MetricSummary, Summary
    from ragstone.export.content import Cell, Line
    from ragstone.types import Language

METADATA = 48_000
"""Bytes of what stands beside a score."""
COMMENT, CLAIM, NAMED = 500, 80, 5
"""Characters of a comment and of a claim in it, and how many claims it names."""
_PARTS = ("kind", "id", "text", "verdict", "evidence", "reason")
Row = dict[str, Any]


def score_units(line: Line, frame: Frame) -> Iterator[Unit]:
    """Yield a score a measured cell, in the order of the metrics: on the trace the sample was read from, else on its own."""
    place, lang = _place(line, frame), _language(line, frame)
    for cell in line.cells:
        if cell is not None and cell.value is not None:
            name = ids.score_id(frame.project_id, frame.run_name, line.id, cell.metric)
            body = {**_score(name, cell.metric, cell.value, frame), **place}
            if comment := _comment(cell, lang):
                body["comment"] = comment
            body["metadata"] = _beside(line, cell, frame)
            yield Unit("score", name, body, sample_id=line.id, metric=cell.metric)


def mean_units(summary: Summary, frame: Frame, dataset_run_id: str) -> Iterator[Unit]:
    """Yield the mean of every metric that has one, on the run; `dataset_run_id`: what the server calls the run."""
    for metric in summary.metrics:
        if metric.mean is not None:
            name = ids.mean_id(frame.project_id, frame.run_name, metric.metric)
            told: Row = {field: getattr(metric, field) for field in ("n", "total", "failed", "not_applicable", "coverage")}
            told |= {"ci": metric.ci.to_dict() if metric.ci else None, **frame.known, "repeats": frame.repeats}
            body = {**_score(name, metric.metric, metric.mean, frame), "datasetRunId": dataset_run_id}
            body |= {"comment": _of_mean(metric, frame), "metadata": fitted(told, METADATA)[0]}
            yield Unit("mean", name, body, metric=metric.metric)


def _score(name: str, metric: str, value: float, frame: Frame) -> Row:
    told = {"id": name, "name": text(metric), "value": value, "dataType": "NUMERIC"}
    return {**told, "environment": frame.environment, "timestamp": frame.timestamp}


def _place(line: Line, frame: Frame) -> Row:
    origin = frame.origin(line)
    if origin is None:
        return {"traceId": frame.trace_of(line.id), "observationId": frame.span_of(line.id)}
    observation = {"observationId": text(origin.observation_id)} if origin.observation_id else {}
    environment = origin.environment if re.match(ENVIRONMENT, origin.environment) else "default"
    return {"traceId": text(origin.trace_id), **observation, "environment": environment}


# ------------------------------------------------------------------ why
def _beside(line: Line, cell: Cell, frame: Frame) -> Row:
    reason = {"reason": cell.reason} if cell.reason else {}
    told: Row = {"status": cell.status, **reason, "sample_id": line.id, **frame.known, "repeats": frame.repeats}
    verdicts = [{name: held for name in _PARTS if (held := one.get(name)) is not None and held != []} for one in cell.verdicts]
    room = METADATA - len(str(told).encode("utf-8", "replace")) * 2
    found, cut = fitted(verdicts, max(room, METADATA // 4))
    told |= {"verdicts": found, **({"clipped": True} if cut else {})}
    made: Row = fitted(told, METADATA)[0]
    return made


def _comment(cell: Cell, lang: Language) -> str:
    lines = cell.verdicts
    bad = [one for one in lines if one.get("verdict") in BAD]
    parts = [cell.reason] if cell.reason else []
    if bad:
        named = listing([_line(one, lang) for one in bad[:NAMED]] + (["…"] if len(bad) > NAMED else []), lang)
        parts.append(say("observed.negative", lang, bad=len(bad), total=len(lines), lines=named))
    elif lines:
        parts.append(say("observed.positive", lang, total=len(lines)))
    return shortened(text(" · ".join(parts)), COMMENT)


def _line(one: Row, lang: Language) -> str:
    words = shortened(" ".join(str(one.get("text", "")).split()), CLAIM)
    return say("observed.line", lang, id=str(one.get("id", "")), text=words, verdict=verdict_word(one.get("verdict"), lang))


def _of_mean(metric: MetricSummary, frame: Frame) -> str:
    counts = {"n": metric.n, "total": metric.total}
    said = say("observed.mean_alone", frame.lang, **counts)
    if metric.ci:
        said = say("observed.mean", frame.lang, **counts, level=confidence(metric.ci.level), interval=interval(metric))
    return said if frame.notice is None else f"{said} · {say('judges.smoke_test', frame.lang)}"


def _language(line: Line, frame: Frame) -> Language:
    told = line.sample.get("language")
    return "zh" if told == "zh" else "en" if told == "en" else frame.lang
