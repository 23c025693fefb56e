"""What a sample becomes: one trace, with what was retrieved, what was answered, and one evaluator a metric.

Everything starts at the frozen time of the run, at places that do not depend on what else is sent: Langfuse takes a span that starts at
another time for another span.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
_MS = 1_000_000
_AT = {RETRIEVAL: 0, ANSWER: _MS}
_EVALUATORS_AT = 2 * _MS
_LONGEST_S = 86_400.0
_TOKENS = (("input", "prompt_tokens"), ("output", "completion_tokens"), ("total", "total_tokens"))

Row = dict[str, Any]
Attributes = Iterable[tuple[str, Any]]


def trace_unit(line: Line, frame: Frame, usage: Usage) -> Unit:
    """Return the trace of a sample: a list of OTLP spans, the root first.

    `usage`: tokens of the judge's replies; a reply that several metrics rest on counts for the first of them.
    """
    spans = [_root(line, frame), *_retrieval(line, frame), *_answer(line, frame), *_evaluators(line, frame, usage)]
    return Unit("trace", frame.trace_of(line.id), spans, sample_id=line.id)


# ------------------------------------------------------------------ the application
def _root(line: Line, frame: Frame) -> Row:
    sample = line.sample
    made = [*_io(input=sample.get("question"), output=sample.get("answer"))]
    if sample.get("error"):
        made += _told("ERROR", str(sample["error"]))
    made += _of_trace(line, frame)
    end = frame.start + max(_lasted(sample), _EVALUATORS_AT)
    return _span(line, frame, "root", TRACE, "chain", (frame.start, end), made)


def _of_trace(line: Line, frame: Frame) -> Iterator[tuple[str, Any]]:
    sample = line.sample
    for side, name in (("input", "question"), ("output", "answer")):
        if sample.get(name) is not None:
            yield f"langfuse.trace.{side}", dumped(sample[name], SMALLER)[0]
    yield "langfuse.trace.tags", ["ragstone", *(["smoke-test"] if frame.notice else [])]
    known = {"sample_id": line.id, **{name: sample[name] for name in ("language", "expected_behavior", "meta") if sample.get(name)}}
    yield from ((f"langfuse.trace.metadata.{name}", dumped(value, SMALLER)[0]) for name, value in {**frame.known, **known}.items())
    if frame.experiment_id is not None:
        yield "langfuse.experiment.metadata", _json({**frame.known, "judge": frame.judge, "repeats": frame.repeats})
        yield "langfuse.experiment.item.metadata", _json({"sample_id": line.id, "gold_fingerprint": frame.gold_fingerprint})
        if (expected := expected_of(sample)) is not None:
            yield "langfuse.experiment.item.expected_output", dumped(expected, SMALLER)[0]


def _retrieval(line: Line, frame: Frame) -> Iterator[Row]:
    contexts = line.sample.get("contexts")
    if isinstance(contexts, list):
        found = [one if isinstance(one, dict) else {"text": one} for one in contexts]
        made = _io(input=line.sample.get("question"), output=found)
        at = frame.start + _AT[RETRIEVAL]
        yield _span(line, frame, RETRIEVAL, RETRIEVAL, "retriever", (at, at), made)


def _answer(line: Line, frame: Frame) -> Iterator[Row]:
    sample = line.sample
    if sample.get("answer") is not None:
        made = chain(_io(input=sample.get("question"), output=sample["answer"]), _used(sample.get("usage")))
        at = frame.start + _AT[ANSWER]
        yield _span(line, frame, ANSWER, ANSWER, "generation", (at, max(at, frame.start + _lasted(sample))), made)


def _lasted(sample: Row) -> int:
    """Return how long the application took, in nanoseconds; 0 where it is not known."""
    seconds = sample.get("latency_s")
    return round(seconds * 1000) * _MS if isinstance(seconds, int | float) and 0 < seconds < _LONGEST_S else 0


def _used(told: Any) -> Iterator[tuple[str, Any]]:
    held = told if isinstance(told, Mapping) else {}
    counts = {name: held[key] for name, key in _TOKENS if isinstance(held.get(key), int) and 0 <= held[key] < 2**53}
    if counts:
        yield "langfuse.observation.usage_details", _json(counts)


# ------------------------------------------------------------------ the judge
def _evaluators(line: Line, frame: Frame, usage: Usage) -> Iterator[Row]:
    counted: set[str] = set()
    for cell in line.cells:
        if cell is not None:
            keys = [key for key in cell.row.get("questions") or () if isinstance(key, str) and key not in counted]
            counted.update(keys)
            at = frame.start + _EVALUATORS_AT
            yield _span(line, frame, f"metric:{cell.metric}", cell.metric, "evaluator", (at, at), _judged(cell, frame, usage.of(keys)))


def _judged(cell: Cell, frame: Frame, spent: Spent | None) -> Iterator[tuple[str, Any]]:
    lines = cell.verdicts
    claims = [{name: one[name] for name in ("kind", "id", "text") if name in one} for one in lines]
    found = [{name: value for name, value in one.items() if name not in ("kind", "text")} for one in lines]
    told: Row = {"status": cell.status, "reason": cell.reason, "verdicts": found}
    yield from _io(input={"claims": claims}, output=told if cell.value is None else {"value": cell.value, **told})
    if cell.value is None:
        yield from _told("WARNING", f"{cell.status}: {cell.reason}")
    elif cell.row.get("detail"):
        yield "langfuse.observation.metadata.detail", dumped(cell.row["detail"], SMALLER)[0]
    yield "langfuse.observation.metadata.repeats", _json(frame.repeats)
    if frame.judge:
        yield "langfuse.observation.model.name", text(frame.judge)
    if spent:
        yield "langfuse.observation.usage_details", _json({"input": spent.prompt, "output": spent.completion})
        yield "langfuse.observation.metadata.replies", _json(spent.replies)


# ------------------------------------------------------------------ OTLP
def _io(**sides: Any) -> Iterator[tuple[str, Any]]:
    cut = False
    for side, value in sides.items():
        if value is not None:
            made, shorter = dumped(value, LARGEST)
            cut |= shorter
            yield f"langfuse.observation.{side}", made
    if cut:
        yield "langfuse.observation.metadata.clipped", "true"


def _told(level: str, message: str) -> Attributes:
    return [("langfuse.observation.level", level), ("langfuse.observation.status_message", shortened(text(message), MESSAGE))]


def _span(line: Line, frame: Frame, role: str, name: str, kind: str, times: tuple[int, int], made: Attributes) -> Row:
    root = frame.span_of(line.id)
    span: Row = {"traceId": frame.trace_of(line.id), "spanId": frame.span_of(line.id, role)}
    if role != "root":
        span["parentSpanId"] = root
    attributes = chain([("langfuse.observation.type", kind)], made, _everywhere(line, frame, root))
    return {
        **span,
        "name": text(name),
        "kind": 1,
        "startTimeUnixNano": str(times[0]),
        "endTimeUnixNano": str(times[1]),
        "attributes": [{"key": key, "value": _value(value)} for key, value in attributes],
    }


def _everywhere(line: Line, frame: Frame, root: str) -> Iterator[tuple[str, Any]]:
    """Yield what stands on every span: newer servers look at each for itself."""
    run = text(frame.run_name)
    yield from (("langfuse.trace.name", TRACE), ("session.id", run), ("langfuse.environment", frame.environment))
    if frame.experiment_id is not None and frame.dataset_id is not None:
        yield from (("langfuse.experiment.id", frame.experiment_id), ("langfuse.experiment.name", run))
        yield "langfuse.experiment.dataset.id", frame.dataset_id
        yield "langfuse.experiment.item.id", item_id(line, frame)
        yield "langfuse.experiment.item.root_observation_id", root


def _value(value: str | list[str]) -> Row:
    return {"stringValue": value} if isinstance(value, str) else {"arrayValue": {"values": [{"stringValue": one} for one in value]}}


def _json(value: Any) -> str:
    return orjson.dumps(clean(value)).decode()
