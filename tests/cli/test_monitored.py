"""Online sampling from end to end: traces of users, judged, and their scores on the same traces."""

import json
from pathlib import Path

import pytest
from support.langfuse_server import ThreadedLangfuseServer
from support.langfuse_traces import serve, trace

from ragstone.cli.app import run

QUESTION = {"zh": "入职满一年有几天年假？", "en": "How long is the warranty?"}
ANSWER = {"zh": "有 12 天年假，还发红包。", "en": "The warranty is one year. It is free."}
PASSAGES = {"zh": ["食堂中午十二点开门供应午餐。", "年假：满一年 12 天，满五年 15 天。"]}
PASSAGES |= {"en": ["The canteen opens at noon every day.", "Standard warranty: 1 year from purchase."]}
CLAIMS = {"zh": ["满一年有 12 天年假", "公司发红包"], "en": ["The warranty is one year", "The warranty is free"]}
DAY = ("--since", "2026-12-01", "--until", "2026-12-02")


@pytest.fixture(autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def table(lang: str) -> None:
    truth = {
        "claims": {ANSWER[lang]: CLAIMS[lang]},
        "checks": {CLAIMS[lang][0]: {"supported": [PASSAGES[lang][1]]}, CLAIMS[lang][1]: {}},
        "useful": {QUESTION[lang]: [PASSAGES[lang][1]]},
    }
    Path("truth.json").write_text(json.dumps(truth, ensure_ascii=False), encoding="utf-8")


@pytest.mark.parametrize("generation", ["v5", "v4", "v3"])
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_scores_stand_on_the_traces_they_are_about_and_nothing_else_is_made(generation, lang, monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    table(lang)
    told = {"question": {"query": QUESTION[lang]}, "answer": {"answer": ANSWER[lang]}}
    made = [trace("t1", passages=[{"text": text} for text in PASSAGES[lang]], **told), trace("t2", **told), trace("t3")]
    with ThreadedLangfuseServer(generation) as server:
        serve(server.langfuse, made)
        environ = {**server.environ, "RAGSTONE_CACHE": "cache"}
        assert run(["collect", "--from", "langfuse", "--to", "s.jsonl", *DAY, "--quiet"], lang, environ) == 0
        judged = ["evaluate", "s.jsonl", "--preset", "monitor", "--judge", "scripted:truth.json", "--out", "run", "--quiet"]
        assert run(judged, lang, environ) == 0
        for _ in range(2):
            assert run(["export", "run", "--to", "langfuse", "--quiet"], lang, environ) == 0
            held = server.langfuse.held()
            assert held == {"traces": 0, "datasets": 0, "items": 0, "run_items": 0, "scores": 2, "spans": 0}
        scores = {(one["traceId"], one["observationId"], one["name"]): one["value"] for one in server.langfuse.scores()}
        assert server.langfuse.orphans() == []
    # one claim of two has support; the useful passage is the second; t2 tells no passages, t3 says nothing
    assert scores == {("t1", "t1-root", "faithfulness"): 0.5, ("t1", "t1-root", "context_precision"): 0.5}
    assert {one["environment"] for one in server.langfuse.scores()} == {"production"}
