"""`run.to_pandas()`: one row a sample, and nothing numeric where there is no value."""

import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import ragstone
from ragstone.errors import ConfigError, RunFolderError

SAMPLES = [
    {
        "id": "b",
        "question": "问一",
        "answer": "答一",
        "contexts": ["片段", {"text": "又一", "id": "7"}],
        "reference": "参考",
        "language": "zh",
    },
    {"id": "a", "question": "q2", "reference_points": ["p1", "p2"], "language": "en", "meta": {"dept": "hr", "id": 5, "level": 2}},
    {"id": "c", "contexts": [], "expected_behavior": "refuse", "meta": {"dept": "it", "expected_behavior": "refuse"}},
]


def row(sample_id, metric, value=None, status="ok", reason=None, **more):
    return {"sample_id": sample_id, "metric": metric, "value": value, "status": status, "reason": reason, **more}


LINE = {"kind": "answer_claim", "id": "a1", "text": "论断", "verdict": "supported", "evidence": ["c1"], "reason": None}
ROWS = [
    row("a", "faithfulness", 1, verdicts=[{**LINE, "confidence": 0.93}, {**LINE, "id": "a2", "verdict": "not_found", "evidence": []}]),
    row("b", "faithfulness", None, "failed", "timeout"),
    row("c", "faithfulness", 0.0, reason="no_context"),
    row("a", "my(x=1)", 0.25, repeat=0),
    row("a", "my(x=1)", 0.75, repeat=1),
    row("a", "my(x=1)", None, "failed", "bad_reply", repeat=2),
    row("b", "my(x=1)", None, "not_applicable", "missing:answer"),
]


@pytest.fixture
def frame() -> pd.DataFrame:
    return ragstone.Run.from_scores(ROWS, SAMPLES).to_pandas()


def test_one_row_a_sample_in_run_order_with_its_texts_and_meta(frame):
    assert list(frame.columns) == [
        *("id", "question", "answer", "contexts", "reference", "language", "expected_behavior", "dept", "meta.id", "level"),
        *("faithfulness", "faithfulness.status", "faithfulness.reason", "my(x=1)", "my(x=1).status", "my(x=1).reason"),
    ]
    assert list(frame["id"]) == ["b", "a", "c"]
    assert frame["contexts"].fillna("-").tolist() == [["片段", "又一"], "-", []]
    assert list(frame["reference"])[:2] == ["参考", "p1\np2"]
    assert list(frame["expected_behavior"]) == ["answer", "answer", "refuse"]
    assert list(frame["dept"].fillna("-")) == ["-", "hr", "it"]
    assert frame["meta.id"][1] == 5


def test_a_value_where_the_cell_is_ok_and_nan_elsewhere(frame):
    assert frame["faithfulness"].dtype == frame["my(x=1)"].dtype == np.float64
    assert frame["faithfulness"].fillna(-1).tolist() == [-1, 1, 0]
    assert frame["my(x=1)"].fillna(-1).tolist() == [-1, 0.5, -1]  # the mean of the ok repeats
    assert frame["faithfulness.status"].tolist() == ["failed", "ok", "ok"]
    assert frame["faithfulness.reason"].fillna("").tolist() == ["timeout", "", "no_context"]
    assert frame["my(x=1).status"].fillna("").tolist() == ["not_applicable", "ok", ""]  # no such cell of c
    assert frame["my(x=1).reason"].fillna("").tolist() == ["missing:answer", "", ""]


def test_means_are_those_of_the_summary(frame):
    for metric in ragstone.Run.from_scores(ROWS, SAMPLES).summary().metrics:
        assert frame[metric.metric].mean() == metric.mean
        assert (frame[f"{metric.metric}.status"] == "failed").sum() == metric.failed


def test_without_samples_there_are_ids_and_scores():
    frame = ragstone.Run.from_scores(ROWS).to_pandas()
    assert list(frame.columns)[:2] == ["id", "faithfulness"]
    assert list(frame["id"]) == ["a", "b", "c"]


def test_a_cell_that_was_never_finished_is_failed_interrupted():
    frame = ragstone.Run.from_scores(ROWS, SAMPLES, {"metrics": {"faithfulness": {}, "later": {}}}).to_pandas()
    assert math.isnan(frame["later"][0])
    assert set(frame["later.status"] + " " + frame["later.reason"]) == {"failed interrupted"}


def test_a_run_folder_gives_the_same_frame(tmp_path):
    rows = [{"question": "q", "contexts": ["a b"], "reference_contexts": ["a", "c"], "team": "x"}, {"question": "r", "error": "timeout"}]
    run = ragstone.evaluate(rows, metrics="keyword_recall", out=tmp_path / "run", on_notice=print)
    pd.testing.assert_frame_equal(run.to_pandas(), ragstone.load(tmp_path / "run").to_pandas())
    assert run.to_pandas()["keyword_recall"].fillna(-1).tolist() == [0.5, -1]
    assert run.to_pandas()["keyword_recall.reason"][1] == "collect:timeout"


def test_cells_and_verdicts_are_long_frames():
    run = ragstone.Run.from_scores(ROWS, SAMPLES)
    cells = run.to_pandas("cells")
    assert list(cells.columns) == ["sample_id", "metric", "repeat", "value", "status", "reason"]
    assert len(cells) == len(ROWS)
    assert (cells["value"].dtype, cells["repeat"].dtype) == (np.float64, np.int64)
    assert cells.loc[cells["status"] != "ok", "value"].isna().all()
    verdicts = run.to_pandas("verdicts")
    assert list(verdicts.columns) == ["sample_id", "metric", "repeat", "kind", "id", "text", "verdict", "evidence", "reason", "confidence"]
    assert verdicts["confidence"].tolist() == pytest.approx([0.93, float("nan")], nan_ok=True)
    assert verdicts[["id", "verdict", "evidence"]].values.tolist() == [["a1", "supported", ["c1"]], ["a2", "not_found", []]]
    assert len(ragstone.Run.from_scores(ROWS[1:2]).to_pandas("verdicts")) == 0


def test_an_unknown_kind_names_those_there_are():
    with pytest.raises(ConfigError, match="samples, cells, verdicts"):
        ragstone.Run.from_scores(ROWS).to_pandas("claims")


def test_a_row_that_cannot_be_is_an_error_here_too(tmp_path):
    (tmp_path / "scores.jsonl").write_text('{"sample_id":"a","metric":"m","status":"ok","value":7}\n')
    for kind in ("samples", "cells"):
        with pytest.raises(RunFolderError, match="line 1"):
            ragstone.load(tmp_path).to_pandas(kind)


def test_without_pandas_the_command_that_installs_it_is_told():
    code = "import sys; sys.modules['pandas'] = None\nimport ragstone\nragstone.Run.from_scores([{}]).to_pandas()".replace(
        "[{}]", repr(ROWS)
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False)
    assert done.stderr.splitlines()[-1].endswith(
        'run.to_pandas() needs pandas, which is not installed; get it with: pip install "ragstone[pandas]"'
    )
