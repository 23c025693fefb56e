"""What a strict Langfuse finds wrong in a body: unknown and null fields, ids, times, subjects, numbers, OTLP lists.

Real servers drop unknown fields silently; these checks refuse them, so that a slip in a name fails a test. Each check returns what is
wrong, in words, or [].
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson

Row = dict[str, Any]
Check = Callable[[Any], bool]

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
ENVIRONMENT = re.compile(r"(?!langfuse)[a-z0-9_-]{1,40}")
TYPES = {"span", "generation", "event", "agent", "tool", "chain", "retriever", "evaluator", "embedding", "guardrail"}
LONGEST_FIELD, LONGEST_SPAN = 2 * 1024 * 1024, 9_500_000

_ATTRIBUTES = {
    *("user.id", "session.id", "langfuse.environment", "langfuse.release", "langfuse.version"),
    *(f"langfuse.trace.{name}" for name in ("name", "tags", "input", "output")),
    *(f"langfuse.observation.{name}" for name in ("type", "input", "output", "level", "status_message")),
    *(f"langfuse.observation.{name}" for name in ("model.name", "model.parameters", "usage_details", "cost_details")),
    *(f"langfuse.experiment.{name}" for name in ("id", "name", "description", "metadata", "dataset.id", "item.id", "item.version")),
    *(f"langfuse.experiment.item.{name}" for name in ("expected_output", "metadata", "root_observation_id")),
}
_OPEN = ("langfuse.trace.metadata.", "langfuse.observation.metadata.")
_AS_JSON = ("usage_details", "cost_details", "model.parameters", "experiment.metadata", "experiment.item.metadata")
_EXPERIMENT = ("name", "dataset.id", "item.id", "item.root_observation_id")


def _text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _time(value: Any) -> bool:
    return isinstance(value, str) and TIME.fullmatch(value) is not None


def _any(_: Any) -> bool:
    return True


def _hex(digits: int) -> Check:
    return lambda value: isinstance(value, str) and re.fullmatch(f"[0-9a-f]{{{digits}}}", value) is not None and set(value) != {"0"}


def _one_of(*known: str) -> Check:
    return lambda value: isinstance(value, str) and value in known


def fields_wrong(body: Any, known: Mapping[str, Check], needed: tuple[str, ...]) -> Iterator[str]:
    """Yield what is wrong with the fields of an object."""
    if not isinstance(body, dict):
        yield f"expected object, received {type(body).__name__}"
        return
    yield from (f"{name}: unknown field" for name in body if name not in known)
    yield from (f"{name}: required" for name in needed if name not in body)
    yield from (f"{name}: null" for name, value in body.items() if value is None)
    yield from (
        f"{name}: {str(value)[:80]!r}" for name, value in body.items() if value is not None and name in known and not known[name](value)
    )


_SCORE: Mapping[str, Check] = {
    **dict.fromkeys(("id", "name", "traceId", "observationId", "sessionId", "datasetRunId", "configId", "queueId"), _text),
    "value": lambda value: _number(value) or isinstance(value, str),
    "dataType": _one_of("NUMERIC", "BOOLEAN", "CATEGORICAL", "TEXT", "CORRECTION"),
    "comment": lambda value: isinstance(value, str),
    "metadata": _any,
    "environment": lambda value: isinstance(value, str) and ENVIRONMENT.fullmatch(value) is not None,
    "source": _one_of("API", "ANNOTATION"),
    "timestamp": _time,
}
_SUBJECTS = ("traceId", "sessionId", "datasetRunId")


def score_wrong(body: Any) -> list[str]:
    """Check a score."""
    found = [*fields_wrong(body, _SCORE, ("name", "value"))]
    if found:
        return found
    kind, value = body.get("dataType"), body["value"]
    if sum(name in body for name in _SUBJECTS) != 1:
        found.append("exactly one of traceId, sessionId and datasetRunId is required")
    if "observationId" in body and "traceId" not in body:
        found.append("observationId: only with traceId")
    if (kind == "NUMERIC" and not _number(value)) or (kind == "BOOLEAN" and (not _number(value) or value not in (0, 1))):
        found.append(f"value: no {kind} value: {value!r}")
    if kind in ("CATEGORICAL", "CORRECTION", "TEXT") and not isinstance(value, str):
        found.append(f"value: no {kind} value: {value!r}")
    if kind == "TEXT" and isinstance(value, str) and not 1 <= len(value) <= 500:
        found.append("value: 1 to 500 characters")
    if body.get("source") == "ANNOTATION" and "configId" not in body and kind != "CORRECTION":
        found.append("configId: required of ANNOTATION")
    return found


def dataset_wrong(body: Any) -> list[str]:
    """Check a data set."""
    known = {"name": _text, "description": _text, "metadata": _any, "inputSchema": _any, "expectedOutputSchema": _any}
    return [*fields_wrong(body, known, ("name",))]


def item_wrong(body: Any) -> list[str]:
    """Check an item of a data set."""
    known: dict[str, Check] = {
        **dict.fromkeys(("datasetName", "sourceTraceId", "sourceObservationId"), _text),
        **dict.fromkeys(("input", "expectedOutput", "metadata"), _any),
        "id": lambda value: _text(value) and len(value) <= 255,
        "status": _one_of("ACTIVE", "ARCHIVED"),
    }
    return [*fields_wrong(body, known, ("datasetName",))]


def run_item_wrong(body: Any) -> list[str]:
    """Check a link between a run and an item."""
    texts = ("runName", "runDescription", "datasetItemId", "observationId", "traceId", "datasetVersion", "createdAt")
    return [*fields_wrong(body, {**dict.fromkeys(texts, _text), "metadata": _any}, ("runName", "datasetItemId"))]


def config_wrong(body: Any) -> list[str]:
    """Check a score config."""
    known: dict[str, Check] = {
        "name": lambda value: isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9_ .()-]{1,35}", value) is not None,
        "dataType": _one_of("NUMERIC", "BOOLEAN", "CATEGORICAL", "TEXT"),
        "categories": lambda value: isinstance(value, list),
        **dict.fromkeys(("minValue", "maxValue"), _number),
        "description": _text,
    }
    return [*fields_wrong(body, known, ("name", "dataType"))]


def event_wrong(body: Any) -> list[str]:
    """Check an event of the ingestion; its own body is not looked at."""
    kinds = [f"{what}-{verb}" for what in ("span", "generation", "observation") for verb in ("create", "update")]
    known = {
        "id": _text,
        "timestamp": _time,
        "type": _one_of("trace-create", "event-create", "score-create", "sdk-log", *kinds),
        "body": lambda value: isinstance(value, dict),
        "metadata": _any,
    }
    return [*fields_wrong(body, known, ("id", "type", "timestamp", "body"))]


# ------------------------------------------------------------------ OTLP
_SPAN: Mapping[str, Check] = {
    "traceId": _hex(32),
    "spanId": _hex(16),
    "parentSpanId": lambda value: value == "" or _hex(16)(value),
    "name": _text,
    "kind": _any,
    **dict.fromkeys(
        ("startTimeUnixNano", "endTimeUnixNano"), lambda value: isinstance(value, str) and re.fullmatch(r"\d{16,20}", value) is not None
    ),
    **dict.fromkeys(("attributes", "events"), lambda value: isinstance(value, list)),
    "status": lambda value: isinstance(value, dict),
    "flags": _any,
}
_VALUES: Mapping[str, Check] = {
    "stringValue": lambda value: isinstance(value, str) and len(value.encode()) <= LONGEST_FIELD,
    "boolValue": lambda value: isinstance(value, bool),
    "intValue": lambda value: not isinstance(value, bool) and re.fullmatch(r"-?\d+", str(value)) is not None,
    "doubleValue": _number,
    "arrayValue": lambda value: isinstance(value, dict) and all(not [*_value_wrong(one)] for one in value.get("values", ())),
    "kvlistValue": lambda value: isinstance(value, dict),
    "bytesValue": lambda value: isinstance(value, str),
}


def spans_of(body: Any) -> list[Row]:
    """Return the spans of an OTLP request; raises ValueError for an envelope that is none."""
    try:
        packs = body["resourceSpans"]
        found = [span for pack in packs for scope in pack["scopeSpans"] for span in scope["spans"]]
    except (KeyError, TypeError) as bad:
        raise ValueError(f"resourceSpans: {bad!r}") from bad
    if not packs:
        raise ValueError("resourceSpans: empty")
    return found


def span_wrong(span: Any) -> list[str]:
    """Check a span of an OTLP request."""
    found = [*fields_wrong(span, _SPAN, ("traceId", "spanId", "name", "startTimeUnixNano", "endTimeUnixNano"))]
    if found:
        return found
    if int(span["endTimeUnixNano"]) < int(span["startTimeUnixNano"]):
        found.append("endTimeUnixNano: before the start")
    if len(orjson.dumps(span)) > LONGEST_SPAN:
        found.append("span too large")
    pairs = span.get("attributes", [])
    found += [
        line for pair in pairs for line in fields_wrong(pair, {"key": _text, "value": lambda v: not [*_value_wrong(v)]}, ("key", "value"))
    ]
    return found or [*_attributes_wrong(attributes_of(span), [pair["key"] for pair in pairs])]


def _value_wrong(value: Any) -> Iterator[str]:
    if not isinstance(value, dict) or len(value) != 1:
        yield "one value is required"
    else:
        yield from fields_wrong(value, _VALUES, ())


def attributes_of(span: Row) -> Row:
    """Return the attributes of a span by name; a list as a list."""
    found = {pair["key"]: next(iter(pair["value"].items())) for pair in span.get("attributes", [])}
    return {key: _plain(kind, value) for key, (kind, value) in found.items()}


def _plain(kind: str, value: Any) -> Any:
    if kind == "arrayValue":
        return [_plain(*next(iter(one.items()))) for one in value.get("values", ())]
    return int(value) if kind == "intValue" else value


def _attributes_wrong(found: Row, keys: list[str]) -> Iterator[str]:
    yield from (f"{key}: twice" for key in found if keys.count(key) > 1)
    yield from (
        f"{key}: unknown attribute" for key in keys if key.startswith("langfuse.") and key not in _ATTRIBUTES and not key.startswith(_OPEN)
    )
    yield from (f"{key}: no JSON" for key in keys if key.endswith(_AS_JSON) and not _is_json(found[key]))
    if found.get("langfuse.observation.type", "span") not in TYPES:
        yield f"langfuse.observation.type: {found['langfuse.observation.type']!r}"
    if found.get("langfuse.observation.level", "DEFAULT") not in ("DEBUG", "DEFAULT", "WARNING", "ERROR"):
        yield f"langfuse.observation.level: {found['langfuse.observation.level']!r}"
    if not ENVIRONMENT.fullmatch(str(found.get("langfuse.environment", "default"))):
        yield f"langfuse.environment: {found['langfuse.environment']!r}"
    if "langfuse.experiment.id" in found:
        yield from (f"langfuse.experiment.{name}: required" for name in _EXPERIMENT if f"langfuse.experiment.{name}" not in found)


def _is_json(value: Any) -> bool:
    try:
        orjson.loads(value)
    except (orjson.JSONDecodeError, TypeError):
        return False
    return True
