"""Streams: a stream of a whole response reads like the whole response, and one without its end is told apart."""

from itertools import pairwise

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.collect.base import Kept, Reading, Received
from ragstone.collect.events import Event, events_of, is_lines
from ragstone.collect.mapping import read
from ragstone.collect.spec import Spec
from ragstone.collect.streams import assemble, is_stream

CHUNK = {"id": "c1", "content": "病假需要医院证明。", "similarity": 0.72, "document_name": "制度.docx"}


def sse(*events, end="\n", space=" ") -> str:
    """One text of server-sent events; an event is its data, or a pair of name and data; texts go as they are."""
    pieces = []
    for event in events:
        name, data = event if isinstance(event, tuple) else (None, event)
        named = f"event:{space}{name}{end}" if name else ""
        data = data if isinstance(data, str) else orjson.dumps(data).decode()
        pieces.append(f"{named}data:{space}{data}{end}{end}")
    return "".join(pieces)


def lines(*events) -> str:
    return "".join(orjson.dumps(event).decode() + "\n" for event in events)


def reading(text: str, spec: Spec) -> Reading:
    return read(spec, Kept("q1", (Received("ask", text),)))


def delta(finish=None, **given):
    return {"choices": [{"index": 0, "delta": given, "finish_reason": finish}]}


OPENAI = Spec(answer="choices[0].message.content", contexts="choices[0].message.reference", context_text="content")
FASTGPT = Spec(answer="choices[0].message.content", contexts="chunks", reader="fastgpt", error="error")
DIFY = Spec(answer="answer", contexts="metadata.retriever_resources", context_text="content", error="code && message || null")
WORKFLOW = Spec(answer="data.outputs.answer", contexts="data.outputs.result", error="data.error")
RAGFLOW = Spec(answer="data.answer", contexts="data.reference.chunks", error="code != `0` && message || null", success="code == `0`")


def ragflow(answer, final=False, chunks=(), **more):
    return {"code": 0, "data": {"answer": answer, "final": final, "reference": {"chunks": list(chunks)}, **more}}


# ------------------------------------------------------------------ events
@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("data: 1\n\ndata:2\n\n", [(None, 1), (None, 2)]),
        ("\ufeffdata: {}\r\n\r\nevent: end\r\ndata: x\r\n\r\n", [(None, {}), ("end", "x")]),
        (': hello\n\ndata: {"a":\ndata: 1}\n\n', [(None, {"a": 1})]),
        ("event: ping\n\ndata: [DONE]\n\ndata: 3", [(None, "[DONE]"), (None, 3)]),
        ("id: 7\nretry: 10\nevent: e\ndata: text with: colon\n\n", [("e", "text with: colon")]),
        ("data:\n\ndata:  two\n\n", [(None, ""), (None, " two")]),
        ('data: "a\u2028b"\n\n', [(None, "a\u2028b")]),
        ('{"a": 1}\n\n{"b": 2}\r\n{"c', [(None, {"a": 1}), (None, {"b": 2}), (None, '{"c')]),
        ("", []),
    ],
)
def test_events(text, events):
    assert events_of(text) == tuple(Event(*event) for event in events)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("data: {}\n\n", True),
        ("event: x\ndata: {}", True),
        (": comment\n\ndata:1", True),
        ('{"a": 1}\n{"b": 2}\n', True),
        ('{"a": 1}\n{"b', True),
        ('{\n  "a": 1,\n', False),
        ("<html>data: x", False),
        ("database: none", False),
        ("", False),
        ("一段文字", False),
    ],
)
def test_a_stream_is_known_by_its_shape(text, expected):
    assert is_stream(text, Spec()) is expected


def test_one_line_is_a_stream_only_if_it_was_asked_for():
    assert not is_lines('{"answer": "x')
    assert is_stream('{"answer": "x', Spec(stream="jsonl"))


# ------------------------------------------------------------------ shapes of platforms
FLOW = [{"moduleType": "datasetSearchNode", "quoteList": [{"id": "d1", "q": "病假", "a": "要证明", "score": 0.5, "sourceName": "制度"}]}]
WORDS = [("answer", delta(content="需要")), ("answer", delta(content="证明。")), ("answer", delta("stop"))]


