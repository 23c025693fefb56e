"""Coze's messages: the answer, and what was recalled, whole and as a stream."""

import orjson

from ragstone.collect.base import Chunk, Kept, Reading, Received
from ragstone.collect.mapping import read
from ragstone.collect.readers.coze import read as shaped
from ragstone.collect.spec import Spec, Step

LATER = Spec(error="code != `0` && msg || null", then=(Step(path="/messages", answer="answer", contexts="chunks"),), reader="coze")
STREAM = Spec(answer="answer", contexts="chunks", reader="coze", stream="event-sse")


def text(value) -> str:
    return orjson.dumps(value).decode()


def recall(*slices) -> dict:
    chunks = [{"slice": piece, "score": 0.5, "meta": {"document": {"name": "手册.pdf"}}} for piece in slices]
    return {"type": "verbose", "content": text({"msg_type": "knowledge_recall", "data": text({"chunks": chunks})})}


OTHER = {"type": "verbose", "content": text({"msg_type": "generate_answer_finish", "data": "{}"})}
ANSWER = {"role": "assistant", "type": "answer", "content": "年假五天。"}
CHUNKS = (Chunk("年假", None, 0.5, "手册.pdf"), Chunk("五天", None, 0.5, "手册.pdf"))


def whole(*messages) -> Reading:
    started = Received("ask", {"code": 0, "data": {"id": "c1", "status": "in_progress"}, "msg": ""})
    return read(LATER, Kept("q", (started, Received("then", {"code": 0, "data": list(messages), "msg": ""}))))


def streamed(*events) -> Reading:
    body = "".join(f"event:{name}\ndata:{text(data)}\n\n" for name, data in events)
    return read(STREAM, Kept("q", (Received("ask", body),)))


def test_messages():
    found = whole(recall("年假", "五天"), OTHER, ANSWER, {"type": "follow_up", "content": "还有吗？"}).found
    assert (found.answer, found.chunks) == ("年假五天。", CHUNKS)


def test_nothing_recalled_against_not_told():
    assert whole(recall(), ANSWER).found.chunks == ()
    assert whole(OTHER, ANSWER).found.chunks is None
    assert whole({"type": "verbose", "content": "not json"}, ANSWER).found.chunks is None


def test_a_stream():
    parts = [("conversation.message.delta", {"type": "answer", "content": piece}) for piece in ("年假", "五天。")]
    recalled = ("conversation.message.completed", recall("年假", "五天"))
    end = ("conversation.chat.completed", {"usage": {"token_count": 3}})
    for events in ([recalled, *parts, ("conversation.message.completed", ANSWER), end], [recalled, *parts, end]):
        result = streamed(*events)
        assert (result.trouble, result.found.answer, result.found.chunks) == (None, "年假五天。", CHUNKS)
    assert streamed(recalled, *parts).trouble.word == "broken_stream"
    failed = streamed(*parts, ("conversation.chat.failed", {"last_error": {"code": 4000, "msg": "插件出错"}}))
    assert str(failed.trouble) == "platform_error: 插件出错"


def test_what_holds_no_message_comes_back_as_it_is():
    for body in ({"code": 4000, "msg": "x"}, {"data": {"id": "c"}}, {"data": [5]}, "text", None):
        assert shaped(body) == body
