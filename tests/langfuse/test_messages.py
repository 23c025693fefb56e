"""Who said what, in the forms in which frameworks write the messages of a chat."""

import pytest

from ragstone.langfuse.messages import blocks_in, content_of, of_another, role_of, stream_in, turns_in

ZH, EN = "入职满一年有几天年假？", "How long is the warranty?"


def built(name, text):
    """A message as LangChain serialises its objects."""
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": {"content": text}}


FORMS = [
    lambda text: {"role": "user", "content": text},
    lambda text: {"role": "User", "text": text, "files": []},
    lambda text: {"type": "human", "content": text},
    lambda text: {"type": "human", "data": {"content": text}},
    lambda text: built("HumanMessage", text),
    lambda text: {"role": "user", "content": [{"type": "text", "text": text}, {"type": "image_url", "image_url": {}}]},
    lambda text: {"role": "user", "content": [{"text": text}]},
    lambda text: {"role": "user", "_content": [{"text": text}], "_meta": {}},
    lambda text: {"role": "user", "parts": [{"type": "text", "content": text}]},
    lambda text: {"role": "user", "parts": [{"text": text}]},
]


@pytest.mark.parametrize("text", [ZH, EN])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_message_says_its_text(form, text):
    assert list(turns_in([form(text)])) == [{"role": "user", "content": text}]
    assert not of_another(form(text), ("user", "human"))


@pytest.mark.parametrize(
    "message",
    [
        *({"role": "system", "content": "x"}, {"role": "tool", "content": "x"}, built("SystemMessage", "x"), built("ToolMessage", "x")),
        *({"role": "assistant", "content": None, "tool_calls": [{}]}, {"role": "assistant", "content": ""}, "x", None, {}),
        {"role": "user", "content": [{"type": "tool_result", "content": "x"}]},
        {"role": "assistant", "parts": [{"type": "reasoning", "content": "x"}, {"type": "tool_call", "name": "x"}]},
    ],
)
def test_what_others_say_and_what_is_not_said_is_no_turn(message):
    assert list(turns_in([message])) == []


def test_thoughts_and_tools_are_not_said():
    blocks = [{"type": "thinking", "text": "让我想想"}, {"type": "text", "text": "有 12 天"}, {"type": "text", "text": "。"}]
    assert blocks_in(blocks) == content_of({"role": "assistant", "content": blocks}) == "有 12 天。"
    assert blocks_in([{"text": "a"}]) is blocks_in([]) is blocks_in("a") is None


def test_a_role_is_told_by_itself_by_its_type_or_by_its_class():
    assert [role_of(one) for one in ({"role": "model"}, {"type": "ai"}, built("AIMessageChunk", ""), {"role": "tool"}, {}, 3)] == [
        *("assistant", "assistant", "assistant", "tool", None, None)
    ]


@pytest.mark.parametrize("text", ["有 12 天。", "One year."])
def test_pieces_of_a_stream_are_one_answer(text):
    deltas = [{"role": "assistant", "content": text[:2]}, {"content": text[2:]}, {"content": None}]
    chunks = [*({"choices": [{"index": 0, "delta": one}]} for one in deltas), {"choices": [], "usage": {"total_tokens": 3}}]
    assert stream_in(chunks) == text
    assert stream_in([built("AIMessageChunk", text[:2]), {"type": "AIMessageChunk", "content": text[2:]}]) == text


@pytest.mark.parametrize(
    "given", [None, [], "a", ["a"], [{"content": "a"}], [{"choices": [{"message": {"content": "a"}}]}], [{"choices": ["a"]}]]
)
def test_other_lists_are_no_stream(given):
    assert stream_in(given) is None
