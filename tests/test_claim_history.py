"""The history of a folder of runs: which runs and claims, and what a reader must know of them."""

import json

import orjson
import pytest
from support.histories import claim_row, failed_row, write_history_run

import ragstone
from ragstone.errors import ConfigError, RunFolderError


@pytest.fixture(autouse=True)
def english(monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", "en")


def runs(folder, *marks, **manifest):
    for day, word in enumerate(marks, 1):
        write_history_run(folder / f"r{day}", [claim_row("a", word), claim_row("b", word[0])], day, **manifest)
    return folder


def codes(found):
    return [warning["code"] for warning in found.to_dict("en")["warnings"]]


def states(found):
    return {(c["sample_id"], c["claim"]): c["states"] for c in found.to_dict("en")["claims"]}


def test_a_claim_over_three_runs(tmp_path):
    found = ragstone.history(runs(tmp_path, "++", "+-", "+-"))
    assert found.counts == {"lost": 1, "flaky": 0, "fail": 0, "fixed": 0, "unknown": 0, "pass": 2}
    first = found.to_dict("en")["claims"][0]
    assert (first["status"], first["lost_in"], first["fixed_in"]) == ("lost", str(tmp_path / "r2"), None)
    assert codes(found) == []


def test_the_document_is_the_same_each_time_and_holds_no_nan(tmp_path):
    runs(tmp_path, "++", "+-")
    one, two = (json.dumps(ragstone.history(tmp_path).to_dict("zh"), allow_nan=False) for _ in range(2))
    assert one == two


def test_of_a_doubled_cell_the_last_line_counts(tmp_path):
    write_history_run(tmp_path / "r1", [claim_row("a", "-"), claim_row("a", "+")])
    assert states(ragstone.history(tmp_path)) == {("a", "a/1"): ["pass"]}


def test_the_newest_runs_only(tmp_path):
    found = ragstone.history(runs(tmp_path, "++", "+-", "+-"), last=2)
    assert [run.name for run in found.runs] == ["r2", "r3"]
    assert states(found)["a", "a/2"] == ["fail", "fail"]


def test_one_sample_and_one_kind(tmp_path):
    runs(tmp_path, "++", "+-")
    assert {sample for sample, _ in states(ragstone.history(tmp_path, sample="b"))} == {"b"}
    chosen = ragstone.history(tmp_path, only="lost")
    assert list(states(chosen)) == [("a", "a/2")]
    assert chosen.counts["pass"] == 2  # counts are of all
    assert len(states(ragstone.history(tmp_path, only=["lost", "pass"]))) == 3


@pytest.mark.parametrize(
    ("wanted", "named"),
    [
        ({"only": "broken"}, "lost, flaky"),
        ({"sample": "bb"}, "b"),
        ({"gold": "x"}, "gold1"),
        ({"metric": "faithfulness"}, "answer_correctness"),
        ({"last": 0}, "--last"),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(tmp_path, wanted, named):
    with pytest.raises(ConfigError, match=named):
        ragstone.history(runs(tmp_path, "+"), **wanted)


# ------------------------------------------------------------------ gold sets
@pytest.fixture
def grown(tmp_path):
    """Two runs of a gold set, then one of the same with a claim dropped and a sample added."""
    write_history_run(tmp_path / "r1", [claim_row("a", "++")], 1)
    write_history_run(tmp_path / "r2", [claim_row("a", "-+")], 2)
    write_history_run(tmp_path / "r3", [claim_row("a", "-"), claim_row("b", "+")], 3, gold_fingerprint="gold2")
    return tmp_path


def test_the_newest_gold_set_is_shown_and_others_are_named(grown):
    found = ragstone.history(grown)
    assert (found.gold_fingerprint, len(found.runs)) == ("gold2", 1)
    assert codes(found) == ["gold_sets_several", "one_run"]
    assert "gold1 × 2" in found.to_dict("en")["warnings"][0]["text"]


def test_a_gold_set_can_be_chosen(grown):
    assert states(ragstone.history(grown, gold="gold1"))["a", "a/1"] == ["pass", "fail"]
    with pytest.raises(ConfigError, match="gold1, gold2"):
        ragstone.history(grown, gold="gol")


def test_all_gold_sets_follow_the_claims_that_are_still_asked(grown):
    found = ragstone.history(grown, gold="all")
    assert states(found) == {("a", "a/1"): ["pass", "fail", "fail"], ("b", "b/1"): [None, None, "pass"]}
    assert found.gold_fingerprint == "all"


def test_runs_that_do_not_tell_their_gold_set(tmp_path):
    runs(tmp_path, "+", "-", gold_fingerprint=None)
    found = ragstone.history(tmp_path)
    assert (found.gold_fingerprint, codes(found)) == (None, ["gold_unknown"])
    assert len(ragstone.history(tmp_path, gold="unknown").runs) == 2


# ------------------------------------------------------------------ what to know
@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ({"judge": {"model": "x"}}, {"judge": {"model": "y"}}, "judge_differs"),
        ({"judge": {"model": "x", "endpoint": "e"}}, {"judge": {"model": "x", "endpoint": "f"}}, "judge_differs"),
        ({"prompts": {"en": "1"}}, {"prompts": {"en": "2"}}, "prompts_differ"),
        (
            {"metrics": {"answer_correctness": {"version": 1}}},
            {"metrics": {"answer_correctness": {"version": 2}}},
            "metric_version_differs",
        ),
        ({}, {"judge": {"model": "local", "endpoint": "local"}}, "smoke_test"),
        ({}, {"created_at": None}, "dated_by_file"),
        ({"judge": {"model": "x"}, "prompts": {"en": "1"}}, {"judge": {"model": "x"}, "prompts": {"en": "1"}}, None),
        ({"judge": {"model": "x"}}, {}, None),  # unknown is not different
        ({"judge": "x"}, {"judge": ["odd"]}, "judge_differs"),
    ],
)
def test_what_else_may_have_changed_a_state(tmp_path, before, after, code):
    write_history_run(tmp_path / "r1", [claim_row("a", "+")], 1, **before)
    write_history_run(tmp_path / "r2", [claim_row("a", "-")], 2, **after)
    assert codes(ragstone.history(tmp_path)) == ([code] if code else [])


def test_a_folder_or_line_that_cannot_be_read_is_named_and_not_fatal(tmp_path):
    runs(tmp_path, "+", "-")
    (tmp_path / "r9").mkdir()
    (tmp_path / "r9" / "scores.jsonl").write_text("")
    with (tmp_path / "r2" / "scores.jsonl").open("a") as file:
        file.write('{"sample_id":"a","metric":"answer_correctness","value":7,"status":"ok"}\nnot json\n{"half')
    found = ragstone.history(tmp_path)
    assert codes(found) == ["folder_unreadable", "line_unreadable"]
    assert "r9" in found.to_dict("en")["warnings"][0]["text"]
    assert "(2)" in found.to_dict("en")["warnings"][1]["text"]  # the torn last line is what an interrupted run leaves


def test_runs_that_say_nothing_of_claims(tmp_path):
    runs(tmp_path, "+")
    write_history_run(tmp_path / "r2", [failed_row("a")], 2)
    found = ragstone.history(tmp_path)
    assert codes(found) == ["silent"]
    assert states(found)["a", "a/1"] == ["pass", None]
    assert found.counts["fail"] == 0


def test_retrieval_alone_is_followed_and_said(tmp_path):
    for day, mark in enumerate("+-", 1):
        write_history_run(tmp_path / f"r{day}", [claim_row("a", mark, "context_recall")], day)
    found = ragstone.history(tmp_path)
    assert (found.metric, found.counts["lost"], codes(found)) == ("context_recall", 1, ["retrieval_alone"])
    assert codes(ragstone.history(tmp_path, metric="context_recall")) == []


def test_no_runs_no_claims(tmp_path):
    with pytest.raises(RunFolderError, match="holds no run"):
        ragstone.history(tmp_path)
    write_history_run(tmp_path / "r1", [failed_row("a")])
    with pytest.raises(RunFolderError, match="none of the 1 runs"):
        ragstone.history(tmp_path)
    (tmp_path / "r1" / "scores.jsonl").unlink()
    with pytest.raises(RunFolderError, match="r1: "):
        ragstone.history(tmp_path)


def test_texts_of_a_run_are_not_held_all_at_once(tmp_path):
    import tracemalloc

    line = {"kind": "reference_claim", "id": "r1", "text": "t", "verdict": "covered", "reason": "y" * 20_000}
    row = {"metric": "answer_correctness", "value": 1.0, "status": "ok", "verdicts": [line]}
    (tmp_path / "one").mkdir()
    with (tmp_path / "one" / "scores.jsonl").open("wb") as file:
        file.writelines(orjson.dumps({"sample_id": f"q{i}", **row}) + b"\n" for i in range(500))
    tracemalloc.start()
    try:
        assert len(ragstone.history(tmp_path).claims) == 500
        assert tracemalloc.get_traced_memory()[1] < 5_000_000  # the rows hold 10,000,000
    finally:
        tracemalloc.stop()