@pytest.mark.parametrize(
    "events",
    [
        [("flowNodeStatus", {"status": "running", "name": "搜索"}), *WORDS, ("answer", "[DONE]"), ("flowResponses", FLOW)],
        [*WORDS, ("flowResponses", FLOW), ("answer", "[DONE]")],
        [("flowNodeResponse", FLOW[0]), *WORDS, ("answer", "[DONE]")],
    ],
    ids=["chunks after the end", "chunks before the end", "node by node"],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_fastgpt(events, end):
    found = reading(sse(*events, end=end), FASTGPT).found
    assert found.answer == "需要证明。"
    assert [(c.id, c.text, c.score, c.source) for c in found.chunks] == [("d1", "病假\n要证明", 0.5, "制度")]


def test_fastgpt_form():
    text = sse(("interactive", {"interactive": {"type": "userSelect", "params": {}}}), ("answer", delta("stop")), ("answer", "[DONE]"))
    assert reading(text, FASTGPT).trouble.word == "interactive"


def test_dify_chat():
    text = (
        sse(
            {"event": "workflow_started", "data": {"id": "w"}},
            {"event": "node_finished", "data": {"error": "one node failed", "outputs": {"answer": "no"}}},
            {"event": "agent_thought", "thought": "hm", "answer": ""},
            {"event": "message", "answer": "需要"},
            {"event": "message", "answer": "证明。"},
        )
        + "event: ping\n\n"
    )
    end = sse(
        {"event": "message_end", "metadata": {"retriever_resources": [CHUNK]}}, {"event": "workflow_finished", "data": {"error": None}}
    )
    found = reading(text + end, DIFY).found
    assert (found.answer, [c.text for c in found.chunks]) == ("需要证明。", [CHUNK["content"]])
    assert reading(text, DIFY).trouble.word == "broken_stream"
    replaced = sse({"event": "message_replace", "answer": "换了一句。"})
    assert reading(text + replaced + end, DIFY).found.answer == "换了一句。"


def test_dify_workflow():
    outputs = {"answer": "Sick leave needs a note.", "result": [{"content": "note", "title": "T"}]}
    text = sse(
        {"event": "workflow_started", "data": {"id": "w"}},
        {"event": "node_finished", "data": {"error": "a branch that was caught", "status": "failed", "outputs": {"answer": "x"}}},
        {"event": "text_chunk", "data": {"text": "Sick"}},
    )
    end = sse({"event": "workflow_finished", "data": {"status": "succeeded", "outputs": outputs, "error": None}})
    assert reading(text + end, WORKFLOW).found.answer == "Sick leave needs a note."
    assert reading(text, WORKFLOW).trouble.word == "broken_stream"
    failed = sse({"event": "workflow_finished", "data": {"status": "failed", "outputs": {}, "error": "上游超时"}})
    assert str(reading(text + failed, WORKFLOW).trouble) == "platform_error: 上游超时"


@pytest.mark.parametrize("space", ["", " "])
def test_ragflow_native(space):
    events = [
        ragflow("", start_to_think=True),
        ragflow("想一想"),
        ragflow("", end_to_think=True),
        ragflow("需要"),
        ragflow("证明。"),
        ragflow("需要证明。 [ID:0]", final=True, chunks=[CHUNK]),
        {"code": 0, "data": True},
    ]
    found = reading(sse(*events, space=space), RAGFLOW).found
    assert found.answer == "需要证明。 [ID:0]"
    assert [c.text for c in found.chunks] == [CHUNK["content"]]
    assert reading(sse(*events[:5], space=space), RAGFLOW).trouble.word == "broken_stream"


def test_thinking_without_a_last_event_of_the_whole_text():
    thought = [ragflow("", start_to_think=True), ragflow("想一想"), ragflow("", end_to_think=True)]
    assert reading(sse(*thought, ragflow("需要"), ragflow("证明。"), {"code": 0, "data": True}), RAGFLOW).found.answer == "需要证明。"


def test_ragflow_text_so_far():
    texts = ["需", "需要医院开的证", "需要医院开的证明才行", "需要医院开的证明才行。"]
    text = sse(*[ragflow(text, chunks=[CHUNK]) for text in texts], {"code": 0, "data": True})
    assert reading(text, RAGFLOW).found.answer == texts[-1]


def test_ragflow_failing_in_the_middle():
    text = sse(ragflow("需"), {"code": 500, "message": "模型不可用", "data": {"answer": "**ERROR**: x"}}, {"code": 0, "data": True})
    result = reading(text, RAGFLOW)
    assert (result.found, str(result.trouble)) == (None, "platform_error: 模型不可用")


def test_openai_with_a_last_word_on_content_and_reference():
    text = sse(
        delta(role="assistant", content=""),
        delta(reasoning_content="想"),
        delta(content="需要"),
        delta("stop", content=None, final_content="需要证明。[ID:0]", reference=[CHUNK]),
        "[DONE]",
    )
    found = reading(text, OPENAI).found
    assert (found.answer, [c.id for c in found.chunks]) == ("需要证明。[ID:0]", ["c1"])


def test_deltas_of_other_choices_and_the_halves_of_a_character():
    text = sse(delta(content="好"), {"choices": [{"index": 1, "delta": {"content": "其他"}}]})
    text += 'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\ndata: {"choices":[{"delta":{"content":"\\ude00"}}]}\n\n'
    assert reading(text + sse(delta("stop")), OPENAI).found.answer == "好😀"


def test_a_whole_message_at_the_end_counts():
    text = sse({"choices": [{"index": 0, "message": {"role": "assistant", "content": "五天"}, "finish_reason": "stop"}]}, "[DONE]")
    assert reading(text, OPENAI).found.answer == "五天"


def test_anythingllm_false_is_no_error():
    spec = Spec(answer="textResponse", contexts="sources", error="error")
    part = {"type": "textResponseChunk", "sources": [], "close": False, "error": False}
    end = {"type": "finalizeResponseStream", "textResponse": "", "sources": [{"text": "t"}], "close": True, "error": False}
    text = sse({**part, "textResponse": "Five "}, {**part, "textResponse": "days."})
    assert reading(text + sse(end), spec).found.answer == "Five days."
    assert reading(text, spec).trouble.word == "broken_stream"
    aborted = sse({"type": "abort", "textResponse": None, "error": "no such model", "close": True})
    assert str(reading(text + aborted, spec).trouble) == "platform_error: no such model"


def test_openai_responses():
    spec = Spec(answer="join('', output[?type=='message'].content[] | [?type=='output_text'].text)")
    whole = {"output": [{"type": "message", "content": [{"type": "output_text", "text": "Five days."}]}]}
    started = sse(("response.output_text.delta", {"type": "response.output_text.delta", "delta": "Five"}))
    done = sse(("response.completed", {"type": "response.completed", "response": whole}))
    assert reading(started + done, spec).found.answer == "Five days."
    assert reading(started, spec).trouble.word == "broken_stream"


def test_json_lines():
    spec = Spec(answer="message.content", contexts="docs", stream="jsonl")
    parts = [{"message": {"content": "Five "}, "done": False}, {"message": {"content": "days."}, "done": False}]
    end = {"message": {"content": ""}, "docs": ["a chunk"], "done": True}
    found = reading(lines(*parts, end), spec).found
    assert (found.answer, [c.text for c in found.chunks]) == ("Five days.", ["a chunk"])
    assert reading(lines(*parts), spec).trouble.word == "broken_stream"


def test_plain_texts_under_a_name_are_joined():
    text = 'event: answer\ndata: Five\n\nevent: answer\ndata:  days.\n\nevent: docs\ndata: ["a chunk"]\n\n'
    found = reading(text, Spec(answer="answer", contexts="docs")).found
    assert (found.answer, [c.text for c in found.chunks]) == ("Five days.", ["a chunk"])


# ------------------------------------------------------------------ errors and ends
@pytest.mark.parametrize(
    ("event", "message"),
    [
        (("error", {"message": "余额不足"}), "余额不足"),
        ({"event": "error", "status": 400, "code": "completion_request_error", "message": "upstream"}, "upstream"),
        ({"error": {"message": "model overloaded", "code": 5}}, "model overloaded"),
        ({"error": "bare text"}, "bare text"),
        (("error", "plain words"), "plain words"),
        (("conversation.chat.failed", {"last_error": {"code": 5000, "msg": "event failed"}}), "event failed"),
        ({"type": "response.failed", "response": {"error": {"message": "server busy"}}}, "server busy"),
        (("error", {"odd": 1}), "the application reports an error without saying which"),
    ],
)
def test_an_error_in_the_middle_is_one_although_text_came(event, message):
    result = reading(sse(delta(content="Five"), event, delta("stop"), "[DONE]"), OPENAI)
    assert (result.found, result.trouble.word, result.trouble.message) == (None, "platform_error", message)


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        (sse(delta(content="Fi")), OPENAI),
        (sse(delta(content="Fi")) + 'data: {"choices":[{"del', OPENAI),
        (sse(*WORDS), FASTGPT),
        (sse({"answer": "x"}) + 'data: {"answ', Spec(answer="answer")),
        (sse({"answer": "x"}) + 'data: [{"a', Spec(answer="answer")),
        (sse(("conversation.message.delta", {"type": "answer", "content": "x"})), Spec(answer="answer", reader="coze")),
        (": only a comment\n\n", Spec(answer="answer")),
        (sse({"content": "a", "is_end": False}), Spec(answer="content")),
    ],
)
def test_a_stream_without_its_end_is_told(text, spec):
    result = reading(text, spec)
    assert (result.found, result.trouble.word) == (None, "broken_stream")


