"""Reading responses: answers, chunks, and the trouble of a row, out of whatever came."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.collect.base import Chunk, Kept, Reading, Received, Trouble
from ragstone.collect.mapping import Look, look, parsed, read
from ragstone.collect.readers import NAMES
from ragstone.collect.sizes import MOST
from ragstone.collect.spec import Spec, Step
from ragstone.collect.words import WORDS

SPEC = Spec(answer="answer", contexts="docs", error="error")
BY_CHUNK = Step(path="/d", per="chunk", text="data.q")


def asked(body, *further: Received, trouble: Trouble | None = None) -> Kept:
    return Kept("q1", (Received("ask", body), *further), trouble=trouble)


def reading(body, spec: Spec = SPEC, *further: Received, lang="en") -> Reading:
    return read(spec, asked(body, *further), lang)


def then(body, chunk=None) -> Received:
    return Received("then", body, chunk=chunk)


# ------------------------------------------------------------------ answers
@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("五天。", "五天。"),
        (5, "5"),
        (["Five ", "days."], "Five days."),
        ([{"type": "reasoning", "text": "hm"}, {"type": "text", "text": {"content": "五天。"}}], "五天。"),
        ("<think>hm</think>五天。", "<think>hm</think>五天。"),
        ("I saw **ERROR** in the log.", "I saw **ERROR** in the log."),
        ("x" * MOST, "x" * MOST),
    ],
)
def test_an_answer(answer, text):
    result = reading({"answer": answer})
    assert (result.found.answer, result.found.chunks, result.trouble) == (text, None, None)


@pytest.mark.parametrize(
    ("body", "word", "told"),
    [
        ({"answer": None}, "no_answer", "nothing at answer"),
        ({}, "no_answer", "nothing at answer"),
        ({"answer": {"text": "x", "more": 1}}, "no_answer", "an object (keys: text, more)"),
        ({"answer": True}, "no_answer", "a truth value"),
        ({"answer": [{"odd": 1}]}, "no_answer", "a list"),
        ({"answer": math.nan}, "no_answer", "a number"),
        ({"answer": ""}, "empty_answer", "empty"),
        ({"answer": " \n\t"}, "empty_answer", "empty"),
        ({"answer": "<think>only thoughts</think>"}, "empty_answer", "empty"),
        ({"answer": "**ERROR**: 模型超时"}, "error_answer", "**ERROR**: 模型超时"),
        ({"answer": "Sorry, 服务异常, bye"}, "error_answer", "Sorry, 服务异常, bye"),
        ({"answer": "x", "error": "busy"}, "platform_error", "busy"),
        ({"answer": "x", "error": {"code": 1, "message": "deep"}}, "platform_error", "deep"),
        ({"answer": "x", "error": True, "msg": "told beside"}, "platform_error", "told beside"),
        ({"answer": "x", "error": 503}, "platform_error", "the error 503"),
        ({"answer": "x", "error": {"odd": 1}}, "platform_error", "without saying which"),
        ({"code": 514, "message": "Key 无效", "data": None}, "platform_error", "Key 无效"),
        ({"detail": [{"loc": ["body"], "msg": "field required"}]}, "platform_error", "field required"),
        ({"code": 200, "message": "成功", "data": {"content": "x"}}, "no_answer", "nothing at answer"),
        ({"code": 200, "message": "成功"}, "no_answer", "nothing at answer"),
        ({"message": "ok", "data": {"content": "x"}}, "no_answer", "nothing at answer"),
        ({"answer": "", "interactive": {"type": "userInput"}}, "interactive", "form"),
        ({"__interrupt__": [{"value": "which one?"}]}, "interactive", "form"),
        ({"choices": [{"message": {"content": [{"type": "interactive"}]}}]}, "interactive", "form"),
        ("<!DOCTYPE html><html><title>Sign in · 登录</title>", "login_page", "Sign in · 登录"),
        ("\n<html><body>x", "login_page", "HTML"),
        ("<!-- a -->\n<!-- b --><HTML lang='zh'>", "login_page", "HTML"),
        ("<!---->" * 5000 + "x", "not_json", "<!---->"),
        ("Bad gateway", "not_json", "Bad gateway"),
        ("", "not_json", "empty"),
        (None, "no_answer", "nothing at answer"),
        (["a message in a list"], "no_answer", "nothing at answer"),
        ({"answer": "x" * (MOST + 1)}, "too_large", "1,000,001 bytes"),
        ({"answer": "x", "docs": ["y" * (MOST // 2), "z" * (MOST // 2 + 1)]}, "too_large", "1,000,001 bytes together"),
        ({"answer": "x", "docs": 7}, "no_chunk_text", "a number"),
        ({"answer": "x", "docs": True}, "no_chunk_text", "truth value"),
        ({"answer": "x", "docs": {"odd": 1}}, "no_chunk_text", "an object (keys: odd)"),
    ],
)
def test_trouble(body, word, told):
    spec = Spec(answer="answer", contexts="docs", error="error", fail_if=("服务异常",))
    trouble = reading(body, spec).trouble
    assert trouble is not None
    assert (trouble.word, told in trouble.message) == (word, True), trouble
    assert word in WORDS
    in_chinese = reading(body, spec, lang="zh").trouble
    assert in_chinese.word == word
    assert "{" not in in_chinese.message


@pytest.mark.parametrize("told", [None, False, 0, "", "  ", [], {}])
def test_what_is_no_error(told):
    assert reading({"answer": "x", "error": told}).trouble is None


def test_the_answer_that_came_with_an_error_is_kept_without_its_chunks():
    body = {"code": 500, "msg": "boom", "answer": "**ERROR**: boom", "docs": ["x"]}
    result = reading(body, Spec(answer="answer", contexts="docs", error="code != `0` && msg || null"))
    assert (result.found.answer, result.found.chunks, str(result.trouble)) == ("**ERROR**: boom", None, "platform_error: boom")
    assert reading({"answer": "**错误**：超时", "docs": ["x"]}).found.answer == "**错误**：超时"


def test_a_test_of_success():
    spec = Spec(answer="answer", success="status == 'succeeded'")
    assert reading({"answer": "x", "status": "succeeded"}, spec).trouble is None
    assert str(reading({"answer": "x", "status": "failed", "message": "节点出错"}, spec).trouble) == "platform_error: 节点出错"
    assert "status == 'succeeded' is not true of it" in reading({"answer": "x"}, spec).trouble.message


def test_a_text_alone_can_be_the_answer():
    assert reading("Five days.", Spec(answer="@")).found.answer == "Five days."
    assert reading("<html>", Spec(answer="@")).trouble.word == "login_page"


def test_no_response_and_trouble_on_the_way():
    assert read(SPEC, Kept("q1")).trouble.word == "no_answer"
    late = Trouble("timeout", "slow")
    assert read(SPEC, Kept("q1", trouble=late)) == Reading(None, late)
    result = read(SPEC, asked({"answer": "x", "docs": ["c"]}, trouble=late))
    assert (result.found.answer, result.found.chunks, result.trouble) == ("x", None, late)
    assert read(SPEC, asked("<html>", trouble=late)) == Reading(None, late)


def test_messages_of_responses_are_cut_and_on_one_line():
    message = reading({"answer": "x", "error": "line one\nline two " + "z" * 5000}).trouble.message
    assert message.startswith("line one line two z")
    assert len(message) == 300


# ------------------------------------------------------------------ chunks
@pytest.mark.parametrize(
    ("docs", "chunks"),
    [
        (None, None),
        ([], ()),
        ("", ()),
        ({}, ()),
        ("one text", (Chunk("one text"),)),
        (["a", None, "b", 7], (Chunk("a"), Chunk("b"), Chunk("7"))),
        ([{"text": "", "content": "later"}], (Chunk(""),)),
        ([{"segment_id": 5, "content": "c", "score": "0.5", "document_name": "手册"}], (Chunk("c", "5", 0.5, "手册"),)),
        ([{"page_content": "p", "metadata": {"id": "m1", "source": "f.md", "score": 0.25}}], (Chunk("p", "m1", 0.25, "f.md"),)),
        ({"text": "single", "id": "s"}, (Chunk("single", "s"),)),
        ({"chunks": [{"content": "inner"}]}, (Chunk("inner"),)),
        ({"0": {"content": "first"}, "1": {"content": "second"}}, (Chunk("first"), Chunk("second"))),
        ([{"text": "a\ud800b", "id": "  ", "score": math.nan, "source": ["x"]}], (Chunk("a\ufffdb"),)),
        ([{"text": [{"type": "text", "text": "part "}, {"text": "two"}]}], (Chunk("part two"),)),
    ],
)
def test_chunks_without_a_mapping_of_their_own(docs, chunks):
    assert reading({"answer": "x", "docs": docs}).found.chunks == chunks


def test_chunks_as_the_mapping_says():
    spec = Spec(
        answer="a",
        contexts="r[]",
        context_id="k",
        context_text="t",
        context_score="s[0].value",
        context_source="m.file",
        strip_context=(r"(?s)^<meta>.*?</meta>\s*",),
    )
    item = {
        "k": 1,
        "t": "<meta>\nx</meta>\n\n正文 [1]",
        "s": [{"type": "e", "value": 0.5}],
        "m": {"file": "a.pdf"},
        "id": "no",
        "text": "no",
    }
    assert reading({"a": "x", "r": [item]}, spec).found.chunks == (Chunk("正文 [1]", "1", 0.5, "a.pdf"),)


def test_usage():
    spec = Spec(answer="answer", usage="usage")
    assert reading({"answer": "x", "usage": {"total_tokens": 9}}, spec).found.usage == {"total_tokens": 9}
    assert reading({"answer": "x", "usage": 9}, spec).found.usage is None
    assert reading({"answer": "x", "usage": {"n": 2**70}}, spec).found.usage is None


def test_an_application_that_only_retrieves():
    spec = Spec(contexts="docs", error="error")
    assert reading({"docs": ["a"]}, spec).found.chunks == (Chunk("a"),)
    assert reading({"docs": []}, spec) == Reading(look(spec, {"docs": []}).found)
    assert reading({"docs": []}, spec).found.answer is None
    assert "nothing at docs" in reading({"else": 1}, spec).trouble.message
    assert reading("<html>", spec).trouble.word == "login_page"


# ------------------------------------------------------------------ further requests
THIN = {"answer": "x", "docs": [{"id": "d1", "score": 0.5}, {"id": "d2", "text": "has one"}, {"id": "d3"}]}


def test_chunks_without_text_are_named_for_the_further_request():
    seen = look(Spec(answer="answer", contexts="docs", then=(BY_CHUNK,)), THIN)
    assert seen.lacking == ((0, {"id": "d1", "score": 0.5}), (2, {"id": "d3"}))
    assert [c.text for c in seen.found.chunks] == [None, "has one", None]


def test_texts_of_further_requests_are_filled_in():
    spec = Spec(answer="answer", contexts="docs", then=(BY_CHUNK,), strip_context=("#",))
    found = reading(THIN, spec, then({"data": {"q": "#first"}}, 0), then({"data": {"q": "third"}}, 2)).found
    assert found.chunks == (Chunk("first", "d1", 0.5), Chunk("has one", "d2"), Chunk("third", "d3"))


def test_fetched_texts_that_are_too_large_together():
    further = [then({"data": {"q": "y" * (MOST // 2 + 1)}}, at) for at in (0, 2)]
    result = reading(THIN, Spec(answer="answer", contexts="docs", then=(BY_CHUNK,)), *further)
    assert (result.trouble.word, result.found.answer, result.found.chunks) == ("too_large", "x", None)


def test_only_responses_with_an_answer_go_through_the_reader():
    spec = Spec(answer="answer", reader="openwebui")
    assert parsed(spec, Received("before", {"sources": []})) == {"sources": []}
    assert parsed(spec, then({"sources": []})) == {"sources": [], "chunks": []}


@pytest.mark.parametrize(
    ("further", "told"),
    [
        ([], "2 retrieved chunks have no text, and the further request gave none"),
        ([then({"data": {"q": "a"}}, 0), then({"code": 403, "message": "无权访问"}, 2)], "1 retrieved chunks have no text"),
        ([then({"code": 403, "message": "无权访问"}, 0)], "gave none: 无权访问"),
    ],
)
def test_a_text_that_stays_away_is_trouble(further, told):
    result = reading(THIN, Spec(answer="answer", contexts="docs", then=(BY_CHUNK,)), *further)
    assert (result.trouble.word, told in result.trouble.message, result.found.chunks) == ("no_chunk_text", True, None)


def test_without_a_further_request_such_chunks_are_not_exposed():
    result = reading(THIN)
    assert (result.found.answer, result.found.chunks, result.trouble) == ("x", None, None)


RECORD = Spec(
    answer="data.content", error="code != `200` && message || null", then=(Step(path="/r", contexts="data.paragraphs", answer="data.text"),)
)
FIRST = {"code": 200, "message": "成功", "data": {"content": "五天"}}


def test_contexts_of_a_second_response():
    second = {
        "code": 200,
        "message": "成功",
        "data": {"paragraphs": [{"id": "p", "content": "年假五天", "similarity": 0.6}], "text": "五天。"},
    }
    found = reading(FIRST, RECORD, then(second)).found
    assert (found.answer, found.chunks) == ("五天。", (Chunk("年假五天", "p", 0.6),))
    thin = {"code": 200, "data": {"paragraphs": [{"id": "p"}]}}
    assert look(RECORD, FIRST, [thin]).lacking == ((0, {"id": "p"}),)


def test_a_second_response_that_tells_an_error_or_nothing():
    assert str(reading(FIRST, RECORD, then({"code": 500, "message": "无记录"})).trouble) == "platform_error: 无记录"
    assert reading(FIRST, RECORD, then({"code": 200, "data": {}})).found.chunks is None
    own = Spec(answer="a", error="e", then=(Step(path="/r", contexts="c", error="fault"),))
    assert str(reading({"a": "x"}, own, then({"fault": "broken"})).trouble) == "platform_error: broken"


def test_each_later_response_is_tested_by_its_own_step():
    steps = (Step(path="/wait", error="status == 'failed' && why || null"), Step(path="/list", answer="reply"))
    spec = Spec(error="code && msg || null", then=steps)
    good = then({"status": "failed", "why": "", "reply": "x"})
    assert str(reading({}, spec, then({"status": "failed", "why": "超时"}), good).trouble) == "platform_error: 超时"
    assert reading({}, spec, then({"code": 1, "msg": "a number of no failure"}), good).trouble is None
    assert str(reading({}, spec, good, then({"code": 1, "msg": "m", "reply": "x"})).trouble) == "platform_error: m"


def test_an_answer_that_only_a_later_response_gives():
    spec = Spec(then=(Step(path="/wait", until="status == 'completed'"), Step(path="/list", answer="reply", contexts="docs")))
    assert look(spec, {"id": "c"}).trouble is None
    found = reading(
        {"id": "c"}, spec, then({"status": "running"}), then({"status": "completed"}), then({"reply": "五天", "docs": []})
    ).found
    assert (found.answer, found.chunks) == ("五天", ())
    assert reading({"id": "c"}, spec, then({"status": "completed"}), then({"reply": ""})).trouble.word == "empty_answer"
    assert reading({"id": "c"}, spec, then({"status": "completed"})).trouble.word == "no_answer"


# ------------------------------------------------------------------ nothing in a response is trusted
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["answer", "docs", "error", "data", "text", "content", "events", "responseData", "sources", "type", "code"]),
            inner,
        )
    ),
    max_leaves=25,
)
MAPPINGS = [
    SPEC,
    RECORD,
    Spec(answer="choices[0].message.content", contexts="chunks", error="message"),
    Spec(answer="join('', data[].text)", contexts="docs[].{text: content, id: type}", success="code == `0`", usage="data", fail_if=("x",)),
    Spec(contexts="data", context_text="content", then=(BY_CHUNK,)),
    Spec(answer="answer", contexts="docs", strip_context=(r"\s+",), then=(BY_CHUNK, Step(path="", answer="data", contexts="text"))),
    *(Spec(answer="answer", contexts="chunks", reader=name) for name in NAMES),
]


@given(JSON, JSON, st.sampled_from(MAPPINGS))
def test_no_response_makes_reading_fail(body, other, spec):
    result = read(spec, asked(body, then(other), then(other, 0), then(body, 10**6)))
    seen = look(spec, parsed(spec, Received("ask", body)))
    assert isinstance(seen, Look)
    assert result.found is not None or result.trouble is not None
    if result.trouble is not None:
        assert result.trouble.word in WORDS
        assert result.trouble.message.strip()
    if result.found is not None:
        text = "".join([result.found.answer or "", *(chunk.text or "" for chunk in result.found.chunks or ())])
        assert text.encode().decode() == text
        assert all(chunk.text is not None for chunk in result.found.chunks or ())


@pytest.mark.parametrize("spec", MAPPINGS)
@pytest.mark.parametrize("key", ["answer", "docs", "data", "error", "responseData", "sources", "message", "detail", "choices"])
def test_nesting_without_end(spec, key):
    for kind in (list, dict):
        body: object = "x"
        for _ in range(3000):
            body = [body] if kind is list else {key: body}
        assert isinstance(read(spec, asked({key: body, "answer": body}, then({key: body}))), Reading)
