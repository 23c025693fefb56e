"""From a production trace with its observations to a sample. Pure.

Servers 4 tell observations alone, with input and output as texts of JSON; servers 3 tell the trace besides, with JSON values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ragstone.collect.values import clean, text_of
from ragstone.langfuse.origin import KEY, Origin
from ragstone.langfuse.passages import Passage, passages_beside, passages_in
from ragstone.langfuse.said import Asked, answer_in, asked_in, value_of
from ragstone.language import detect

Row = Mapping[str, Any]
_STORES = r"(?:vector|similarity|semantic|hybrid|knowledge|document|passage)"
RETRIEVES = re.compile(
    rf"retriev|{_STORES}s?[\W_]*(?:base|store|db|index)?[\W_]*(?:search|query|lookup)|(?:search|query|lookup)[\W_]*{_STORES}"
    r"|检索|召回|(?:知识库|知识|向量|文档|语义)[^，。]{0,4}(?:搜索|查询|查找)|(?:搜索|查询|查找)(?:知识|向量|文档)",
    re.IGNORECASE,
)
"""Names of spans that stand for retrievers where an application marks none as such."""
PRIVATE = frozenset({"userId", "sessionId", "metadata"})
"""Fields that name persons or their conversations: they are kept nowhere. Servers 3 repeat both ids in the metadata of a trace."""
_SPANS = ("SPAN", "TOOL", "CHAIN")
_TOKENS = (("prompt_tokens", "input"), ("completion_tokens", "output"), ("total_tokens", "total"))
_MOST_TOKENS = 1 << 53
_ABOUT = (("name", "name"), ("tags", "tags"), ("release", "release"), ("version", "version"))


@dataclass(frozen=True, slots=True)
class Trace:
    """What a server told of one trace."""

    facts: Row
    """Of the trace itself, {} where the server knows observations alone."""
    observations: tuple[Row, ...]
    """By start, the first one first."""
    root: Row | None
    """The observation that stands for the whole request."""

    @property
    def id(self) -> str:
        """The trace id."""
        return str(self.facts.get("id") or (self.root or {}).get("traceId"))

    @property
    def timestamp(self) -> str | None:
        """When it began, as the server says it."""
        found = self.facts.get("timestamp") or (self.root or {}).get("startTime")
        return found if isinstance(found, str) else None

    def said(self, name: str) -> Any:
        """A field of the trace, else of its root observation; None if neither has it."""
        own = self.facts.get(name)
        return own if own is not None else (self.root or {}).get(name)


def trace_of(held: Row) -> Trace:
    """Return the trace that was kept as {"trace": …, "observations": […]}; `trace` is {} or missing on servers 4."""
    told = held.get("observations")
    rows = [one for one in (told if isinstance(told, list) else ()) if isinstance(one, Mapping) and isinstance(one.get("id"), str)]
    observations = tuple(sorted(rows, key=lambda one: (moment_of(one.get("startTime")), str(one.get("id")))))
    facts = held.get("trace")
    return Trace(facts if isinstance(facts, Mapping) else {}, observations, root_of(observations))


def root_of(observations: Iterable[Row]) -> Row | None:
    """Return the first one that has no parent, else the first that the application marked as root, else that whose parent is unknown."""
    rows = list(observations)
    known = {one.get("id") for one in rows}
    for is_root in (_parentless, _marked, lambda one: _parent(one) not in known):
        if (found := next(filter(is_root, rows), None)) is not None:
            return found
    return None


def is_root(observation: Row) -> bool:
    """True if an observation has no parent, or is marked as root."""
    return _parentless(observation) or _marked(observation)


def _parent(observation: Row) -> str | None:
    found = observation.get("parentObservationId")
    return found if isinstance(found, str) and found else None


def _parentless(observation: Row) -> bool:
    return _parent(observation) is None


def _marked(observation: Row) -> bool:
    return observation.get("isRootObservation") is True


def moment_of(text: Any) -> datetime:
    """Return the moment of an ISO text, in UTC; the beginning of time for anything else."""
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return datetime.min.replace(tzinfo=UTC)
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


# ------------------------------------------------------------------ the sample
def sample_of(trace: Trace, host: str, project_id: str) -> dict[str, Any]:
    """Return the row of `samples.jsonl` for a trace; what was not found in it is null."""
    asked, answer = question_of(trace), answer_of(trace)
    found = contexts_of(trace)
    row: dict[str, Any] = {"id": trace.id, "question": text_of(asked.question), "answer": text_of(answer), **_columns(found)}
    if asked.history:
        row["history"] = [{**turn, "content": clean(turn["content"])} for turn in asked.history]
    row |= {"latency_s": _latency(trace), "usage": _usage(trace.observations)}
    if spoken := asked.question or answer:
        row["language"] = detect(spoken)
    return {**row, "meta": {**_about(trace), KEY: _origin(trace, host, project_id).to_dict()}}


def question_of(trace: Trace) -> Asked:
    """Return the question of the trace's input, else of the root's; no question if neither holds one."""
    held = (asked_in(value_of(one.get("input"))) for one in (trace.facts, trace.root or {}))
    return next((one for one in held if one.question is not None), Asked())


def answer_of(trace: Trace) -> str | None:
    """Return the answer of the trace's output, else of the root's; None if neither holds one."""
    held = [answer_in(value_of(one.get("output"))) for one in (trace.facts, trace.root or {})]
    return next((one for one in held if one), next((one for one in held if one is not None), None))


def contexts_of(trace: Trace) -> tuple[Passage, ...] | None:
    """Return what the retrievers found, in the order in which they began, each text once; None if none of them tells.

    Of a retriever within another one only the outer counts, as far as it tells what it found. Where none tells, the passages count that
    the application returned beside its answer.
    """
    told = _told(trace)
    by_id = {one.get("id"): one for one in trace.observations}
    outer = [one for one in trace.observations if id(one) in told and not any(id(above) in told for above in _above(one, by_id))]
    if not outer:
        return _beside(trace)
    return _once(passage for one in outer for passage in told[id(one)])


def _told(trace: Trace) -> dict[int, tuple[Passage, ...]]:
    """What each retriever found; what one that failed says is no passage.

    A span whose name alone says that it retrieves has done something else if it returns the answer, or a text where others return lists.
    """
    answer, told = answer_of(trace), dict[int, tuple[Passage, ...]]()
    texts = set[int]()
    for one in retrievers(trace):
        output = value_of(one.get("output"))
        found, named = passages_in(output), one.get("type") != "RETRIEVER"
        if found is None or (isinstance(output, str) and (one.get("level") == "ERROR" or (named and output == answer))):
            continue
        told[id(one)] = found
        texts |= {id(one)} if named and isinstance(output, str) else set()
    return told if texts == set(told) else {one: found for one, found in told.items() if one not in texts}


def _beside(trace: Trace) -> tuple[Passage, ...] | None:
    held = (passages_beside(value_of(one.get("output"))) for one in (trace.facts, trace.root or {}))
    found = next(filter(None, held), None)
    return None if found is None else _once(found)


def _once(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    once = dict[str, Passage]()
    for passage in passages:
        once.setdefault(passage.text, passage)
    return tuple(once.values())


def retrievers(trace: Trace) -> list[Row]:
    """Return the observations of type RETRIEVER; where there are none, the spans whose name says that they retrieve."""
    marked = [one for one in trace.observations if one.get("type") == "RETRIEVER"]
    return marked or [one for one in trace.observations if one.get("type") in _SPANS and RETRIEVES.search(str(one.get("name") or ""))]


def _above(observation: Row, by_id: Mapping[Any, Row]) -> Iterator[Row]:
    seen = {observation.get("id")}
    while (above := by_id.get(_parent(observation))) is not None and above.get("id") not in seen:
        seen.add(above.get("id"))
        observation = above
        yield above


def _columns(found: tuple[Passage, ...] | None) -> dict[str, Any]:
    """Ids only if every passage has one: a hole could not be told from an id; scores and sources may have holes."""
    if found is None:
        return {"contexts": None}
    columns: dict[str, Any] = {"contexts": [clean(one.text) for one in found]}
    for name, values, whole in (
        ("context_ids", [one.id for one in found], True),
        ("context_scores", [one.score for one in found], False),
        ("context_sources", [one.source for one in found], False),
    ):
        if found and (all if whole else any)(value is not None for value in values):
            columns[name] = values
    return columns


def _latency(trace: Trace) -> float | None:
    """Seconds; servers 3 say -1 where they were not asked to tell."""
    told = trace.said("latency")
    if isinstance(told, int | float) and not isinstance(told, bool) and told >= 0:
        return float(told)
    root = trace.root or {}
    if not root.get("startTime") or not root.get("endTime"):
        return None
    return max(0.0, (moment_of(root["endTime"]) - moment_of(root["startTime"])).total_seconds())


def _usage(observations: Iterable[Row]) -> dict[str, int] | None:
    """The tokens of all generations; None if none of them tells."""
    told = [usage for one in observations if one.get("type") == "GENERATION" and isinstance(usage := one.get("usageDetails"), Mapping)]
    sums = {name: [usage[key] for usage in told if _count(usage.get(key))] for name, key in _TOKENS}
    return {name: sum(counts) for name, counts in sums.items() if counts} or None


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS


def _about(trace: Trace) -> dict[str, Any]:
    """Name, tags, release and version; the level of a trace that went wrong."""
    root = trace.root or {}
    held = {name: trace.said(field) for name, field in _ABOUT}
    if not held["name"] or not trace.facts:
        held["name"] = root.get("traceName") or held["name"]
    if root.get("level") in ("WARNING", "ERROR"):
        held["level"] = root["level"]
    tags = held.pop("tags")
    named = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    about = {name: value for name, value in held.items() if isinstance(value, str) and value}
    return {**about, "tags": named} if named else about


def _origin(trace: Trace, host: str, project_id: str) -> Origin:
    environment = trace.said("environment")
    return Origin(
        trace_id=trace.id,
        host=host,
        project_id=project_id,
        observation_id=(trace.root or {}).get("id"),
        timestamp=trace.timestamp,
        environment=environment if isinstance(environment, str) and environment else "default",
    )
