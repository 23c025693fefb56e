"""The trace of a sample: what a strict server takes, always the same, with nothing where nothing is known."""

from dataclasses import replace

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.langfuse_checks import attributes_of, span_wrong
from support.langfuse_lines import FRAME, TEXTS, VERDICTS, cell, line

from ragstone.langfuse.spans import trace_unit
from ragstone.langfuse.usage import Usage

NONE = Usage()
OBSERVED = "langfuse.observation."


def spans(asked, frame=FRAME, usage=NONE):
    """The spans by name, each with its attributes by name."""
    return {span["name"]: {**span, **attributes_of(span)} for span in trace_unit(asked, frame, usage).body}


def of(span, name):
    return orjson.loads(span[OBSERVED + name])


def test_one_trace_with_what_was_found_answered_and_judged():
    unit = trace_unit(line(cell(), cell("context_recall", 1.0)), FRAME, NONE)
    assert unit.id == FRAME.trace_of("q1")
    assert {span["traceId"] for span in unit.body} == {unit.id}
    assert [attributes_of(span)[OBSERVED + "type"] for span in unit.body] == ["chain", "retriever", "generation", "evaluator", "evaluator"]
    root, *rest = unit.body
    assert root["spanId"] == FRAME.span_of("q1")
    assert "parentSpanId" not in root
    assert {span["parentSpanId"] for span in rest} == {root["spanId"]}
    assert len({span["spanId"] for span in unit.body}) == 5
    assert not [line for span in unit.body for line in span_wrong(span)]


def test_inputs_and_outputs():
    found = spans(line(contexts=["a", {"text": "b", "score": 0.5}]))
    assert (of(found["ragstone"], "input"), of(found["ragstone"], "output")) == ("How much leave?", "24 days.")
    assert of(found["retrieval"], "output") == [{"text": "a"}, {"text": "b", "score": 0.5}]
    assert of(found["answer"], "output") == "24 days."
    judged = found["faithfulness"]
    assert of(judged, "input")["claims"] == [{name: one[name] for name in ("kind", "id", "text")} for one in VERDICTS]
    assert (of(judged, "output")["value"], of(judged, "output")["status"]) == (0.5, "ok")
    assert of(judged, "output")["verdicts"][0] == {"id": "a1", "verdict": "supported", "evidence": ["c1"], "reason": "said so"}


def test_every_span_belongs_to_session_and_experiment():
    for span in spans(line()).values():
        assert span["session.id"] == span["langfuse.experiment.name"] == "run-1"
        assert span["langfuse.experiment.id"] == FRAME.experiment_id
        assert span["langfuse.experiment.item.id"] == "ragstone/0a1b2c3d/q1"
        assert span["langfuse.experiment.item.root_observation_id"] == FRAME.span_of("q1")
    root = spans(line())["ragstone"]
    assert orjson.loads(root["langfuse.experiment.item.expected_output"]) == "24"
    assert orjson.loads(root["langfuse.experiment.metadata"])["gold_fingerprint"] == FRAME.gold_fingerprint
    assert root["langfuse.trace.tags"] == ["ragstone"]


def test_without_a_data_set_there_is_no_experiment():
    for span in spans(line(), replace(FRAME, dataset_id=None)).values():
        assert not [name for name in span if name.startswith("langfuse.experiment")]


def test_a_smoke_test_is_tagged_and_told():
    root = spans(line(), replace(FRAME, notice="a smoke test"))["ragstone"]
    assert "smoke-test" in root["langfuse.trace.tags"]
    assert orjson.loads(root["langfuse.trace.metadata.notice"]) == "a smoke test"


@pytest.mark.parametrize(
    ("missing", "names"),
    [
        ({"contexts": None}, ["ragstone", "answer", "faithfulness"]),
        ({"answer": None}, ["ragstone", "retrieval", "faithfulness"]),
        ({"contexts": [], "answer": ""}, ["ragstone", "retrieval", "answer", "faithfulness"]),
        ({"contexts": None, "answer": None, "question": None, "reference": None}, ["ragstone", "faithfulness"]),
    ],
)
def test_what_the_sample_does_not_hold_is_not_there(missing, names):
    found = spans(line(**missing))
    assert [*found] == names
    if missing.get("answer") == "":
        assert of(found["answer"], "output") == ""
        assert of(found["retrieval"], "output") == []


@pytest.mark.parametrize("status", ["failed", "not_applicable"])
def test_an_unmeasured_cell_is_a_warning_without_a_number(status):
    judged = spans(line(cell(status=status, reason="timeout", detail={"value": 0.3})))["faithfulness"]
    assert judged[OBSERVED + "level"] == "WARNING"
    assert judged[OBSERVED + "status_message"] == f"{status}: timeout"
    assert "value" not in of(judged, "output")
    assert of(judged, "output")["reason"] == "timeout"
    assert OBSERVED + "metadata.detail" not in judged


def test_a_cell_the_run_has_not_is_no_evaluator():
    assert [*spans(line(None, cell("context_recall")))][3:] == ["context_recall"]


