"""Open WebUI's sources: parallel lists become chunks."""

import pytest

from ragstone.collect.base import Chunk, Kept, Received
from ragstone.collect.mapping import read
from ragstone.collect.spec import Spec

SPEC = Spec(answer="choices[0].message.content", contexts="chunks", reader="openwebui")
SOURCES = [
    {
        "source": {"id": "kb", "name": "人事知识库"},
        "document": ["年假五天", "病假要证明"],
        "metadata": [{"name": "手册.pdf", "id": "m1"}, {"source": "s"}],
        "distances": [0.5, "0.25"],
    },
    {"source": {"name": "Handbook"}, "document": ["Five days"]},
]
CHUNKS = (
    Chunk("年假五天", "m1", 0.5, "手册.pdf"),
    Chunk("病假要证明", None, 0.25, "人事知识库"),
    Chunk("Five days", None, None, "Handbook"),
)
WORDS = 'data: {"choices":[{"index":0,"delta":{"content":"五天"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


def found(body):
    return read(SPEC, Kept("q", (Received("ask", body),))).found


def chat(**more):
    return {"choices": [{"message": {"content": "五天"}}], **more}


@pytest.mark.parametrize(
    ("body", "chunks"),
    [
        (chat(sources=SOURCES), CHUNKS),
        (chat(sources=[]), ()),
        (chat(), None),
        (chat(sources="odd"), None),
        (chat(sources=[5, {"document": "odd"}, {"document": [7]}]), None),
    ],
)
def test_sources_of_a_whole_response(body, chunks):
    assert found(body).chunks == chunks


def test_sources_of_a_stream():
    import orjson

    event = orjson.dumps({"sources": SOURCES}).decode()
    assert found(f"data: {event}\n\n{WORDS}").chunks == CHUNKS
    single = [orjson.dumps({"event": {"type": "source", "data": source}}).decode() for source in SOURCES]
    assert found("".join(f"data: {text}\n\n" for text in single) + WORDS).chunks == CHUNKS
    assert (found(WORDS).answer, found(WORDS).chunks) == ("五天", None)
