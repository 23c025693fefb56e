import json

import pytest

import ragstone
from ragstone.errors import ConfigError, RunFolderError
from ragstone.results import Run, load
from ragstone.types import Sample, Score

ROWS = [
    {"sample_id": "a", "metric": "faithfulness", "value": 0.5, "status": "ok"},
    {"sample_id": "退货-1", "metric": "faithfulness", "value": None, "status": "failed", "reason": "timeout", "questions": ["k1", "k2"]},
]
SAMPLES = [{"id": "a", "question": "q", "meta": {"category": "x"}}, {"id": "退货-1", "question": "怎么退货？", "meta": {"category": "y"}}]
MANIFEST = {"run_id": "r", "signature": "s", "judge": {"model": "m", "endpoint": "https://x"}, "metrics": {"faithfulness": {}}}


@pytest.fixture
def folder(tmp_path):
    """A run folder, written by hand; a call changes one of its files (None: the file is not there)."""

    def write(**files):
        content = {"scores": ROWS, "samples": SAMPLES, "manifest": MANIFEST, "replies": None} | files
        for name, held in content.items():
            path = tmp_path / (f"{name}.json" if name == "manifest" else f"{name}.jsonl")
            path.unlink(missing_ok=True)
            if isinstance(held, list):
                held = "".join(json.dumps(row) + "\n" for row in held)
            if held is not None:
                path.write_text(json.dumps(held) if isinstance(held, dict) else held, encoding="utf-8")
        return tmp_path

    return write


# ------------------------------------------------------------------ in one line
def test_a_run_shows_itself_in_one_line(folder):
    held = Run.from_scores([*ROWS, {"sample_id": "a", "metric": "mine(k=1)", "value": 0.99999, "status": "ok"}], SAMPLES)
    assert repr(held) == "Run(in memory, samples=2, faithfulness=0.5, mine(k=1)=0.9999)"
    assert repr(Run.from_scores(ROWS[1:])) == "Run(in memory, samples=1, faithfulness=None)"
    path = folder()
    assert repr(load(path)) == f"Run({str(path)!r}, samples=2, faithfulness=0.5)"


def test_a_broken_run_shows_itself_too(folder):
    shown = repr(load(folder(scores=[{**ROWS[0], "value": 1.5}])))
    assert shown.startswith("Run(")
    assert "value is 1.5" in shown
    assert "\n" not in shown


# ------------------------------------------------------------------ equal runs
def test_a_run_equals_one_that_says_the_same(folder):
    path = folder()
    assert load(path) == load(path)
    assert load(path) == Run.from_scores(ROWS[::-1], SAMPLES, MANIFEST)
    assert load(path) == load(folder(scores=[{**ROWS[0], "value": 0.25}, *ROWS]))


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"scores": [{**ROWS[0], "value": 0.25}, ROWS[1]]}, id="a value"),
        pytest.param({"scores": [{**ROWS[0], "detail": {"x": 1}}, ROWS[1]]}, id="a detail"),
        pytest.param({"scores": ROWS[:1]}, id="a score less"),
        pytest.param({"samples": None}, id="no samples"),
        pytest.param({"samples": [{**SAMPLES[0], "answer": "?"}, SAMPLES[1]]}, id="an answer"),
        pytest.param({"manifest": {**MANIFEST, "run_id": "other"}}, id="another run"),
    ],
)
def test_a_run_differs_from_one_that_does_not(folder, changed):
    held = load(folder()).in_memory()
    assert held != load(folder(**changed))
    assert held != ROWS


