"""Responses in the shapes that servers of several versions really send, read by the platforms' own tables."""

from typing import Any

import orjson
import pytest

from ragstone.collect.base import Kept, Reading, Received
from ragstone.collect.mapping import read
from ragstone.collect.marks import cleaned
from ragstone.collect.preset import preset
from ragstone.collect.spec import Spec

ANSWER = "保修期为一年。"
SEARCH = {"moduleType": "datasetSearchNode", "quoteList": [{"id": "q1", "q": "保修：自购买起一年。", "a": "", "sourceName": "手册.pdf"}]}
CHAT = {"moduleType": "chatNode", "moduleName": "对话"}
SOURCES = [{"id": "v1", "title": "手册.pdf", "text": "保修：自购买起一年。", "score": 0.7}]


def table(name: str, **own: Any) -> Spec:
    known = preset(name)
    return Spec(platform=name, **{**known.fields, **own})


def sse(*events: Any) -> str:
    pieces = [event if isinstance(event, tuple) else (None, event) for event in events]
    told = [(name, data if isinstance(data, str) else orjson.dumps(data).decode()) for name, data in pieces]
    return "".join((f"event: {name}\n" if name else "") + f"data: {data}\n\n" for name, data in told)


def reading(name: str, body: Any, *, then: Any = None, **own: Any) -> Reading:
    later = () if then is None else (Received("then", then),)
    return read(table(name, **own), Kept("q1", (Received("ask", body), *later)))


def word(found: Reading) -> str | None:
    return found.trouble.word if found.trouble else None


def delta(text: str | None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text, **more}, "finish_reason": finish}]}


# ------------------------------------------------------------------ FastGPT
def test_fastgpt_quotes_told_again_by_the_ai_node_count_once():
    choices = [{"index": 0, "message": {"role": "assistant", "content": ANSWER}}]
    found = reading("fastgpt", {"responseData": [SEARCH, {**CHAT, "quoteList": SEARCH["quoteList"]}], "choices": choices}).found
    assert [chunk.id for chunk in found.chunks] == ["q1"]
    alone = reading("fastgpt", {"responseData": [{**CHAT, "quoteList": SEARCH["quoteList"]}], "choices": choices}).found
    assert [chunk.id for chunk in alone.chunks] == ["q1"]


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [([CHAT], "empty_answer"), ([{"moduleType": "userSelect"}], "interactive"), ([CHAT, {"moduleType": "formInput"}], "interactive")],
)
def test_fastgpt_leaves_the_content_out_where_there_is_no_text(nodes, expected):
    assert word(reading("fastgpt", {"responseData": nodes, "choices": [{"index": 0, "message": {"role": "assistant"}}]})) == expected


@pytest.mark.parametrize("failure", [{"errorText": "模型连接失败"}, {"error": {"message": "模型连接失败", "name": "Error"}}])
@pytest.mark.parametrize("one_by_one", [False, True])
def test_fastgpt_a_node_that_failed_tells_why_there_is_no_answer_in_a_stream(failure, one_by_one):
    nodes = [SEARCH, {**CHAT, **failure}]
    told = [("flowNodeResponse", node) for node in nodes] if one_by_one else [("flowResponses", nodes)]
    found = reading("fastgpt", sse(*told, ("answer", delta(None, "stop")), ("answer", "[DONE]")))
    assert str(found.trouble) == "platform_error: 模型连接失败"
    answered = reading("fastgpt", sse(("answer", delta(ANSWER)), *told, ("answer", delta(None, "stop")), ("answer", "[DONE]")))
    assert (answered.trouble, answered.found.answer) == (None, ANSWER)


# ------------------------------------------------------------------ Dify
def test_dify_thinking_within_details_is_no_answer():
    thought = '<details style="color:gray;padding: 8px;" open> <summary> Thinking... </summary>\n保修？\n</details>\n\n'
    found = reading("dify-chat", {"answer": thought + ANSWER, "metadata": {"retriever_resources": []}}).found
    assert cleaned(found)[:2] == (ANSWER, thought + ANSWER)


PAUSED = {"status": "paused", "outputs": {}, "error": None}


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("dify-workflow", {"workflow_run_id": "w", "data": PAUSED}),
        ("dify-workflow", sse({"event": "workflow_started", "data": {}}, {"event": "workflow_paused", "data": PAUSED})),
        ("dify-chat", sse({"event": "workflow_started", "data": {}}, {"event": "workflow_paused", "data": PAUSED})),
    ],
)
def test_dify_a_flow_that_waits_for_a_person_asks_back(name, body):
    assert word(reading(name, body)) == "interactive"


def test_dify_external_knowledge_has_no_segments():
    records = [{"content": "保修：自购买起一年。", "title": "手册.pdf", "score": 0.9, "metadata": None}]
    (chunk,) = reading("dify-retrieval", {"query": {"content": "保修？"}, "records": records}).found.chunks
    assert (chunk.text, chunk.score, chunk.source) == ("保修：自购买起一年。", 0.9, "手册.pdf")


