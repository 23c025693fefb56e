"""Every platform over real sockets: what is sent is what it takes, what it answers is read, in each of its shapes."""

from collections.abc import Mapping

import pytest
from support.rag_platforms import FACTS, KEY, LEAVE, NEEDS, NOTHING, PARKING, UNKNOWN, platform
from support.rag_server import RagServer

from ragstone.collect.base import Kept, Reading, Row
from ragstone.collect.marks import cleaned
from ragstone.collect.preset import platforms, preset
from ragstone.collect.select import make_application
from ragstone.config import CollectSettings, Config, StepSettings
from ragstone.errors import AuthError, ConfigError, EndpointError, StoppedError
from ragstone.transport.retry import Backoff
from ragstone.types import Sample

ENVIRON = {"RAGSTONE_COLLECT_API_KEY": KEY}
RETRIEVES = ("fastgpt-search", "dify-retrieval", "ragflow-retrieval")
SCORELESS = ("maxkb",)


async def asked(
    name: str, variant: str = "", questions: tuple[str, ...] = (LEAVE,), environ: Mapping[str, str] = ENVIRON, lang="en", **given
) -> tuple[list[Kept], list[Reading], RagServer]:
    """Ask a platform some questions, one after the other, as it is by itself or with more settings."""
    async with RagServer(platform(name, variant)) as server:
        table = {"platform": name, "url": server.url, "retries": 1, **NEEDS[name], **given}
        application = make_application(Config(collect=CollectSettings(**table)), environ, lang, backoff=Backoff(0, 0))
        application.expect(len(questions))
        try:
            kept = [await application.ask(Row(Sample(id=f"r{at}", question=text))) for at, text in enumerate(questions)]
            return kept, [application.read(each) for each in kept], server
        finally:
            await application.close()


def streams(name: str) -> list[str | None]:
    """The settings of `stream` that make a difference."""
    known = preset(name)
    return [None, *(["event-sse"] if known.streaming is not None else ["none"] if known.streams else [])]


CASES = [(name, stream) for name in platforms() for stream in streams(name)]


# ------------------------------------------------------------------ every platform, whole and as a stream
@pytest.mark.parametrize(("name", "stream"), CASES)
async def test_answers_and_chunks_are_read(name, stream):
    _, readings, _ = await asked(name, questions=(LEAVE, PARKING), stream=stream)
    for question, reading in zip((LEAVE, PARKING), readings, strict=True):
        assert reading.trouble is None
        assert without_marks(reading.found) == (None if name in RETRIEVES else FACTS[question].answer)
        if name == "openai" or (name, stream) == ("open-webui", "none"):
            assert reading.found.chunks is None
        else:
            assert [(c.id, c.text, c.score, c.source) for c in reading.found.chunks] == list(FACTS[question].chunks)


def without_marks(found):
    """The answer as it is judged."""
    return cleaned(found)[0]


@pytest.mark.parametrize(("name", "stream"), CASES)
async def test_nothing_retrieved_is_not_the_same_as_not_exposed(name, stream):
    _, (reading,), _ = await asked(name, questions=(UNKNOWN,), stream=stream)
    exposed = name != "openai" and (name, stream) != ("open-webui", "none")
    assert reading.trouble is None
    assert reading.found.chunks == (() if exposed else None)


@pytest.mark.parametrize("name", platforms())
async def test_the_address_may_hold_what_the_path_begins_with(name):
    async with RagServer(platform(name)) as server:
        head = "/".join(part for part in preset(name).fields["path"].split("/")[:2] if "$" not in part)
        table = {"platform": name, "url": server.url + head, **NEEDS[name]}
        application = make_application(Config(collect=CollectSettings(**table)), ENVIRON)
        kept = await application.ask(Row(Sample(id="1", question=LEAVE)))
        await application.close()
        assert application.read(kept).trouble is None


@pytest.mark.parametrize("name", [name for name in platforms() if name not in ("langserve", "hayhooks")])
async def test_a_wrong_key_stops_and_is_told_as_one(name):
    kept, _, _ = await asked(name, environ={"RAGSTONE_COLLECT_API_KEY": "wrong-key-0123456789"})
    assert isinstance(kept[0].stop, AuthError)
    assert "RAGSTONE_COLLECT_API_KEY" in str(kept[0].stop)
    assert "wrong-key-0123456789" not in str(kept[0].stop)