# ------------------------------------------------------------------ what is no run
@pytest.mark.parametrize(("lang", "words"), [("en", ["no export of a run", "--to json"]), ("zh", ["不是运行的导出", "--to json"])])
def test_a_file_is_a_run_only_if_it_is_an_export(lang, words, tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(RunFolderError) as caught:
        load(tmp_path / "run.json")
    assert all(word in str(caught.value) for word in [*words, "run.json"])


@pytest.mark.parametrize(
    ("files", "words"),
    [
        pytest.param([], ["empty folder", "scores.jsonl"], id="empty folder"),
        pytest.param(["b.txt", "a.txt"], ["a.txt, b.txt", "no scores.jsonl"], id="another folder"),
        pytest.param(["manifest.json", "samples.jsonl"], ["manifest.json, samples.jsonl", "no scores.jsonl"], id="a run that never began"),
        pytest.param([f"{i}.txt" for i in range(9)], ["4.txt, …"], id="many files"),
        pytest.param(["scores.jsonl"], ["scores.jsonl is empty", "ragstone evaluate"], id="no score yet"),
    ],
)
def test_a_folder_that_is_no_run_says_what_it_holds(files, words, tmp_path):
    for name in files:
        (tmp_path / name).touch()
    with pytest.raises(RunFolderError) as caught:
        load(tmp_path)
    assert all(word in str(caught.value) for word in words)
    assert caught.value.exit_code == 2


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(RunFolderError, match="no folder"):
        load(tmp_path / "nowhere")


def test_a_scores_file_without_a_readable_line(folder):
    with pytest.raises(RunFolderError, match=r"scores\.jsonl: none of its lines"):
        load(folder(scores="rubbish\nmore rubbish\n")).summary()


@pytest.mark.parametrize("scores", ["", "\n", '{"sample_id":"a","met'], ids=["empty", "blank", "torn"])
def test_a_run_killed_before_its_first_score_shows_its_promised_cells(folder, scores):
    held = load(folder(scores=scores, manifest={**MANIFEST, "metrics": {"faithfulness": {"version": 1, "parameters": {}}}}))
    (shown,) = held.summary().metrics
    assert (shown.mean, shown.n, shown.failed, dict(shown.reasons)) == (None, 0, len(SAMPLES), {"interrupted": len(SAMPLES)})


def test_no_rows_are_no_run():
    with pytest.raises(RunFolderError, match="no score rows"):
        Run.from_scores([])


BAD_ROWS = [
    pytest.param('{"sample_id":"b","metric":"m","value":1.5,"status":"ok"}', "value is 1.5", id="too large"),
    pytest.param('{"sample_id":"b","metric":"m","value":NaN,"status":"ok"}', "value is nan", id="NaN"),
    pytest.param('{"sample_id":"b","metric":"m","value":null,"status":"ok"}', "do not fit together", id="ok without value"),
    pytest.param('{"sample_id":"b","metric":"m","value":1,"status":"failed"}', "do not fit together", id="failed with value"),
    pytest.param('{"sample_id":"b","metric":"m","value":1}', 'no "status"', id="no status"),
    pytest.param('{"sample_id":"b","metric":"m","value":1,"status":"good"}', "status is good", id="unknown status"),
    pytest.param('{"sample_id":"b","metric":"m","value":1,"status":"ok","repeat":"x"}', "repeat is x", id="repeat"),
]


@pytest.mark.parametrize(("line", "words"), BAD_ROWS)
def test_a_row_that_cannot_be_is_refused_with_its_line(line, words, folder):
    path = folder(scores=json.dumps(ROWS[0]) + "\n" + line + "\n")
    for read in (lambda: load(path).summary(), lambda: load(path).scores):
        with pytest.raises(RunFolderError) as caught:
            read()
        assert "scores.jsonl, line 2" in str(caught.value)
        assert words in str(caught.value)


@pytest.mark.parametrize(("line", "words"), BAD_ROWS)
def test_rows_in_memory_are_checked_at_once(line, words):
    with pytest.raises(RunFolderError) as caught:
        Run.from_scores([ROWS[0], json.loads(line)])
    assert "scores, line 2" in str(caught.value)
    assert words in str(caught.value)


# ------------------------------------------------------------------ what is read
def test_a_folder_and_its_rows_in_memory_give_the_same_summary(folder):
    path = folder()
    from_folder, from_rows = (
        load(path).summary(by="category").to_dict(),
        Run.from_scores(ROWS, SAMPLES, MANIFEST).summary(by="category").to_dict(),
    )
    assert from_folder["run"].pop("path") == str(path)
    assert from_rows["run"].pop("path") is None
    assert from_folder == from_rows


def test_scores_may_stand_alone(folder):
    run = load(folder(samples=None, manifest=None))
    assert (run.samples, run.manifest, run.signature, run.notice) == (None, {}, None, None)
    assert run.summary().to_dict()["warnings"] == ["manifest_missing"]


@pytest.mark.parametrize("content", ["{", "[1]", ""])
def test_an_unreadable_manifest_is_unknown_not_fatal(content, folder):
    found = load(folder(manifest=content)).summary().to_dict()
    assert found["warnings"] == ["manifest_unreadable"]
    assert found["run"]["signature"] is None


def test_lines_left_out_are_named(folder):
    scores = json.dumps(ROWS[0]) + "\nrubbish\n" + json.dumps({**ROWS[0], "value": 1}) + '\n{"sample_id":'
    found = load(folder(scores=scores, samples=[*SAMPLES, {"question": "no id"}])).summary().to_dict()
    assert found["warnings"] == [
        "sample_without_id: line=3",
        "line_skipped: file=scores.jsonl, line=2",
        "line_torn: file=scores.jsonl, line=4",
        "cells_interrupted: count=1, total=2",
        "cells_doubled: count=1",
    ]
    assert found["metrics"][0]["mean"] == 1.0


def test_scores_are_records_however_little_a_row_holds():
    rows = [
        {"sample_id": 7, "metric": "my_own", "value": 1, "status": "ok", "unheard_of": [1]},
        {"sample_id": 7, "metric": "other", "value": None, "status": "failed", "verdicts": None},
        {
            "sample_id": 7,
            "metric": "my_own",
            "value": 0.5,
            "status": "ok",
            "repeat": None,
            "verdicts": [{"kind": "k", "id": "a1", "text": "t", "verdict": "v", "new": 1}],
        },
    ]
    first, second = Run.from_scores(rows).scores
    assert (first.sample_id, first.value, first.verdicts[0].text) == ("7", 0.5, "t")
    assert (second.reason, second.repeat, second.verdicts) == ("unknown", 0, ())


def test_a_verdict_that_is_none_is_refused_with_its_line():
    run = Run.from_scores([ROWS[0], {**ROWS[0], "sample_id": "b", "verdicts": [{"id": "a1"}]}])
    with pytest.raises(RunFolderError, match=r"scores, line 2: verdicts\.0\.kind"):
        _ = run.scores


def test_records_are_rows_too():
    score = Score(sample_id="a", metric="m", value=0.5, status="ok")
    run = Run.from_scores([score], [Sample(id="a", question="q", expected_behavior="refuse")])
    assert run.scores == [score]
    assert run.summary().metrics[0].expected["refuse"] == 1
    assert run.samples[0]["question"] == "q"


def test_samples_are_read_anew_and_the_last_of_an_id_wins(folder):
    run = load(folder(samples=[*SAMPLES, {"id": "a", "question": "changed"}]))
    assert [s["question"] for s in run.samples] == ["changed", "怎么退货？"]
    assert run.sample("a")["question"] == "changed"
    assert run.sample("nobody") is None


@pytest.mark.parametrize(
    ("judge", "notice"),
    [({"model": "local", "endpoint": "local"}, True), ("local", True), ({"model": "m", "endpoint": "https://x"}, False), (None, False)],
)
def test_the_local_judge_is_named_everywhere(judge, notice):
    run = Run.from_scores(ROWS, manifest={"judge": judge})
    assert run.notice == ("local heuristic judge: smoke test, not a measurement" if notice else None)
    assert run.summary().to_dict()["run"]["notice"] == run.notice


# ------------------------------------------------------------------ looking things up
def test_rows_of_a_sample_tell_promised_cells_that_are_missing(folder):
    run = load(folder(manifest={"metrics": {"faithfulness": {}, "context_recall": {}}}))
    assert [(r["metric"], r["status"], r.get("reason")) for r in run.rows_of("a")] == [
        ("faithfulness", "ok", None),
        ("context_recall", "failed", "interrupted"),
    ]
    assert run.rows_of("nobody") == []


def test_failed_rows(folder):
    run = load(folder(manifest={"metrics": {"faithfulness": {}, "context_recall": {}}}))
    assert [(r["sample_id"], r["metric"], r["reason"]) for r in run.failed_rows()] == [
        ("a", "context_recall", "interrupted"),
        ("退货-1", "faithfulness", "timeout"),
        ("退货-1", "context_recall", "interrupted"),
    ]


REPLIES = [{"key": "k1", "raw": "first"}, {"key": "k1", "raw": "again"}, {"key": "k2", "raw": "二"}, {"key": "k3", "raw": "x"}]


def test_replies_are_found_by_key_and_the_last_line_wins(folder):
    run = load(folder(replies=REPLIES))
    assert {key: row["raw"] for key, row in run.replies({"k1", "k2", "k9"}).items()} == {"k1": "again", "k2": "二"}
    assert run.replies(set()) == {}
    assert load(folder()).replies({"k1"}) == {}


def test_a_run_in_memory_outlives_its_folder(folder):
    run = load(folder(replies=REPLIES)).in_memory()
    folder(scores=None, samples=None, manifest=None)
    assert run.path is None
    assert run.summary().metrics[0].n == 1
    assert run.samples[1]["question"] == "怎么退货？"
    assert run.replies({"k3"})["k3"]["raw"] == "x"


@pytest.mark.parametrize(("wanted", "nearest"), [("退货-2", ["退货-1"]), ("zzzz", ["a", "退货-1"])])
def test_nearest_ids(wanted, nearest, folder):
    assert load(folder()).nearest_ids(wanted) == nearest


@pytest.mark.parametrize(
    ("samples", "warning"),
    [
        (SAMPLES, "key_unknown: key=nope, known=category"),
        ([{"id": "a"}, {"id": "退货-1"}], "keys_missing: key=nope"),
        (None, "keys_missing: key=nope"),
    ],
)
def test_a_key_no_sample_has_puts_all_under_none_and_lists_the_keys_there_are(samples, warning, folder):
    told = load(folder(samples=samples)).summary(by="nope").to_dict()
    assert [(part["value"], part["metrics"][0]["total"]) for part in told["slices"]] == [(None, 2)]
    assert warning in told["warnings"]


def test_the_public_names_are_these():
    assert ragstone.Run is Run
    assert ragstone.load is load


@pytest.mark.parametrize("odd", [2, -0.1, float("nan"), True, "0.9"])
def test_a_least_coverage_that_is_no_share_is_refused(odd):
    run = Run.from_scores([{"sample_id": "s", "metric": "m", "value": 1.0, "status": "ok"}])
    with pytest.raises(ConfigError, match="min_coverage"):
        run.summary(min_coverage=odd)


@pytest.mark.parametrize(("told", "used"), [(0.5, 0.5), (1, 1.0), *((odd, 0.95) for odd in (2, True, "x", None, float("nan")))])
def test_a_manifest_without_a_usable_least_coverage_tells_nothing(told, used):
    run = Run.from_scores([{"sample_id": "s", "metric": "m", "value": 1.0, "status": "ok"}], manifest={"min_coverage": told})
    assert run.summary().min_coverage == used


@pytest.mark.parametrize(("content", "codes"), [(None, ["manifest_missing"]), ("[]", ["manifest_unreadable"]), ("{}", [])])
def test_a_run_tells_what_is_wrong_with_its_manifest(tmp_path, content, codes):
    (tmp_path / "scores.jsonl").write_text(json.dumps({"sample_id": "甲", "metric": "faithfulness", "value": 1.0, "status": "ok"}))
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    assert [notice.code for notice in ragstone.load(tmp_path).notices] == codes


@pytest.mark.parametrize(("lang", "meant"), [("en", "; did you mean runs-2? Give"), ("zh", "；是否指 runs-2？请给出")])
def test_a_folder_that_is_not_there_names_its_neighbour(tmp_path, monkeypatch, lang, meant):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    with pytest.raises(RunFolderError, match=r"[.。]"):
        load(tmp_path / "run")
    (tmp_path / "runs-2").mkdir()
    with pytest.raises(RunFolderError) as told:
        load(tmp_path / "run-2")
    assert meant in str(told.value)
