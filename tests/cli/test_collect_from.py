"""`ragstone collect` with something wrong: settings, files, servers. Each is told with what to do, and nothing is lost."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.collected import GOLD, KEY, RAG, TO, by_question, collect, failed, fastgpt, question, samples, settings, write
from support.rag_server import ThreadedRagServer, fail, page, tell

from ragstone.cli.app import run

LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])


@pytest.fixture(autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(GOLD)
    Path("rag.py").write_text(RAG, encoding="utf-8")


@pytest.fixture
def server() -> Iterator[ThreadedRagServer]:
    with ThreadedRagServer(by_question()) as server:
        yield server


# ------------------------------------------------------------------ what is wrong
FASTGPT = '[collect]\nplatform = "fastgpt"\nurl = "{url}"\n'
AT = ("--platform", "fastgpt", "--url")
WRONG: dict[str, tuple[tuple[str, ...], str | None, int, str, str]] = {
    # name: (arguments, settings file with {url} in it, exit code, what is said in English, in Chinese)
    "no source": (TO, None, 2, "ragstone collect --init fastgpt", "没有指明回答从哪里来"),
    "two flags": ((*TO, "--call", "rag:answer", "--answers", "a.csv"), None, 2, "--call and --answers", "--call 和 --answers"),
    "flag and platform": (
        (*TO, "--call", "rag:answer", "--platform", "dify-chat"),
        None,
        2,
        "--platform and --call",
        "--platform 和 --call",
    ),
    "flag of a platform": ((*TO, "--answers", "a.csv", "--app", "a1"), FASTGPT, 2, "--app and --answers", "--app 和 --answers"),
    "app alone": ((*TO, "--app", "a1"), None, 2, "ragstone collect --init fastgpt", "没有指明回答从哪里来"),
    "no gold": (("--to", "s.jsonl", "--call", "rag:answer"), None, 2, "GOLD is missing", "缺少 GOLD"),
    "no to": (("gold.jsonl", "--call", "rag:answer"), None, 2, "--to is missing", "缺少 --to"),
    "gold not there": (("nogold.jsonl", *TO[1:], "--call", "rag:answer"), None, 2, "nogold.jsonl", "nogold.jsonl"),
    "gold empty": (("empty.jsonl", *TO[1:], "--call", "rag:answer"), None, 2, "empty.jsonl", "empty.jsonl"),
    "gold without questions": (("noquestion.jsonl", *TO[1:], "--call", "rag:answer"), None, 2, "--map question=", "--map question="),
    "gold of other names": (("named.csv", *TO[1:], "--call", "rag:answer"), None, 2, "提问, 标准答案. Name", "现有列：提问, 标准答案"),
    "gold row without a question": (("partly.jsonl", *TO[1:], "--call", "rag:answer"), None, 2, "row 2: there is no qu", "没有可提的问题"),
    "gold and samples swapped": (
        ("s.jsonl", "--to", "gold.jsonl", "--force", "--call", "rag:answer"),
        None,
        2,
        "ragstone collect gold.jsonl --to s.jsonl",
        "ragstone collect gold.jsonl --to s.jsonl",
    ),
    "to is gold": (("gold.jsonl", "--to", "gold.jsonl", "--call", "rag:answer"), None, 2, "gold set itself", "gold.jsonl 就是"),
    "to is answers": (("gold.jsonl", "--to", "a.csv", "--answers", "a.csv"), None, 2, "file of answers itself", "就是回答文件本身"),
    "to is a folder": (("gold.jsonl", "--to", ".", "--call", "rag:answer"), None, 2, "is a folder", "是文件夹"),
    "try 0": (("gold.jsonl", "--try", "0", "--call", "rag:answer"), None, 2, "--try needs a whole number", "--try 应为整数"),
    "try nothing": (("gold.jsonl", "--try", "--call", "rag:answer"), None, 2, "--try needs a value", "--try 缺少取值"),
    "repeat 0": ((*TO, "--repeat", "0", "--call", "rag:answer"), None, 2, "--repeat", "--repeat"),
    "key as a flag": ((*TO, "--api-key", "x"), None, 2, "RAGSTONE_COLLECT_API_KEY", "RAGSTONE_COLLECT_API_KEY"),
    "module not there": ((*TO, "--call", "rga:answer"), None, 2, "rga", "rga"),
    "function not there": ((*TO, "--call", "rag:anwser"), None, 2, "answer", "answer"),
    "answers not there": ((*TO, "--answers", "none.csv"), None, 2, "none.csv", "none.csv"),
    "init unknown": (
        ("--init", "fastgtp"),
        None,
        2,
        "platform fastgtp; did you mean fastgpt? Known",
        "fastgtp 的平台；是否想写 fastgpt？已知",
    ),
    "init far from all": (("--init", "xyz"), None, 2, "platform xyz. Known", "xyz 的平台。已知"),
    "settings file elsewhere": (TO, None, 2, "--config FILE", "--config FILE"),
    "platform unknown": ((*TO, "--platform", "ragflwo", "--url", "{url}"), None, 2, "ragflow", "ragflow"),
    "no url": ((*TO, "--platform", "fastgpt"), None, 2, "--url", "--url"),
    "url with credentials": ((*TO, *AT, "http://me:hunter2@127.0.0.1:9"), None, 2, "RAGSTONE_COLLECT_API_KEY", "RAGSTONE_COLLECT_API_KEY"),
    "url without scheme": ((*TO, *AT, "127.0.0.1:9"), None, 2, "e.g. http://127.0.0.1:9", "如 http://127.0.0.1:9"),
    "url that is none": ((*TO, *AT, "htp:/x"), None, 2, "e.g. https://api", "如 https://api"),
    "text without quotes": (TO, "[collect]\nplatform = fastgpt\n", 2, "line 2, column 12: not valid TOML: no value; text", "文本要加引号"),
    "pattern in double quotes": (TO, FASTGPT + 'strip = "\\[doc\\d+"', 2, "in single quotes", "请把文本放在单引号中"),
    "key in the file": (TO, FASTGPT + 'api_key = "hunter2hunter2"', 2, "environment", "环境"),
    "setting misspelt": (TO, FASTGPT + 'anwser = "x"', 2, "answer", "answer"),
    "stream unknown": ((*TO, *AT, "{url}", "--stream", "sse"), None, 2, "openai-sse", "openai-sse"),
    "column unknown": (TO, FASTGPT + 'body = {{ chatId = "$row.taem" }}', 2, "team", "team"),
    "slot unknown": (TO, FASTGPT + 'body = {{ chatId = "$qestion" }}', 2, "question", "question"),
    "expression broken": (TO, FASTGPT + 'answer = "choices[0.message"', 2, "choices[0.message", "choices[0.message"),
    "expression fits nothing": (TO, FASTGPT + 'answer = "choices[0].mesage.content"', 2, "message", "message"),
    "server not there": ((*TO, *AT, "http://127.0.0.1:9", "--retries", "0"), None, 3, "127.0.0.1:9", "127.0.0.1:9"),
}


def stage(server: ThreadedRagServer, args: tuple[str, ...], text: str | None) -> list[str]:
    Path("empty.jsonl").write_text("")
    Path("a.csv").write_text("question,answer\nx,y\n")
    write([{"id": "1", "note": "x"}], "noquestion.jsonl")
    Path("named.csv").write_text("提问,标准答案\nx,y\nz,\n", encoding="utf-8")
    write([{"id": "1", "question": "x"}, {"id": "2", "reference": "y"}], "partly.jsonl")
    if "s.jsonl" in args[:1]:
        write([{"id": "1", "question": "x", "answer": "y"}], "s.jsonl")
        Path("s.jsonl.raw.jsonl").write_text("{}\n")
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


@pytest.mark.parametrize(
    ("lang", "said"), [("en", "of ragstone.toml names is not asked"), ("zh", "ragstone.toml 的 [collect] 指定的应用不会被提问")]
)
@pytest.mark.parametrize("flag", ["--call", "--answers"])
def test_a_flag_goes_ahead_of_the_application_in_the_settings(server, capfd, flag, lang, said):
    write([{"id": row["id"], "answer": "from the file"} for row in GOLD], "a.jsonl")
    settings(FASTGPT.format(url=server.url) + "concurrency = 2\n")
    value = "rag:answer" if flag == "--call" else "a.jsonl"
    assert collect(None, *TO, flag, value, lang=lang) == 0
    assert server.seen == []
    err = capfd.readouterr().err
    assert flag in err
    assert said in err


def test_a_flag_goes_ahead_of_the_application_in_the_environment(server, capfd):
    environ = {"RAGSTONE_PLATFORM": "fastgpt", "RAGSTONE_URL": server.url}
    assert run(["collect", "gold.jsonl", "--try", "1", "--call", "rag:answer"], "en", environ) == 0
    out, err = capfd.readouterr()
    assert "--call answers; the application that RAGSTONE_PLATFORM names is not asked." in err
    assert "年假：满一年 12 天。" in out
    assert server.seen == []


@pytest.mark.parametrize("named", ["flag", "variable"])
def test_settings_written_for_another_platform_are_told(server, capfd, named):
    settings(f'[collect]\nplatform = "ragflow"\nurl = "{server.url}"\napp = "a1"\nretries = 0\n')
    flags, environ = (["--platform", "fastgpt"], {}) if named == "flag" else ([], {"RAGSTONE_PLATFORM": "fastgpt"})
    assert run(["collect", *TO, *flags], "en", environ) == 0
    err = " ".join(capfd.readouterr().err.split())
    assert "fastgpt is asked, but [collect] of ragstone.toml is written for ragflow; its other settings hold as well: url, app." in err


def test_settings_written_for_the_same_platform_are_not_told(server, capfd):
    settings(FASTGPT.format(url=server.url))
    assert collect(None, *TO, "--platform", "fastgpt") == 0
    assert "is written for" not in capfd.readouterr().err


SERVERS: dict[str, tuple[Any, int, str, str]] = {
    # name: (what the server replies to everything, exit code, what is said in English, in Chinese)
    "wrong key by status": (fail(401), 3, "RAGSTONE_COLLECT_API_KEY", "RAGSTONE_COLLECT_API_KEY"),
    "wrong key in a body": (failed("Key is error", 514, name="unAuthApiKey"), 3, "Key is error", "Key is error"),
    "wrong address": (fail(404), 3, "404", "404"),
    "wrong app type": (failed("App not found", 502, 500, "appUnExist"), 3, "App not found", "App not found"),
    "no balance": (fail(402, {"message": "insufficient balance"}), 3, "402", "402"),
    "web page": (page(), 3, "http", "http"),
    "not JSON": (tell("hello", type="text/plain"), 3, "JSON", "JSON"),
}


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
    server.script = lambda asked: bad if question(asked) == "more 20" else tell(fastgpt("Yes."))
    assert collect(server, *TO, "--retries", "0", "--quiet") == 0
    assert [row["id"] for row in samples() if row["error"]] == ["m20"]
    assert "ok: 39, failed: 1" in capfd.readouterr().out


def test_a_mended_expression_asks_nothing_again(server, capsys):
    text = FASTGPT + 'answer = "{answer}"\n'
    settings(text.format(url=server.url, answer="choices[0].mesage.content"))
    assert collect(None, *TO, "--concurrency", "1") == 2
    asked = len(server.seen)
    settings(text.format(url=server.url, answer="choices[0].message.content"))
    assert collect(None, *TO, "--quiet") == 0
    assert len(server.seen) - asked == len(GOLD) - asked
    assert samples()[0]["answer"] == "有 12 天年假。"