@pytest.mark.parametrize("name", [name for name in platforms() if "app" in NEEDS[name]])
async def test_a_wrong_app_stops(name):
    kept, _, _ = await asked(name, app="other")
    assert isinstance(kept[0].stop, StoppedError), kept[0].trouble


# ------------------------------------------------------------------ versions
@pytest.mark.parametrize(
    ("name", "variant", "given"),
    [
        ("fastgpt", "nested", {}),
        ("fastgpt", "list", {}),
        ("fastgpt", "old", {}),
        ("fastgpt", "thin", {}),
        ("fastgpt", "thin", {"stream": "openai-sse"}),
        ("fastgpt", "late", {"stream": "openai-sse"}),
        ("fastgpt-search", "bare", {}),
        ("dify-chat", "agent", {"stream": "event-sse"}),
        ("dify-chat", "replaced", {"stream": "event-sse"}),
        ("ragflow", "old", {"path": "/api/v1/chats/$app/completions"}),
        ("hayhooks", "replies", {}),
        ("hayhooks", "message", {}),
    ],
)
async def test_other_versions_are_read_as_well(name, variant, given):
    _, (reading,), _ = await asked(name, variant, **given)
    assert reading.trouble is None
    assert reading.found.chunks is not None
    assert [(c.id, c.text, c.score, c.source) for c in reading.found.chunks] == list(FACTS[LEAVE].chunks)
    assert name in RETRIEVES or without_marks(reading.found) == FACTS[LEAVE].answer


@pytest.mark.parametrize(
    ("name", "variant"),
    [("dify-chat", "no-citations"), ("maxkb", "hidden"), ("openai-responses", "no-include"), ("langserve", "text"), ("hayhooks", "text")],
)
async def test_chunks_that_are_not_told_are_null(name, variant):
    _, (reading,), _ = await asked(name, variant)
    assert (reading.trouble, reading.found.chunks) == (None, None)
    assert reading.found.answer == FACTS[LEAVE].answer


async def test_where_the_model_did_not_search_nothing_was_retrieved():
    _, (reading,), _ = await asked("openai-responses", "no-search")
    assert reading.found.chunks == ()


async def test_citations_a_gateway_adds_are_read():
    _, (reading,), _ = await asked("openai", "azure")
    assert [(c.id, c.text, c.source) for c in reading.found.chunks] == [(i, t, d) for i, t, _, d in FACTS[LEAVE].chunks]
    assert without_marks(reading.found) == FACTS[LEAVE].answer


async def test_a_chain_that_returns_a_message_is_read():
    _, (reading,), _ = await asked("langserve", "message")
    assert reading.found.answer == FACTS[LEAVE].answer


@pytest.mark.parametrize(
    ("name", "variant", "given"),
    [
        ("dify-workflow", "own-names", {"body": {"inputs": {"q": "$question"}}, "answer": "data.outputs.reply"}),
        ("langserve", "own-input", {"body": {"input": {"x": "$question"}}}),
        ("hayhooks", "own-argument", {"body": {"text": "$question"}}),
    ],
)
async def test_names_an_author_chose_are_given_in_the_table(name, variant, given):
    _, (reading,), _ = await asked(name, variant, **given)
    assert (reading.trouble, reading.found.answer) == (None, FACTS[LEAVE].answer)


# ------------------------------------------------------------------ further requests
async def test_the_text_of_thin_chunks_is_fetched_once_a_chunk():
    kept, _, server = await asked("fastgpt", "thin")
    fetched = server.asked("/api/core/dataset/data/detail")
    assert [a.query["id"] for a in fetched] == ["k1", "k2"]
    assert all(a.headers["Authorization"] == f"Bearer {KEY}" for a in fetched)
    assert [r.chunk for r in kept[0].received if r.step == "then"] == [0, 1]


async def test_text_that_may_not_be_fetched_is_told():
    (kept,), (reading,), _ = await asked("fastgpt", "thin-refused")
    assert kept.stop is not None  # no other row would fare better
    assert reading.found.answer is not None
    assert "无权操作该知识库" in reading.trouble.message


async def test_every_row_of_maxkb_is_a_conversation_of_its_own():
    _, _, server = await asked("maxkb", questions=(LEAVE, PARKING))
    paths = [a.path for a in server.seen]
    assert paths == [
        *("/chat/api/open", "/chat/api/chat_message/conv0", "/chat/api/historical_conversation/conv0/record/rec-conv0"),
        *("/chat/api/open", "/chat/api/chat_message/conv1", "/chat/api/historical_conversation/conv1/record/rec-conv1"),
    ]


