"""A run as a data set, as an object and as a folder."""

import json

import datasets
import pyarrow.parquet
import pytest
from support.hand_made import write_run

import ragstone
from ragstone.export.base import Order
from ragstone.export.content import Content
from ragstone.export.dataset import DatasetExporter


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return ragstone.load(write_run(tmp_path_factory.mktemp("dataset") / "r"))


@pytest.fixture(scope="module")
def made(run):
    return DatasetExporter().make(Content(run), Order())


def test_one_row_a_sample(made):
    assert made["id"][:] == ["leave-days", "退货-寄回", "salary-of-ceo", "应急-联系"]
    assert (made[1]["faithfulness"], made[1]["faithfulness.status"]) == (None, "failed")
    assert [row["contexts"] for row in made.to_list()][2:] == [[], None]
    assert made[0]["faithfulness.verdicts"][0]["verdict"] == "contradicted"


def test_the_description_says_what_it_rests_on(made, run):
    told = json.loads(made.info.description)
    assert (told["run"]["signature"], told["run"]["notice"]) == (run.signature, run.notice)
    assert [(m["metric"], m["n"], m["total"]) for m in told["metrics"]] == [(m.metric, m.n, m.total) for m in run.summary().metrics]


def test_a_folder_holds_the_same_and_nothing_is_printed(made, run, tmp_path, capfd):
    folder = tmp_path / "out"
    folder.mkdir()
    shown = datasets.are_progress_bars_disabled()
    DatasetExporter().write_folder(Content(run), str(folder), Order())
    assert capfd.readouterr() == ("", "")
    assert datasets.are_progress_bars_disabled() == shown
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    found = datasets.load_from_disk(str(folder))
    assert found.to_list() == made.to_list()
    assert found.info.description == made.info.description


def test_a_run_without_any_score_is_a_data_set():
    run = ragstone.Run.from_scores([{"sample_id": "s1", "metric": "m", "value": None, "status": "failed", "reason": "timeout"}])
    made = DatasetExporter().make(Content(run), Order())
    assert (made["m"][:], made["m.reason"][:]) == ([None], ["timeout"])


@pytest.mark.parametrize("name", ["\0nul", "x\0y", "\ud800 half", "=1", "a.b", "\x1b[31m"])
def test_columns_and_metrics_of_any_name_are_written_and_read_again(name, tmp_path):
    rows = [{"sample_id": "a", "metric": metric, "value": value, "status": "ok"} for metric, value in ((name, 0.5), ("m", 1.0))]
    run = ragstone.Run.from_scores(rows, [{"id": "a", "question": "q", "meta": {f"{name}!": "mine"}}])
    run.export("dataset", tmp_path / "out")
    run.export("parquet", tmp_path / "out.parquet")
    (row,) = datasets.load_from_disk(str(tmp_path / "out")).to_list()
    assert row == pyarrow.parquet.read_table(tmp_path / "out.parquet").to_pylist()[0]
    assert [value for value in row.values() if value in ("mine", 0.5)] == ["mine", 0.5]