def test_a_row_that_failed_is_an_error():
    root = spans(line(error="HTTP 502", answer=None))["ragstone"]
    assert (root[OBSERVED + "level"], root[OBSERVED + "status_message"]) == ("ERROR", "HTTP 502")


def test_tokens_of_application_and_judge():
    usage = Usage()
    usage.add("ab" * 16, 100, 10)
    usage.add("cd" * 16, 7, 3)
    cells = (
        cell(questions=["ab" * 16]),
        cell("context_recall", questions=["ab" * 16, "cd" * 16, "ef" * 16]),
        cell("mine", questions=["ab" * 16]),
    )
    found = spans(line(*cells, usage={"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": None}), usage=usage)
    assert of(found["answer"], "usage_details") == {"input": 5, "output": 2}
    assert of(found["faithfulness"], "usage_details") == {"input": 100, "output": 10}
    assert of(found["context_recall"], "usage_details") == {"input": 7, "output": 3}
    assert OBSERVED + "usage_details" not in found["mine"]
    assert found["faithfulness"][OBSERVED + "model.name"] == "m"


@pytest.mark.parametrize(("latency", "lasted"), [(1.5, 1500), (None, 2), (-1, 2), (1e300, 2), ("3", 2), (float("nan"), 2)])
def test_the_root_starts_at_the_time_of_the_run_and_lasts_as_long_as_the_application_took(latency, lasted):
    found = spans(line(latency_s=latency))
    start = int(found["ragstone"]["startTimeUnixNano"])
    assert start == FRAME.start == 1796083199_500_000_000
    assert int(found["ragstone"]["endTimeUnixNano"]) - start == lasted * 1_000_000
    for span in found.values():
        assert start <= int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]) <= int(found["ragstone"]["endTimeUnixNano"])


def test_places_do_not_depend_on_values_or_on_what_else_is_sent():
    def places(*cells, **sample):
        return {span["name"]: (span["spanId"], span["startTimeUnixNano"]) for span in trace_unit(line(*cells, **sample), FRAME, NONE).body}

    whole = places(cell(), cell("context_recall"), cell("context_precision", 1.0))
    fewer = places(cell("context_precision", status="failed", reason="timeout"), cell("faithfulness", 0.0), answer="new", latency_s=9)
    assert fewer == {name: whole[name] for name in fewer}


LOOSE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS, lambda inner: st.lists(inner, max_size=3), max_leaves=6
)
SAMPLES = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("question", "answer", "reference", "error"), TEXTS),
        "contexts": st.lists(TEXTS | st.fixed_dictionaries({"text": TEXTS}, optional={"id": TEXTS, "score": st.floats()}), max_size=4),
        "meta": st.dictionaries(TEXTS, LOOSE, max_size=3),
        "usage": LOOSE | st.dictionaries(st.sampled_from(["prompt_tokens", "completion_tokens", "total_tokens"]), LOOSE),
        "latency_s": LOOSE,
        "language": st.sampled_from(["zh", "en"]),
    },
)
CELLS = st.lists(
    st.none()
    | st.builds(
        cell,
        TEXTS.filter(bool),
        st.floats(0, 1),
        st.sampled_from(["ok", "failed", "not_applicable"]),
        st.none() | TEXTS,
        verdicts=st.lists(st.fixed_dictionaries({"id": TEXTS, "text": TEXTS, "verdict": TEXTS, "extra": LOOSE}), max_size=3),
        detail=st.dictionaries(TEXTS, LOOSE, max_size=2),
        questions=st.lists(TEXTS, max_size=2),
    ),
    max_size=3,
    unique_by=lambda one: one and one.metric,
)


@settings(deadline=None)
@given(SAMPLES, CELLS, TEXTS.filter(bool))
def test_any_sample_makes_a_trace_that_a_strict_server_takes_and_the_same_bytes_again(sample, cells, name):
    frame = replace(FRAME, run_name=name)
    asked = line(*cells, None, id=name, **sample)
    first, again = (trace_unit(asked, frame, NONE) for _ in range(2))
    assert not [problem for span in first.body for problem in span_wrong(span)]
    assert orjson.dumps(first.body) == orjson.dumps(again.body)
    assert first.digest == again.digest


@pytest.mark.parametrize("letter", ["x", "问", "\x01", '"', "\\"])
def test_a_huge_sample_is_cut_and_flagged(letter):
    huge = letter * 3_000_000
    found = spans(
        line(
            cell(verdicts=[{"id": "a1", "text": huge, "verdict": "supported"}]),
            question=huge,
            answer=huge,
            contexts=[huge, "b"],
            reference=huge,
        )
    )
    for name in ("ragstone", "retrieval", "answer", "faithfulness"):
        assert of(found[name], "metadata.clipped") is True
    assert of(found["retrieval"], "output")[1] == {"text": "b"}
    assert of(found["retrieval"], "output")[0]["text"].endswith("[3000000]")
    plain = spans(line())
    assert OBSERVED + "metadata.clipped" not in plain["retrieval"]
    assert not [
        problem
        for span in trace_unit(line(question=huge, answer=huge, contexts=[huge], reference=huge), FRAME, NONE).body
        for problem in span_wrong(span)
    ]
