"""A strict Langfuse on 127.0.0.1 that keeps what it takes and plays how real servers differ and fail.

    async with LangfuseServer("v5") as server:             # or `with ThreadedLangfuseServer("v4", "rate") as server`
        … export to server.url with server.environ …
        server.langfuse.scores()                            # what it holds: a wrong id or day shows as a double
        server.langfuse.spans(), .items(), .datasets, .run_items(), .orphans()
        server.langfuse.play("v5", "suspended")             # other manners, from now on; what it holds stays
        server.asked("/api/public/scores")                  # the requests for a path

Generations: v5 (arrays of scores, no ingestion, no run items), v4 (single scores, ingestion of scores alone), dual (v4 with run items),
v3 (single scores, whole ingestion, run items). Manners: partial (the 2nd of every list is refused), rate (429 on the first request of a
path), flaky (503 on the first), suspended (403 on writes), organisation (403 on projects), array_only (single scores refused).
`refused` holds ids that are never taken, `limits` how many bytes a path takes, `more` a function that replies to what is not known here.
"""

import base64
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

import orjson
from support.langfuse_checks import (
    Row,
    attributes_of,
    config_wrong,
    dataset_wrong,
    event_wrong,
    item_wrong,
    run_item_wrong,
    score_wrong,
    span_wrong,
    spans_of,
)
from support.rag_server import Asked, RagServer, Reply, ThreadedRagServer, fail, tell

PUBLIC, SECRET = "pk-lf-0aa1b2c3", "sk-lf-9zz8y7x6-secret"
PROJECT = "clproject0001"
API = "/api/public"
SCORES, INGESTION, OTLP = f"{API}/scores", f"{API}/ingestion", f"{API}/otel/v1/traces"
DATASETS, ITEMS, RUN_ITEMS = f"{API}/v2/datasets", f"{API}/dataset-items", f"{API}/dataset-run-items"
VERSIONS = {"v5": "5.0.1", "v4": "4.16.0", "dual": "4.16.0", "v3": "3.150.0"}
MANNERS = {"partial", "rate", "flaky", "suspended", "organisation", "array_only"}


