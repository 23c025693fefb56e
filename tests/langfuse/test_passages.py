"""What a retriever found, in the shapes in which stores and frameworks tell it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.langfuse.passages import Passage, passages_beside, passages_in

A, B = "满一年 12 天。", "Standard warranty: 1 year."
ANY = st.recursive(
    st.none() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "documents", "node", "q", "score", "id"]), inner),
    max_leaves=20,
)


@pytest.mark.parametrize(
    "output",
    [
        [A, B],
        [{"text": A}, {"text": B}],
        [{"content": A}, {"page_content": B}],
        [{"pageContent": A, "metadata": {"loc": 1}}, {"chunk": B}],
        {"documents": [A, B]},
        {"documents": [[A, B]], "distances": [[0.1, 0.2]]},
        {"data": {"records": [{"segment": {"content": A}}, {"segment": {"content": B}}]}},
        {"result": [{"payload": {"text": A}}, {"payload": {"text": B}}]},
        {"hits": {"hits": [{"_source": {"text": A}}, {"_source": {"content": B}}]}},
        {"source_nodes": [{"node": {"text": A}}, {"node": {"text": B}}]},
        [{"document": {"content": A}}, {"document": B}],
        {"context": [A, B]},
        [{"lc": 1, "id": ["langchain", "Document"], "kwargs": {"page_content": A, "metadata": {}}}, {"kwargs": {"page_content": B}}],
        {"nodes": [{"node": {"id_": "n", "text_resource": {"text": A}}, "score": 0.7}, {"node": {"text": B}}]},
        {"chunks": [{"chunk_id": "1", "content_with_weight": A, "content_ltks": "x"}, {"content_with_weight": B}]},
        [{"document.content": A, "document.score": 0.3}, {"document.content": B}],
        {"points": [{"id": 1, "payload": {"text": A}}, {"id": 2, "payload": {"content": B}}]},
        {"retrievalResults": [{"content": {"text": A}, "location": {"type": "S3"}}, {"content": {"text": B}}]},
        {"content": [{"type": "text", "text": A}, {"type": "text", "text": B}], "isError": False},
        [{"内容": A}, {"文本": B}],
        {"objects": [{"uuid": "u", "properties": {"content": A}}, {"properties": {"text": B}}]},
        {"value": [{"@search.score": 0.5, "content": A}, {"content": B}]},
        {"data": [{"file_id": "f", "content": [{"type": "text", "text": A}]}, {"content": [B]}]},
        [["c1", A, 0.3], [2, B, 0.2]],
        {"query": "q", "ranked": [{"text": A, "score": 0.9}, {"doc": {"page_content": B}}], "filters": [{"year": 1}]},
    ],
)
def test_the_texts_are_found_in_their_order(output):
    assert [one.text for one in passages_in(output)] == [A, B]


def test_ids_scores_and_sources_come_with_the_texts():
    told = [
        {"id": 7, "text": A, "score": 0.9, "source": "handbook.pdf"},
        {"id": "c2", "q": "年假？", "a": A, "score": [{"type": "rerank", "value": 0.5}], "sourceName": "faq.csv"},
        {"page_content": B, "metadata": {"source": "w.md", "doc_id": "d1"}},
        [{"text": B}, 0.25],
    ]
    assert passages_in(told) == (
        Passage(A, "7", 0.9, "handbook.pdf"),
        Passage(f"年假？\n{A}", "c2", 0.5, "faq.csv"),
        Passage(B, "d1", None, "w.md"),
        Passage(B, None, 0.25, None),
    )


@pytest.mark.parametrize("output", [[], {"documents": []}, {"documents": [[]]}, {"data": {"records": []}}])
def test_nothing_retrieved_is_an_empty_list(output):
    assert passages_in(output) == ()


@pytest.mark.parametrize("output", [None, "", " ", 3, {}, {"count": 4}, [1, 2], [{"id": "c1"}], {"ids": ["a"]}])
def test_where_no_text_is_told_nobody_knows(output):
    assert passages_in(output) is None


def test_a_text_alone_is_one_passage():
    assert passages_in(A) == passages_in({"context": A}) == passages_in({"text": A}) == (Passage(A),)


@pytest.mark.parametrize(
    "output",
    [
        {"answer": "x", "contexts": [A, B]},
        {"result": "x", "source_documents": [{"page_content": A}, {"page_content": B}]},
        {"response": "x", "source_nodes": [{"node": {"text": A}}, {"node": {"text": B}}]},
        {"answer": "x", "reference": {"total": 2, "chunks": [{"content": A}, {"content": B}]}},
        {"answerText": "x", "responseData": [{"moduleType": "chatNode"}, {"quoteList": [{"q": A}, {"q": B}]}]},
        {"answer": "x", "metadata": {"retriever_resources": [{"content": A}, {"content": B}]}},
        {"input": "x", "context": [{"page_content": A}, {"page_content": B}], "answer": "x"},
    ],
)
def test_an_application_may_return_the_passages_beside_its_answer(output):
    assert [one.text for one in passages_beside(output)] == [A, B]


@pytest.mark.parametrize(
    "output",
    [
        None,
        A,
        [A, B],
        {"answer": A},
        {"answer": A, "contexts": []},
        {"answer": A, "context": B},
        {"result": [A]},
        {"answer": A, "documents": [3]},
    ],
)
def test_an_answer_alone_or_an_empty_list_beside_it_tells_no_passages(output):
    assert passages_beside(output) is None


@given(ANY)
def test_nothing_a_retriever_may_put_there_breaks_the_search(value):
    for found in (passages_in(value), passages_beside(value)):
        assert found is None or all(one.text.strip() for one in found)