# ------------------------------------------------------------------ RAGFlow
def so_far(*texts: str) -> str:
    told = [{"code": 0, "data": {"answer": text, "reference": {"chunks": []}, "session_id": "s"}} for text in texts]
    return sse(*told, {"code": 0, "data": True})


@pytest.mark.parametrize("texts", [["保修", "保修期"], ["保修期", "保修期为一年。"], ["保修期为", "保修期为一年。", "保修期##0$$为一年。"]])
def test_ragflow_before_its_pieces_say_whether_they_are_final_each_is_the_text_so_far(texts):
    assert reading("ragflow", so_far(*texts)).found.answer == texts[-1]


def test_ragflow_an_error_is_not_hidden_by_the_final_content():
    end = delta(None, "stop", reference=[], final_content="保修期")
    found = reading("ragflow-openai", sse(delta("保修期"), delta("**ERROR**: 模型超时"), end, "[DONE]"))
    assert (str(found.trouble), found.found) == ("error_answer: **ERROR**: 模型超时", None)
    at_once = reading("ragflow-openai", sse(delta("**ERROR**: 模型超时"), delta(None, "stop", reference=[], final_content=""), "[DONE]"))
    assert (word(at_once), at_once.found.answer) == ("error_answer", "**ERROR**: 模型超时")


def test_a_users_own_pattern_of_error_texts_is_meant_for_whole_answers():
    text = sse(delta("保修期"), delta("一年。"), delta(None, "stop"), "[DONE]")
    assert reading("ragflow-openai", text, fail_if=("^一年",), own=("fail_if",)).trouble is None


# ------------------------------------------------------------------ MaxKB
def piece(text: str, end: bool = False, **more: Any) -> dict[str, Any]:
    return {"chat_id": "c", "id": "r", "operate": True, "content": text, "is_end": end, **more}


def record(**more: Any) -> dict[str, Any]:
    return {"code": 200, "message": "成功", "data": {"content": ANSWER, "chat_id": "c", "id": "r", **more}}


@pytest.mark.parametrize("pieces", [[piece("保修"), piece("Exception:Error code: 401")], [piece("Exception:Error code: 401")]])
def test_maxkb_a_model_that_failed_ends_the_stream_with_its_exception(pieces):
    assert str(reading("maxkb", sse(*pieces)).trouble) == "error_answer: Exception:Error code: 401"


@pytest.mark.parametrize("text", ['<form_rander>{"is_submit": false}</form_rander>', "请填写：\n<form_rander>{\n}</form_rander>"])
def test_maxkb_a_form_is_no_answer(text):
    assert word(reading("maxkb", record(content=text))) == "interactive"
    assert word(reading("maxkb", sse(piece(text), piece("", end=True)))) == "interactive"


def test_maxkb_an_empty_answer_and_the_usage_of_a_stream():
    assert word(reading("maxkb", record(content=""))) == "empty_answer"
    usage = {"completion_tokens": 6, "prompt_tokens": 5, "total_tokens": 11}
    assert reading("maxkb", sse(piece(ANSWER), piece("", end=True, usage=usage))).found.usage == usage


@pytest.mark.parametrize("said", ["未开启显示知识来源", "Displaying knowledge sources is not enabled"])
def test_maxkb_sources_that_are_not_shown_do_not_cost_the_answer(said):
    found = reading("maxkb", record(), then={"code": 500, "message": said, "data": None})
    assert (found.trouble, found.found.answer, found.found.chunks) == (None, ANSWER, None)
    assert word(reading("maxkb", record(), then={"code": 500, "message": "会话不存在", "data": None})) == "platform_error"


# ------------------------------------------------------------------ AnythingLLM
@pytest.mark.parametrize("kind", ["textResponseChunk", "textResponse"])
def test_anythingllm_an_agent_repeats_its_whole_text_at_the_end(kind):
    end = {"type": "finalizeResponseStream", "textResponse": ANSWER, "sources": SOURCES, "close": True, "error": False}
    texts = [ANSWER] if kind == "textResponse" else ["保修期", "为一年。"]
    pieces = [{"type": kind, "textResponse": text, "sources": [], "close": False, "error": None} for text in texts]
    found = reading("anythingllm", sse({"type": "agentThought", "thought": "查找"}, *pieces, end)).found
    assert (found.answer, len(found.chunks)) == (ANSWER, 1)


# ------------------------------------------------------------------ streams without a text
@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("anythingllm", sse({"type": "finalizeResponseStream", "close": True, "error": False}), "empty_answer"),
        ("dify-chat", sse({"event": "message_end", "metadata": {"retriever_resources": []}}), "empty_answer"),
        ("openai", sse(delta(None, "stop"), "[DONE]"), "empty_answer"),
        ("open-webui", sse(delta("", None), delta(None, "content_filter"), "[DONE]"), "blocked"),
        ("openai", sse(delta("保修期"), delta(None, "content_filter"), "[DONE]"), "blocked"),
    ],
)
def test_a_whole_stream_without_a_text_is_an_empty_answer_not_a_wrong_path(name, text, expected):
    assert word(reading(name, text)) == expected


