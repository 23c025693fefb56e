"""A run as a data frame that says where its numbers come from."""

import io

import pandas
from pandas.testing import assert_frame_equal
from support.hand_made import write_run

import ragstone
from ragstone.export.base import Order
from ragstone.export.content import Content
from ragstone.export.pandas import PandasExporter


def test_the_frame_is_that_of_the_run_and_says_what_it_rests_on(tmp_path):
    run = ragstone.load(write_run(tmp_path / "r"))
    frame = PandasExporter().make(Content(run), Order())
    assert_frame_equal(frame, run.to_pandas())
    assert (frame.attrs["signature"], frame.attrs["notice"], frame.attrs["samples"]) == (run.signature, run.notice, 4)
    counts = {m["metric"]: (m["n"], m["total"], m["failed"]) for m in frame.attrs["metrics"]}
    assert counts["faithfulness"] == (1, 4, 2)
    assert frame["faithfulness"].isna().tolist() == [False, True, True, True]


def test_what_the_frame_says_survives_a_file():
    run = ragstone.Run.from_scores([{"sample_id": "问", "metric": "m", "value": 1.0, "status": "ok"}])
    frame, file = PandasExporter().make(Content(run), Order()), io.BytesIO()
    frame.to_parquet(file)
    assert pandas.read_parquet(file).attrs == frame.attrs
    assert (frame.attrs["signature"], frame.attrs["notice"]) == (None, None)
