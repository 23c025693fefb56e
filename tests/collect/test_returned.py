"""What functions return comes down to JSON, and answer and chunks are found in it; libraries stand in by objects of their shape."""

import dataclasses
import decimal
import uuid
from collections import namedtuple
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import orjson
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.collect.base import Chunk, Found
from ragstone.collect.result import read_result, unread_keys
from ragstone.collect.returned import Unheld, as_json
from ragstone.types import Context, Sample


class Document:
    """Shaped like a LangChain Document."""

    def __init__(self, page_content, metadata=None, id=None):
        self.page_content, self.metadata, self.id = page_content, metadata or {}, id


class Message:
    """Shaped like a LangChain AIMessage."""

    def __init__(self, content):
        self.content, self.type = content, "ai"
        self.additional_kwargs, self.usage_metadata = {}, {"input_tokens": 3}


class Node:
    """Shaped like a LlamaIndex TextNode."""

    def __init__(self, text, node_id, **metadata):
        self.text, self.node_id, self.metadata = text, node_id, metadata

    def get_content(self):
        return self.text


class NodeWithScore:
    """Shaped like the LlamaIndex class of the name, which hands some names on to its node."""

    def __init__(self, node, score):
        self.node, self.score = node, score

    @property
    def text(self):
        return self.node.text

    @property
    def node_id(self):
        return self.node.node_id

    @property
    def metadata(self):
        return self.node.metadata

    def get_content(self):
        return self.node.get_content()


class StreamingResponse:
    """Shaped like the LlamaIndex class of the name: the answer is what `str` makes of it."""

    def __init__(self, parts, nodes):
        self.response_gen, self.source_nodes = iter(parts), nodes

    def __str__(self):
        return "".join(self.response_gen)


class Plain:
    """An object of no library."""

    def __init__(self, **given):
        vars(self).update(given)

    def close(self):
        raise AssertionError


@dataclasses.dataclass
class Outcome:
    answer: str
    contexts: list


class Model(pydantic.BaseModel):
    answer: str
    contexts: list[str]


Pair = namedtuple("Pair", "a b")


def read(returned):
    body = as_json(returned, set())
    assert orjson.loads(orjson.dumps(body)) == body  # the raw file gives back what is read
    return read_result(body, "en")


RIVER, ROAD = "The mill stands by the river.", "路在山的东边。"

