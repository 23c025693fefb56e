"""`ragstone collect` over real sockets: what it asks, writes and tells."""

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.collected import (
    GOLD,
    RAG,
    TO,
    WARRANTY,
    by_question,
    collect,
    failed,
    fastgpt,
    files,
    golden,
    question,
    quote,
    samples,
    settings,
    write,
)
from support.markdown import blocks
from support.rag_server import Asked, Reply, ThreadedRagServer, tell

from ragstone.collect.words import WORDS
from ragstone.text import say

DOCS = Path(__file__).resolve().parents[2] / "docs"
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
    server.script = by_question({WARRANTY: failed("the node was cut off")})
    command = ("gold.jsonl", "--to", "samples.jsonl", "--quiet", "--min-coverage", "0.5", "--retries", "0")
    assert collect(server, *command) == 0
    server.script, before = by_question(), len(server.seen)
    assert collect(server, *command) == 0
    assert len(server.seen) == before
    assert collect(server, *command, "--retry-failed") == 0
    assert [question(asked) for asked in server.seen[before:]] == ["How long is the warranty?"]
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
    out = capfd.readouterr().out
    assert "not_found  1  (parking)" in out
    assert "with --force" in out
    assert "--retry-failed" not in out


def test_what_a_function_prints_stays_out_of_the_document(capfdbinary):
    Path("talking_rag.py").write_text(
        "print('loaded')\n\ndef ask(q):\n    print(q)\n    return {'answer': q, 'took': 3}\n", encoding="utf-8"
    )
    assert collect(None, *TO, "--call", "talking_rag:ask", "--json") == 0
    out, err = capfdbinary.readouterr()
    assert json.loads(out)["ok"] == 3
    assert collect(None, "gold.jsonl", "--try", "1", "--call", "talking_rag:ask", "--json") == 0
    assert json.loads(capfdbinary.readouterr().out)
    assert err.decode().startswith("loaded\n")
    assert "Not read from what the function returned: took" in err.decode()


def test_what_of_a_file_of_answers_fits_nothing_is_told(capfd):
    write([{"question": row["question"] + " ", "answer": "x"} for row in (*GOLD, {"question": "Who?"})], "answers.jsonl")
    assert collect(None, *TO, "--answers", "answers.jsonl") == 0
    err = capfd.readouterr().err
    assert "Answers joined by their question: 3." in err
    assert "Rows of the file that are not in the gold set and were left out: 1" in err


def test_answers_with_repeats_can_be_tried(capfd):
    write([{"id": f"{row['id']}#{n}", "answer": f"answer {n}"} for row in GOLD for n in range(2)], "answers.jsonl")
    assert collect(None, "gold.jsonl", "--try", "1", "--answers", "answers.jsonl") == 0
    assert "answer 0" in capfd.readouterr().out


def test_a_file_of_answers_with_repeats_needs_no_repeat():
    write([{"id": f"{row['id']}#{n}", "answer": f"{n}"} for row in GOLD for n in range(2)], "answers.jsonl")
    assert collect(None, "gold.jsonl", "--answers", "answers.jsonl", "--to", "samples.jsonl", "--quiet") == 0
    assert [(row["id"], row["answer"]) for row in samples()][:2] == [("leave#0", "0"), ("leave#1", "1")]


# ------------------------------------------------------------------ the page at the end
@LANGUAGES
def test_the_page_at_the_end(server, capfd, lang):
    rows = [{"id": f"q{n}", "question": f"question {n}"} for n in range(9)]
    write(rows)

    def reply(asked: Asked) -> Reply:
        n = int(question(asked).removeprefix("question "))
        if n > 5:
            return failed("the node was cut off")
        empty_or_error = {4: "", 5: "  "}
        return tell(fastgpt(empty_or_error.get(n, "Yes."), *([quote("c", "A chunk.")] if n else [])))

    server.script = reply
    assert collect(server, "gold.jsonl", "--to", "samples.jsonl", "--quiet", "--retries", "0", "--concurrency", "1", lang=lang) == 1
    out, err = capfd.readouterr()
    assert "--min-coverage" in err
    golden("collected", lang, out, server)


@LANGUAGES
@pytest.mark.parametrize("word", WORDS)
def test_every_word_has_a_sentence_that_says_what_to_do(word, lang):
    text = say(f"collected.word_{word}", lang)
    assert text.endswith("。" if lang == "zh" else ".")
    assert len(text) <= 180
    page = DOCS / ("zh" if lang == "zh" else ".") / "collect.md"
    assert f"| `{word}` | {text} |" in page.read_text(encoding="utf-8")


def test_words_on_the_page_come_from_the_rows(capfd):
    assert collect(None, "gold.jsonl", "--to", "samples.jsonl", "--call", "rag:broken", lang="zh") == 1
    out = capfd.readouterr().out
    assert "call_failed  3（leave、warranty、parking）" in out
    assert say("collected.word_call_failed", "zh")[:20] in out
    assert "成功 0，失败 3" in out


@LANGUAGES
def test_an_application_that_tells_no_chunks_is_said_so_once(capfd, lang):
    assert collect(None, "gold.jsonl", "--to", "samples.jsonl", "--call", "rag:bare", lang=lang) == 0
    out = capfd.readouterr().out
    assert out.count("`contexts`") == 1
    assert [row["contexts"] for row in samples()] == [None] * 3


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
