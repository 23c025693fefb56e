"""An expression that finds nothing is told with the keys that are there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.collect.expressions import search
from ragstone.collect.misfit import misfit, missing, unseen
from ragstone.collect.spec import Spec, Step

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "b", "data", "text"]) | st.text(), inner, max_size=4),
    max_leaves=20,
)
BODY = {
    "code": 0,
    "data": {"answer": "五天", "chunks": [{"id": "c1", "content": "年假五天"}, {"id": "c2", "content": "病假"}], "total": 2},
}


PATHS = (
    "data.a[].b",
    "join('', a)",
    "a[?b>`1`].text | [0]",
    "*.a",
    "sum(b)",
    "data.*",
    "to_string(@)",
    "a == b",
    "keys(a)",
    "reverse(text)",
)


@given(JSON, st.sampled_from(PATHS))
def test_no_response_makes_an_expression_fail(body, path):
    search(path, body)
    told = misfit(Spec(answer=path, contexts=path, context_text=path, own=("contexts", "context_text")), [body], "en")
    assert told is None or "finds nothing" in told.text


def why(lang="en", bodies=(BODY,), own=("answer", "contexts", "context_text"), **mapping) -> str | None:
    found = misfit(Spec(own=own, **mapping), bodies, lang)
    return None if found is None else found.text


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("data.anwser", "at data there are: answer, chunks, total; did you mean answer?"),
        ("date.answer", "at the top there are: code, data; did you mean data?"),
        ("answer", "at the top there are: code, data"),
        ("data.chunks.content", "at data.chunks there is a list of 2; write [] or [0] after it"),
        ("data.chunks[0].contents", "at data.chunks[0] there are: id, content; did you mean content?"),
        ("data.answer.text", "at data.answer there is no object but: 五天"),
        ("Data.answer", "did you mean data?"),
        ("data.xyzzy || data.answr", "did you mean answer?"),
        ("dat || data.zzz", "at data there are: answer, chunks, total"),
        ("join('', data.chunk[].content)", "at data there are: answer, chunks, total; did you mean chunks?"),
        ("data.chunks[].contents", "at data.chunks[] there are: id, content; did you mean content?"),
        ("join('', data.chunks[].contents)", "at data.chunks[] there are: id, content; did you mean content?"),
        ("data.chunks[9].content", "at data.chunks there is a list of 2 only"),
        ("data.chunks[?id=='c9'] | [0].content", "finds nothing"),
    ],
)
def test_an_answer_that_is_nowhere(path, told):
    text = why(answer=path)
    assert text.startswith(f"[collect] answer = {path} finds nothing in any response; ")
    assert told in text


@pytest.mark.parametrize("parts", [[], [{"t": ""}], [{"image": "x"}, {"t": ""}]])
@pytest.mark.parametrize("path", ["parts[].t", "join('', parts[].t)"])
def test_an_answer_that_is_empty_is_at_its_place(path, parts):
    assert why(answer=path, bodies=({"parts": parts},)) is None


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("data.chunk", "at data there are: answer, chunks, total; did you mean chunks?"),
        ("data.chunk[].{text: content}", "did you mean chunks?"),
        ("data.chunk[?id=='c1'].content", "did you mean chunks?"),
        ("data.answer[]", "finds nothing"),
    ],
)
def test_contexts_that_are_nowhere(path, told):
    text = why(answer="data.answer", contexts=path)
    assert text.startswith(f"[collect] contexts = {path}")
    assert told in text
    assert why(answer="data.answer", contexts=path, own=()) is None


@pytest.mark.parametrize(
    ("path", "certain"),
    [("data.chunk", True), ("data.chunks.content", True), ("join('', data.total)", True), ("data.sources", False), ("sources", False)],
)
def test_contexts_without_a_near_match_may_be_left_out_by_the_application(path, certain):
    found = misfit(Spec(own=("contexts",), answer="data.answer", contexts=path), [BODY], "en")
    assert found.certain is certain
    assert misfit(Spec(own=("contexts",), answer=path, contexts=path), [BODY], "en").certain


def test_texts_that_no_chunk_has():
    text = why(answer="data.answer", contexts="data.chunks", context_text="txt.content")
    assert text == "[collect] context_text = txt.content finds nothing in any response; in a chunk there are: id, content"
    assert "单个片段中有：id、content；是否指 content" in why("zh", answer="data.answer", contexts="data.chunks", context_text="contnt")
    assert why(answer="data.answer", contexts="data.chunks", context_text="content") is None
    nothing_retrieved = {"data": {"answer": "x", "chunks": []}}
    assert why(bodies=(nothing_retrieved,), answer="data.answer", contexts="data.chunks", context_text="contnt") is None


def test_a_null_in_the_place_is_told_as_one():
    text = why(bodies=({"data": {"answer": None, "id": 1}},) * 3, answer="data.answer")
    assert text.endswith("at data answer is null (there are: answer, id)")


def test_an_expression_that_cannot_be_computed_gives_its_reason():
    text = why(bodies=({"n": 5},), answer="join('', n)")
    assert "cannot be computed" in text
    assert "join" in text


def test_one_response_with_an_answer_is_enough():
    assert why(bodies=({"error": "x"}, BODY), answer="data.answer") is None
    assert why(bodies=(), answer="data.answer") is None


def test_an_answer_of_a_later_step_is_not_looked_for_in_the_first_response():
    assert why(answer="nowhere", then=(Step(path="", answer="data.content"),)) is None


def test_in_chinese():
    text = why("zh", answer="data.anwser")
    assert text == "[collect] answer = data.anwser 在所有响应中都取不到内容；data 处有：answer、chunks、total；是否指 answer？"


def test_many_keys_are_cut():
    text = why(bodies=({f"key_{n}": n for n in range(200)},), answer="data")
    assert text.count("key_") == 15
    assert "…" in text


def left_out(lang="en", bodies=(BODY,), **mapping) -> tuple[str, ...]:
    spec = Spec(own=tuple(mapping), answer="data.answer", **({"contexts": "data.chunks"} | mapping))
    assert unseen(spec, bodies) is bool(missing(spec, bodies, lang)) or not bodies[0]["data"]["chunks"]
    return missing(spec, bodies, lang)


@pytest.mark.parametrize(
    ("setting", "path", "told"),
    [
        ("context_id", "idd", "in a chunk there are: id, content; did you mean id?"),
        ("context_score", "meta.score", "in a chunk there are: id, content"),
        ("context_source", "contents", "in a chunk there are: id, content; did you mean content?"),
        ("usage", "data.totl", "at data there are: answer, chunks, total; did you mean total?"),
    ],
)
def test_what_a_row_can_do_without_is_told_with_the_keys_that_are_there(setting, path, told):
    (text,) = left_out(**{setting: path})
    assert text.startswith(f"[collect] {setting} = {path} finds nothing in any response; {told} (rows go without it")
    (text,) = left_out("zh", **{setting: path})
    assert f"[collect] {setting} = {path} 在所有响应中都取不到内容；" in text
    assert "各行将没有这一项" in text


def test_what_some_chunk_has_is_not_missing_nor_what_there_are_no_chunks_for():
    assert left_out(context_id="id", usage="data") == ()
    some = {"data": {"chunks": [{"id": "a"}, {"id": "b", "score": 1}]}}
    assert left_out(bodies=(some,), context_score="score") == ()
    assert left_out(bodies=({"data": {"chunks": []}},), context_score="scor") == ()
    assert missing(Spec(answer="data.answer", contexts="data.chunks", context_id="idd"), (BODY,), "en") == ()
    assert missing(Spec(usage="no", own=("usage",), then=(Step(path="", answer="x"),)), (BODY,), "en") == ()
