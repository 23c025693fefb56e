"""`ragstone doctor`: its report in both languages, its exit codes, what it remembers, and that no key is ever shown."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support import makes
from support.server import DROP, HANG, Answer, ThreadedServer, refuse, say

from ragstone.cli.app import run
from ragstone.cli.width import width
from ragstone.text import say as say_text
from ragstone.types import Language

GOLDEN = Path(__file__).parent / "golden"
KEY = "sk-secret-0123456789abcdef"
ENVIRON = {"RAGSTONE_JUDGE_API_KEY": KEY}


@pytest.fixture(autouse=True)
def working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def told(capsys):
    def ask(server: ThreadedServer, *arguments: str, lang: str = "en", environ: Any = ENVIRON) -> tuple[int, str, str]:
        code = run(["doctor", "--judge", "m1", "--base-url", server.url, "--cache", "c", *arguments], lang, environ)
        out, err = capsys.readouterr()
        assert KEY not in out + err
        return code, out, err

    return ask


def masked(server: ThreadedServer, text: str, lang: Language) -> str:
    """The report above the settings, without what differs from run to run."""
    text = text.partition(say_text("doctor.settings", lang))[0]
    return re.sub(r"\d+\.\d(?= ?(s|秒)\b)", "0.0", text.replace(server.url, "http://127.0.0.1:4321/v1"))


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", ["good", "deepseek"])
def test_the_report_in_full(name, lang, told):
    with ThreadedServer(getattr(makes, name)()) as server:
        code, out, err = told(server, "--embeddings", "bge-m3", lang=lang)
    assert (code, err) == (0, "")
    assert masked(server, out, lang) == (GOLDEN / f"doctor_{name}.{lang}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", ["good", "deepseek", "openai_reasoning", "lm_studio", "minimax", "ollama", "silent_vllm"])
def test_no_line_is_wider_than_80_columns(name, lang, told):
    with ThreadedServer(getattr(makes, name)()) as server:
        code, out, _ = told(server, "--embeddings", "bge-m3", lang=lang)
    assert code == 0
    assert [line for line in out.splitlines() if width(line) > 80 and server.url not in line] == []
    assert len(server.seen) < 15


def test_json_is_one_document(told):
    with ThreadedServer(makes.deepseek()) as server:
        code, out, _ = told(server, "--embeddings", "bge-m3", "--json")
    found = json.loads(out)
    assert code == 0
    assert set(found) == {"judge", "embeddings", "requests", "settings", "toml", "usable", "remembered"}
    assert found["usable"] is True
    assert found["requests"] == len(server.seen) < 15
    by_probe = {row["probe"]: row for row in found["judge"]["findings"]}
    assert (by_probe["json_schema"]["state"], by_probe["json_schema"]["code"]) == ("no", "schema_refused")
    assert "response_format type is unavailable" in by_probe["json_schema"]["found"]
    assert {"name": "judge.model", "value": "m1", "origin": "flag"} in found["settings"]


def test_the_lines_to_copy_are_a_settings_file_that_evaluates(told, tmp_path, capsys):
    make = makes.deepseek()
    with ThreadedServer(make) as server:
        _, out, _ = told(server, "--embeddings", "bge-m3", "--json")
        Path("found.toml").write_text(json.loads(out)["toml"], encoding="utf-8")
        row = {"question": "Warranty?", "answer": "One year.", "contexts": ["One year."]}
        Path("s.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
        server.chat = lambda seen: (
            say('{"claims":[{"text":"x","anchor":""}]}') if "split_claims" in seen.user + str(seen.body) else make(seen)
        )
        before = len(server.seen)
        command = ["evaluate", "s.jsonl", "--config", "found.toml", "--preset", "fast", "--out", "r", "--quiet", "--no-cache"]
        assert run(command, "en", ENVIRON) == 0
        assert server.seen[before].body["thinking"] == {"type": "disabled"}
        assert server.seen[before].headers["Authorization"] == f"Bearer {KEY}"
    capsys.readouterr()


@pytest.mark.parametrize(
    ("name", "begun"),
    [
        ("deepseek", {"response_format": {"type": "json_object"}, "thinking": {"type": "disabled"}}),
        ("openai_reasoning", {"reasoning_effort": "none", "temperature": None}),
        ("minimax", {"response_format": None, "temperature": 0.01}),
    ],
)
def test_the_next_run_starts_with_what_was_found(name, begun, told, capsys):
    make = getattr(makes, name)()
    with ThreadedServer(make) as server:
        told(server)
        row = {"question": "Warranty?", "answer": "One year.", "contexts": ["One year."]}
        Path("s.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
        before = len(server.seen)
        command = ["evaluate", "s.jsonl", "--judge", "m1", "--base-url", server.url, "--preset", "fast", "--out", "r", "--cache", "c"]
        run(command, "en", ENVIRON)
    capsys.readouterr()
    first = server.seen[before].body
    assert {key: first.get(key) for key in begun} == begun
    assert "max_tokens" not in first


def test_what_was_found_is_remembered_beside_what_was_known_unless_told_not_to(told):
    with ThreadedServer(makes.good()) as server:
        _, out, _ = told(server, "--no-cache")
        assert not Path("c").exists()
        assert "Remembered" not in out
        _, out, _ = told(server, "--embeddings", "bge-m3")
        facts = json.loads(Path("c/dialects.json").read_text())
        assert facts[f"m1 @ {server.url}"]["logprobs"] is True
        assert facts[f"bge-m3 @ {server.url}"]["batch_size"] == 32
        assert "c/dialects.json" in out
        facts[f"m1 @ {server.url}"]["something else"] = "kept"
        Path("c/dialects.json").write_text(json.dumps(facts))
        told(server)
    assert json.loads(Path("c/dialects.json").read_text())[f"m1 @ {server.url}"]["something else"] == "kept"
    assert KEY not in Path("c/dialects.json").read_text()


@pytest.mark.parametrize(("lang", "judges"), [("en", "as the judge's"), ("zh", "同评判模型")])
def test_every_setting_stands_with_its_value_and_origin(lang, judges, told):
    Path("ragstone.toml").write_text("[limits]\ntop_k = 4\n[gate]\nmin_coverage = 0.5\n", encoding="utf-8")
    with ThreadedServer(makes.good()) as server:
        _, out, _ = told(server, "--embeddings", "bge", lang=lang, environ={**ENVIRON, "RAGSTONE_TIMEOUT": "9"})
    settings = out.partition(say_text("doctor.settings", lang))[2]
    for pattern in (
        rf"\[judge\]\n  model +m1 +{say_text('doctor.origin_flag', lang)}",
        r"  timeout +9.0 +\S+ RAGSTONE_TIMEOUT\n",
        rf"  key +{say_text('doctor.key_set', lang)} +\S+ RAGSTONE_JUDGE_API_KEY\n",
        rf"  base_url +{server.url} +{judges}\n",
        r"\[limits\]\n  top_k +4 +ragstone.toml\n",
        r"  seed +0 +",
        r"\[gate\]\n  min_coverage +0.5 +ragstone.toml\n",
    ):
        assert re.search(pattern, settings), pattern
    assert re.search(r"^\[export\]\n  to +\[\] +", settings, re.MULTILINE)
    assert "\n[collect]\n" in settings


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_prices_stand_with_each_model(lang, told):
    Path("ragstone.toml").write_text('[prices."gpt-4.1"]\ninput = 2\noutput = 8.5\n[prices."通义"]\ncached = 0.5\n', encoding="utf-8")
    with ThreadedServer(makes.good()) as server:
        _, out, _ = told(server, lang=lang)
        _, document, _ = told(server, "--json", lang=lang)
    for pattern in (
        r'  gpt-4\.1 +\{"input":2\.0,"output":8\.5\} +ragstone\.toml\n',
        r'  通义 +\{"input":0\.0,"output":0\.0,"cached":0\.5\} ',
    ):
        assert re.search(pattern, out), pattern
    told_prices = {row["name"]: row["value"] for row in json.loads(document)["settings"] if row["name"].startswith("prices")}
    assert told_prices == {"prices.gpt-4.1": {"input": 2.0, "output": 8.5}, "prices.通义": {"input": 0.0, "output": 0.0, "cached": 0.5}}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_brackets_around_long_words_of_an_endpoint_are_closed(lang, told):
    make = makes.good()
    with ThreadedServer(
        lambda seen: refuse(400, "response_format: " + "no " * 60) if "response_format" in seen.body else make(seen)
    ) as server:
        _, out, _ = told(server, lang=lang)
    table = masked(server, out, lang)
    assert "…" in table
    assert table.count("(") + table.count("（") == table.count(")") + table.count("）")


def test_origins_stand_in_one_column(told):
    with ThreadedServer(makes.good()) as server:
        _, out, _ = told(server)
    rows = out.partition("[judge]\n  model  ")[2].partition("[embeddings]")[0].splitlines()
    assert {re.search("flag|default|environment", row).start() for row in rows[1:]} == {17 + len(server.url)}


@pytest.mark.parametrize("trouble", [refuse(401, "no")])
def test_of_two_troubles_the_judges_comes_first(trouble, told):
    with ThreadedServer([trouble], embeddings=[trouble]) as server:
        code, _, err = told(server, "--embeddings", "bge-m3")
    assert code == 3
    assert err.index("m1") < err.index("bge-m3")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_without_a_judge_the_settings_are_told_and_how_to_name_one(lang, capsys):
    Path("ragstone.toml").write_text("concurrency = 3\n", encoding="utf-8")
    assert run(["doctor"], lang, ENVIRON) == 2
    out, err = capsys.readouterr()
    assert re.search(r"concurrency +3 +ragstone\.toml", out)
    assert "RAGSTONE_JUDGE_API_KEY" in out
    assert "--judge" in err
    assert "✓" not in out


def test_without_a_judge_json_is_a_document_all_the_same(capsys):
    assert run(["doctor", "--json"], "en", {}) == 2
    found = json.loads(capsys.readouterr().out)
    assert (found["judge"], found["usable"], found["requests"]) == (None, False, 0)
    assert found["settings"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_judges_on_this_machine_need_no_probe(lang, capsys):
    assert run(["doctor", "--judge", "local"], lang, {}) == 0
    out, err = capsys.readouterr()
    assert "✓" in out
    assert '[judge]\nmodel = "local"' in out
    assert err == ""


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (refuse(401, f"Incorrect API key provided: {KEY}"), ["401", "RAGSTONE_JUDGE_API_KEY"]),
        (refuse(404, "The model `m1` does not exist"), ["404", "--judge"]),
        (refuse(500, "boom"), ["boom", "--base-url"]),
        (Answer(200, b"<html><title>Hello</title></html>"), ["200", "--base-url"]),
        (Answer(200, {"status": "ok"}), ["200", "--base-url"]),
        (HANG, ["timeout", "--base-url"]),
        (DROP, ["--base-url"]),
    ],
    ids=["401", "404", "500", "page", "no chat API", "hang", "drop"],
)
def test_a_judge_that_cannot_be_used_exits_with_3(answer, words, lang, told, monkeypatch):
    monkeypatch.setattr("ragstone.doctor.line.REPEATS", 0)  # their waits are tested elsewhere
    with ThreadedServer([answer]) as server:
        code, out, err = told(server, "--timeout", "0.3" if answer is HANG else "60", lang=lang)
    assert code == 3
    assert "✗" in out
    assert server.url in err
    assert "m1" in err
    assert all(word in err for word in words)
    assert "Traceback" not in err
    assert say_text("doctor.lines_unusable", lang) + '\n\n[judge]\nmodel = "m1"' in out, "what is known is told all the same"


def test_nobody_listens(told, monkeypatch):
    monkeypatch.setattr("ragstone.doctor.line.REPEATS", 0)
    with ThreadedServer() as server:
        pass
    code, _, err = told(server, "--timeout", "60")
    assert code == 3
    assert server.url in err
    assert "--base-url" in err


def test_embeddings_that_cannot_be_used_exit_with_1(told):
    with ThreadedServer(makes.good(), embeddings=[refuse(404, {"detail": "Not Found"})]) as server:
        code, out, err = told(server, "--embeddings", "bge-m3")
    assert code == 1
    assert "404" in err
    assert "--embeddings-base-url" in err
    assert "--embeddings local" in err
    assert [line for line in err.splitlines() if line != line.rstrip()] == []
    assert "batch_size" not in out.partition("Settings")[0]


def test_a_key_that_the_model_echoes_is_masked(told):
    with ThreadedServer([say(f"your key is {KEY}")]) as server:
        code, out, _ = told(server)
    assert code == 3
    assert "sk-…ef" in out


def test_ctrl_c_ends_it_with_3():
    with ThreadedServer([HANG]) as server:
        command = [sys.executable, "-m", "ragstone", "doctor", "--judge", "m1", "--base-url", server.url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as doctor:
            while not server.seen and doctor.poll() is None:
                time.sleep(0.02)
            doctor.send_signal(signal.SIGINT)
            _, err = doctor.communicate(timeout=300)
    assert doctor.returncode == 3
    assert err.strip() == "Interrupted."


def test_a_wrong_setting_is_refused_before_anything_is_sent(told):
    with ThreadedServer() as server:
        code, out, err = told(server, "--temperature", "9")
    assert (code, out, server.seen) == (2, "", [])
    assert "--temperature" in err
