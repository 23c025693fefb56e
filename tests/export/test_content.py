import math

import pytest
from support.exported import MANIFEST, SAMPLES, SCORES, exported, write_folder

import ragstone
from ragstone import Run
from ragstone.errors import RunFolderError
from ragstone.export.content import Content


def content(folder, **files):
    return Content(ragstone.load(write_folder(folder, **files)))


def cells(held):
    return {
        line.id: [None if cell is None else cell.value if cell.value is not None else (cell.status, cell.reason) for cell in line.cells]
        for line in held.lines()
    }


def test_every_sample_is_a_line_with_its_cells(tmp_path):
    held = content(tmp_path)
    assert held.metrics == ("faithfulness", "context_recall")
    assert cells(held) == {
        "s1": [0.5, 0.0],
        "=1+1": [1.0, ("failed", "timeout")],
        "s3": [("not_applicable", "contexts_missing"), ("failed", "interrupted")],
    }
    assert held.meta_keys == ("部门", "tries", "tags", "faithfulness")
    assert held.fields == ("question", "answer", "contexts", "reference", "language")
    assert held.has_samples


def test_the_summary_is_that_of_show(tmp_path):
    held = content(tmp_path)
    run = ragstone.load(tmp_path)
    assert held.summary.to_dict() == run.summary(by="", worst=0).to_dict()


def test_without_samples_and_manifest_the_scores_alone_are_lines(tmp_path):
    held = content(tmp_path, samples=None, manifest=None)
    assert [(line.id, line.sample) for line in held.lines()] == [(name, {"id": name}) for name in ("s1", "=1+1", "s3")]
    assert cells(held)["s3"] == [("not_applicable", "contexts_missing"), None]
    assert not held.has_samples
    assert "interrupted" not in [row.get("reason") for row in held.rows()]


def test_scores_of_samples_that_are_not_held_come_last(tmp_path):
    more = {"sample_id": "gone", "metric": "faithfulness", "value": 0.25, "status": "ok"}
    held = content(tmp_path, scores=[more, *SCORES])
    assert list(cells(held)) == ["s1", "=1+1", "s3", "gone"]


def test_repeats_and_doubled_cells(tmp_path):
    told = [(0, 0.0), (1, 0.5), (0, 1.0)]
    scores = [{"sample_id": "s1", "metric": "faithfulness", "repeat": n, "value": value, "status": "ok"} for n, value in told]
    held = content(tmp_path, scores=scores, samples=SAMPLES[:1], manifest=None)
    assert cells(held) == {"s1": [0.75]}
    assert [(row["repeat"], row["value"]) for row in held.scores()] == [(0, 1.0), (1, 0.5)]
    assert [notice.code for notice in held.summary.warnings] == ["manifest_missing", "cells_doubled"]


def test_of_a_sample_that_is_there_twice_the_last_row_counts(tmp_path):
    held = content(tmp_path, samples=[*SAMPLES, {**SAMPLES[0], "answer": "later"}])
    assert [line.sample["answer"] for line in held.lines()] == ["later", "", None]


@pytest.mark.parametrize("order", [SCORES, SCORES[::-1]])
def test_lines_come_in_run_order_whatever_the_order_of_the_scores(tmp_path, order):
    assert [row["sample_id"] for row in content(tmp_path, scores=order).rows()] == ["s1"] * 2 + ["=1+1"] * 2 + ["s3"] * 2


# ------------------------------------------------------------------ values that are no numbers
@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", '"0.5"', "true", "[]", '"很好"'])
def test_a_value_that_is_no_number_is_a_cell_that_was_not_measured(tmp_path, token):
    line = '{"sample_id": "s1", "metric": "faithfulness", "value": %s, "status": "ok"}\n'
    scores = line % "0.5" + (line % token).replace("s1", "=1+1") + (line % "1").replace("s1", "s3")
    held = content(tmp_path, scores=scores, manifest=None)
    assert cells(held) == {"s1": [0.5], "=1+1": [("failed", "not_a_number")], "s3": [1.0]}
    (metric,) = held.summary.metrics
    assert (metric.n, metric.total, metric.failed, metric.mean) == (2, 3, 1, 0.75)
    assert [dict(notice.values) for notice in held.notices if notice.code == "not_a_number"] == [
        {"count": 1, "file": "scores.jsonl", "line": 2}
    ]
    assert [row["value"] for row in held.scores()] == [0.5, None, 1]


def test_a_failed_cell_whose_value_was_written_as_nan_keeps_its_reason():
    row = {"sample_id": "s", "metric": "m", "value": 0.5, "status": "ok"}
    run = Run.from_scores([row])
    run._rows.rows.append({**row, "sample_id": "t", "value": math.nan, "status": "failed", "reason": "timeout"})
    assert cells(Content(run)) == {"s": [0.5], "t": [("failed", "timeout")]}


@pytest.mark.parametrize("value", [1.5, -0.1, None])
def test_what_show_refuses_for_another_reason_is_refused(tmp_path, value):
    held = content(tmp_path, scores=[{**SCORES[0], "value": value}])
    with pytest.raises(RunFolderError, match="line 1"):
        list(held.lines())


def test_a_run_without_a_score_yet(tmp_path):
    held = content(tmp_path, scores=[], manifest=MANIFEST)
    assert cells(held) == {name: [("failed", "interrupted")] * 2 for name in ("s1", "=1+1", "s3")}
    assert list(held.scores()) == []


class Counted:
    """Rows that count how often they are gone through."""

    def __init__(self, lines):
        self.lines, self.count = lines, 0

    def __getattr__(self, name):
        return getattr(self.lines, name)

    def read(self, notices):
        self.count += 1
        return self.lines.read(notices)


@pytest.mark.parametrize(("to", "scores", "samples"), [("csv", 1, 3), ("jsonl", 1, 1), ("json", 2, 3), ("md", 1, 1)])
def test_an_export_goes_through_a_run_no_oftener_than_it_must(tmp_path, to, scores, samples):
    run = ragstone.load(write_folder(tmp_path, scores=[{**row, "metric": "faithfulness"} for row in SCORES], manifest={}))
    run._rows, run._samples = Counted(run._rows), Counted(run._samples)
    assert exported(run, to) == exported(tmp_path, to)
    assert (run._rows.count, run._samples.count) == (scores, samples)
