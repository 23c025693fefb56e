"""Spans to a collector over a real socket: what arrives, under which ids, and what is said when it does not."""

import asyncio
import json
from collections import Counter

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import hand_made
from support.rag_server import RagServer, fail, page, redirect, tell

from ragstone import Run, load
from ragstone.errors import AuthError, ConfigError, EndpointError
from ragstone.export.base import Order
from ragstone.export.content import Content
from ragstone.export.otel import OtelSink, packs
from ragstone.export.otel_spans import Span, ids, run_spans, sample_spans, span_id
from ragstone.transport.retry import Backoff

NOW = Backoff(base=0.0, cap=0.0)
SECRET = "Bearer abcdef-123456-secret"


def send(content, server, *, dry_run=False, **environ):
    known = {"OTEL_EXPORTER_OTLP_ENDPOINT": server.url} | environ
    return OtelSink(NOW).send(content, Order(environ=known, dry_run=dry_run))


@pytest.fixture
def content(tmp_path):
    return Content(load(hand_made.write_run(tmp_path / "run")))


def spans_of(server):
    bodies = [asked.body for asked in server.seen]
    return [span for body in bodies for one in body["resourceSpans"] for held in one["scopeSpans"] for span in held["spans"]]


def attributes(span):
    return {one["key"]: next(iter(one["value"].values())) for one in span["attributes"]}


async def test_a_trace_a_sample_with_a_span_a_metric_arrives(content):
    async with RagServer(tell({})) as server:
        receipt = await send(content, server)
    spans = spans_of(server)
    assert (receipt.missing, receipt.exit_code, receipt.due) == (0, 0, {"span": len(spans)})
    assert server.seen[0].path == "/v1/traces"
    assert server.seen[0].headers["Content-Encoding"] == "gzip"
    roots = [span for span in spans if "parentSpanId" not in span]
    assert Counter(span["name"] for span in roots) == {"ragstone sample": 4, "ragstone run": 1}
    assert len({span["traceId"] for span in roots}) == 5
    assert len({span["spanId"] for span in spans}) == len(spans)
    assert {span["parentSpanId"] for span in spans if "parentSpanId" in span} == {span["spanId"] for span in roots}
    assert all(len(span["traceId"]) == 32 and len(span["spanId"]) == 16 for span in spans)


async def test_a_cell_without_a_value_carries_its_reason_and_no_number(content):
    async with RagServer(tell({})) as server:
        receipt = await send(content, server)
    cells = [(attributes(span), span) for span in spans_of(server) if span["name"].startswith("evaluate ")]
    assert cells
    for held, span in cells:
        assert ("gen_ai.evaluation.score.value" in held) == (held["gen_ai.evaluation.score.label"] == "ok")
        assert (span.get("status", {}).get("code") == 2) == (held["gen_ai.evaluation.score.label"] == "failed")
    values = [held["gen_ai.evaluation.score.value"] for held, _ in cells if "gen_ai.evaluation.score.value" in held]
    assert 0.0 in values
    assert 1.0 in values
    unmeasured = [held for held, _ in cells if held["gen_ai.evaluation.score.label"] != "ok"]
    assert Counter(held["gen_ai.evaluation.explanation"] for held in unmeasured) == Counter(receipt.unmeasured)


async def test_signature_notice_and_n_of_total_arrive(content):
    async with RagServer(tell({})) as server:
        receipt = await send(content, server, OTEL_SERVICE_NAME="客服")
    resource = {one["key"]: one["value"]["stringValue"] for one in server.seen[0].body["resourceSpans"][0]["resource"]["attributes"]}
    assert resource["service.name"] == "客服"
    assert resource["ragstone.signature"] == content.facts.signature == receipt.signature
    assert resource["ragstone.notice"] == content.facts.notice == receipt.notice
    means = {held["gen_ai.evaluation.name"]: held for span in spans_of(server) if (held := attributes(span)) and span["name"][:4] == "mean"}
    for metric in content.summary.metrics:
        held = means[metric.metric]
        assert (held["ragstone.n"], held["ragstone.total"]) == (str(metric.n), str(metric.total))
        assert held.get("gen_ai.evaluation.score.value") == metric.mean


