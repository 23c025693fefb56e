"""What a sample becomes: one trace, with what was retrieved, what was answered, and one evaluator a metric.

Everything starts at the frozen time of the run, at places that do not depend on what else is sent: Langfuse takes a span that starts at
another time for another span.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import orjson

from ragstone.langfuse.bodies import expected_of, item_id
from ragstone.langfuse.frame import Frame
from ragstone.langfuse.payload import clean, dumped, shortened, text
from ragstone.langfuse.units import Unit
from ragstone.langfuse.usage import Spent, Usage

if TYPE_CHECKING:
    from ragstone.export.content import Cell, Line

LARGEST, SMALLER = 1_500_000, 400_000
"""Bytes of the input or output of an observation; of what stands beside them."""
MESSAGE = 2000
"""Characters of a status message."""
TRACE, RETRIEVAL, ANSWER = "ragstone", "retrieval", "answer"
"""Names of the root, of what was retrieved and of what was answered: the same in all languages, for people filter by them."""
ROOT = "root"
"""The root among the observations of a trace: what its id is made of."""
_SESSION = "session.id"
"""The one attribute that does not begin with `langfuse.`."""
_MS = 1_000_000
_ANSWER_AT, _EVALUATORS_AT = _MS, 2 * _MS
"""Nanoseconds after the root starts, so that a list by time shows what came first."""
_LONGEST_S = 86_400.0
_TOKENS = (("input", "prompt_tokens"), ("output", "completion_tokens"), ("total", "total_tokens"))

Row = dict[str, Any]
Attributes = Iterable[tuple[str, Any]]


@dataclass(frozen=True, slots=True)
class _Trace:
    """One sample, and what its spans have in common."""

    line: Line
    frame: Frame
    id: str
    root: str
    shared: tuple[Row, ...]
    """Attributes that stand on every span: newer servers look at each for itself."""

    def span(self, role: str, name: str, kind: str, times: tuple[int, int], made: Attributes) -> Row:
        """Return a span that belongs to the root, or is it."""
        span: Row = {"traceId": self.id, "spanId": self.root}
        if role != ROOT:
            span |= {"spanId": self.frame.span_of(self.line.id, role), "parentSpanId": self.root}
        lasting = {"startTimeUnixNano": str(times[0]), "endTimeUnixNano": str(times[1])}
        attributes = [_attribute("observation.type", kind), *(_attribute(key, value) for key, value in made), *self.shared]
        return {**span, "name": text(name), "kind": 1, **lasting, "attributes": attributes}


def trace_unit(line: Line, frame: Frame, usage: Usage) -> Unit:
    """Return the trace of a sample: a list of OTLP spans, the root first.

    `usage`: tokens of the judge's replies; a reply that several metrics rest on counts for the first of them.
    """
    root = frame.span_of(line.id)
    shared = tuple(_attribute(key, value) for key, value in _everywhere(line, frame, root))
    trace = _Trace(line, frame, frame.trace_of(line.id), root, shared)
    return Unit("trace", trace.id, [_root(trace), *_retrieval(trace), *_answer(trace), *_evaluators(trace, usage)], sample_id=line.id)


# ------------------------------------------------------------------ the application
def _root(trace: _Trace) -> Row:
    sample, frame = trace.line.sample, trace.frame
    made = [*_io(input=sample.get("question"), output=sample.get("answer"))]
    if sample.get("error"):
        made += _told("ERROR", str(sample["error"]))
    made += _of_trace(trace.line, frame)
    end = frame.start + max(_lasted(sample), _EVALUATORS_AT)
    return trace.span(ROOT, TRACE, "chain", (frame.start, end), made)


def _of_trace(line: Line, frame: Frame) -> Iterator[tuple[str, Any]]:
    sample = line.sample
    for side, name in (("input", "question"), ("output", "answer")):
        if sample.get(name) is not None:
            yield f"trace.{side}", dumped(sample[name], SMALLER)[0]
    yield "trace.tags", ["ragstone", *(["smoke-test"] if frame.notice else [])]
    known = {"sample_id": line.id, **{name: sample[name] for name in ("language", "expected_behavior", "meta") if sample.get(name)}}
    yield from ((f"trace.metadata.{name}", dumped(value, SMALLER)[0]) for name, value in {**frame.known, **known}.items())
    if frame.experiment_id is not None:
        yield "experiment.metadata", _json({**frame.known, "judge": frame.judge, "repeats": frame.repeats})
        yield "experiment.item.metadata", _json({"sample_id": line.id, "gold_fingerprint": frame.gold_fingerprint})
        if (expected := expected_of(sample)) is not None:
            yield "experiment.item.expected_output", dumped(expected, SMALLER)[0]


def _retrieval(trace: _Trace) -> Iterator[Row]:
    contexts = trace.line.sample.get("contexts")
    if isinstance(contexts, list):
        found = [one if isinstance(one, dict) else {"text": one} for one in contexts]
        made = _io(input=trace.line.sample.get("question"), output=found)
        at = trace.frame.start
        yield trace.span(RETRIEVAL, RETRIEVAL, "retriever", (at, at), made)


def _answer(trace: _Trace) -> Iterator[Row]:
    sample, start = trace.line.sample, trace.frame.start
    if sample.get("answer") is not None:
        made = chain(_io(input=sample.get("question"), output=sample["answer"]), _used(sample.get("usage")))
        at = start + _ANSWER_AT
        yield trace.span(ANSWER, ANSWER, "generation", (at, max(at, start + _lasted(sample))), made)


def _lasted(sample: Row) -> int:
    """Return how long the application took, in nanoseconds; 0 where it is not known."""
    seconds = sample.get("latency_s")
    return round(seconds * 1000) * _MS if isinstance(seconds, int | float) and 0 < seconds < _LONGEST_S else 0


def _used(told: Any) -> Iterator[tuple[str, Any]]:
    held = told if isinstance(told, Mapping) else {}
    counts = {name: held[key] for name, key in _TOKENS if isinstance(held.get(key), int) and 0 <= held[key] < 2**53}
    if counts:
        yield "observation.usage_details", _json(counts)


# ------------------------------------------------------------------ the judge
def _evaluators(trace: _Trace, usage: Usage) -> Iterator[Row]:
    counted: set[str] = set()
    at = trace.frame.start + _EVALUATORS_AT
    for cell in trace.line.cells:
        if cell is not None:
            keys = [key for key in cell.row.get("questions") or () if isinstance(key, str) and key not in counted]
            counted.update(keys)
            made = _judged(cell, trace.frame, usage.of(keys))
            yield trace.span(f"metric:{cell.metric}", cell.metric, "evaluator", (at, at), made)


def _judged(cell: Cell, frame: Frame, spent: Spent | None) -> Iterator[tuple[str, Any]]:
    lines = cell.verdicts
    claims = [{name: one[name] for name in ("kind", "id", "text") if name in one} for one in lines]
    found = [{name: value for name, value in one.items() if value is not None and name not in ("kind", "text")} for one in lines]
    known = {name: value for name in ("value", "status", "reason") if (value := getattr(cell, name)) is not None}
    yield from _io(input={"claims": claims}, output={**known, "verdicts": found})
    if cell.value is None:
        yield from _told("WARNING", f"{cell.status}: {cell.reason}")
    elif cell.row.get("detail"):
        yield "observation.metadata.detail", dumped(cell.row["detail"], SMALLER)[0]
    yield "observation.metadata.repeats", _json(frame.repeats)
    if frame.judge:
        yield "observation.model.name", text(frame.judge)
    if spent:
        yield "observation.usage_details", _json({"input": spent.prompt, "output": spent.completion})
        yield "observation.metadata.replies", _json(spent.replies)


# ------------------------------------------------------------------ OTLP
def _io(**sides: Any) -> Iterator[tuple[str, Any]]:
    cut = False
    for side, value in sides.items():
        if value is not None:
            made, shorter = dumped(value, LARGEST)
            cut |= shorter
            yield f"observation.{side}", made
    if cut:
        yield "observation.metadata.clipped", "true"


def _told(level: str, message: str) -> Attributes:
    return [("observation.level", level), ("observation.status_message", shortened(text(message), MESSAGE))]


def _everywhere(line: Line, frame: Frame, root: str) -> Iterator[tuple[str, Any]]:
    run = text(frame.run_name)
    yield from (("trace.name", TRACE), (_SESSION, run), ("environment", frame.environment))
    if frame.experiment_id is not None and frame.dataset_id is not None:
        yield from (("experiment.id", frame.experiment_id), ("experiment.name", run))
        yield "experiment.dataset.id", frame.dataset_id
        yield "experiment.item.id", item_id(line, frame)
        yield "experiment.item.root_observation_id", root


def _attribute(key: str, value: str | list[str]) -> Row:
    held = {"stringValue": value} if isinstance(value, str) else {"arrayValue": {"values": [{"stringValue": one} for one in value]}}
    return {"key": key if key == _SESSION else f"langfuse.{key}", "value": held}


def _json(value: Any) -> str:
    return orjson.dumps(clean(value)).decode()
