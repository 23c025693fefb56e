"""Questions and answers in the inputs and outputs that applications put on their traces."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.langfuse.said import Asked, answer_in, asked_in, value_of

ZH, EN = "入职满一年有几天年假？", "How long is the warranty?"
KEYS = ["role", "content", "input", "type", "messages", "choices", "x"]
ANY = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=20,
)


def built(name, text):
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": {"content": text}}


def message(role, content):
    return {"role": role, "content": content}


@pytest.mark.parametrize("question", [ZH, EN])
@pytest.mark.parametrize(
    "shape",
    [
        lambda q: q,
        lambda q: {"question": q, "user": "u1"},
        lambda q: {"query": q, "top_k": 4},
        lambda q: {"sys.query": q, "sys.user_id": "u1"},
        lambda q: {"Input": q},
        lambda q: {"inputs": {"question": q}},
        lambda q: {"args": [], "kwargs": {"question": q, "k": 3}},
        lambda q: {"args": [q], "kwargs": {}},
        lambda q: {"topic": q},
        lambda q: [message("system", "Be short."), message("user", q)],
        lambda q: {"messages": [message("user", q)]},
        lambda q: {"messages": [[{"type": "system", "content": "s"}, {"type": "human", "content": q}]]},
        lambda q: {"input": [message("user", [{"type": "text", "text": q}, {"type": "image_url", "image_url": {}}])]},
        lambda q: [{"type": "input_text", "text": q}],
        lambda q: {"userInput": q, "k": 3},
        lambda q: {"userChatInput": q, "chatId": "c1"},
        lambda q: {"问题": q, "用户": "u1"},
        lambda q: {"body": json.dumps({"query": q, "user": "u1"})},
        lambda q: {"contents": [{"role": "user", "parts": [{"text": q}]}]},
        lambda q: {"retriever": {"query": q, "top_k": 3}, "prompt_builder": {"question": q}},
        lambda q: {"args": ["<app.bot.Bot object at 0x7f3a>", q], "kwargs": {}},
        lambda q: {"messages": [built("SystemMessage", "Be short."), built("HumanMessage", q)]},
        lambda q: message("user", [{"text": q}]),
        lambda q: {"messages": [["system", "Be short."], ["human", q]]},
        lambda q: {"messages": [{"messageType": "SYSTEM", "text": "s"}, {"messageType": "USER", "text": q}]},
        lambda q: {"messages": [{"type": "SYSTEM", "text": "s"}, {"type": "USER", "contents": [{"type": "TEXT", "text": q}]}]},
        lambda q: {"bot_id": "7", "additional_messages": [message("user", q)]},
        lambda q: {"new_message": {"role": "user", "parts": [{"text": q}]}, "app": "a"},
        lambda q: {"chat_history": [message("user", q)], "k": 3},
    ],
)
def test_the_question_is_found(shape, question):
    assert asked_in(shape(question)) == Asked(question)


NO_QUESTIONS = [
    *(None, "", "  ", 3, True, [], {}, {"a": "b", "c": "d"}, {"messages": []}),
    *([message("system", "Be short.")], [message("assistant", "Hi")], message("system", "Be short.")),
]


@pytest.mark.parametrize("given", NO_QUESTIONS)
def test_where_nothing_is_asked_there_is_no_question(given):
    assert asked_in(given) == Asked()


def test_the_last_message_of_the_user_is_the_question_and_those_before_are_the_history():
    turns = [message("user", "保修多久？"), message("assistant", "一年。"), message("user", "那配件呢？"), message("assistant", "半年。")]
    assert asked_in({"messages": turns}) == Asked("那配件呢？", tuple(turns[:2]))
    assert asked_in({"query": "那配件呢？", "history": [["保修多久？", "一年。"]]}) == Asked("那配件呢？", tuple(turns[:2]))
    assert asked_in({"query": "那配件呢？", "history": turns[:2]}) == Asked("那配件呢？", tuple(turns[:2]))


@pytest.mark.parametrize("answer", ["有 12 天。", "One year.", ""])
@pytest.mark.parametrize(
    "shape",
    [
        lambda a: a,
        lambda a: {"answer": a, "sources": ["x"]},
        lambda a: {"output": {"answer": a}},
        lambda a: {"outputs": {"text": a}},
        lambda a: message("assistant", a),
        lambda a: {"choices": [{"message": message("assistant", a)}]},
        lambda a: {"summary": a},
        lambda a: [{"type": "text", "text": a}],
        lambda a: {"llm": {"replies": [a or "-"]}} if a else {"replies": [a]},
        lambda a: {"replies": [message("assistant", [{"text": a}])]},
        lambda a: {"answers": [{"data": a, "query": "?", "documents": []}]},
        lambda a: {"答案": a, "来源": ["x"]},
        lambda a: {"finalOutput": a, "steps": 3},
        lambda a: {"question": "?", "generation": a, "documents": []},
        lambda a: {"type": "textResponse", "textResponse": a, "sources": []},
        lambda a: {"aiMessage": {"text": a}, "tokens": 3},
        lambda a: {"chat_history": [message("user", "?"), message("assistant", a)], "cost": 1} if a else a,
        lambda a: {"raw": a, "tasks_output": [{"raw": "x"}]},
        lambda a: {"statusCode": 200, "body": json.dumps({"answer": a})},
        lambda a: {"candidates": [{"content": {"role": "model", "parts": [{"text": a}]}}]},
        lambda a: [{"choices": [{"delta": {"content": a}}]}, {"choices": [{"delta": {}, "finish_reason": "stop"}]}],
        lambda a: {"messages": [built("HumanMessage", "?"), built("AIMessage", a or " ")]} if a else a,
    ],
)
def test_the_answer_is_found_an_empty_one_too(shape, answer):
    assert answer_in(shape(answer)) == answer


def test_the_last_message_of_the_assistant_is_the_answer():
    turns = [message("user", "a"), message("assistant", "b"), message("user", "c"), message("assistant", "d"), message("tool", "e")]
    assert answer_in(turns) == answer_in({"messages": turns}) == "d"


@pytest.mark.parametrize("state", [{"code": 0, "message": "ok"}, {"code": 200, "success": True, "message": "操作成功"}])
def test_the_state_of_an_envelope_is_not_the_answer(state):
    assert answer_in({**state, "data": {"answer": "有 12 天。"}}) == "有 12 天。"
    assert answer_in({**state, "data": "One year."}) == "One year."


@pytest.mark.parametrize("text", ['{"年假": 12, "单位": "天"}', "[1] One year.", '{"years": 1, "unit": "year"}'])
def test_an_answer_that_looks_like_json_is_the_answer(text):
    assert answer_in({"answer": text}) == text


@pytest.mark.parametrize(
    "given", [None, 3, False, [], {}, {"a": "b", "c": "d"}, [message("user", "a")], message("user", "a"), {"error": "timeout"}]
)
def test_where_nothing_is_answered_there_is_no_answer(given):
    assert answer_in(given) is None


@pytest.mark.parametrize("value", [{"question": ZH}, [ZH], ZH, EN])
def test_a_text_of_json_stands_for_its_value(value):
    assert value_of(json.dumps(value)) == value


@pytest.mark.parametrize("value", [{"question": ZH}, {"answer": EN}, [EN]])
def test_json_in_a_text_within_json_is_read_as_well(value):
    assert value_of(json.dumps(json.dumps(value))) == value


def test_numbers_that_a_server_has_read_out_of_texts_are_texts_again():
    assert (value_of(12), value_of(1.5), value_of(True), value_of(None)) == ("12", "1.5", True, None)


@pytest.mark.parametrize("text", ["3", "null", "true", "{not json}", '"open', "[1](CITE) 有 12 天。", ""])
def test_other_texts_stay_as_they_are(text):
    assert value_of(text) == text


@given(ANY)
def test_nothing_an_application_may_put_there_breaks_the_search(value):
    asked, answer = asked_in(value), answer_in(value)
    assert asked.question is None or asked.question.strip()
    assert answer is None or isinstance(answer, str)
    assert all(turn["role"] in ("user", "assistant") and turn["content"] for turn in asked.history)