class Langfuse:
    """What the server holds and how it behaves."""

    def __init__(self, *modes: str) -> None:
        self.play(*(modes or ("v5",)))
        self.keys = (PUBLIC, SECRET)
        self.refused: set[str] = set()
        """Ids of scores, items and traces that are never taken."""
        self.nth = 2
        """Which of a list `partial` refuses, from 1."""
        self.retry_after = "0"
        self.limits: dict[str, int] = {SCORES: 1_000_000, INGESTION: 4_500_000, OTLP: 16_000_000}
        self.more: Callable[[Asked], Reply | None] = lambda _: None
        self.foreign: set[str] = set()
        """Traces that others sent: scores may stand on them."""
        self.datasets: dict[str, Row] = {}
        self.configs: list[Row] = []
        self.events: list[Row] = []
        """Events of the ingestion that were taken."""
        self.now = lambda: datetime.now(UTC)
        self._scores: dict[tuple[str, str, str], Row] = {}
        self._spans: dict[tuple[str, str, str], Row] = {}
        self._items: dict[str, Row] = {}
        self._run_items: list[Row] = []
        self._runs: dict[tuple[str, str], str] = {}

    def play(self, *modes: str) -> None:
        """Behave so from now on: a generation, manners, or both; the manners there were end."""
        unknown = {*modes} - {*VERSIONS} - MANNERS
        assert not unknown, f"no such mode: {unknown}"
        self.generation = next((mode for mode in modes if mode in VERSIONS), getattr(self, "generation", "v5"))
        self.manners = {*modes} & MANNERS
        self._seen: Counter[str] = Counter()

    # ------------------------------------------------------------------ what it holds
    def scores(self) -> list[Row]:
        """Every score as it would be shown: those of one id, name and UTC day are one."""
        return [*self._scores.values()]

    def spans(self) -> list[Row]:
        """Every span as sent, with `attributes` by name: those of one trace, span id and start time are one."""
        return [*self._spans.values()]

    def items(self) -> list[Row]:
        """Every item of every data set."""
        return [*self._items.values()]

    def run_items(self) -> list[Row]:
        """Every link between a run and an item, one a request."""
        return [*self._run_items]

    def held(self) -> dict[str, int]:
        """How many things of each kind there are."""
        traces = {span["traceId"] for span in self.spans()}
        lists = {
            "datasets": self.datasets,
            "items": self._items,
            "run_items": self._run_items,
            "scores": self._scores,
            "spans": self._spans,
        }
        return {"traces": len(traces), **{name: len(one) for name, one in lists.items()}}

    def orphans(self) -> list[Row]:
        """Scores on a trace, observation or run that is not there."""
        spans = {(span["traceId"], span["spanId"]) for span in self.spans()}
        traces = {trace for trace, _ in spans} | self.foreign
        runs = {*self._runs.values(), *(span["attributes"].get("langfuse.experiment.id") for span in self.spans())}

        def orphan(score: Row) -> bool:
            if "traceId" not in score:
                return score.get("datasetRunId") not in runs
            place = (score["traceId"], score.get("observationId"))
            return place[0] not in traces or (place[1] is not None and place[0] not in self.foreign and place not in spans)

        return [score for score in self.scores() if orphan(score)]

    # ------------------------------------------------------------------ a request
    def __call__(self, asked: Asked) -> Reply:
        if asked.path == f"{API}/health":
            return tell({"status": "OK", "version": VERSIONS[self.generation]})
        if trouble := self._trouble(asked):
            return trouble
        if asked.path == OTLP:
            return self._otlp(asked)
        try:
            body = asked.body if asked.raw else None
        except orjson.JSONDecodeError:
            return _invalid(["no JSON"])
        for known in (self._reading, self._scoring, self._gold):
            if (reply := known(asked, body)) is not None:
                return reply
        return self.more(asked) or _unknown()

    def _trouble(self, asked: Asked) -> Reply | None:
        given = _header(asked, "authorization")
        if given != "Basic " + base64.b64encode(":".join(self.keys).encode()).decode():
            return fail(
                401, {"error": "UnauthorizedError", "message": "Invalid credentials. Confirm that you've configured the correct host."}
            )
        if "organisation" in self.manners:
            return fail(403, {"error": "ForbiddenError", "message": "Organization-scoped keys cannot be used here"})
        self._seen[asked.path] += 1
        first = self._seen[asked.path] == 1
        if "rate" in self.manners and first:
            return fail(429, {"error": "TooManyRequests", "message": "rate limit exceeded"}, Retry_After=self.retry_after)
        if "flaky" in self.manners and first:
            return fail(503, {"message": "Service unavailable"})
        if "suspended" in self.manners and asked.method == "POST" and asked.path in (SCORES, INGESTION, OTLP):
            return fail(403, {"error": "ForbiddenError", "message": "Ingestion suspended: usage threshold exceeded"})
        if len(asked.raw) > self.limits.get(asked.path, 1 << 30):
            return fail(413, {"message": "Request body too large"})
        return None

    def _reading(self, asked: Asked, _: Any) -> Reply | None:
        if asked.method == "DELETE" and asked.path.startswith(f"{SCORES}/"):
            gone = unquote(asked.path.rsplit("/", 1)[1])
            self._scores = {key: one for key, one in self._scores.items() if key[1] != gone}
            return Reply(204, b"")
        if asked.method != "GET":
            return None
        if asked.path == f"{API}/projects":
            return tell({"data": [{"id": PROJECT, "name": "tests", "organization": {"id": "o1", "name": "o"}, "metadata": {}}]})
        if asked.path.startswith(f"{DATASETS}/"):
            found = self.datasets.get(unquote(asked.path.removeprefix(f"{DATASETS}/")))
            return tell(found) if found else _unknown("Dataset not found")
        if asked.path == f"{API}/v3/scores" and self.generation != "v3":
            return self._listed(asked.query)
        if asked.path == RUN_ITEMS and self.generation in ("v3", "dual"):
            return self._links(asked.query)
        lists: dict[str, list[Row]] = {ITEMS: self.items(), f"{API}/score-configs": self.configs, DATASETS: [*self.datasets.values()]}
        return tell(_page(lists[asked.path], asked.query)) if asked.path in lists else None

    def _listed(self, query: Mapping[str, str]) -> Reply:
        fields = {"traceId": "traceId", "sessionId": "sessionId", "experimentId": "datasetRunId", "id": "id", "name": "name"}
        limit = int(query.get("limit", "50"))
        if limit > 100 or sum(name in query for name in ("traceId", "sessionId", "experimentId")) > 1:
            return _invalid(["query"])
        wanted = {field: query[name] for name, field in fields.items() if name in query}
        found = [one for one in self.scores() if all(one.get(field) == value for field, value in wanted.items())]
        start = int(query.get("cursor") or 0)
        more = {"cursor": str(start + limit)} if start + limit < len(found) else {}
        return tell({"data": found[start : start + limit], "meta": {"limit": limit, **more}})

    # ------------------------------------------------------------------ scores
    def _scoring(self, asked: Asked, body: Any) -> Reply | None:
        if (asked.method, asked.path) == ("POST", SCORES):
            return self._array(body) if isinstance(body, list) else self._single(body)
        if (asked.method, asked.path) == ("POST", INGESTION) and self.generation != "v5":
            return self._ingestion(body)
        return None

    def _array(self, body: list[Any]) -> Reply:
        if self.generation != "v5":
            return _invalid(["expected object, received array"])
        if not body:
            return _invalid(["empty array"])
        wrong = [self._score_wrong(one, place) for place, one in enumerate(body, 1)]
        self._keep(one for one, bad in zip(body, wrong, strict=True) if not bad)
        refused = [{"message": bad[0]} for bad in wrong if bad]
        if not refused:
            return tell({"message": "Accepted"}, 202)
        return tell({"accepted": len(body) - len(refused), "rejected": len(refused), "errors": refused}, 207)

    def _single(self, body: Any) -> Reply:
        if "array_only" in self.manners:
            return _invalid(["expected array, received object"])
        if wrong := self._score_wrong(body):
            return _invalid(wrong)
        self._keep([body])
        return tell({"id": body.get("id", "made-up")})

    def _ingestion(self, body: Any) -> Reply:
        if not isinstance(body, dict) or not isinstance(body.get("batch"), list) or not {*body} <= {"batch", "metadata"}:
            return _invalid(["batch"])
        taken, refused = list[Row](), list[Row]()
        for place, event in enumerate(body["batch"], 1):
            wrong = self._event_wrong(event, place)
            name = event.get("id", "unknown") if isinstance(event, dict) else "unknown"
            if wrong:
                refused.append({"id": name, "status": 400, "message": "Invalid request data", "error": wrong[0]})
                continue
            taken.append({"id": name, "status": 201})
            self.events.append(event)
            self._keep([event["body"]] if event["type"] == "score-create" else [])
        return tell({"successes": taken, "errors": refused}, 207)

    def _event_wrong(self, event: Any, place: int) -> list[str]:
        if wrong := event_wrong(event):
            return wrong
        if self.generation != "v3" and event["type"] not in ("score-create", "sdk-log"):
            return ["Event type not accepted"]
        return self._score_wrong(event["body"], place) if event["type"] == "score-create" else []

    def _score_wrong(self, body: Any, place: int = 0) -> list[str]:
        if wrong := score_wrong(body):
            return wrong
        if body.get("id") in self.refused:
            return ["Score cannot be stored"]
        return ["Score refused"] if "partial" in self.manners and place == self.nth else []

    def _keep(self, bodies: Iterable[Row]) -> None:
        for body in bodies:
            told = body.get("timestamp")
            time = datetime.fromisoformat(told) if told else self.now()
            day = time.astimezone(UTC).date().isoformat()
            self._scores[body["name"], body.get("id", f"made-up-{len(self._scores)}"), day] = body

    # ------------------------------------------------------------------ data sets
    def _gold(self, asked: Asked, body: Any) -> Reply | None:
        if asked.method != "POST":
            return None
        if asked.path == DATASETS:
            return self._made(dataset_wrong(body), lambda: self._dataset(body))
        if asked.path == ITEMS:
            return self._item(body)
        if asked.path == RUN_ITEMS and self.generation in ("v3", "dual"):
            return self._run_item(body)
        if asked.path == f"{API}/score-configs":
            return self._made(config_wrong(body), lambda: self.configs.append(body) or {"id": f"cfg{len(self.configs)}", **body})
        return None

    def _made(self, wrong: list[str], make: Callable[[], Row]) -> Reply:
        return _invalid(wrong) if wrong else tell(make())

    def _dataset(self, body: Row) -> Row:
        made = self.datasets.get(body["name"]) or {
            "id": f"clds{len(self.datasets):04}",
            "projectId": PROJECT,
            "createdAt": "2026-01-01T00:00:00.000Z",
        }
        self.datasets[body["name"]] = {**made, "updatedAt": "2026-01-01T00:00:00.000Z", **body}
        return self.datasets[body["name"]]

    def _item(self, body: Any) -> Reply:
        wrong = item_wrong(body)
        if not wrong and body.get("id") in self.refused:
            wrong = ["Item cannot be stored"]
        if wrong:
            return _invalid(wrong)
        name = body.get("id", f"made-up-{len(self._items)}")
        if body["datasetName"] not in self.datasets or self._items.get(name, body)["datasetName"] != body["datasetName"]:
            return _unknown("Dataset not found, or the id is used in another one")
        self._items[name] = {"status": "ACTIVE", **body, "id": name, "datasetId": self.datasets[body["datasetName"]]["id"]}
        return tell(self._items[name])

    def _run_item(self, body: Any) -> Reply:
        if wrong := run_item_wrong(body):
            return _invalid(wrong)
        item = self._items.get(body["datasetItemId"])
        if item is None:
            return _unknown("Dataset item not found")
        run = self._runs.setdefault((item["datasetId"], body["runName"]), f"clrun{len(self._runs):04}")
        self._run_items.append({**body, "datasetRunId": run})
        return tell({"id": f"ri{len(self._run_items)}", "datasetRunId": run, "datasetRunName": body["runName"], **body})

    def _links(self, query: Mapping[str, str]) -> Reply:
        """The links of a run, a page of at most 100; 404 for a run that nothing is linked to."""
        run = self._runs.get((query.get("datasetId", ""), query.get("runName", "")))
        if int(query.get("limit", "50")) > 100:
            return _invalid(["limit"])
        if run is None:
            return _unknown("Dataset run not found for the given project and dataset id")
        return tell(_page([one for one in self._run_items if one["datasetRunId"] == run], query))

    # ------------------------------------------------------------------ spans
    def _otlp(self, asked: Asked) -> Reply:
        version, kind = _header(asked, "x-langfuse-ingestion-version") or "1", _header(asked, "content-type")
        if not version.isdigit() or int(version) > 4:
            return fail(400, {"error": "Unsupported x-langfuse-ingestion-version"})
        if "application/json" not in kind:
            return fail(400, {"error": "Invalid content type"})
        try:
            spans = spans_of(asked.body)
        except ValueError as bad:
            return fail(400, {"error": f"Failed to parse OTLP JSON: {bad}"})
        wrong = [f"span {place}: {line}" for place, span in enumerate(spans) for line in span_wrong(span)]
        wrong += [f"trace {span['traceId']} cannot be stored" for span in spans if not wrong and span["traceId"] in self.refused]
        if wrong:
            return fail(400, {"error": "; ".join(wrong[:5])})
        for span in spans:
            self._spans[span["traceId"], span["spanId"], span["startTimeUnixNano"]] = {**span, "attributes": attributes_of(span)}
        return tell({})


