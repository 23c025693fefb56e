"""From a trace to a sample: of servers 3 and 4, with retrievers of every kind."""

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.langfuse_traces import observation, trace

from ragstone.langfuse.origin import Origin, origin_of
from ragstone.langfuse.traces import contexts_of, sample_of, trace_of
from ragstone.samples import Sample

A, B, C = "满一年 12 天。", "满五年 15 天。", "Standard warranty: 1 year."


def three(**given):
    """A trace as servers 3 tell it."""
    told = trace("t1", **given)
    observations = told.pop("observations")
    return trace_of({"trace": told, "observations": observations})


def four(**given):
    """The same trace as servers 4 tell it: observations alone, inputs and outputs as texts of JSON."""
    told = trace("t1", **given)
    about = {"traceName": told["name"], "release": told["release"], "tags": told["tags"]}
    about |= {"traceId": told["id"], "environment": told["environment"], "version": told["version"]}
    texts = [
        {name: json.dumps(row[name]) for name in ("input", "output") if row.get(name) is not None and not isinstance(row[name], str)}
        for row in told["observations"]
    ]
    return trace_of({"observations": [{**row, **about, **text} for row, text in zip(told["observations"], texts, strict=True)]})


BOTH = pytest.mark.parametrize("told", [three, four])


@BOTH
@pytest.mark.parametrize(
    ("question", "answer", "lang"), [("入职满一年有几天年假？", "有 12 天。", "zh"), ("How long is the warranty?", "One year.", "en")]
)
def test_a_sample_of_a_trace(told, question, answer, lang):
    row = sample_of(told(question={"question": question}, answer={"answer": answer}, passages=[A, B], tags=["hr"]), "https://lf", "p1")
    assert row == {
        "id": "t1",
        "question": question,
        "answer": answer,
        "contexts": [A, B],
        "latency_s": 1.25,
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        "language": lang,
        "meta": {
            "name": "rag",
            "tags": ["hr"],
            "release": "r7",
            "version": "2",
            "langfuse": {
                "trace_id": "t1",
                "host": "https://lf",
                "project_id": "p1",
                "observation_id": "t1-root",
                "timestamp": "2026-12-01T08:00:00.000Z",
                "environment": "production",
            },
        },
    }
    assert Sample.model_validate(row).language == lang
    assert origin_of(row) == Origin(**row["meta"]["langfuse"])


@BOTH
def test_nothing_that_names_a_person_stands_in_the_sample(told):
    row = sample_of(told(question="q", answer="a", passages=[A]), "https://lf", "p1")
    assert "someone@example.org" not in json.dumps(row)
    assert "s1" not in json.dumps(row)


@BOTH
def test_what_is_missing_is_null_and_an_empty_answer_is_none_missing(told):
    row = sample_of(told(), "https://lf", "p1")
    assert (row["question"], row["answer"], row["contexts"]) == (None, None, None)
    assert "language" not in row
    assert sample_of(told(question="q", answer=""), "https://lf", "p1")["answer"] == ""


def find(id, output, parent="r", at="2026-12-01T08:00:01Z", type="RETRIEVER", **more):
    return observation(id, type, parent, at, output=output, **more)


ROOT = observation("r", "CHAIN")


@pytest.mark.parametrize(
    ("rows", "contexts"),
    [
        ([], None),
        ([find("f", None)], None),
        ([find("f", {"count": 3})], None),
        ([find("f", [])], []),
        ([find("f", [A]), find("g", [])], [A]),
        ([find("f", [A]), find("g", {"count": 3})], [A]),
        ([find("g", [B], at="2026-12-01T08:00:02Z"), find("f", [A])], [A, B]),
        ([find("f", [A, B]), find("g", [B, C, A])], [A, B, C]),
        ([find("f", [A]), find("g", [A, B], parent="f")], [A]),
        ([find("f", None), find("g", [A, B], parent="f")], [A, B]),
        ([find("f", [A], type="SPAN", name="dataset_retrieval")], [A]),
        ([find("f", [A], type="TOOL", name="知识库检索")], [A]),
        ([find("f", [A], type="SPAN", name="rerank")], None),
        ([find("f", [B], type="SPAN", name="retrieval"), find("g", [A])], [A]),
        ([find("f", [A], parent="f")], [A]),
        *(
            ([find("f", [A], type="SPAN", name=name)], [A])
            for name in ("vector_search", "searchKnowledgeBase", "知识库搜索", "查询文档", "pgvector query")
        ),
        *(
            ([find("f", [A], type="TOOL", name=name)], None)
            for name in ("search", "research", "query_orders", "查询订单", "document_loader")
        ),
    ],
)
def test_contexts_of_several_retrievers(rows, contexts):
    found = contexts_of(trace_of({"observations": [ROOT, *rows]}))
    assert (found if found is None else [one.text for one in found]) == contexts


