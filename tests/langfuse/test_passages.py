"""What a retriever found, in the shapes in which stores and frameworks tell it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.langfuse.passages import Passage, passages_in

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


@given(ANY)
def test_nothing_a_retriever_may_put_there_breaks_the_search(value):
    found = passages_in(value)
    assert found is None or all(one.text.strip() for one in found)