async def test_a_second_export_sends_the_very_same(content):
    async with RagServer(tell({})) as server:
        await send(content, server)
        await send(Content(load(content.run.path)), server)
    assert server.seen[0].raw == server.seen[1].raw


async def test_question_chunks_and_answer_arrive_as_they_are(content):
    async with RagServer(tell({})) as server:
        await send(content, server)
    held = [attributes(span) for span in spans_of(server)]
    documents = next(json.loads(one["gen_ai.retrieval.documents"]) for one in held if "gen_ai.retrieval.documents" in one)
    assert documents[0] == {"id": "hr-7", "score": 0.83, "content": "Full-time employees get 20 days of paid leave a year."}
    answers = [json.loads(one["gen_ai.output.messages"])[0]["parts"][0]["content"] for one in held if "gen_ai.output.messages" in one]
    assert hand_made.SAMPLES[0]["answer"] in answers


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "{}"}, "/v1/traces"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "{}/otlp/"}, "/otlp/v1/traces"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "{}/own/place"}, "/own/place"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "{}"}, "/"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "{}/own", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}, "/own"),
    ],
)
async def test_the_variables_name_the_place(content, environ, path):
    async with RagServer(tell({})) as server:
        known = {name: value.format(server.url) for name, value in environ.items()}
        await OtelSink(NOW).send(content, Order(environ=known))
    assert server.seen[0].path == path


async def test_headers_are_sent_and_shown_nowhere(content):
    environ = {"OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20abcdef-123456-secret,x-scope=a"}
    async with RagServer(fail(400, {"message": f"what is {SECRET}?"})) as server:
        receipt = await send(content, server, **environ)
    assert server.seen[0].headers["Authorization"] == SECRET
    assert server.seen[0].headers["x-scope"] == "a"
    assert "secret" not in str(receipt.to_dict())
    assert receipt.missing == receipt.due["span"] == len(receipt.rejected)
    assert receipt.exit_code == 1


@pytest.mark.parametrize(
    ("environ", "part"),
    [
        ({}, "OTEL_EXPORTER_OTLP_ENDPOINT"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4318"}, "OTEL_EXPORTER_OTLP_ENDPOINT"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", "OTEL_EXPORTER_OTLP_HEADERS": "a b=c"}, "OTEL_EXPORTER_OTLP_HEADERS"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", "OTEL_EXPORTER_OTLP_HEADERS": "a=b%0Ac"}, "OTEL_EXPORTER_OTLP_HEADERS"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://user:pass@h"}, "OTEL_EXPORTER_OTLP_ENDPOINT"),
    ],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_settings_that_cannot_be_are_refused_before_any_request(content, monkeypatch, environ, part, lang):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    with pytest.raises(ConfigError, match=part) as refused:
        await OtelSink(NOW).send(content, Order(environ=environ))
    assert "pass" not in str(refused.value).replace("password", "")
    with pytest.raises(ConfigError, match=part):
        OtelSink().check(Order(environ=environ))


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (fail(401), AuthError),
        (fail(403, {"message": "no rights"}), AuthError),
        (fail(404), EndpointError),
        (page(status=405), EndpointError),
        (page(), EndpointError),
        (redirect("https://elsewhere/"), EndpointError),
        (fail(503), EndpointError),
    ],
)
async def test_what_would_fail_every_request_stops_the_export(content, reply, kind):
    async with RagServer(reply) as server:
        with pytest.raises(kind) as stopped:
            await send(content, server)
    assert server.url in str(stopped.value)
    assert "model" not in str(stopped.value)


