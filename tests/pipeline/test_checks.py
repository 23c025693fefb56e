"""Everything that can be wrong is found before the first request, and named with the file."""

import pytest
from support.rounds import ALL, Rounds, gold

from ragstone.errors import RagstoneError

BROKEN = {
    "step": ({"steps": ["colect"]}, ["colect", "collect"]),
    "no steps": ({"steps": []}, ["steps"]),
    "key": ({"baselin": "last"}, ["baselin", "baseline"]),
    "key in a table": ({"gate": {"min_covrage": 0.9}}, ["min_covrage", "min_coverage"]),
    "no gold set": ({"gold": None}, ["gold"]),
    "gold set not there": ({"gold": "gone.jsonl"}, ["gone.jsonl"]),
    "no judge": ({"judge": {"model": None}}, ["--judge local"]),
    "truth table not there": ({"judge": {"model": "scripted:gone.json"}}, ["gone.json"]),
    "metric": ({"metrics": {"metrics": ["faithfullness"]}}, ["faithfullness", "faithfulness"]),
    "platform": ({"collect": {"url": None}}, ["url"]),
    "expression": ({"collect": {"answer": "text["}}, ["answer"]),
    "key of the application": ({"collect": {"api_key_env": "HOUSE_KEY"}}, ["HOUSE_KEY"]),
    "rule for what is not measured": (
        {"gate": {"metrics": {"context_precision": {"min_mean": 0.5}}}},
        ["context_precision", "context_recall"],
    ),
    "rule without a limit": ({"gate": {"metrics": {"faithfulness": {}}}}, ["faithfulness"]),
    "slice": ({"gate": {"slices": [{"by": "kinds", "value": "a", "metric": "faithfulness", "min_mean": 0.1}]}}, ["kinds", "kind?"]),
    "folder as a baseline": ({"baseline": "../other/run"}, ["../other/run"]),
    "exporter": ({"steps": [*ALL, "export"], "export": {"to": ["cvs"]}}, ["cvs", "csv"]),
    "object": ({"steps": [*ALL, "export"], "export": {"to": ["pandas"]}}, ["pandas"]),
    "Langfuse": ({"steps": [*ALL, "export"], "export": {"to": ["csv", "langfuse"]}}, ["LANGFUSE_PUBLIC_KEY", "LANGFUSE_HOST"]),
}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", BROKEN)
def test_a_mistake_is_told_before_any_request(tmp_path, monkeypatch, name, lang):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    over, named = BROKEN[name]
    with Rounds(tmp_path) as rounds:
        rounds.write(**over)
        with pytest.raises(RagstoneError) as told:
            rounds.run(lang=lang)
        assert told.value.exit_code == 2
        assert [word for word in named if word not in str(told.value).replace("？", "?").replace(" ?", "?")] == []
        assert rounds.asked == 0
        assert not rounds.work.exists()


def test_a_mistake_in_a_later_step_is_told_even_where_a_step_begins_later(tmp_path):
    with Rounds(tmp_path) as rounds:
        rounds.run()
        rounds.write(gate={"metrics": {"faithfulness": {"min_mean": 2}}})
        with pytest.raises(RagstoneError, match="min_mean"):
            rounds.run("report")


def test_a_row_without_a_question_is_told(tmp_path):
    with Rounds(tmp_path) as rounds:
        rounds.write_gold([{"id": row["id"], "reference": "1 year."} for row in gold(2)])
        with pytest.raises(RagstoneError, match="question"):
            rounds.run()


def test_a_step_that_is_not_there(tmp_path):
    with Rounds(tmp_path) as rounds, pytest.raises(RagstoneError, match="did you mean gate"):
        rounds.run("gates")


def test_work_that_is_a_file(tmp_path):
    with Rounds(tmp_path) as rounds:
        rounds.work.write_text("", encoding="utf-8")
        with pytest.raises(RagstoneError, match="is a file"):
            rounds.run()
