"""The example pipelines: every setting in them is one, they name no key, and they hold what they need; the small application answers."""

import importlib.util
import json
import re
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from support.server import ThreadedServer, say

from ragstone.collect.select import columns_of, make_application
from ragstone.config import Loaded, load_config
from ragstone.evaluation import backends, select
from ragstone.export.registry import BUILT_IN, names
from ragstone.samples import scan

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PIPELINES = sorted(EXAMPLES.glob("*/pipeline.toml"))
KEYS = {"RAGSTONE_COLLECT_API_KEY": "k1", "DEEPSEEK_API_KEY": "k2"}

every = pytest.mark.parametrize("path", PIPELINES, ids=lambda path: path.parent.name)


def loaded(path: Path) -> Loaded:
    return load_config({}, path=path, environ={})


def test_there_are_examples():
    assert {path.parent.name for path in PIPELINES} == {"fastgpt-deepseek-langfuse", "local"}


@every
def test_the_file_holds_settings_and_nothing_is_told_of_it(path):
    found = loaded(path)
    assert found.notices == ()
    assert found.path == path


@every
async def test_gold_set_application_judge_and_embeddings_can_be_made_of_it(path):
    found = loaded(path).config
    gold = scan(path.parent / str(found.gold), gold=True)
    assert gold.notices == ("columns kept under meta: category",)
    await make_application(found, KEYS, "en", columns=columns_of(gold)).close()
    judge, embedder = backends(found, KEYS, "en")
    assert judge.identity.model == found.judge.model
    assert embedder.identity.endpoint in (None, "", "local")
    await judge.close()
    await embedder.close()


@every
def test_every_exporter_of_it_is_known(path):
    assert {*loaded(path).config.export.to} <= {*names()} & {*BUILT_IN}


@every
def test_the_rules_of_its_gate_name_metrics_it_measures(path, tmp_path):
    found = loaded(path).config
    rows = [json.loads(line) for line in (path.parent / str(found.gold)).read_text(encoding="utf-8").splitlines()]
    samples = tmp_path / "samples.jsonl"
    samples.write_text("".join(json.dumps({**row, "answer": "a", "contexts": ["c"]}) + "\n" for row in rows), encoding="utf-8")
    measured = {metric.name for metric in select(found, scan(samples)).metrics}
    assert found.gate.metrics
    assert {*found.gate.metrics} <= measured


@every
def test_the_gold_set_speaks_both_languages_and_holds_questions_to_be_refused(path):
    rows = [json.loads(line) for line in (path.parent / "gold.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {row["id"].rpartition("-")[2] for row in rows} == {"zh", "en"}
    assert all(row["question"] and row["reference"] and row["category"] for row in rows)
    assert sum(row.get("expected_behavior") == "refuse" for row in rows) == 2


@every
def test_no_key_stands_in_it_and_both_pages_name_every_variable(path):
    pages = [(path.parent / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh.md")]
    for text in (path.read_text(encoding="utf-8"), *pages):
        assert re.search(r"\b(sk|pk|fastgpt)-[A-Za-z0-9]{6,}", text) is None
    wanted = {"RAGSTONE_COLLECT_API_KEY", "DEEPSEEK_API_KEY", "LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY", "LANGFUSE_HOST"}
    for page in pages:
        named = set(re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", page))
        assert named == (wanted if "langfuse" in path.parent.name else set())


def test_the_local_one_names_no_address_beyond_this_machine():
    text = (EXAMPLES / "local" / "pipeline.toml").read_text(encoding="utf-8")
    assert set(re.findall(r"https?://([^:/\s\"]+)", text)) == {"127.0.0.1"}
    assert "langfuse" not in tomllib.loads(text)["export"]["to"]


# ------------------------------------------------------------------ the small application
def application() -> ModuleType:
    spec = importlib.util.spec_from_file_location("example_app", EXAMPLES / "local" / "app.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def serving(model_url: str) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), application().handler("m", model_url))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/ask"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def post(url: str, question: str) -> Any:
    body = json.dumps({"question": question}).encode()
    with urlopen(Request(url, body, {"Content-Type": "application/json"}), timeout=60) as response:
        return json.load(response)


@pytest.mark.parametrize(
    ("question", "passage"),
    [("差旅费最晚什么时候报销？", "h3"), ("What must I do when my access card is lost?", "h6"), ("门禁卡丢了怎么办？", "h5")],
)
def test_it_retrieves_the_passage_that_holds_the_answer(question, passage):
    assert application().retrieve(question)[0]["id"] == passage


def test_it_answers_with_what_the_model_says_and_what_was_retrieved():
    with ThreadedServer() as model, serving(model.url) as url:
        model.chat = [say("8 天。")]
        found = post(url, "入职满三年有几天年假？")
        (seen,) = model.seen
    assert found["answer"] == "8 天。"
    assert [*found["contexts"][0]] == ["id", "text", "score"]
    assert "满三年 8 天" in seen.body["messages"][0]["content"]
    assert seen.user == "入职满三年有几天年假？"


def test_a_model_that_is_not_there_is_told():
    with serving("http://127.0.0.1:9/v1") as url, pytest.raises(HTTPError) as refused:
        post(url, "x")
    with refused.value as reply:
        assert "127.0.0.1:9" in json.load(reply)["error"]
