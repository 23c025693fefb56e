"""`ragstone collect` over real sockets: what it asks, shows, writes and refuses, in both languages."""

import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.markdown import blocks
from support.rag_server import Asked, Reply, ThreadedRagServer, fail, page, tell

from ragstone.cli.app import run
from ragstone.cli.width import width
from ragstone.collect.words import WORDS
from ragstone.text import say

GOLDEN = Path(__file__).with_name("golden")
DOCS = Path(__file__).resolve().parents[2] / "docs"
LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])
KEY = "fastgpt-7d1e40ac55"
GOLD = [
    {"id": "leave", "question": "入职满一年有几天年假？", "reference": "12 天。", "team": "hr"},
    {"id": "warranty", "question": "How long is the warranty?", "reference": "1 year.", "team": "service"},
    {"id": "parking", "question": "Where can visitors park?", "reference": "On level 2.", "team": "service"},
]
RAG = """
PAGES = {"How long is the warranty?": "Standard warranty: 1 year.", "入职满一年有几天年假？": "年假：满一年 12 天。"}

def answer(question):
    text = PAGES.get(question)
    return {"answer": f"{text} [1]" if text else "Nothing found.", "contexts": [text] if text else []}

def broken(question):
    raise ValueError("the index is closed")

def bare(question):
    return "Yes."
"""


