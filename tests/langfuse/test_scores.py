"""Scores: a number for what was measured, none for what was not, on the right trace, with the reason beside."""

from dataclasses import replace

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.langfuse_checks import score_wrong
from support.langfuse_lines import FRAME, TEXTS, VERDICTS, cell, content, line

from ragstone.figures import verdict_word
from ragstone.langfuse.scores import mean_units, score_units
from ragstone.text import say

ORIGIN = {"trace_id": "prod-1", "host": FRAME.host, "project_id": FRAME.project_id, "observation_id": "obs1", "environment": "production"}


def scores(*cells, frame=FRAME, **sample):
    return {unit.metric: unit.body for unit in score_units(line(*cells, **sample), frame)}


def test_a_score_stands_on_the_root_of_its_sample():
    (unit,) = score_units(line(), FRAME)
    assert (unit.kind, unit.sample_id, unit.metric) == ("score", "q1", "faithfulness")
    assert unit.id == unit.body["id"]
    place = (unit.body["traceId"], unit.body["observationId"])
    assert place == (FRAME.trace_of("q1"), FRAME.span_of("q1"))
    assert {name: unit.body[name] for name in ("name", "value", "dataType", "timestamp", "environment")} == {
        "name": "faithfulness",
        "value": 0.5,
        "dataType": "NUMERIC",
        "timestamp": FRAME.timestamp,
        "environment": "ragstone",
    }
    assert not score_wrong(unit.body)


@pytest.mark.parametrize("value", [0.0, 1.0, 0, 1, 1e-9, 1 / 3])
def test_every_value_arrives_as_it_is(value):
    sent = orjson.loads(orjson.dumps(scores(cell(value=value))["faithfulness"]))
    assert sent["value"] == value
    assert not isinstance(sent["value"], bool)


def test_only_what_was_measured_gives_a_score():
    cells = [
        cell("a", status="failed", reason="timeout"),
        cell("b", 0.0, reason="no_context"),
        None,
        cell("c", status="not_applicable", reason="no_reference"),
    ]
    assert [*scores(*cells)] == ["b"]


def test_what_stands_beside_a_score():
    told = scores(frame=replace(FRAME, notice="a smoke test", repeats=3))["faithfulness"]["metadata"]
    assert {name: told[name] for name in ("status", "run", "signature", "notice", "repeats", "sample_id", "gold_fingerprint")} == {
        "status": "ok",
        "run": "run-1",
        "signature": FRAME.signature,
        "notice": "a smoke test",
        "repeats": 3,
        "sample_id": "q1",
        "gold_fingerprint": FRAME.gold_fingerprint,
    }
    assert [(one["id"], one["verdict"]) for one in told["verdicts"]] == [("a1", "supported"), ("a2", "not_found")]
    assert "reason" not in told


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_comment_names_what_speaks_against_in_the_language_of_the_sample(lang):
    named = say("observed.line", lang, id="a2", text="最多结转 5 天", verdict=verdict_word("not_found", lang))
    assert scores(language=lang)["faithfulness"]["comment"] == say("observed.negative", lang, bad=1, total=2, lines=named)
    good = scores(cell(verdicts=VERDICTS[:1], reason="no_context"), language=lang)["faithfulness"]
    assert good["comment"] == f"no_context · {say('observed.positive', lang, total=1)}"
    assert "comment" not in scores(cell(verdicts=[]), language=lang)["faithfulness"]


def test_many_claims_make_no_long_comment():
    bad = [{"id": f"a{n}", "text": "word " * 90, "verdict": "contradicted"} for n in range(40)]
    comment = scores(cell(verdicts=bad))["faithfulness"]["comment"]
    assert len(comment) <= 500
    assert comment.startswith("40 of 40")