FORMS = {
    "text": ("By the river.", Found("By the river.", None)),
    "中文": ("在河边。", Found("在河边。", None)),
    "dict": ({"answer": "a", "contexts": [RIVER, ROAD]}, Found("a", (Chunk(RIVER), Chunk(ROAD)))),
    "aliases": ({"回答": "甲", "检索片段": [ROAD]}, Found("甲", (Chunk(ROAD),))),
    "upper case": ({"Answer": "a", "Contexts": []}, Found("a", ())),
    "not exposed": ({"answer": "a", "contexts": None}, Found("a", None)),
    "nothing retrieved": ({"answer": "a", "contexts": []}, Found("a", ())),
    "only retrieves": ({"contexts": [RIVER]}, Found(None, (Chunk(RIVER),))),
    "one text as context": ({"result": "a", "context": RIVER}, Found("a", (Chunk(RIVER),))),
    "columns beside": (
        {"answer": "a", "contexts": [RIVER, ROAD], "context_ids": [7, "k2"], "context_scores": [0.5, None], "context_sources": ["m", None]},
        Found("a", (Chunk(RIVER, "7", 0.5, "m"), Chunk(ROAD, "k2"))),
    ),
    "objects": (
        {"response": "a", "retrieved_contexts": [{"content": RIVER, "chunk_id": "c", "similarity": 1, "file_name": "x.md"}]},
        Found("a", (Chunk(RIVER, "c", 1.0, "x.md"),)),
    ),
    "usage": ({"answer": "a", "usage": {"prompt_tokens": 1}}, Found("a", None, {"prompt_tokens": 1})),
    "sample": (
        Sample(id="x", question="q", answer="a", contexts=(Context(text=RIVER, id="c1", score=0.25),)),
        Found("a", (Chunk(RIVER, "c1", 0.25),)),
    ),
    "sample with columns": (
        Sample(id="x", answer="a", contexts=(Context(text=RIVER),), context_ids=("c1",), context_sources=(None,), usage={"tokens": 1}),
        Found("a", (Chunk(RIVER, "c1"),), {"tokens": 1}),
    ),
    "documents": (
        {"answer": "a", "context": [Document(RIVER, {"source": "r.md", "day": date(2024, 5, 1)}, "d1"), Document(ROAD, {"score": 0.5})]},
        Found("a", (Chunk(RIVER, "d1", None, "r.md"), Chunk(ROAD, None, 0.5))),
    ),
    "documents with scores": (
        {"output": Message("a"), "source_documents": [(Document(RIVER), np.float32(0.5))]},
        Found("a", (Chunk(RIVER, None, 0.5),)),
    ),
    "message": (Message("甲"), Found("甲", None, {"input_tokens": 3})),
    "message in blocks": (
        Message([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "a"}, "b"]),
        Found("ab", None, {"input_tokens": 3}),
    ),
    "state of a graph": ({"messages": [Message("q"), Message("a")], "context": [Document(RIVER)]}, Found("a", (Chunk(RIVER),))),
    "response": (
        SimpleNamespace(response="a", source_nodes=[NodeWithScore(Node(RIVER, "n1", file_name="r.md"), 0.75)], metadata={}),
        Found("a", (Chunk(RIVER, "n1", 0.75, "r.md"),)),
    ),
    "response that streams": (StreamingResponse(["a", "b"], [Node(RIVER, "n1")]), Found("ab", (Chunk(RIVER, "n1"),))),
    "any object with a content": (Plain(content="甲"), Found("甲", None)),
    "any object with a result": (
        Plain(answer="a", contexts=[Plain(text=RIVER, id=3, score=0.5, source="r.md")], llm=object()),
        Found("a", (Chunk(RIVER, "3", 0.5, "r.md"),)),
    ),
    "any object with nodes": (Plain(source_nodes=[Plain(text=ROAD)]), Found(None, (Chunk(ROAD),))),
    "retriever": ([NodeWithScore(Node(ROAD, "n2"), None)], Found(None, (Chunk(ROAD, "n2"),))),
    "retriever of documents": ([Document(RIVER), Document(ROAD)], Found(None, (Chunk(RIVER), Chunk(ROAD)))),
    "retriever without a hit": ([], Found(None, ())),
    "data class": (Outcome("a", [RIVER]), Found("a", (Chunk(RIVER),))),
    "model": (Model(answer="a", contexts=[RIVER]), Found("a", (Chunk(RIVER),))),
    "array": ({"answer": "a", "contexts": np.array([RIVER]), "context_scores": np.array([0.5])}, Found("a", (Chunk(RIVER, None, 0.5),))),
    "numbers": (
        {"answer": "a", "contexts": [{"text": RIVER, "id": uuid.UUID(int=1), "score": decimal.Decimal("0.5"), "source": Path("r.md")}]},
        Found("a", (Chunk(RIVER, str(uuid.UUID(int=1)), 0.5, "r.md"),)),
    ),
    "long number": ({"answer": "a", "contexts": [{"text": RIVER, "id": 2**70}]}, Found("a", (Chunk(RIVER, str(2**70)),))),
    "half a character": ({"answer": "甲\ud83d", "contexts": ["乙\udc00"]}, Found("甲\ufffd", (Chunk("乙\ufffd"),))),
    "half a character alone": ("a\ud800", Found("a\ufffd", None)),
    "not a number": ({"answer": "a", "contexts": [{"text": RIVER, "score": float("nan")}]}, Found("a", (Chunk(RIVER),))),
}