def test_an_end_is_not_asked_of_a_shape_that_is_not_known():
    assert reading(sse({"answer": "Five "}, {"answer": "days."}), Spec(answer="answer")).found.answer == "Five days."
    assert reading(sse(delta(content="x"), delta("stop")), OPENAI).found.answer == "x"


# ------------------------------------------------------------------ what the assembled object holds
def test_keys_are_merged_and_events_kept():
    text = sse({"a": 1, "o": {"x": [1], "y": None}}, {"a": None, "o": {"y": {"z": 2}, "x": []}}, {"o": True}, ("n", [1]), {"a": 2})
    whole = assemble(text, Spec())
    assert whole["a"] == 2
    assert whole["o"] == {"x": [1], "y": {"z": 2}}
    assert whole["n"] == [1]
    assert whole["events"][1] == {"event": None, "data": {"a": None, "o": {"y": {"z": 2}, "x": []}}}
    assert [event["event"] for event in whole["events"]] == [None, None, None, "n", None]


def test_the_joined_answer_stands_where_the_mapping_looks():
    whole = assemble(sse(ragflow("a"), ragflow("b"), {"code": 0, "data": True}), RAGFLOW)
    assert whole["data"]["answer"] == "ab"
    assert whole["events"][0]["data"]["data"]["answer"] == "a"


