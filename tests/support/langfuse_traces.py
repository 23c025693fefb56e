"""Production traces on a Langfuse of the tests, told as servers 3 and servers 4 tell them.

    with ThreadedLangfuseServer("v5") as server:
        told = serve(server.langfuse, [trace("t1", question="…", answer="…", passages=["…"])])
        told.asked                                          # ids of the traces that were read whole

Servers v3 tell `/api/public/traces`, the others `/api/public/v2/observations`, inputs and outputs as texts of JSON.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import orjson
from support.langfuse_server import API, PROJECT, Langfuse
from support.rag_server import Asked, Reply, fail, tell

OBSERVATIONS, TRACES = f"{API}/v2/observations", f"{API}/traces"
MOST = {OBSERVATIONS: 1000, TRACES: 100}
NAMED = {"attributes": {"langfuse.user.id": "someone@example.org"}}
"""Metadata as servers make it of the attributes of a span."""
WHEN = "2026-12-01T08:00:00.000Z"
Row = dict[str, Any]


def observation(id: str, type: str = "SPAN", parent: str | None = None, at: str = WHEN, **more: Any) -> Row:
    """One observation; `input` and `output` are JSON values."""
    return {
        "id": id,
        "type": type,
        "parentObservationId": parent,
        "startTime": at,
        "endTime": None,
        "level": "DEFAULT",
        "metadata": NAMED,
        **more,
    }


def trace(
    name: str,
    *,
    question: Any = None,
    answer: Any = None,
    passages: Any = None,
    at: str = WHEN,
    tags: Sequence[str] = (),
    environment: str = "production",
    observations: Iterable[Row] | None = None,
    **more: Any,
) -> Row:
    """A trace with a root, a retriever (where there are passages) and a generation."""
    root = observation(f"{name}-root", "CHAIN", None, at, name="answer", input=question, output=answer, latency=1.25)
    found = [] if passages is None else [observation(f"{name}-find", "RETRIEVER", root["id"], at, input=question, output=passages)]
    usage = {"input": 100, "output": 20, "total": 120}
    said = observation(f"{name}-say", "GENERATION", root["id"], at, input=question, output=answer, usageDetails=usage)
    rows = [root, *found, said] if observations is None else list(observations)
    about = {"name": "rag", "userId": "someone@example.org", "sessionId": "s1", "metadata": NAMED, "release": "r7", "version": "2"}
    facts = {"id": name, "timestamp": at, "environment": environment, "tags": list(tags), **about, "input": question, "output": answer}
    return {**facts, "latency": 1.25, "observations": rows, **more}


@dataclass
class Told:
    """What the server has, and what was asked of it."""

    traces: list[Row]
    generation: str
    whole: list[str] = field(default_factory=list)
    """Ids of the traces that were read whole."""
    page: int | None = None
    """Most rows of a page, whatever is asked for."""
    gone: set[str] = field(default_factory=set)
    """Traces that are listed and then not there."""
    failing: dict[str, int] = field(default_factory=dict)
    """Traces that are listed and then not told, and the status that is told in their place."""

    def __call__(self, asked: Asked) -> Reply | None:
        query = parse_qs(urlsplit(asked.path_qs).query, keep_blank_values=True)
        if asked.method != "GET":
            return None
        if asked.path == OBSERVATIONS and self.generation != "v3":
            return self._observations(query)
        if asked.path == TRACES and self.generation == "v3":
            return self._list(query)
        if asked.path.startswith(f"{TRACES}/") and self.generation == "v3":
            return self._one(unquote(asked.path.removeprefix(f"{TRACES}/")))
        return None

    def _limit(self, path: str, query: dict[str, list[str]]) -> int | None:
        limit = int(query.get("limit", ["50"])[0])
        return None if not 1 <= limit <= MOST[path] else min(limit, self.page or limit)

    # ------------------------------------------------------------------ servers 4
    def _observations(self, query: dict[str, list[str]]) -> Reply:
        limit = self._limit(OBSERVATIONS, query)
        if limit is None or "parseIoAsJson" in query:
            return fail(400, {"message": "Invalid request data", "error": [{"path": ["limit"], "message": "too big"}]})
        only = query.get("traceId", [None])[0]
        rows = [row for one in self.traces if only in (None, one["id"]) for row in self._flat(one, query)]
        if only is not None:
            self.whole += [only] if "cursor" not in query else []
            rows = [] if only in self.gone else rows
            if only in self.failing:
                return fail(self.failing[only], {"message": "too much memory"})
        rows = [row for row in rows if _within(row["startTime"], query, "StartTime")]
        if query.get("isRootObservation") == ["true"]:
            rows = [row for row in rows if not row["parentObservationId"] or row.get("isRootObservation")]
        rows.sort(key=lambda row: row["startTime"], reverse=True)
        start = int(query.get("cursor", ["0"])[0])
        more = {"cursor": str(start + limit)} if start + limit < len(rows) else {}
        return tell({"data": rows[start : start + limit], "meta": more})

    def _flat(self, one: Row, query: dict[str, list[str]]) -> Iterable[Row]:
        fields = query.get("fields", ["core,basic"])[0].split(",")
        for row in one["observations"]:
            told = {name: row.get(name) for name in ("id", "type", "parentObservationId", "startTime", "endTime")}
            told |= {"traceId": one["id"], "projectId": PROJECT, "isRootObservation": row.get("isRootObservation")}
            if "basic" in fields:
                told |= {"name": row.get("name"), "level": row["level"], "environment": one["environment"], "version": one["version"]}
                told |= {"userId": one["userId"], "sessionId": one["sessionId"]}
            if "trace_context" in fields:
                told |= {"traceName": one["name"], "tags": one["tags"], "release": one["release"]}
            if "io" in fields:
                told |= {name: None if row.get(name) is None else _text(row[name]) for name in ("input", "output")}
            told |= {"usageDetails": row.get("usageDetails", {})} if "usage" in fields else {}
            yield told | ({"latency": row.get("latency")} if "metrics" in fields else {})

    # ------------------------------------------------------------------ servers 3
    def _list(self, query: dict[str, list[str]]) -> Reply:
        limit, page = self._limit(TRACES, query), int(query.get("page", ["1"])[0])
        if limit is None:
            return fail(400, {"message": "Invalid request data", "error": [{"path": ["limit"], "message": "too big"}]})
        rows = [one for one in self.traces if _within(one["timestamp"], query, "Timestamp") and {*query.get("tags", ())} <= {*one["tags"]}]
        rows.sort(key=lambda one: one["timestamp"], reverse=query.get("orderBy") != ["timestamp.asc"])
        bare = ("input", "output", "observations") if "io" not in query.get("fields", ["io"])[0] else ()
        listed = [{name: value for name, value in one.items() if name not in bare} for one in rows[(page - 1) * limit : page * limit]]
        meta = {"page": page, "limit": limit, "totalItems": len(rows), "totalPages": -(-len(rows) // limit)}
        return tell({"data": [{**one, "latency": -1} for one in listed], "meta": meta})

    def _one(self, name: str) -> Reply:
        self.whole.append(name)
        if name in self.failing:
            return fail(self.failing[name], {"message": "too much memory"})
        found = next((one for one in self.traces if one["id"] == name and name not in self.gone), None)
        if found is None:
            return fail(404, {"error": "LangfuseNotFoundError", "message": "Trace not found"})
        return tell({**found, "observations": [{**row, "traceId": name} for row in found["observations"]], "scores": []})


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _within(moment: str, query: dict[str, list[str]], name: str) -> bool:
    at = datetime.fromisoformat(moment)
    first, last = (query.get(f"{end}{name}") for end in ("from", "to"))
    return (not first or datetime.fromisoformat(first[0]) <= at) and (not last or at < datetime.fromisoformat(last[0]))


def serve(langfuse: Langfuse, traces: Iterable[Row]) -> Told:
    """Let a Langfuse of the tests tell production traces; scores may stand on them."""
    told = Told(list(traces), langfuse.generation)
    langfuse.more, langfuse.foreign = told, {one["id"] for one in told.traces}
    return told