@pytest.mark.parametrize("answer", ["有 12 天。", "One year."])
def test_a_span_that_returns_the_answer_is_no_retriever_whatever_its_name(answer):
    root = observation("r", "SPAN", name="RetrieverQueryEngine.query", input="q", output=answer)
    spans = [find("f", [A], type="SPAN", name="VectorIndexRetriever.retrieve")]
    assert [one.text for one in contexts_of(trace_of({"observations": [root, *spans]}))] == [A]
    assert contexts_of(trace_of({"observations": [root]})) is None
    assert [one.text for one in contexts_of(trace_of({"observations": [root, find("f", [answer])]}))] == [answer]


@BOTH
def test_passages_beside_the_answer_count_where_no_retriever_tells(told):
    returned = {"answer": "x", "source_documents": [{"page_content": A}, {"page_content": B}, {"page_content": A}]}
    row = sample_of(told(question="q", answer=returned), "h", "p")
    assert (row["answer"], row["contexts"]) == ("x", [A, B])
    assert sample_of(told(question="q", answer=returned, passages=[C]), "h", "p")["contexts"] == [C]
    assert sample_of(told(question="q", answer=returned, passages=[]), "h", "p")["contexts"] == []
    assert sample_of(told(question="q", answer={"answer": "x", "contexts": []}), "h", "p")["contexts"] is None


@pytest.mark.parametrize("given", ["12", 12])
def test_a_number_is_what_was_typed_on_every_server(given):
    row = sample_of(trace_of({"trace": {"id": "t", "input": given, "output": given}, "observations": [observation("r")]}), "h", "p")
    assert (row["question"], row["answer"]) == ("12", "12")


def test_ids_stand_only_where_every_passage_has_one():
    whole = trace_of({"observations": [ROOT, find("f", [{"id": "1", "text": A, "score": 0.5}, {"id": "2", "text": B}])]})
    row = sample_of(whole, "h", "p")
    assert (row["context_ids"], row["context_scores"]) == (["1", "2"], [0.5, None])
    torn = trace_of({"observations": [ROOT, find("f", [{"id": "1", "text": A}, B])]})
    assert sample_of(torn, "h", "p").keys().isdisjoint({"context_ids", "context_scores", "context_sources"})


@pytest.mark.parametrize(
    ("rows", "root"),
    [
        ([observation("b", parent="a"), observation("a")], "a"),
        ([observation("b", at="2026-12-01T08:00:02Z"), observation("a", at="2026-12-01T08:00:01Z")], "a"),
        ([observation("c", parent="b"), observation("b", parent="elsewhere", isRootObservation=True)], "b"),
        ([observation("c", parent="b"), observation("b", parent="elsewhere")], "b"),
        ([], None),
    ],
)
def test_the_root_stands_for_the_request(rows, root):
    assert (trace_of({"observations": rows}).root or {}).get("id") == root


def test_a_trace_that_went_wrong_says_so():
    row = {**observation("r", "CHAIN"), "level": "ERROR", "traceId": "t9", "input": "q"}
    told = trace_of({"observations": [row]})
    assert sample_of(told, "h", "p")["meta"]["level"] == "ERROR"


def test_texts_that_no_file_can_hold_are_mended():
    row = sample_of(four(question={"query": "年假\ud83d？\0"}, answer="a\0b", passages=["p\ud83d"]), "h", "p")
    assert (row["question"], row["answer"], row["contexts"]) == ("年假\ufffd？", "ab", ["p\ufffd"])


@pytest.mark.parametrize(
    ("root", "seconds"),
    [
        ({"startTime": "2026-12-01T08:00:00.000Z", "endTime": "2026-12-01T08:00:02.500Z"}, 2.5),
        ({"latency": -1, "startTime": "2026-12-01T08:00:00Z"}, None),
        ({"latency": 0.75}, 0.75),
    ],
)
def test_how_long_the_application_took(root, seconds):
    assert sample_of(trace_of({"observations": [{"id": "r", "traceId": "t", "type": "CHAIN", **root}]}), "h", "p")["latency_s"] == seconds


JUNK = (
    st.none()
    | st.integers()
    | st.text(max_size=3)
    | st.lists(st.text(max_size=2), max_size=2)
    | st.dictionaries(st.text(max_size=2), st.integers())
)
FIELDS = [
    *("id", "traceId", "type", "parentObservationId", "startTime", "endTime", "input", "output", "usageDetails", "tags", "name"),
    *("environment", "latency", "isRootObservation", "level", "release", "version", "timestamp"),
]
KINDS = {
    "type": st.sampled_from(["RETRIEVER", "GENERATION", "SPAN"]),
    "id": st.sampled_from("abc"),
    "parentObservationId": st.sampled_from("abc"),
}
OBSERVATIONS = st.fixed_dictionaries({}, optional={name: KINDS.get(name, JUNK) | JUNK for name in FIELDS})


@given(OBSERVATIONS, st.lists(OBSERVATIONS | JUNK, max_size=4))
def test_whatever_a_server_tells_becomes_a_row_that_can_be_read(facts, observations):
    row = sample_of(trace_of({"trace": facts, "observations": observations}), "https://lf", "p1")
    assert Sample.model_validate(json.loads(orjson.dumps(row))).id == row["id"]
