"""FastGPT's responses: search nodes wherever they are, with and without texts."""

import pytest

from ragstone.collect.base import Chunk, Kept, Reading, Received
from ragstone.collect.mapping import look, parsed, read
from ragstone.collect.readers.fastgpt import read as shaped
from ragstone.collect.spec import Spec

SPEC = Spec(answer="choices[0].message.content", contexts="chunks", error="error", reader="fastgpt")


def quote(name: str, **more):
    return {"id": name, "collectionId": f"co-{name}", "sourceName": f"{name}.pdf", "score": [{"type": "embedding", "value": 0.5}], **more}


def node(*quotes, kind="datasetSearchNode", **more):
    return {"moduleType": kind, "quoteList": list(quotes), **more}


def body(nodes, content="五天。", **more):
    return {"responseData": nodes, "choices": [{"message": {"content": content}, "finish_reason": "stop"}], "error": None, **more}


def reading(response) -> Reading:
    return read(SPEC, Kept("q", (Received("ask", response),)))


FULL = quote("d1", q="年假", a="五天")


@pytest.mark.parametrize(
    "nodes",
    [
        [{"moduleType": "chatNode"}, node(FULL)],
        [{"moduleType": "tools", "toolDetail": [node(FULL)]}],
        [{"moduleType": "pluginModule", "pluginDetail": [{"moduleType": "loop", "loopDetail": [{"childrenResponses": [node(FULL)]}]}]}],
        [{"moduleType": "x", "anything": {"deeper": [[node(FULL)]]}}],
        [node(FULL, kind="somethingNew")],
    ],
    ids=["top", "tool", "plugin and loop", "any list", "any node with quotes"],
)
def test_chunks_wherever_they_are(nodes):
    assert reading(body(nodes)).found.chunks == (Chunk("年假\n五天", "d1", 0.5, "d1.pdf"),)


@pytest.mark.parametrize(
    ("nodes", "texts"),
    [
        ([node(quote("a", q="x", a="y"), quote("b", q="only q", a="")), node(quote("c", a="only a"))], ["x\ny", "only q", "only a"]),
        ([node(quote("a", q="", a=""))], [""]),
        ([node()], []),
        ([], []),
        ([{"moduleType": "chatNode"}], []),
        ([{"moduleType": "datasetSearchNode"}], None),
        ([{"moduleType": "datasetSearchNode", "quoteList": None}], None),
        (None, None),
    ],
)
def test_nothing_retrieved_against_not_told(nodes, texts):
    chunks = reading(body(nodes)).found.chunks
    assert (None if chunks is None else [chunk.text for chunk in chunks]) == texts


def test_an_old_score_is_a_number():
    assert reading(body([node(quote("a", q="x", a="y", score=0.75))])).found.chunks[0].score == 0.75


def test_chunks_without_text_say_which_they_are():
    thin = body([node(quote("d1"), FULL)])
    ((at, raw),) = look(SPEC, parsed(SPEC, Received("ask", thin))).lacking
    assert (at, raw["id"], raw["collectionId"], raw["text"]) == (0, "d1", "co-d1", None)


def test_an_answer_in_parts():
    parts = [
        {"type": "reasoning", "reasoning": {"content": "想"}},
        {"type": "text", "text": {"content": "五天。"}},
        {"type": "tool", "tools": [{}]},
    ]
    assert reading(body([], parts)).found.answer == "五天。"


@pytest.mark.parametrize(
    "response",
    [
        body([{"moduleType": "userSelect", "interactive": {"type": "userSelect"}}], ""),
        body([], [{"type": "interactive", "interactive": {"type": "userInput"}}]),
        body([{"moduleType": "x", "toolDetail": [{"moduleType": "formInput", "interactive": {"type": "userInput"}}]}], None),
    ],
)
def test_a_form_is_no_answer(response):
    assert reading(response).trouble.word == "interactive"


def test_a_text_that_leads_to_a_form_is_no_answer():
    parts = [{"type": "text", "text": {"content": "请选择部门"}}, {"type": "interactive", "interactive": {"type": "userSelect"}}]
    result = reading(body([], parts))
    assert (result.trouble.word, result.found.answer) == ("interactive", "请选择部门")


def test_a_node_that_had_a_form_beside_an_answer_is_fine():
    assert reading(body([{"moduleType": "userSelect", "interactive": {"type": "userSelect"}}])).trouble is None


@pytest.mark.parametrize("data", [{"list": [quote("a", q="x", a="y")]}, [quote("a", q="x", a="y")]])
def test_a_search_without_an_answer(data):
    spec = Spec(contexts="chunks", reader="fastgpt")
    found = read(spec, Kept("q", (Received("ask", {"code": 200, "data": data}),))).found
    assert (found.answer, found.chunks) == (None, (Chunk("x\ny", "a", 0.5, "a.pdf"),))


@pytest.mark.parametrize(
    "other", [{"code": 200, "data": {"q": "x", "a": "y"}}, {"code": 514, "message": "no", "data": None}, "text", None, [1], {}]
)
def test_what_is_no_answer_comes_back_with_its_keys(other):
    made = shaped(other)
    assert made == other if not isinstance(other, dict) else all(made[key] == other[key] for key in other)


def test_nesting_without_end():
    deep: list = []
    for _ in range(5000):
        deep = [{"moduleType": "x", "childrenResponses": deep}]
    assert reading(body(deep)).found.chunks == ()
