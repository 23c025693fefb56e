"""Objects are known by their shape: the fakes here have the methods and the signatures of the libraries' classes."""

import asyncio
import functools
import threading
from types import SimpleNamespace

import pytest

from ragstone.collect.base import Row
from ragstone.collect.named import from_name
from ragstone.collect.targets import application_of
from ragstone.errors import ConfigError
from ragstone.types import Sample

GOLD = Sample(id="m1", question="磨坊在哪里？", reference="河边", history=({"role": "user", "content": "hi"},), meta={"team": "north"})


def application(target, **other):
    return application_of(target, **{"concurrency": 4, "timeout": 30.0, "retries": 0, "lang": "en", **other})


async def ask(target, gold=GOLD, **other):
    asked = application(target, **other)
    kept = await asked.ask(Row(gold))
    assert kept.trouble is None
    return asked.read(kept).found


# ------------------------------------------------------------------ LangChain
class Runnable:
    """Shaped like a LangChain Runnable; it keeps what it was given."""

    def __init__(self, schema=None):
        self.schema, self.given, self.configs = schema, [], []

    def get_input_schema(self, config=None):
        return SimpleNamespace(model_json_schema=lambda: self.schema or {})

    def invoke(self, input, config=None, **kwargs):
        raise AssertionError("the asynchronous one is there")

    async def ainvoke(self, input, config=None, **kwargs):
        self.given.append(input)
        self.configs.append(config["configurable"])
        return {"answer": "by the river", "context": [SimpleNamespace(page_content="chunk", metadata={"source": "r.md"})]}


def properties(*names):
    return {"type": "object", "properties": {name: {} for name in names}}


@pytest.mark.parametrize(
    ("target", "same", "other"),
    [
        (lambda question: question, {"team": "south"}, None),
        (lambda question, team: question, {"year": 1}, {"team": "south"}),
        (lambda row: row["question"], None, {"team": "south"}),
        (Runnable(), {"team": "south"}, None),
        (Runnable(properties("question", "team")), {"year": 1}, {"team": "south"}),
        (Runnable({"type": "object"}), None, {"team": "south"}),
    ],
)
def test_what_a_row_hands_over_besides_its_question_is_known(target, same, other):
    asked = application(target)
    known = asked.uses(Row(GOLD))
    assert asked.uses(Row(GOLD.model_copy(update={"reference": "elsewhere"}))) == known
    if same:
        assert asked.uses(Row(GOLD.model_copy(update={"meta": {**GOLD.meta, **same}}))) == known
    if other:
        assert asked.uses(Row(GOLD.model_copy(update={"meta": {**GOLD.meta, **other}}))) != known


COMMON = {"question": GOLD.question, "input": GOLD.question, "query": GOLD.question}


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        (None, GOLD.question),
        ({"type": "string"}, GOLD.question),
        (properties("input"), {"input": GOLD.question}),
        (properties("anything"), {"anything": GOLD.question}),
        (properties("question", "chat_history"), {"question": GOLD.question, "chat_history": list(GOLD.history)}),
        (properties("team", "query", "tone"), {"team": "north", "query": GOLD.question}),
        (properties("messages"), {"messages": [{"role": "user", "content": GOLD.question}]}),
        (properties("messages", "summary"), {"messages": [{"role": "user", "content": GOLD.question}]}),
    ],
)
async def test_a_runnable_is_given_what_its_schema_asks_for(schema, given):
    runnable = Runnable(schema)
    found = await ask(runnable)
    assert runnable.given == [given]
    assert (found.answer, found.chunks[0].text, found.chunks[0].source) == ("by the river", "chunk", "r.md")


@pytest.mark.parametrize("schema", [{"type": "object"}, properties("root")])
async def test_an_object_of_unknown_keys_gets_the_row_without_what_could_come_back_as_a_result(schema):
    runnable = Runnable(schema)
    await ask(runnable, GOLD.model_copy(update={"answer": "the gold set's", "meta": {"team": "north", "context": "x"}}))
    assert runnable.given[0].items() >= {**COMMON, "team": "north", "reference": "河边"}.items()
    assert not runnable.given[0].keys() & {"answer", "context", "contexts"}


async def test_every_row_is_a_conversation_of_its_own():
    runnable = Runnable()
    await ask(runnable)
    await ask(runnable)
    first, second = runnable.configs
    assert first.keys() == {"thread_id", "session_id"}
    assert first["thread_id"] != second["thread_id"]


