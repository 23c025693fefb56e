import json

from support.exported import SAMPLES, SCORES, exported, lines, write_folder

from ragstone import Run

RUN = {"run_id": "r1", "signature": "ragstone | judge local"}


def test_each_stored_cell_is_a_line_and_each_promised_one(tmp_path):
    found = lines(write_folder(tmp_path))
    assert [(row["sample_id"], row["metric"], row["value"], row["status"], row["reason"]) for row in found] == [
        ("s1", "faithfulness", 0.5, "ok", None),
        ("s1", "context_recall", 0.0, "ok", None),
        ("=1+1", "faithfulness", 1.0, "ok", None),
        ("=1+1", "context_recall", None, "failed", "timeout"),
        ("s3", "faithfulness", None, "not_applicable", "contexts_missing"),
        ("s3", "context_recall", None, "failed", "interrupted"),
    ]
    assert found[0]["verdicts"] == SCORES[0]["verdicts"]
    assert found[0]["questions"] == ["k1"]
    assert (found[5]["repeat"], found[5]["verdicts"], found[5]["detail"]) == (0, [], {})


def test_every_line_carries_signature_notice_and_counts(tmp_path):
    for row in lines(write_folder(tmp_path)):
        counts = {"faithfulness": (2, 3), "context_recall": (1, 3)}[row["metric"]]
        told = row["run"]
        assert "smoke test, not a measurement" in told.pop("notice")
        assert told == {**RUN, "n": counts[0], "total": counts[1]}


def test_repeats_are_lines_and_the_lines_are_a_run_again(tmp_path):
    scores = [{**SCORES[0], "repeat": n, "value": n / 2} for n in range(3)]
    found = lines(write_folder(tmp_path, scores=scores, samples=SAMPLES[:1], manifest=None))
    assert [(row["repeat"], row["value"]) for row in found] == [(0, 0.0), (1, 0.5), (2, 1.0)]
    assert found[0]["run"] == {"run_id": None, "signature": None, "notice": None, "n": 1, "total": 1}
    assert Run.from_scores(found).summary(worst=0).metrics[0].mean == 0.5


def test_no_token_that_json_does_not_know(tmp_path):
    line = '{"sample_id": "s", "metric": "m", "value": NaN, "status": "ok", "detail": {"x": Infinity}, "verdicts": [{"cosine": NaN}]}\n'
    (row,) = [
        json.loads(one, parse_constant=lambda token: 1 / 0)
        for one in exported(write_folder(tmp_path, scores=line, samples=None, manifest=None), "jsonl").splitlines()
    ]
    assert (row["value"], row["status"], row["reason"], row["detail"]) == (None, "failed", "not_a_number", {"x": None})


def test_what_strict_json_has_no_word_for():
    deep = [0]
    for _ in range(500):
        deep = [deep]
    detail = {"half": "\ud800", "big": 2**70, "deep": deep, "object": object, 5: "key"}
    (row,) = lines(Run.from_scores([{"sample_id": 7, "metric": "m", "value": 1, "status": "ok", "detail": detail}]))
    assert row["sample_id"] == "7"
    assert (row["detail"]["half"], row["detail"]["big"], row["detail"]["5"]) == ("?", 2**70, "key")


def test_fields_that_another_writer_left_empty_are_filled():
    bare = {"metric": "m", "value": None, "status": "failed", "verdicts": None, "repeat": None}
    (row,) = lines(Run.from_scores([{"sample_id": 5, **bare}]))
    assert (row["sample_id"], row["reason"], row["repeat"], row["verdicts"], row["questions"], row["detail"]) == (
        "5",
        "unknown",
        0,
        [],
        [],
        {},
    )
