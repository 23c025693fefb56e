"""The server of these tests is strict, tells twice what was sent under two ids, and plays every manner: else they would prove nothing."""

import base64
import gzip
import json
import urllib.error
import urllib.request

import orjson
import pytest
from support.langfuse_checks import dataset_wrong, event_wrong, item_wrong, run_item_wrong, score_wrong, span_wrong
from support.langfuse_server import DATASETS, INGESTION, ITEMS, OTLP, PUBLIC, RUN_ITEMS, SCORES, SECRET, ThreadedLangfuseServer

SCORE = {"id": "s1", "name": "m", "value": 0.5, "dataType": "NUMERIC", "traceId": "t", "timestamp": "2026-11-30T00:00:00.000Z"}
SPAN = {
    "traceId": "ab" * 16,
    "spanId": "cd" * 8,
    "name": "root",
    "startTimeUnixNano": "1796083199500000000",
    "endTimeUnixNano": "1796083199500000000",
}
ITEM = {"datasetName": "d/1", "id": "d/1/q1", "input": "?"}
GONE = object()


def changed(body, **changes):
    return {name: value for name, value in {**body, **changes}.items() if value is not GONE}


def attributed(*pairs):
    return changed(SPAN, attributes=[{"key": key, "value": value} for key, value in pairs])