def test_a_path_of_the_users_own_that_finds_nothing_in_a_stream_is_told_as_such():
    text = sse({"event": "message", "answer": ANSWER}, {"event": "message_end", "metadata": {}})
    assert word(reading("dify-chat", text, answer="anwser", own=("answer",))) == "no_answer"


def test_an_answer_a_filter_cut_short_is_no_answer():
    body = {"choices": [{"index": 0, "finish_reason": "content_filter", "message": {"role": "assistant", "content": "保修"}}]}
    assert word(reading("openai", body)) == "blocked"


@pytest.mark.parametrize("name", ["openai", "ragflow-openai", "open-webui"])
def test_null_where_the_answer_of_a_platform_stands_is_an_empty_answer(name):
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function"}]}
    assert word(reading(name, {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]})) == "empty_answer"
    assert word(reading(name, {"choices": []})) == "no_answer"


# ------------------------------------------------------------------ Coze
def test_coze_a_bot_that_waits_for_a_tool_of_the_caller_asks_back():
    waiting = {"id": "1", "conversation_id": "9", "status": "requires_action", "required_action": {"type": "submit_tool_outputs"}}
    assert word(reading("coze", sse(("conversation.chat.requires_action", waiting), ("done", '"[DONE]"')))) == "interactive"
    asked = Received("ask", {"code": 0, "data": {"id": "1", "conversation_id": "9", "status": "in_progress"}})
    later = [Received("then", {"code": 0, "data": waiting}), Received("then", {"code": 0, "data": []})]
    assert word(read(table("coze"), Kept("q1", (asked, *later)))) == "interactive"


# ------------------------------------------------------------------ OpenAI Responses, LangServe, Hayhooks
def test_responses_marks_of_file_citations_are_taken_out():
    parts = [{"type": "output_text", "text": f"{ANSWER} \ue200filecite\ue202turn0file0\ue202turn0file1\ue201"}]
    found = reading("openai-responses", {"status": "completed", "output": [{"type": "message", "content": parts}]}).found
    assert cleaned(found)[0] == ANSWER


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("langserve", {"output": {"answer": {"content": ANSWER, "type": "ai"}, "context": []}}),
        ("hayhooks", {"result": {"replies": [{"_role": "assistant", "_content": [{"text": ANSWER}]}]}}),
        ("hayhooks", {"result": {"llm": {"replies": [{"_role": "assistant", "_content": [{"text": ANSWER}]}]}}}),
    ],
)
def test_messages_in_the_place_of_an_answer_are_read(name, body):
    assert reading(name, body).found.answer == ANSWER


# ------------------------------------------------------------------ bodies that are the answer
@pytest.mark.parametrize("name", ["hayhooks", "langserve"])
def test_a_body_of_plain_text_is_the_answer_of_a_server_whose_author_chose_it(name):
    found = reading(name, ANSWER)
    assert (found.trouble, found.found.answer, found.found.chunks) == (None, ANSWER, None)
    assert reading(name, "[1] One year.").found.answer == "[1] One year."
    assert word(reading(name, '{"result": "One ye')) == "not_json"
    assert word(reading(name, "<div>Log in</div>")) == "not_json"
    assert word(reading(name, "<!doctype html><title>Log in</title>")) == "login_page"
    assert word(reading(name, "  ")) in ("not_json", "empty_answer")
    assert word(reading("ragflow", ANSWER)) == "not_json"


# ------------------------------------------------------------------ words of an answer that look like an error
@pytest.mark.parametrize("text", ["Exception: 是所有异常的基类。", "Exception: the base of all of them."])
def test_maxkb_an_answer_that_begins_with_the_word_exception_is_good(text):
    assert reading("maxkb", record(content=text)).trouble is None
    assert word(reading("maxkb", record(content=text.replace(": ", ":")))) == "error_answer"


@pytest.mark.parametrize(("before", "after"), [("日志里写着 ", "，请重试。"), ("The log says ", ", so try again.")])
def test_an_error_word_in_the_middle_of_a_stream_is_a_word_of_the_answer(before, after):
    chat = sse(delta(before), delta("**ERROR**"), delta(after), delta(None, "stop"), "[DONE]")
    assert reading("ragflow-openai", chat).trouble is None
    assert reading("maxkb", sse(piece(before), piece("Exception:Error"), piece(after), piece("", end=True))).trouble is None


@pytest.mark.parametrize("name", ["hayhooks", "langserve"])
def test_a_plain_text_may_begin_with_thinking_but_not_with_broken_json(name):
    found = reading(name, f"<think>想一想</think>{ANSWER}")
    assert found.trouble is None
    assert found.found.answer.endswith(ANSWER)
    assert word(reading(name, "<error>boom</error>")) == "not_json"
    assert word(reading(name, '[{"answer": ')) == "not_json"


@pytest.mark.parametrize("said", ["模型不可用", "the model is gone"])
def test_what_is_told_beside_an_answer_of_null_is_the_trouble(said):
    assert str(reading("dify-chat", {"answer": None, "message": said}).trouble) == f"platform_error: {said}"
    assert word(reading("dify-chat", {"answer": None, "metadata": {}})) == "empty_answer"