def test_a_stream_kept_as_an_object_reads_as_the_stream():
    spec = Spec(answer="t || u", contexts="docs")
    text = sse({"t": "Five ", "close": False}, {"t": "days."}, {"docs": ["c"], "close": True})
    whole = orjson.loads(orjson.dumps(assemble(text, spec)))
    assert read(spec, Kept("q", (Received("ask", whole),))) == reading(text, spec)
    assert reading(text, spec).found.answer == "Five days."
    cut = orjson.loads(orjson.dumps(assemble(text[:-40], spec)))
    assert read(spec, Kept("q", (Received("ask", cut),))).trouble.word == "broken_stream"


def test_replace_takes_the_place_of_all_before():
    spec = Spec(answer="t", replace="whole")
    assert assemble(sse({"t": "a"}, {"t": "x", "whole": "b"}, {"t": "c"}), spec).text == "bc"


@pytest.mark.parametrize("pieces", [["a", "a"], ["1", "10", "100"], ["哈哈", "哈哈哈"], ["", "x"], ["abc", "d"]])
def test_pieces_that_begin_alike_by_chance_are_joined(pieces):
    assert assemble(sse(*[{"t": piece} for piece in pieces]), Spec(answer="t")).text == "".join(pieces)


# ------------------------------------------------------------------ laws
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=60).filter(
    lambda text: text.strip() and "think" not in text and "error" not in text.lower()
)


@given(
    TEXT, st.lists(st.integers(0, 60), max_size=5), st.lists(TEXT, max_size=3), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", " "])
)
def test_the_stream_of_a_response_reads_like_the_response(answer, cuts, texts, end, space):
    places = sorted({0, len(answer), *(min(cut, len(answer)) for cut in cuts)})
    pieces = [answer[a:b] for a, b in pairwise(places)]
    chunks = [{"id": str(at), "content": text} for at, text in enumerate(texts)]
    whole = {"choices": [{"index": 0, "message": {"role": "assistant", "content": answer, "reference": chunks}, "finish_reason": "stop"}]}
    stream = sse(*[delta(content=piece) for piece in pieces], delta("stop", reference=chunks), "[DONE]", end=end, space=space)
    expected = read(OPENAI, Kept("q", (Received("ask", whole),)))
    got = reading(stream, OPENAI)
    assert got.found.answer == expected.found.answer == answer
    assert got.found.chunks == expected.found.chunks
    assert got.trouble is expected.trouble is None


@given(st.text(max_size=200), st.sampled_from([OPENAI, FASTGPT, DIFY, WORKFLOW, RAGFLOW, Spec(answer="@", stream="jsonl")]))
def test_no_text_makes_a_stream_fail(text, spec):
    for body in (text, f"data: {text}\n\n", f"event: answer\ndata: {text}", '{"a":1}\n' + text):
        reading(body, spec)


@given(st.integers(0, 400))
def test_a_dify_stream_cut_anywhere_is_never_taken_for_whole(place):
    text = sse({"event": "message", "answer": "需要"}, {"event": "message", "answer": "证明。"}, {"event": "message_end", "metadata": {}})
    result = reading(text[: min(place, len(text) - 5)], DIFY)
    assert result.trouble is not None
    assert result.found is None