@pytest.mark.parametrize(
    ("check", "body"),
    [
        *[(score_wrong, changed(SCORE, **wrong)) for wrong in (
            {"valeu": 1}, {"comment": None}, {"value": "1"}, {"value": True}, {"value": GONE}, {"id": ""}, {"name": ""}, {"traceId": GONE},
            {"sessionId": "s"}, {"datasetRunId": "r"}, {"timestamp": "2026-11-30"}, {"timestamp": 1}, {"environment": "Prod"},
            {"environment": "langfuse-x"}, {"dataType": "FLOAT"}, {"source": "EVAL"}, {"source": "ANNOTATION"},
            {"traceId": GONE, "datasetRunId": "r", "observationId": "o"}, {"dataType": "BOOLEAN"}, {"dataType": "TEXT", "value": "x" * 501},
        )],
        (score_wrong, [SCORE]),
        *[(span_wrong, changed(SPAN, **wrong)) for wrong in (
            {"traceId": "AB" * 16}, {"traceId": "ab" * 8}, {"traceId": "0" * 32}, {"spanId": "x" * 16}, {"name": ""},
            {"parentSpanId": "root"},
            {"startTimeUnixNano": 1796083199500000000}, {"endTimeUnixNano": "1"}, {"endTimeUnixNano": "1796083199400000000"},
            {"attributes": {"a": "b"}}, {"start": 1},
        )],
        *[(span_wrong, attributed(pair)) for pair in (
            ("a", "b"), ("a", {}), ("a", {"stringValue": 1}), ("a", {"intValue": 1.5}), ("a", {"boolValue": "true"}),
            ("", {"stringValue": "b"}), ("a", {"arrayValue": {"values": ["b"]}}), ("a", {"stringValue": "x" * (2 * 1024 * 1024 + 1)}),
            ("langfuse.observation.inputs", {"stringValue": "b"}), ("langfuse.observation.type", {"stringValue": "judge"}),
            ("langfuse.observation.level", {"stringValue": "WARN"}), ("langfuse.observation.usage_details", {"stringValue": "{"}),
            ("langfuse.environment", {"stringValue": "A B"}), ("langfuse.experiment.id", {"stringValue": "e"}),
        )],
        (span_wrong, attributed(("a", {"stringValue": "b"}), ("a", {"stringValue": "c"}))),
        (dataset_wrong, {}),
        (dataset_wrong, {"name": "d", "fingerprint": "x"}),
        (item_wrong, changed(ITEM, datasetName=GONE)),
        (item_wrong, changed(ITEM, id="x" * 256)),
        (item_wrong, changed(ITEM, status="GONE")),
        (item_wrong, changed(ITEM, expected="x")),
        (run_item_wrong, {"runName": "r"}),
        (event_wrong, {"id": "e", "type": "score", "timestamp": "2026-11-30T00:00:00Z", "body": {}}),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found(check, body):
    assert check(body)


def test_what_is_right_is_taken():
    assert not score_wrong(SCORE)
    assert not score_wrong(changed(SCORE, value=0, observationId="o", environment="ragstone", comment="", metadata={"a": None}))
    assert not score_wrong(changed(SCORE, traceId=GONE, datasetRunId="r"))
    assert not span_wrong(SPAN)
    assert not span_wrong(attributed(("a", {"intValue": "1"}), ("langfuse.trace.tags", {"arrayValue": {"values": [{"stringValue": "b"}]}})))
    assert not item_wrong(ITEM)


# ------------------------------------------------------------------ over the wire
def call(server, method, path, body=None, *, key=f"{PUBLIC}:{SECRET}", **headers):
    raw = None if body is None else json.dumps(body).encode()
    if headers.get("Content-Encoding") == "gzip":
        raw = gzip.compress(raw)
    sent = {"Authorization": "Basic " + base64.b64encode(key.encode()).decode(), "Content-Type": "application/json", **headers}
    try:
        with urllib.request.urlopen(urllib.request.Request(server.url + path, raw, sent, method=method)) as reply:
            return reply.status, orjson.loads(reply.read() or b"null")
    except urllib.error.HTTPError as bad:
        with bad:
            return bad.code, orjson.loads(bad.read() or b"null")


def scored(**changes):
    return changed(SCORE, **changes)


def traced(*spans):
    return {"resourceSpans": [{"scopeSpans": [{"spans": [*spans]}]}]}


@pytest.fixture(params=["v5", "v4", "dual", "v3"])
def server(request):
    with ThreadedLangfuseServer(request.param) as made:
        yield made


def test_generations_take_what_they_take(server):
    told = server.langfuse.generation
    event = {"id": "e1", "type": "score-create", "timestamp": "2026-11-30T00:00:00Z", "body": SCORE}
    trace = {**event, "id": "e2", "type": "trace-create", "body": {}}
    assert call(server, "POST", SCORES, [SCORE])[0] == (202 if told == "v5" else 400)
    assert call(server, "POST", SCORES, SCORE)[0] == 200
    status, reply = call(server, "POST", INGESTION, {"batch": [event, trace]})
    assert status == (404 if told == "v5" else 207)
    if told != "v5":
        assert [one["id"] for one in reply["successes"]] == (["e1", "e2"] if told == "v3" else ["e1"])
        assert [one["id"] for one in reply["errors"]] == ([] if told == "v3" else ["e2"])
    call(server, "POST", DATASETS, {"name": "d/1"})
    call(server, "POST", ITEMS, ITEM)
    status, _ = call(server, "POST", RUN_ITEMS, {"runName": "r", "datasetItemId": "d/1/q1", "traceId": "t"})
    assert status == (200 if told in ("v3", "dual") else 404)
    assert server.langfuse.held() == {"traces": 0, "datasets": 1, "items": 1, "run_items": int(status == 200), "scores": 1, "spans": 0}


def test_the_same_score_is_one_and_another_id_name_or_day_is_a_double(server):
    for changes in ({}, {"value": 1}, {"timestamp": "2026-11-30T23:59:59.000Z"}):
        call(server, "POST", SCORES, scored(**changes))
    assert len(server.langfuse.scores()) == 1
    for changes in ({"id": "s2"}, {"name": "n"}, {"timestamp": "2026-12-01T00:00:00.000Z"}, {"timestamp": "2026-11-30T01:00:00+02:00"}):
        call(server, "POST", SCORES, scored(**changes))
    assert len(server.langfuse.scores()) == 5
    assert len(server.langfuse.orphans()) == 5
    server.langfuse.foreign.add("t")
    assert server.langfuse.orphans() == []


def test_the_same_span_is_one_and_another_start_is_a_double(server):
    later = changed(SPAN, startTimeUnixNano="1796083199600000000", endTimeUnixNano="1796083199600000000")
    for span in (SPAN, attributed(("a", {"stringValue": "b"})), later):
        assert call(server, "POST", OTLP, traced(span), **{"Content-Encoding": "gzip"}) == (200, {})
    assert [span["attributes"] for span in server.langfuse.spans()] == [{"a": "b"}, {}]
    assert call(server, "POST", OTLP, traced(changed(SPAN, spanId="ee" * 8), {"spanId": "x"}))[0] == 400
    assert call(server, "POST", OTLP, traced(SPAN), **{"x-langfuse-ingestion-version": "5"})[0] == 400
    assert len(server.langfuse.spans()) == 2


def test_items_belong_to_one_data_set(server):
    assert call(server, "POST", ITEMS, ITEM)[0] == 404
    ids = [call(server, "POST", DATASETS, {"name": name})[1]["id"] for name in ("d/1", "d/2", "d/1")]
    assert ids[0] == ids[2] != ids[1]
    assert call(server, "GET", f"{DATASETS}/d%2F1")[1]["id"] == ids[0]
    assert call(server, "POST", ITEMS, ITEM)[0] == call(server, "POST", ITEMS, ITEM)[0] == 200
    assert call(server, "POST", ITEMS, changed(ITEM, datasetName="d/2"))[0] == 404
    assert len(server.langfuse.items()) == 1


def test_manners():
    with ThreadedLangfuseServer("v5", "partial") as server:
        status, reply = call(server, "POST", SCORES, [scored(id=f"s{n}") for n in range(3)])
        assert (status, reply["accepted"], reply["rejected"], [*reply["errors"][0]]) == (207, 2, 1, ["message"])
        assert [one["id"] for one in server.langfuse.scores()] == ["s0", "s2"]
        for manner, status in (("rate", 429), ("flaky", 503)):
            server.langfuse.play(manner)
            assert [call(server, "POST", SCORES, SCORE)[0] for _ in range(2)] == [status, 200]
        server.langfuse.play("suspended")
        assert [call(server, "POST", path, [SCORE])[0] for path in (SCORES, OTLP)] == [403, 403]
        assert call(server, "GET", "/api/public/projects")[0] == 200
        server.langfuse.play("organisation")
        assert call(server, "GET", "/api/public/projects")[0] == 403
        server.langfuse.play("array_only")
        assert [call(server, "POST", SCORES, body)[0] for body in (SCORE, [SCORE])] == [400, 202]
        server.langfuse.play("v5")
        server.langfuse.refused.add("s9")
        assert call(server, "POST", SCORES, scored(id="s9"))[0] == 400
        server.langfuse.limits[SCORES] = 100
        assert call(server, "POST", SCORES, [SCORE])[0] == 413
        assert call(server, "GET", "/api/public/projects", key="pk:sk")[0] == 401
        assert call(server, "GET", "/api/public/health", key="pk:sk") == (200, {"status": "OK", "version": "5.0.1"})
        assert len(server.asked("/api/public/health")) == 1


def test_scores_are_read_back_in_pages():
    with ThreadedLangfuseServer("v5") as server:
        call(server, "POST", SCORES, [scored(id=f"s{n}", traceId=f"t{n % 2}") for n in range(5)])
        status, first = call(server, "GET", "/api/public/v3/scores?limit=2&traceId=t0")
        assert (status, [one["id"] for one in first["data"]], first["meta"]["cursor"]) == (200, ["s0", "s2"], "2")
        _, rest = call(server, "GET", "/api/public/v3/scores?limit=2&traceId=t0&cursor=2")
        assert ([one["id"] for one in rest["data"]], "cursor" in rest["meta"]) == (["s4"], False)
        assert call(server, "DELETE", f"{SCORES}/s0")[0] == 204
        assert len(server.langfuse.scores()) == 4