def test_a_schema_that_does_not_tell_the_question_is_refused():
    with pytest.raises(ConfigError, match=r"keys \(a, b\)"):
        application(Runnable(properties("a", "b")))


async def test_a_runnable_whose_schema_fails_is_given_the_question():
    def refuse():
        raise RuntimeError("no schema")

    runnable = Runnable()
    runnable.get_input_schema = refuse
    await ask(runnable)
    assert runnable.given == [GOLD.question]


async def test_a_runnable_that_only_blocks_runs_in_a_thread():
    class Blocking:
        input_schema = SimpleNamespace(model_json_schema=lambda: properties("input"))

        def invoke(self, input):
            return f"{input['input']} {threading.current_thread() is threading.main_thread()}"

    assert (await ask(Blocking())).answer == f"{GOLD.question} False"


# ------------------------------------------------------------------ LlamaIndex
def node(text):
    return SimpleNamespace(node=SimpleNamespace(text=text, node_id="n1", metadata={"file_name": "r.md"}), score=0.5)


def response(text):
    return SimpleNamespace(response=text, source_nodes=[node("chunk")], metadata={})


class QueryEngine:
    def query(self, question):
        return response(f"<{question}>")

    async def aquery(self, question):
        raise AssertionError("it may block the event loop")


class Retriever:
    def retrieve(self, question):
        return [node(question)]


class ChatEngine:
    """Remembers what it was asked since it was reset."""

    def __init__(self, wait=None):
        self.turns, self.wait = [], wait

    def reset(self):
        self.turns = []

    def chat(self, message, chat_history=None):
        if self.wait is not None:
            self.wait.wait(30)
        self.turns.append(message)
        return response(" | ".join(self.turns))


async def test_a_query_engine_is_queried():
    found = await ask(QueryEngine())
    assert found.answer == f"<{GOLD.question}>"
    assert [(c.text, c.id, c.score, c.source) for c in found.chunks] == [("chunk", "n1", 0.5, "r.md")]


async def test_a_retriever_gives_chunks_and_no_answer():
    found = await ask(Retriever())
    assert (found.answer, found.chunks[0].text) == (None, GOLD.question)


async def test_no_history_leaks_between_the_rows_of_a_chat_engine():
    asked = application(ChatEngine())
    rows = [Row(Sample(id=str(n), question=f"q{n}")) for n in range(8)]
    kept = await asyncio.gather(*map(asked.ask, rows))
    assert [asked.read(one).found.answer for one in kept] == [f"q{n}" for n in range(8)]


async def test_a_chat_engine_that_is_still_busy_is_not_asked():
    release = threading.Event()
    asked = application(ChatEngine(release), timeout=0.05)
    first, second = [await asked.ask(Row(Sample(id=name, question=name))) for name in ("slow", "next")]
    assert (first.trouble.word, second.trouble.word, second.attempts) == ("timeout", "timeout", 0)
    assert "still busy" in second.trouble.message
    release.set()


async def test_a_streaming_response_is_put_together():
    def streaming(question):
        return SimpleNamespace(response_gen=iter("ab"), source_nodes=[], get_response=lambda: response("ab"))

    assert (await ask(streaming)).answer == "ab"


# ------------------------------------------------------------------ which one, and what stands in the raw file
@pytest.mark.parametrize(
    ("target", "kind"), [(Runnable(), "invoke"), (QueryEngine(), "query"), (ChatEngine(), "chat"), (Retriever(), "retrieve"), (len, "call")]
)
def test_the_kind_is_kept(target, kind):
    assert application(target).asked["as"] == kind
    assert application(target).mapping == {}


def test_what_cannot_be_asked_is_told():
    with pytest.raises(ConfigError, match="of type int"):
        application(7)


def test_a_changed_file_is_another_application(tmp_path):
    path = tmp_path / "rag_app.py"
    path.write_text("def ask(question):\n    return 'one'\n", encoding="utf-8")
    first = application(from_name(f"{path}:ask", "en")).asked
    assert (first["platform"], first["call"]) == ("call", f"{path}:ask")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert application(from_name(f"{path}:ask", "en")).asked == first
    path.write_text("def ask(question):\n    return 'two'\n", encoding="utf-8")
    assert application(from_name(f"{path}:ask", "en")).asked["code"] != first["code"]


def test_an_object_without_a_name_is_known_by_its_code():
    asked = application(functools.partial(lambda index, question: index, 1)).asked
    assert asked["code"] == application(QueryEngine()).asked["code"]
    assert application(len).asked["code"] is None