@pytest.fixture(autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(GOLD)
    Path("rag.py").write_text(RAG, encoding="utf-8")


@pytest.fixture
def server() -> Iterator[ThreadedRagServer]:
    with ThreadedRagServer(by_question()) as server:
        yield server


def write(rows: list[dict[str, Any]], name: str = "gold.jsonl") -> None:
    Path(name).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def samples(name: str = "samples.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]


def files() -> set[str]:
    return {path.name for path in Path().iterdir()} - {"__pycache__"}


# ------------------------------------------------------------------ a FastGPT on a socket
def quote(name: str, text: str, score: float | None = 0.83, source: str = "handbook.pdf") -> dict[str, Any]:
    scores = [] if score is None else [{"type": "embedding", "value": score, "index": 0}]
    return {"id": name, "q": text, "a": "", "score": scores, "sourceName": source}


def fastgpt(answer: Any, *quotes: dict[str, Any]) -> dict[str, Any]:
    nodes = [{"moduleType": "datasetSearchNode", "quoteList": list(quotes)}, {"moduleType": "chatNode"}]
    return {"responseData": nodes, "error": None, "choices": [{"message": {"role": "assistant", "content": answer}}]}


ANSWERS: dict[str, Any] = {
    "入职满一年有几天年假？": fastgpt("有 12 天年假。[c1](CITE)", quote("c1", "年假：满一年 12 天，满五年 15 天。", source="员工手册.pdf")),
    "How long is the warranty?": fastgpt(
        "<think>Look at page 3.</think>It lasts 1 year [w](CITE).", quote("w", "Standard warranty: 1 year.")
    ),
    "Where can visitors park?": fastgpt("I could not find that."),
}


def by_question(**other: Reply) -> Any:
    """Answer as told, but for the rows named by their id."""
    special = {row["question"]: other[row["id"]] for row in GOLD if row["id"] in other}

    def reply(asked: Asked) -> Reply:
        question = asked.body["messages"][-1]["content"]
        return special.get(question) or tell(ANSWERS[question])

    return reply


def collect(server: ThreadedRagServer | None, *args: str, lang: str = "en", **environ: str) -> int:
    """Run the command against the server, which is named by flags; None: where the arguments say."""
    where = [] if server is None else ["--platform", "fastgpt", "--url", server.url]
    return run(["collect", *args, *where], lang, {"RAGSTONE_COLLECT_API_KEY": KEY, **environ})


# ------------------------------------------------------------------ collecting
def test_samples_raw_file_and_page(server, capfd):
    assert collect(server, "gold.jsonl", "--to", "samples.jsonl") == 0
    rows = samples()
    assert [row["id"] for row in rows] == ["leave", "warranty", "parking"]
    assert [row["answer"] for row in rows] == ["有 12 天年假。", "It lasts 1 year.", "I could not find that."]
    assert [row["contexts"] for row in rows] == [["年假：满一年 12 天，满五年 15 天。"], ["Standard warranty: 1 year."], []]
    assert rows[0]["answer_raw"] == "有 12 天年假。[c1](CITE)"
    assert stat.S_IMODE(Path("samples.jsonl.raw.jsonl").stat().st_mode) == 0o600 or os.name == "nt"
    out, err = capfd.readouterr()
    assert "3/3" in err
    assert "samples.jsonl.raw.jsonl" in out
    assert "ragstone evaluate samples.jsonl" in out


def test_json_is_one_document_on_stdout_and_nothing_else(server, capfdbinary):
    assert collect(server, "gold.jsonl", "--to", "samples.jsonl", "--json", "--quiet") == 0
    out, err = capfdbinary.readouterr()
    document = json.loads(out)
    assert (document["rows"], document["ok"], document["failed"], document["exposed"], document["empty"]) == (3, 3, 0, 3, 1)
    assert document["samples"] == "samples.jsonl"
    assert err == b""


def test_the_same_command_again_asks_nothing_and_retry_failed_asks_what_failed(server):
    server.script = by_question(warranty=tell({"code": 500, "message": "model overloaded", "data": None}))
    command = ("gold.jsonl", "--to", "samples.jsonl", "--quiet", "--min-coverage", "0.5", "--retries", "0")
    assert collect(server, *command) == 0
    server.script, before = by_question(), len(server.seen)
    assert collect(server, *command) == 0
    assert len(server.seen) == before
    assert collect(server, *command, "--retry-failed") == 0
    assert [asked.body["messages"][-1]["content"] for asked in server.seen[before:]] == ["How long is the warranty?"]
    assert [row["error"] for row in samples()] == [None] * 3


def test_force_sets_the_old_files_aside(server, capsys):
    assert collect(server, "gold.jsonl", "--to", "samples.jsonl", "--quiet") == 0
    other = ("gold.jsonl", "--to", "samples.jsonl", "--call", "rag:answer", "--quiet")
    assert collect(None, *other) == 2
    assert "--force" in capsys.readouterr().err
    assert collect(None, *other, "--force") == 0
    assert samples()[1]["answer"] == "Standard warranty: 1 year."
    assert len([name for name in files() if name.startswith("samples.jsonl.2")]) == 2


def test_settings_come_from_the_file_and_flags_win(server):
    Path("ragstone.toml").write_text(f'[collect]\nplatform = "fastgpt"\nurl = "{server.url}"\nrepeat = 3\n', encoding="utf-8")
    assert collect(None, "gold.jsonl", "--to", "samples.jsonl", "--quiet", "--repeat", "2", "--limit", "2") == 0
    assert [row["id"] for row in samples()] == ["leave#0", "leave#1", "warranty#0", "warranty#1"]
    assert [row["meta"]["question_id"] for row in samples()] == ["leave", "leave", "warranty", "warranty"]


def test_columns_of_any_name_and_other_encodings(server):
    Path("gold.csv").write_text("编号,提问\n1,入职满一年有几天年假？\n", encoding="gbk")
    assert collect(server, "gold.csv", "--to", "s.jsonl", "--map", "question=提问", "--map", "id=编号", "--encoding", "gbk", "--quiet") == 0
    assert [(row["id"], row["answer"]) for row in samples("s.jsonl")] == [("1", "有 12 天年假。")]


def test_a_python_function_answers(capfd):
    assert collect(None, "gold.jsonl", "--to", "samples.jsonl", "--call", "rag:answer") == 0
    assert [row["contexts"] for row in samples()] == [["年假：满一年 12 天。"], ["Standard warranty: 1 year."], []]
    assert [row["answer"] for row in samples()][:2] == ["年假：满一年 12 天。", "Standard warranty: 1 year."]


def test_a_file_of_answers_is_joined_under_its_own_names(capfd):
    write([{"编号": "leave", "回答": "12 天。"}, {"编号": "warranty", "回答": "1 year."}], "answers.jsonl")
    write([{"编号": row["id"], "question": row["question"]} for row in GOLD])
    command = ("gold.jsonl", "--answers", "answers.jsonl", "--to", "samples.jsonl", "--map", "id=编号")
    assert collect(None, *command) == 1
    assert [row["answer"] for row in samples()] == ["12 天。", "1 year.", None]
    assert samples()[2]["error"].startswith("not_found")
    assert "not_found  1  (parking)" in capfd.readouterr().out


def test_a_file_of_answers_with_repeats_needs_no_repeat():
    write([{"id": f"{row['id']}#{n}", "answer": f"{n}"} for row in GOLD for n in range(2)], "answers.jsonl")
    assert collect(None, "gold.jsonl", "--answers", "answers.jsonl", "--to", "samples.jsonl", "--quiet") == 0
    assert [(row["id"], row["answer"]) for row in samples()][:2] == [("leave#0", "0"), ("leave#1", "1")]


# ------------------------------------------------------------------ the page at the end
def golden(name: str, lang: str, text: str, server: ThreadedRagServer | None = None) -> None:
    path = GOLDEN / f"{name}.{lang}.txt"
    text = re.sub(r"\b\d+\.\d\d (s|秒)", r"0.12 \1", text)
    text = text if server is None else text.replace(server.url, "http://127.0.0.1:8000")
    assert max(map(width, text.split("\n"))) <= 80
    if "RAGSTONE_WRITE_GOLDEN" in os.environ:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@LANGUAGES
def test_the_page_at_the_end(server, capfd, lang):
    rows = [{"id": f"q{n}", "question": f"question {n}"} for n in range(9)]
    write(rows)

    def reply(asked: Asked) -> Reply:
        n = int(asked.body["messages"][-1]["content"].removeprefix("question "))
        if n < 4:
            return tell({"code": 500, "statusText": "", "message": "model overloaded", "data": None})
        empty_or_error = {4: "", 5: "  "}
        return tell(fastgpt(empty_or_error.get(n, "Yes."), *([quote("c", "A chunk.")] if n < 8 else [])))

    server.script = reply
    assert collect(server, "gold.jsonl", "--to", "samples.jsonl", "--quiet", "--retries", "0", "--concurrency", "1", lang=lang) == 1
    out, err = capfd.readouterr()
    assert "--min-coverage" in err
    golden("collected", lang, out)


@LANGUAGES
@pytest.mark.parametrize("word", WORDS)
def test_every_word_has_a_sentence_that_says_what_to_do(word, lang):
    text = say(f"collect.word_{word}", lang)
    assert text.endswith("。" if lang == "zh" else ".")
    assert len(text) <= 180


def test_words_on_the_page_come_from_the_rows(capfd):
    assert collect(None, "gold.jsonl", "--to", "samples.jsonl", "--call", "rag:broken", lang="zh") == 1
    out = capfd.readouterr().out
    assert "call_failed  3（leave, warranty, parking）" in out
    assert say("collect.word_call_failed", "zh")[:20] in out
    assert "成功 0，失败 3" in out


@LANGUAGES
def test_an_application_that_tells_no_chunks_is_said_so_once(capfd, lang):
    assert collect(None, "gold.jsonl", "--to", "samples.jsonl", "--call", "rag:bare", lang=lang) == 0
    out = capfd.readouterr().out
    assert out.count("`contexts`") == 1
    assert [row["contexts"] for row in samples()] == [None] * 3


# ------------------------------------------------------------------ --try
@LANGUAGES
def test_try_shows_what_will_be_judged(server, capfd, lang):
    long = "甲乙丙丁戊" * 100
    ANSWERS_HERE = {**ANSWERS, "Where can visitors park?": fastgpt("On level 2 [p](CITE).", quote("p", long, None), quote("q", " "))}
    server.script = lambda asked: tell(ANSWERS_HERE[asked.body["messages"][-1]["content"]])
    before = files()
    assert collect(server, "gold.jsonl", "--try", "3", lang=lang) == 0
    assert files() == before
    golden("try", lang, capfd.readouterr().out, server)


@LANGUAGES
def test_try_of_a_function(capfd, lang):
    assert collect(None, "gold.jsonl", "--try", "1", "--call", "rag:answer", lang=lang) == 0
    out = capfd.readouterr().out
    assert "rag:answer" in out
    assert "[1]" in out  # what was stripped
    assert "JMESPath" not in out


def test_try_asks_so_many_rows_and_shows_failures(server, capfd):
    server.script = by_question(warranty=tell({"code": 500, "message": "model overloaded", "data": None}))
    assert collect(server, "gold.jsonl", "--try", "2", "--retries", "0") == 0
    out = capfd.readouterr().out
    assert len(server.seen) == 2
    assert "error: platform_error: " in out
    assert "model overloaded" in out


def test_try_as_one_document(server, capfdbinary):
    assert collect(server, "gold.jsonl", "--try", "2", "--json", "--quiet") == 0
    document = json.loads(capfdbinary.readouterr().out)
    assert [row["answer"] for row in document["rows"]] == ["有 12 天年假。", "It lasts 1 year."]
    assert document["collect"]["platform"] == "fastgpt"
    assert document["mapping"]["answer"] == "choices[0].message.content"
    assert KEY not in json.dumps(document)


def test_try_stops_as_a_collection_would(server, capsys):
    server.script = fail(401, {"code": 401, "message": "no"})
    assert collect(server, "gold.jsonl", "--try", "3", lang="zh") == 3
    told = capsys.readouterr().err
    assert "RAGSTONE_COLLECT_API_KEY" in told
    assert say("cli.kept", "zh") not in told  # nothing was written


HOSTILE = "\x1b]0;owned\x07\x1b[31mred\x1b[0m\r\x07 \u202egnp.exe"


@pytest.mark.parametrize("command", [["--try", "3"], ["--to", "samples.jsonl"]])
def test_control_characters_are_shown_harmlessly(server, capfd, command):
    write([{"id": f"a{HOSTILE}", "question": HOSTILE}, {"id": f"b{HOSTILE}", "question": "b"}])
    quotes = [quote(HOSTILE, HOSTILE, source=HOSTILE)]
    server.script = lambda asked: tell(
        fastgpt(HOSTILE, *quotes) if len(asked.body["messages"][-1]["content"]) > 1 else {"code": 500, "message": HOSTILE}
    )
    collect(server, "gold.jsonl", *command, "--retries", "0", "--min-coverage", "0")
    shown = "".join(capfd.readouterr())
    assert "red" in shown or "gnp.exe" in shown
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", shown)


# ------------------------------------------------------------------ --init
@LANGUAGES
def test_init_writes_a_file_to_start_from(server, capfd, lang):
    assert run(["collect", "--init", "fastgpt"], lang, {}) == 0
    out = capfd.readouterr().out
    assert "export RAGSTONE_COLLECT_API_KEY=" in out
    assert "ragstone collect gold.jsonl --try 3" in out
    assert re.search(r'^platform = "fastgpt"', Path("ragstone.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert collect(None, "gold.jsonl", "--to", "samples.jsonl", "--url", server.url, "--quiet") == 0


def test_init_never_overwrites_and_force_sets_aside(capsys):
    Path("ragstone.toml").write_text("limit = 1\n")
    assert run(["collect", "--init", "dify-chat"], "en", {}) == 2
    assert "--force" in capsys.readouterr().err
    assert Path("ragstone.toml").read_text() == "limit = 1\n"
    assert run(["collect", "--init", "dify-chat", "--force"], "en", {}) == 0
    assert "dify-chat" in Path("ragstone.toml").read_text(encoding="utf-8")
    assert sorted(path.read_text(encoding="utf-8")[:9] for path in Path().glob("ragstone.toml.*")) == ["limit = 1"]


def test_init_into_a_file_of_another_name(capsys):
    assert run(["collect", "--init", "custom", "--config", "my app.toml"], "en", {}) == 0
    assert "ragstone collect gold.jsonl --try 3 --config 'my app.toml'" in capsys.readouterr().out
    assert files() >= {"my app.toml"}
    assert "ragstone.toml" not in files()


# ------------------------------------------------------------------ what is wrong
def settings(text: str) -> None:
    Path("ragstone.toml").write_text(text, encoding="utf-8")


TO = ("gold.jsonl", "--to", "samples.jsonl")
WRONG: dict[str, tuple[tuple[str, ...], str | None, int, str, str]] = {
    # name: (arguments, settings file with {url} in it, exit code, what is said in English, in Chinese)
    "no source": (TO, None, 2, "ragstone collect --init fastgpt", "没有指明答案从哪里来"),
    "two flags": ((*TO, "--call", "rag:answer", "--answers", "a.csv"), None, 2, "--call and --answers", "--call 和 --answers"),
    "flag and platform": ((*TO, "--call", "rag:answer", "--platform", "dify-chat"), None, 2, "--platform and --call", "--platform 和 --call"),
    "flag and file": ((*TO, "--call", "rag:answer"), '[collect]\nplatform = "fastgpt"\nurl = "{url}"', 2, "[collect] of ragstone.toml", "ragstone.toml 的 [collect]"),
    "no gold": (("--to", "s.jsonl", "--call", "rag:answer"), None, 2, "GOLD is missing", "缺少 GOLD"),
    "no to": (("gold.jsonl", "--call", "rag:answer"), None, 2, "--to is missing", "缺少 --to"),
    "gold not there": (("nogold.jsonl", *TO[1:], "--call", "rag:answer"), None, 2, "nogold.jsonl", "nogold.jsonl"),
    "gold empty": (("empty.jsonl", *TO[1:], "--call", "rag:answer"), None, 2, "empty.jsonl", "empty.jsonl"),
    "gold without questions": (("noquestion.jsonl", *TO[1:], "--call", "rag:answer"), None, 2, "--map question=", "--map question="),
    "to is gold": (("gold.jsonl", "--to", "gold.jsonl", "--call", "rag:answer"), None, 2, "gold set itself", "gold.jsonl 就是"),
    "to is answers": (("gold.jsonl", "--to", "a.csv", "--answers", "a.csv"), None, 2, "file of answers itself", "就是答案文件本身"),
    "to is a folder": (("gold.jsonl", "--to", ".", "--call", "rag:answer"), None, 2, "is a folder", "是文件夹"),
    "try 0": (("gold.jsonl", "--try", "0", "--call", "rag:answer"), None, 2, "--try needs a whole number", "--try 应为整数"),
    "try nothing": (("gold.jsonl", "--try", "--call", "rag:answer"), None, 2, "--try needs a value", "--try 缺少取值"),
    "repeat 0": ((*TO, "--repeat", "0", "--call", "rag:answer"), None, 2, "--repeat", "--repeat"),
    "key as a flag": ((*TO, "--api-key", "x"), None, 2, "environment", "环境变量"),
    "module not there": ((*TO, "--call", "rga:answer"), None, 2, "rga", "rga"),
    "function not there": ((*TO, "--call", "rag:anwser"), None, 2, "answer", "answer"),
    "answers not there": ((*TO, "--answers", "none.csv"), None, 2, "none.csv", "none.csv"),
    "init unknown": (("--init", "fastgtp"), None, 2, "fastgpt", "fastgpt"),
    "platform unknown": ((*TO, "--platform", "ragflwo", "--url", "{url}"), None, 2, "ragflow", "ragflow"),
    "no url": ((*TO, "--platform", "fastgpt"), None, 2, "--url", "--url"),
    "url with credentials": ((*TO, "--platform", "fastgpt", "--url", "http://me:hunter2@127.0.0.1:9"), None, 2, "RAGSTONE_COLLECT_API_KEY", "RAGSTONE_COLLECT_API_KEY"),
    "url without scheme": ((*TO, "--platform", "fastgpt", "--url", "127.0.0.1:9"), None, 2, "http", "http"),
    "key in the file": (TO, '[collect]\nplatform = "fastgpt"\nurl = "{url}"\napi_key = "hunter2hunter2"', 2, "environment", "环境"),
    "setting misspelt": (TO, '[collect]\nplatform = "fastgpt"\nurl = "{url}"\nanwser = "x"', 2, "answer", "answer"),
    "stream unknown": ((*TO, "--platform", "fastgpt", "--url", "{url}", "--stream", "sse"), None, 2, "openai-sse", "openai-sse"),
    "column unknown": (TO, '[collect]\nplatform = "fastgpt"\nurl = "{url}"\nbody = {{ chatId = "$row.taem" }}', 2, "team", "team"),
    "slot unknown": (TO, '[collect]\nplatform = "fastgpt"\nurl = "{url}"\nbody = {{ chatId = "$qestion" }}', 2, "question", "question"),
    "expression broken": (TO, '[collect]\nplatform = "fastgpt"\nurl = "{url}"\nanswer = "choices[0.message"', 2, "choices[0.message", "choices[0.message"),
    "expression fits nothing": (TO, '[collect]\nplatform = "fastgpt"\nurl = "{url}"\nanswer = "choices[0].mesage.content"', 2, "message", "message"),
    "server not there": ((*TO, "--platform", "fastgpt", "--url", "http://127.0.0.1:9", "--retries", "0"), None, 3, "127.0.0.1:9", "127.0.0.1:9"),
}  # fmt: skip


def stage(server: ThreadedRagServer, args: tuple[str, ...], text: str | None) -> list[str]:
    Path("empty.jsonl").write_text("")
    Path("a.csv").write_text("question,answer\nx,y\n")
    write([{"id": "1", "note": "x"}], "noquestion.jsonl")
    if text is not None:
        settings(text.format(url=server.url))
    return [arg.format(url=server.url) for arg in args]


@LANGUAGES
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_with_what_to_do(server, capfd, name, lang, monkeypatch):
    args, text, code, english, chinese = WRONG[name]
    command = stage(server, args, text)
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    assert collect(None, *command, lang=lang) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert (english if lang == "en" else chinese) in err
    assert "Traceback" not in err
    assert "hunter2" not in err
    assert KEY not in err
    if code == 2 and name != "expression fits nothing":
        assert server.seen == []


SERVERS: dict[str, tuple[Any, int, str, str]] = {
    # name: (what the server replies to everything, exit code, what is said in English, in Chinese)
    "wrong key by status": (fail(401), 3, "RAGSTONE_COLLECT_API_KEY", "RAGSTONE_COLLECT_API_KEY"),
    "wrong key in a body": (tell({"code": 514, "statusText": "unAuthApiKey", "message": "Key is error", "data": None}), 3, "Key is error", "Key is error"),
    "wrong address": (fail(404), 3, "404", "404"),
    "wrong app type": (tell({"code": 502, "statusText": "appUnExist", "message": "App not found", "data": None}, 500), 3, "App not found", "App not found"),
    "no balance": (fail(402, {"message": "insufficient balance"}), 3, "402", "402"),
    "web page": (page(), 3, "http", "http"),
    "not JSON": (tell("hello", type="text/plain"), 3, "JSON", "JSON"),
}  # fmt: skip


@LANGUAGES
@pytest.mark.parametrize("name", SERVERS)
def test_what_every_row_would_meet_stops_the_command(server, capfd, name, lang, monkeypatch):
    reply, code, english, chinese = SERVERS[name]
    server.script = reply
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    assert collect(server, *TO, "--retries", "0", lang=lang) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert (english if lang == "en" else chinese) in err
    assert KEY not in err + "".join(path.read_text(encoding="utf-8") for path in Path().glob("samples*"))
    server.script = by_question()
    assert collect(server, *TO, "--quiet", lang=lang) == 0  # the same command goes on, and nothing is lost
    assert [row["error"] for row in samples()] == [None] * 3


def test_one_bad_response_is_a_counted_row(server, capfd):
    write([*GOLD, *({"id": f"m{n}", "question": f"more {n}"} for n in range(37))])
    bad = page("<!doctype html><title>502</title>")
    server.script = lambda asked: bad if asked.body["messages"][-1]["content"] == "more 20" else tell(fastgpt("Yes."))
    assert collect(server, *TO, "--retries", "0", "--quiet") == 0
    assert [row["id"] for row in samples() if row["error"]] == ["m20"]
    assert "39 ok, 1 failed" in capfd.readouterr().out


def test_a_mended_expression_asks_nothing_again(server, capsys):
    text = '[collect]\nplatform = "fastgpt"\nurl = "{url}"\nanswer = "{answer}"\n'
    settings(text.format(url=server.url, answer="choices[0].mesage.content"))
    assert collect(None, *TO, "--concurrency", "1") == 2
    asked = len(server.seen)
    settings(text.format(url=server.url, answer="choices[0].message.content"))
    assert collect(None, *TO, "--quiet") == 0
    assert len(server.seen) - asked == len(GOLD) - asked
    assert [row["answer"] for row in samples()][0] == "有 12 天年假。"


# ------------------------------------------------------------------ the documentation's own application
@pytest.mark.parametrize("name", ["collect.md", "zh/collect.md"])
def test_the_application_of_the_documentation_is_read_as_it_says(server, name):
    found = blocks(DOCS / name)
    body = next(json.loads(block.text) for block in found if block.language == "json" and '"hits"' in block.text)
    table = next(block.text for block in found if block.language == "toml" and 'platform = "custom"' in block.text)
    settings(table.replace("https://rag.example.com", server.url))
    server.script = {"POST /ask": tell(body)}
    assert collect(None, *TO, "--quiet") == 0
    row = samples()[0]
    assert (row["answer"], row["contexts"]) == ("The warranty lasts 1 year.", ["Standard warranty: 1 year from the date of purchase."])
    assert (row["context_ids"], row["context_scores"], row["context_sources"]) == (["w-1"], [0.83], ["handbook.pdf"])
    assert row["usage"] == {"total_tokens": 118}
    assert server.seen[0].body.items() >= {"q": GOLD[0]["question"], "team": "hr"}.items()