@pytest.mark.parametrize(("returned", "found"), FORMS.values(), ids=FORMS)
def test_what_an_application_returns_is_read(returned, found):
    reading = read(returned)
    assert (reading.found, reading.trouble) == (found, None)


TROUBLES = [
    (None, "empty_answer", ""),
    ("  \n", "empty_answer", ""),
    ({"answer": "", "contexts": [RIVER]}, "empty_answer", ""),
    ({"answer": None, "contexts": [RIVER]}, "no_answer", ""),
    ({"answer": None}, "no_answer", ""),
    ({"error": "boom", "answer": "x"}, "platform_error", "boom"),
    ({"error": {"code": 7}}, "platform_error", "7"),
    ({}, "call_failed", "empty dict"),
    ({"anwser": "x", "k": 1}, "call_failed", "anwser, k; did you mean `answer`?"),
    ({"answer": 7}, "call_failed", "number"),
    ({"answer": "a", "contexts": {"text": RIVER}}, "call_failed", "contexts"),
    ({"answer": "a", "contexts": [RIVER, 5]}, "call_failed", "context 2"),
    ({"answer": "a", "contexts": [{"txt": RIVER}]}, "call_failed", "its keys: txt"),
    ({"answer": "a", "contexts": [RIVER], "context_ids": ["a", "b"]}, "call_failed", "2 against 1"),
    ({"answer": "a", "contexts": [RIVER], "context_scores": 1}, "call_failed", "context_scores"),
]


@pytest.mark.parametrize(("returned", "word", "told"), TROUBLES)
def test_what_is_no_answer_is_told(returned, word, told):
    trouble = read(returned).trouble
    assert trouble is not None
    assert trouble.word == word
    assert told in trouble.message


def test_trouble_is_told_in_chinese():
    assert "是否想写 `answer`" in read_result({"anwser": "x"}, "zh").trouble.message


def test_an_error_beside_an_answer_keeps_the_answer():
    assert read({"error": "boom", "answer": "**ERROR**: boom"}).found == Found("**ERROR**: boom", None)


@pytest.mark.parametrize(
    ("returned", "place", "kind"),
    [
        (7, "", "int"),
        (object(), "", "object"),
        (Plain(close=print), "", f"{__name__}.Plain"),
        (b"bytes", "", "bytes"),
        (["a", "b"], "", "list"),
        (("a", [RIVER]), "", "tuple"),
        (Sample, "", "pydantic._internal._model_construction.ModelMetaclass"),
        (Pair("a", "b"), "", f"{__name__}.Pair"),
        ({"answer": "a", "contexts": [RIVER, {"text": RIVER, "score": object()}]}, "contexts[1].score", "object"),
        ({"answer": {"content": b"x"}}, "answer.content", "bytes"),
    ],
)
def test_what_json_cannot_hold_is_told_with_its_place(returned, place, kind):
    with pytest.raises(Unheld) as raised:
        as_json(returned, set())
    assert (raised.value.place, raised.value.kind) == (place, kind)


def test_a_value_within_itself_is_refused():
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(Unheld):
        as_json({"answer": "a", "contexts": loop}, set())


def test_what_does_not_count_is_left_out_and_named():
    left_out: set[str] = set()
    body = as_json({"answer": "a", "trace": object(), "context": [Document(RIVER, {"k": 1, "vec": b"x"})], "took": 3}, left_out)
    assert body == {"answer": "a", "context": [{"page_content": RIVER, "id": None, "metadata": {"k": 1}}], "took": 3}
    assert left_out == {"trace (object)", "context[0].metadata.vec (bytes)"}
    assert unread_keys(body) == ["took"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "id", "score", "metadata", "k"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["answer", "contexts", "context_ids", "context_scores", "usage", "error", "messages", "k"]), JSON))
def test_any_json_is_read_or_told_and_the_raw_file_gives_the_same(returned):
    body = as_json(returned, set())
    reading = read_result(body, "zh")
    assert reading.found is not None or reading.trouble is not None
    assert read_result(orjson.loads(orjson.dumps(body)), "zh") == reading
