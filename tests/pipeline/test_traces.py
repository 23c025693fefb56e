"""A pipeline that judges what users asked: traces, scores, and the scores on the traces."""

import json
from pathlib import Path

import pytest
from support.langfuse_server import ThreadedLangfuseServer
from support.langfuse_traces import serve, trace

from ragstone.cli.app import run
from ragstone.pipeline.running import run_pipeline
from ragstone.pipeline.traces import TracesAsking
from ragstone.text import say

ANSWER, CLAIM, PASSAGE = "有 12 天年假。", "满一年有 12 天年假", "年假：满一年 12 天，满五年 15 天。"
TRUTH = {"claims": {ANSWER: [CLAIM]}, "checks": {CLAIM: {"supported": [PASSAGE]}}, "useful": {"几天年假？": [PASSAGE]}}
FILE = """
steps = ["collect", "evaluate", "report", "export"]
[collect]
platform = "langfuse"
[collect.langfuse]
since = "2026-12-01"
{until}
[judge]
model = "scripted:truth.json"
[metrics]
preset = "monitor"
[export]
to = ["langfuse"]
"""
WRONG = [('until = "2026-11-01"', "", "2026-11-01"), ("", 'gold = "gold.jsonl"\n', "GOLD"), ('until = "soon"', "", "soon")]


@pytest.fixture(autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("truth.json").write_text(json.dumps(TRUTH, ensure_ascii=False), encoding="utf-8")


def write(until: str = 'until = "2026-12-02"', more: str = "") -> None:
    Path("pipeline.toml").write_text(more + FILE.format(until=until), encoding="utf-8")


def round_of(server: ThreadedLangfuseServer, lang: str = "en") -> int:
    return run(["run", "pipeline.toml", "--quiet"], lang, {**server.environ, "RAGSTONE_CACHE": "cache"})  # type: ignore[arg-type]


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_round_over_the_traces_of_a_day_and_nothing_the_second_time(lang):
    write()
    with ThreadedLangfuseServer("v5") as server:
        told = serve(server.langfuse, [trace("t1", question="几天年假？", answer=ANSWER, passages=[PASSAGE])])
        assert round_of(server, lang) == 0
        assert {one["traceId"]: one["value"] for one in server.langfuse.scores()} == {"t1": 1.0}
        assert len(server.langfuse.scores()) == 2
        told.whole.clear()
        assert round_of(server, lang) == 0
        assert (told.whole, len(server.langfuse.scores()), server.langfuse.held()["traces"]) == ([], 2, 0)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_what_is_told_speaks_of_traces_and_not_of_an_application(lang):
    write()
    with ThreadedLangfuseServer("v5") as server:
        serve(server.langfuse, [trace("t1", question="几天年假？", answer=ANSWER, passages=[PASSAGE])])
        environ = {**server.environ, "RAGSTONE_CACHE": "cache"}
        first, second = (run_pipeline("pipeline.toml", environ=environ, lang=lang).step("collect") for _ in range(2))
    became = say("monitored.became", lang, rows=1, told=1)
    assert first.text == became + say("monitored.read_now", lang, read=1)
    assert second.text == say("pipeline.unchanged", lang, text=became)
    assert list(second.notices) == []
    assert TracesAsking({"day": "2026-12-01"}).hint(lang) == say("monitored.once_a_day", lang)


@pytest.mark.parametrize(("lang", "said"), [("en", "collect left nothing to go on with"), ("zh", "collect 没有得到可用的数据")])
def test_a_window_without_traces_is_finished_with_nothing_and_looked_at_again_by_the_next_call(lang, said, capfd):
    write()
    with ThreadedLangfuseServer("v5") as server:
        told = serve(server.langfuse, [])
        assert round_of(server, lang) == 1
        shown = capfd.readouterr()
        assert "clproject0001" in shown.err
        assert shown.out.count(said) == 3
        told.traces.append(trace("t1", question="几天年假？", answer=ANSWER, passages=[PASSAGE]))
        assert round_of(server, lang) == 0
        assert {one["traceId"] for one in server.langfuse.scores()} == {"t1"}


def test_an_empty_day_shows_no_numbers_of_the_day_before(capfd):
    write()
    with ThreadedLangfuseServer("v5") as server:
        serve(server.langfuse, [trace("t1", question="几天年假？", answer=ANSWER, passages=[PASSAGE])])
        assert round_of(server) == 0
        write('until = "2026-12-01T00:01"')
        capfd.readouterr()
        assert round_of(server) == 1
    assert "1.000" not in capfd.readouterr().out


@pytest.mark.parametrize(("until", "more", "said"), WRONG)
def test_what_cannot_be_is_told_before_any_request(until, more, said, capfd):
    write(until, more)
    with ThreadedLangfuseServer("v5") as server:
        serve(server.langfuse, [])
        assert round_of(server) == 2
        assert server.seen == []
    assert said in capfd.readouterr().err