async def test_spans_a_collector_drops_are_told(content):
    async with RagServer(tell({"partialSuccess": {"rejectedSpans": "3", "errorMessage": "too old"}})) as server:
        receipt = await send(content, server)
    assert (receipt.missing, receipt.exit_code) == (3, 1)
    assert [one.reason for one in receipt.rejected] == ["too old"]


async def test_a_busy_collector_is_asked_again(content):
    async with RagServer([fail(429, Retry_After="0"), fail(503), tell({})]) as server:
        receipt = await send(content, server)
    assert (receipt.missing, receipt.retried, receipt.requests) == (0, 2, 3)


async def test_a_dry_run_sends_nothing(content):
    async with RagServer(tell({})) as server:
        receipt = await send(content, server, dry_run=True)
        assert server.seen == []
        real = await send(content, server)
    assert (receipt.due, receipt.accepted, receipt.exit_code, receipt.requests) == (real.due, {}, 0, real.requests)


async def test_many_samples_take_many_packs_and_are_all_there():
    rows = [{"sample_id": f"s{i}", "metric": "faithfulness", "value": 1.0, "status": "ok"} for i in range(60)]
    samples = [{"id": f"s{i}", "question": "问", "answer": "x" * 60_000} for i in range(60)]
    content = Content(Run.from_scores(rows, samples, {"run_id": "r"}))
    async with RagServer(tell({})) as server:
        receipt = await send(content, server)
    assert len(server.seen) == receipt.requests > 3
    assert len(spans_of(server)) == receipt.accepted["span"] == receipt.due["span"]


async def test_an_export_that_is_stopped_leaves_nothing_running(content):
    async with RagServer(fail(401)) as server:
        with pytest.raises(AuthError):
            await send(content, server)
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


@given(st.lists(st.lists(st.integers(1, 700_000), max_size=4), max_size=12))
def test_packs_hold_every_span_once_in_order_and_tear_no_trace(sizes):
    traces = [[Span(f"{i}.{j}", b"x" * size) for j, size in enumerate(one)] for i, one in enumerate(sizes)]
    found = list(packs(traces))
    assert [span for pack in found for span in pack] == [span for trace in traces for span in trace]
    for trace in traces:
        assert sum(any(span in pack for span in trace) for pack in found) <= 1


def test_ids_depend_on_their_parts_alone():
    assert ids("a", "b|c") != ids("a|b", "c")
    assert span_id("run", "s") == span_id("run", "s") != span_id("run", "t")


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        ({}, set()),
        ({"answer": ""}, {"chat"}),
        ({"contexts": []}, {"retrieval"}),
        ({"contexts": None, "answer": None}, set()),
        ({"question": "\ud800", "answer": "\ud83d", "contexts": ["\udfff"], "meta": {"k": 2**70}}, {"chat", "retrieval"}),
    ],
)
def test_only_what_the_run_holds_has_a_span(sample, expected):
    content = Content(Run.from_scores([{"sample_id": "s", "metric": "m", "value": 0.0, "status": "ok"}], [{"id": "s", **sample}]))
    names = {orjson.loads(span.json)["name"] for line in content.lines() for span in sample_spans(line, content)}
    assert names == {"ragstone sample", "evaluate m"} | expected
    assert len(list(run_spans(content))) == 2


DEEP = orjson.loads(b"[" * 900 + b"]" * 900)


@pytest.mark.parametrize("value", [{"n": 10**30}, {"x": float("nan")}, float("nan"), DEEP, {"\ud800": "\ud800"}, {1: 2}])
async def test_whatever_a_sample_holds_can_be_sent(value):
    rows = [{"sample_id": "\ud800", "metric": "m", "value": 0.5, "status": "ok", "verdicts": [{"id": "a1", "more": value}]}]
    run = Run.from_scores(rows, [{"id": "\ud800", "question": "q", "meta": {"held": value}}], {"signature": "\ud800"})
    async with RagServer(tell({})) as server:
        receipt = await send(Content(run), server)
    assert receipt.missing == 0
    assert [one for span in spans_of(server) for one in span["attributes"] if None in one["value"].values()] == []
