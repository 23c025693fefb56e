"""`ragstone collect --try` and `--init`: what is shown and written before anything is collected."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.collected import (
    ANSWERS,
    GOLD,
    KEY,
    PARKING,
    RAG,
    WARRANTY,
    by_question,
    collect,
    failed,
    fastgpt,
    files,
    golden,
    question,
    quote,
    write,
)
from support.rag_server import ThreadedRagServer, fail, tell

from ragstone.cli.app import run
from ragstone.cli.collect_try import _stripped
from ragstone.cli.width import width
from ragstone.text import say

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


# ------------------------------------------------------------------ --try
@LANGUAGES
def test_try_shows_what_will_be_judged(server, capfd, lang):
    long = "甲乙丙丁戊" * 100
    answers = {**ANSWERS, PARKING: fastgpt("On level 2 [p](CITE).", quote("p", long, None), quote("q", " "))}
    server.script = lambda asked: tell(answers[question(asked)])
    before = files()
    assert collect(server, "gold.jsonl", "--try", "3", lang=lang) == 0
    assert files() == before
    golden("try", lang, capfd.readouterr().out, server)


@LANGUAGES
def test_try_names_the_file_in_which_it_is_set_right(server, capfd, lang):
    Path("pipeline.toml").write_text(f'gold = "gold.jsonl"\n[collect]\nplatform = "fastgpt"\nurl = "{server.url}"\n', encoding="utf-8")
    assert collect(None, "gold.jsonl", "--try", "1", "--config", "pipeline.toml", lang=lang) == 0
    out = capfd.readouterr().out
    assert "pipeline.toml" in out
    assert "ragstone.toml" not in out


@LANGUAGES
def test_try_of_a_function(capfd, lang):
    assert collect(None, "gold.jsonl", "--try", "1", "--call", "rag:answer", lang=lang) == 0
    out = capfd.readouterr().out
    assert "rag:answer" in out
    assert "[1]" in out  # what was stripped
    assert "JMESPath" not in out


@pytest.mark.parametrize(
    ("raw", "answer", "shown"),
    [
        ("It is 1 year [1].", "It is 1 year.", "[1]"),
        (
            "<think>x</think>年假 12 天。[c1](CITE)婚假 13 天[c2](CITE)",
            "年假 12 天。婚假 13 天",
            "<think>x</think>  [c1](CITE)  [c2](CITE)",
        ),
        ("a [1] b [1] c [2]", "a b c", "[1]  [2]"),
        ("".join(f"w{n} [{n}] " for n in range(9)), "".join(f"w{n} " for n in range(9)), "[0]  [1]  [2]  [3]  [4]  …"),
        ("<think>" + "long " * 20 + "</think>Yes.", "Yes.", "<think>long long long l…"),
        ("something else", "Yes.", ""),
        ("all of it", "", "all of it"),
    ],
)
def test_what_was_stripped_is_found(raw, answer, shown):
    assert _stripped(raw, answer) == shown


@given(st.lists(st.tuples(st.text(max_size=20), st.sampled_from(["", "[1]", "[k](CITE)", "##2$$"])), max_size=8))
def test_looking_for_what_was_stripped_always_ends(parts):
    raw, answer = "".join(text + mark for text, mark in parts), "".join(text for text, _ in parts)
    assert isinstance(_stripped(raw, answer), str)
    assert _stripped(answer, answer) == ""


def test_try_asks_so_many_rows_and_shows_failures(server, capfd):
    server.script = by_question({WARRANTY: failed("the node was cut off")})
    assert collect(server, "gold.jsonl", "--try", "2", "--retries", "0") == 1
    out = capfd.readouterr().out
    assert len(server.seen) == 2
    assert "error: platform_error: " in out
    assert "the node was cut off" in out


def test_try_as_one_document(server, capfdbinary):
    assert collect(server, "gold.jsonl", "--try", "2", "--json", "--quiet") == 0
    document = json.loads(capfdbinary.readouterr().out)
    assert [row["answer"] for row in document["rows"]] == ["有 12 天年假。", "It lasts 1 year."]
    assert document["collect"]["platform"] == "fastgpt"
    assert document["mapping"]["answer"] == "choices[0].message.content"
    assert KEY not in json.dumps(document)


def test_what_was_not_read_stands_in_the_document(capfdbinary):
    Path("more_rag.py").write_text("def ask(question):\n    return {'answer': question, 'took': 3}\n", encoding="utf-8")
    assert collect(None, "gold.jsonl", "--try", "1", "--call", "more_rag:ask", "--json") == 0
    document = json.loads(capfdbinary.readouterr().out)
    assert document["notices"] == ["Not read from what the function returned: took"]


def test_try_stops_as_a_collection_would(server, capsys):
    server.script = fail(401, {"code": 401, "message": "no"})
    assert collect(server, "gold.jsonl", "--try", "3", lang="zh") == 3
    told = capsys.readouterr().err
    assert "RAGSTONE_COLLECT_API_KEY" in told
    assert say("cli.kept", "zh") not in told  # nothing was written


def test_a_try_that_no_chunks_fit_is_not_called_right(server, capfd):
    Path("ragstone.toml").write_text('[collect]\ncontexts = "choises"\n', encoding="utf-8")
    assert collect(server, "gold.jsonl", "--try", "2", lang="zh") == 2
    told = capfd.readouterr()
    assert "choices" in told.err
    assert say("collected.try_failed", "zh") in told.out.splitlines()


HOSTILE = "\x1b]0;owned\x07\x1b[31mred\x1b[0m\r\x07 \u202egnp.exe"


@pytest.mark.parametrize("command", [["--try", "3"], ["--to", "samples.jsonl"]])
def test_control_characters_are_shown_harmlessly(server, capfd, command):
    write([{"id": f"a{HOSTILE}", "question": HOSTILE}, {"id": f"b{HOSTILE}", "question": "b"}])
    quotes = [quote(HOSTILE, HOSTILE, source=HOSTILE)]
    server.script = lambda asked: tell(fastgpt(HOSTILE, *quotes)) if len(question(asked)) > 1 else failed(HOSTILE)
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


@LANGUAGES
@pytest.mark.parametrize("platform", ["custom", "ragflow-retrieval"])
def test_what_init_tells_fits_eighty_columns(capfd, lang, platform):
    assert run(["collect", "--init", platform], lang, {}) == 0
    assert max(width(line) for line in capfd.readouterr().out.splitlines()) <= 80


def test_init_never_overwrites_and_force_sets_aside(capsys):
    Path("ragstone.toml").write_text("limit = 1\n")
    assert run(["collect", "--init", "dify-chat"], "en", {}) == 2
    assert "--force" in capsys.readouterr().err
    assert Path("ragstone.toml").read_text() == "limit = 1\n"
    assert run(["collect", "--init", "dify-chat", "--force"], "en", {}) == 0
    assert "dify-chat" in Path("ragstone.toml").read_text(encoding="utf-8")
    assert sorted(path.read_text(encoding="utf-8")[:9] for path in Path().glob("ragstone.toml.*")) == ["limit = 1"]


def test_init_as_one_document(capfdbinary):
    document = {"written": "ragstone.toml", "platform": "custom", "set_aside": None}
    assert run(["collect", "--init", "custom", "--json"], "en", {}) == 0
    assert json.loads(capfdbinary.readouterr().out) == document
    assert run(["collect", "--init", "custom", "--json", "--force"], "en", {}) == 0
    older = json.loads(capfdbinary.readouterr().out)["set_aside"]
    assert Path(older).read_text(encoding="utf-8") == Path("ragstone.toml").read_text(encoding="utf-8")


def test_init_into_a_file_of_another_name(capsys):
    assert run(["collect", "--init", "ragflow", "--config", "my app.toml"], "en", {}) == 0
    assert "ragstone collect gold.jsonl --try 3 --config 'my app.toml'" in capsys.readouterr().out
    assert files() >= {"my app.toml"}
    assert "ragstone.toml" not in files()