async def test_coze_without_a_stream_is_looked_at_until_it_is_done():
    _, _, server = await asked("coze", stream="none")
    assert [a.path for a in server.seen] == ["/v3/chat", "/v3/chat/retrieve", "/v3/chat/retrieve", "/v3/chat/message/list"]


async def test_sessions_are_new_for_every_row():
    _, _, server = await asked("anythingllm", questions=(LEAVE, LEAVE))
    assert len({a.body["sessionId"] for a in server.seen}) == 2


# ------------------------------------------------------------------ failures
@pytest.mark.parametrize(
    ("name", "variant", "given", "word", "said"),
    [
        ("fastgpt", "model-error", {}, "platform_error", "模型返回为空"),
        ("fastgpt", "form", {}, "interactive", ""),
        ("dify-chat", "error", {"stream": "event-sse"}, "platform_error", "model is down"),
        ("dify-workflow", "failed", {}, "platform_error", "node LLM failed"),
        ("dify-workflow", "stopped", {}, "platform_error", "data.status"),
        ("dify-workflow", "failed", {"stream": "event-sse"}, "platform_error", "node LLM failed"),
        ("ragflow", "model-error", {}, "platform_error", "no model"),
        ("anythingllm", "abort", {}, "platform_error", "no model is set"),
        ("coze", "failed", {}, "platform_error", "bot is busy"),
        ("coze", "failed", {"stream": "none"}, "platform_error", "bot is busy"),
        ("openai-responses", "incomplete", {}, "platform_error", "max_output_tokens"),
    ],
)
async def test_a_failure_is_that_rows_with_the_words_of_the_platform(name, variant, given, word, said):
    (kept,), (reading,), _ = await asked(name, variant, **given)
    assert kept.stop is None or isinstance(kept.stop, StoppedError)
    assert (reading.trouble.word, said in reading.trouble.message) == (word, True), reading.trouble
    assert reading.found is None or reading.found.chunks is None


async def test_an_error_text_stays_as_the_answer_of_its_row():
    _, (reading,), _ = await asked("ragflow", "model-error")
    assert reading.found.answer == "**ERROR**: no model"


async def test_a_question_too_long_for_the_platform_is_that_rows_trouble_alone():
    kept, readings, _ = await asked("dify-retrieval", questions=("问" * 251, LEAVE))
    assert "250" in readings[0].trouble.message
    assert [k.stop for k in kept] == [None, None]
    assert readings[1].trouble is None


@pytest.mark.parametrize(
    ("name", "variant", "kind"),
    [
        ("fastgpt", "no-app", EndpointError),
        ("dify-chat", "workflow-app", EndpointError),
        ("dify-chat", "quota", StoppedError),
        ("maxkb", "unpublished", EndpointError),
    ],
)
async def test_what_would_fail_every_row_stops(name, variant, kind):
    kept, _, _ = await asked(name, variant)
    assert isinstance(kept[0].stop, kind), (kept[0].trouble, kept[0].stop)


@pytest.mark.parametrize(
    ("name", "variant", "given", "said"),
    [
        ("dify-workflow", "own-names", {"body": {"inputs": {"q": "$question"}}}, "at data.outputs there are: reply"),
        ("langserve", "own-output", {}, "at output there are: said"),
        ("hayhooks", "own-output", {}, "at result there are: said"),
    ],
)
async def test_names_that_are_not_tried_are_told(name, variant, given, said):
    kept, _, _ = await asked(name, variant, **given)
    assert isinstance(kept[0].stop, ConfigError)
    assert said in str(kept[0].stop)


async def test_nothing_of_the_key_is_kept():
    kept, _, _ = await asked("maxkb")
    assert KEY not in str(kept)


async def test_a_step_of_the_user_takes_the_place_of_the_platforms():
    step = StepSettings(path="/api/core/dataset/data/detail?id=$chunk.id", per="chunk", text="data.q")
    _, (reading,), _ = await asked("fastgpt", "thin", then=(step,))
    assert [c.text for c in reading.found.chunks] == [c[1].splitlines()[0] for c in FACTS[LEAVE].chunks]


def test_what_is_unknown_to_a_platform_has_an_answer_of_its_own():
    assert NOTHING.answer not in {found.answer for found in FACTS.values()}
