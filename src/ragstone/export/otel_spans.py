"""A run as OpenTelemetry spans: what the GenAI conventions have names for goes by these, the rest by names of ours. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ragstone.export.identity import MILLISECOND, began, seed_of
from ragstone.plain_json import dumped

if TYPE_CHECKING:
    from ragstone.export.content import Cell, Content, Line

INTERNAL, CLIENT = 1, 3
ERROR = 2
_TURNS = (("user", "question"), ("assistant", "answer"))


@dataclass(frozen=True, slots=True)
class Span:
    """One span, with whom it is about."""

    id: str
    json: bytes
    sample_id: str | None = None
    metric: str | None = None


def run_spans(content: Content) -> Iterator[Span]:
    """Yield the trace of the run: a root, and for each metric its mean with n and total."""
    seed, at = seed_of(content), began(content)
    trace, root = ids(seed, "run"), span_id(seed, "run")
    facts, summary = content.facts, content.summary
    known = {"ragstone.run.id": facts.run_id, "ragstone.samples": summary.samples, "ragstone.signature": facts.signature}
    yield _span(trace, root, None, "ragstone run", at, {**known, "ragstone.notice": facts.notice})
    for metric in summary.metrics:
        told = {
            "gen_ai.evaluation.name": metric.metric,
            "gen_ai.evaluation.score.value": metric.mean,
            "ragstone.n": metric.n,
            "ragstone.total": metric.total,
            "ragstone.coverage": metric.coverage,
            "ragstone.ci.low": metric.ci.low if metric.ci else None,
            "ragstone.ci.high": metric.ci.high if metric.ci else None,
        }
        yield _span(trace, span_id(seed, "run", metric.metric), root, f"mean {metric.metric}", at, told, metric=metric.metric)


def sample_spans(line: Line, content: Content) -> Iterator[Span]:
    """Yield the trace of a sample: a root, retrieval and answer as far as the run holds them, and one evaluation a metric."""
    seed, at, row = seed_of(content), began(content), line.sample
    trace, root = ids(seed, "sample", line.id), span_id(seed, "sample", line.id)
    meta = row.get("meta")
    told = {"ragstone.sample.id": line.id, "ragstone.run.id": content.facts.run_id, "ragstone.language": row.get("language")}
    told |= {f"ragstone.meta.{key}": value for key, value in (meta.items() if isinstance(meta, dict) else ())}
    yield _span(trace, root, None, "ragstone sample", at, {**told, **_messages(row)}, sample=line.id)
    if isinstance(row.get("contexts"), list | tuple):
        parts = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": row.get("question")}
        parts["gen_ai.retrieval.documents"] = _json(list(_documents(row)))
        yield _span(trace, span_id(seed, "retrieval", line.id), root, "retrieval", at, parts, sample=line.id)
    if row.get("answer") is not None:
        parts = {"gen_ai.operation.name": "chat", **_messages(row), **_usage(row.get("usage"))}
        yield _span(trace, span_id(seed, "answer", line.id), root, "chat", at, parts, sample=line.id, kind=CLIENT)
    for cell in filter(None, line.cells):
        yield _evaluation(cell, line.id, trace, root, seed, at)


def _evaluation(cell: Cell, sample: str, trace: str, root: str, seed: str, at: int) -> Span:
    """One metric on one sample; a cell without a value carries its status and reason, and no number."""
    told = {
        "gen_ai.evaluation.name": cell.metric,
        "gen_ai.evaluation.score.value": cell.value if cell.status == "ok" else None,
        "gen_ai.evaluation.score.label": cell.status,
        "gen_ai.evaluation.explanation": cell.reason,
        "ragstone.verdicts": _json(cell.verdicts) if cell.verdicts else None,
    }
    failed = cell.reason or "failed" if cell.status == "failed" else None
    name = span_id(seed, "evaluate", sample, cell.metric)
    return _span(trace, name, root, f"evaluate {cell.metric}", at, told, sample=sample, metric=cell.metric, failed=failed)


# ------------------------------------------------------------------ ids
def ids(*parts: str) -> str:
    """Return a trace id: 32 hex digits that depend on the parts alone."""
    return sha256(dumped(["ragstone-otel", *parts])).hexdigest()[:32]


def span_id(*parts: str) -> str:
    """Return a span id: 16 hex digits."""
    return sha256(dumped(["ragstone-otel-span", *parts])).hexdigest()[:16]


# ------------------------------------------------------------------ OTLP
def _span(
    trace: str,
    name: str,
    parent: str | None,
    title: str,
    at: int,
    told: Mapping[str, Any],
    *,
    sample: str | None = None,
    metric: str | None = None,
    kind: int = INTERNAL,
    failed: str | None = None,
) -> Span:
    row = {"traceId": trace, "spanId": name, **({"parentSpanId": parent} if parent else {}), "name": title, "kind": kind}
    row |= {"startTimeUnixNano": str(at), "endTimeUnixNano": str(at + MILLISECOND), "attributes": list(_attributes(told))}
    if failed is not None:
        row["status"] = {"code": ERROR, "message": failed}
    return Span(name, dumped(row), sample, metric)


def _attributes(told: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for key, value in told.items():
        if value is not None and not (isinstance(value, float) and not math.isfinite(value)):
            yield {"key": key, "value": _value(value)}


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)} if -(2**63) <= value < 2**63 else {"stringValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"stringValue": value if isinstance(value, str) else _json(value)}


def _messages(row: Mapping[str, Any]) -> dict[str, str]:
    """Question and answer as the conventions write messages."""
    found = dict[str, str]()
    for (role, name), key in zip(_TURNS, ("gen_ai.input.messages", "gen_ai.output.messages"), strict=True):
        if isinstance(text := row.get(name), str):
            found[key] = _json([{"role": role, "parts": [{"type": "text", "content": text}]}])
    return found


def _documents(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    names, scores = row.get("context_ids") or (), row.get("context_scores") or ()
    for at, context in enumerate(row["contexts"]):
        held = context if isinstance(context, dict) else {"text": context}
        found = {"id": held.get("id", _nth(names, at)), "score": held.get("score", _nth(scores, at)), "content": held.get("text")}
        yield {key: value for key, value in found.items() if value is not None}


def _nth(values: Any, at: int) -> Any:
    return values[at] if isinstance(values, list | tuple) and at < len(values) else None


def _usage(usage: Any) -> dict[str, int]:
    held: Mapping[str, Any] = usage if isinstance(usage, dict) else {}
    names: Iterable[tuple[str, tuple[str, str]]] = (
        ("gen_ai.usage.input_tokens", ("prompt_tokens", "input_tokens")),
        ("gen_ai.usage.output_tokens", ("completion_tokens", "output_tokens")),
    )
    found = {key: next((held[one] for one in wanted if isinstance(held.get(one), int)), None) for key, wanted in names}
    return {key: value for key, value in found.items() if value is not None}


def _json(value: Any) -> str:
    return dumped(value).decode()