def _header(asked: Asked, name: str) -> str:
    return next((value for key, value in asked.headers.items() if key.lower() == name), "")


def _invalid(wrong: list[str]) -> Reply:
    return fail(400, {"message": "Invalid request data", "error": wrong})


def _unknown(message: str = "Not found") -> Reply:
    return fail(404, {"error": "LangfuseNotFoundError", "message": message})


def _page(rows: list[Row], query: Mapping[str, str]) -> Row:
    page, limit = int(query.get("page", "1")), int(query.get("limit", "50"))
    kept = [row for row in rows if query.get("datasetName", row.get("datasetName")) == row.get("datasetName")]
    meta = {"page": page, "limit": limit, "totalItems": len(kept), "totalPages": -(-len(kept) // limit)}
    return {"data": kept[(page - 1) * limit : page * limit], "meta": meta}


class LangfuseServer(RagServer):
    """The server in the event loop of the test."""

    def __init__(self, *modes: str) -> None:
        self.langfuse = Langfuse(*modes)
        super().__init__(self.langfuse)

    @property
    def environ(self) -> dict[str, str]:
        """Address and keys as the environment would hold them."""
        return _environ(self.url)


class ThreadedLangfuseServer(ThreadedRagServer):
    """The server in a thread of its own, as a plain context manager."""

    def __init__(self, *modes: str) -> None:
        self.langfuse = Langfuse(*modes)
        super().__init__(self.langfuse)

    @property
    def environ(self) -> dict[str, str]:
        """Address and keys as the environment would hold them."""
        return _environ(self.url)


def _environ(url: str) -> dict[str, str]:
    return {"LANGFUSE_HOST": url, "LANGFUSE_PUBLIC_KEY": PUBLIC, "LANGFUSE_SECRET_KEY": SECRET}