@pytest.mark.parametrize("letter", ["x", "问", "\x01", '"'])
@pytest.mark.parametrize("count", [1, 3000])
def test_what_stands_beside_is_bounded(letter, count):
    lines = [{"kind": "context", "id": f"c{n}", "text": letter * (600_000 // count), "verdict": "useful"} for n in range(count)]
    body = scores(cell(verdicts=lines))["faithfulness"]
    assert len(orjson.dumps(body)) <= 52_000
    assert body["metadata"]["clipped"] is True
    assert body["metadata"]["verdicts"][0]["id"] == "c0"
    assert body["metadata"]["signature"] == FRAME.signature


def test_ids_depend_on_nothing_but_project_run_sample_and_metric():
    one = {unit.metric: unit.id for unit in score_units(line(cell(), cell("b", 1.0), cell("c")), FRAME)}
    other = {
        unit.metric: unit.id
        for unit in score_units(line(cell("c", 0.1), cell(value=0.0), answer="x"), replace(FRAME, signature="s", lang="zh"))
    }
    assert other == {name: one[name] for name in other}
    for changed in (replace(FRAME, run_name="r"), replace(FRAME, project_id="p")):
        assert not {*one.values()} & {unit.id for unit in score_units(line(cell(), cell("b"), cell("c")), changed)}


def test_a_sample_that_came_from_langfuse_is_scored_where_it_came_from():
    body = scores(meta={"langfuse": ORIGIN})["faithfulness"]
    assert (body["traceId"], body["observationId"], body["environment"]) == ("prod-1", "obs1", "production")
    assert body["timestamp"] == FRAME.timestamp
    bare = {name: value for name, value in ORIGIN.items() if name != "observation_id"}
    assert "observationId" not in scores(meta={"langfuse": bare})["faithfulness"]
    assert scores(meta={"langfuse": {**ORIGIN, "environment": "Bad One"}})["faithfulness"]["environment"] == "default"
    assert FRAME.origin(line(meta={"langfuse": ORIGIN})) is not None


@pytest.mark.parametrize("other", [{"project_id": "p2"}, {"host": "https://elsewhere.example"}])
def test_a_sample_of_another_project_is_scored_on_its_own_trace(other):
    body = scores(meta={"langfuse": {**ORIGIN, **other}})["faithfulness"]
    assert (body["traceId"], body["environment"]) == (FRAME.trace_of("q1"), "ragstone")


# ------------------------------------------------------------------ means
def summary(*values, notice=None):
    rows = [
        {
            "sample_id": f"q{n}",
            "metric": "faithfulness",
            "value": value,
            "status": "ok" if value is not None else "failed",
            "reason": None if value is not None else "timeout",
        }
        for n, value in enumerate(values)
    ]
    return content(rows).summary


def test_a_mean_stands_on_the_run_with_its_counts_and_interval():
    (unit,) = mean_units(summary(1.0, 0.5, 0.0, None), FRAME, "run-id")
    assert (unit.kind, unit.metric, unit.body["datasetRunId"], unit.body["value"]) == ("mean", "faithfulness", "run-id", 0.5)
    assert unit.body["comment"].startswith("n = 3/4, 95% interval 0.")
    told = unit.body["metadata"]
    assert (told["n"], told["total"], told["failed"], told["coverage"]) == (3, 4, 1, 0.75)
    assert told["ci"]["low"] < 0.5 < told["ci"]["high"]
    assert told["signature"] == FRAME.signature
    assert not score_wrong(unit.body)


@pytest.mark.parametrize(("values", "mean"), [((0.0,), 0), ((1.0, 1.0), 1)])
def test_means_of_exactly_0_and_1_arrive(values, mean):
    (unit,) = mean_units(summary(*values), FRAME, "e")
    assert unit.body["value"] == mean
    assert len(values) > 1 or unit.body["comment"] == "n = 1/1"


def test_no_mean_is_no_score():
    assert not [*mean_units(summary(None, None), FRAME, "e")]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_smoke_test_is_told_beside_every_mean(lang):
    (unit,) = mean_units(summary(1.0), replace(FRAME, notice="a smoke test", lang=lang), "e")
    assert unit.body["comment"].endswith(say("judges.smoke_test", lang))
    assert unit.body["metadata"]["notice"] == "a smoke test"


# ------------------------------------------------------------------ whatever comes


@settings(deadline=None)
@given(
    st.lists(st.fixed_dictionaries({"id": TEXTS, "text": TEXTS, "verdict": TEXTS | st.just("not_found"), "reason": TEXTS}), max_size=4),
    TEXTS.filter(bool),
    st.none() | TEXTS,
)
def test_any_verdicts_make_scores_that_a_strict_server_takes_and_the_same_bytes_again(verdicts, name, reason):
    frame = replace(FRAME, run_name=name, run_id=name, signature=name)
    asked = line(cell(name, 0.25, reason=reason, verdicts=verdicts), id=name)
    first, again = ([*score_units(asked, frame)] for _ in range(2))
    assert [unit.digest for unit in first] == [unit.digest for unit in again]
    assert not [problem for unit in first for problem in score_wrong(unit.body)]
    assert len(first) == 1
