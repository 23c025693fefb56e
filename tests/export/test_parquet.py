"""Parquet files: typed columns, readable by whoever reads Parquet."""

import io
import json

import pandas
import polars
import pyarrow
import pytest
from pyarrow import parquet
from support.hand_made import METRICS, write_run
from support.hostile_texts import HOSTILE, REFUSED

import ragstone
from ragstone.export import arrow
from ragstone.export.base import Order
from ragstone.export.columns import columns_of
from ragstone.export.content import Content
from ragstone.export.parquet import ParquetExporter

ROW = {"sample_id": "s1", "metric": "faithfulness", "value": 0.5, "status": "ok"}


def written(run):
    file = io.BytesIO()
    ParquetExporter().write(Content(run), file, Order())
    return file


def table(run):
    return parquet.read_table(written(run))


def of_meta(*values):
    samples = [{"id": f"s{n}", "meta": {"键": value}} for n, value in enumerate(values, 1)]
    found = table(ragstone.Run.from_scores([ROW], samples))
    return found.schema.field("键").type, found["键"].to_pylist()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return ragstone.load(write_run(tmp_path_factory.mktemp("parquet") / "r"))


def test_one_row_a_sample_in_typed_columns(run):
    found = table(run)
    names = list(columns_of(Content(run)).names)
    assert found.column_names == [*names, *(f"{metric}.verdicts" for metric in METRICS)]
    assert found["id"].to_pylist() == ["leave-days", "退货-寄回", "salary-of-ceo", "应急-联系"]
    for metric in METRICS:
        assert found.schema.field(metric).type == pyarrow.float64()
        states = zip(found[metric].to_pylist(), found[f"{metric}.status"].to_pylist(), strict=True)
        assert all((value is not None) == (status == "ok") for value, status in states)
    assert found["faithfulness"].to_pylist() == [0.0, None, None, None]
    assert found["contexts"].to_pylist()[1:] == [["在订单页申请退货后，可选择上门取件或自行寄回。"], [], None]


def test_verdict_lines_are_lists_of_structures(run):
    first, second, *_ = table(run)["faithfulness.verdicts"].to_pylist()
    assert first[0] == {
        "kind": "answer_claim", "id": "a1", "text": "Employees get 25 days of leave a year.", "verdict": "contradicted",
        "evidence": ["c1"], "reason": "20 days, not 25", "quote": "20 days", "confidence": 0.934,
    }  # fmt: skip
    assert second == []


def test_the_schema_says_which_run_it_is(run):
    told = json.loads(table(run).schema.metadata[b"ragstone"])
    assert (told["run"]["signature"], told["run"]["notice"], told["samples"]) == (run.signature, run.notice, 4)
    assert [(m["metric"], m["n"], m["total"]) for m in told["metrics"]] == [(m.metric, m.n, m.total) for m in run.summary().metrics]


def test_pandas_and_polars_read_it(run):
    file = written(run)
    frame = pandas.read_parquet(io.BytesIO(file.getvalue()))
    assert (frame["faithfulness"].dtype, frame["faithfulness"].isna().tolist()) == ("float64", [False, True, True, True])
    frame = polars.read_parquet(io.BytesIO(file.getvalue()))
    assert frame["answer_relevancy"].to_list() == [0.91, 0.853, None, None]
    assert frame["category"].to_list() == ["leave", "退换货", "leave", None]


@pytest.mark.parametrize(
    ("values", "kind", "read"),
    [
        ([1, None, 3], pyarrow.int64(), [1, None, 3]),
        ([1, 2.5, 2**60 + 1], pyarrow.float64(), [1.0, 2.5, float(2**60)]),
        ([True, None], pyarrow.bool_(), [True, None]),
        (["a", None], pyarrow.string(), ["a", None]),
        ([None, None], pyarrow.string(), [None, None]),
        (["a", 1, None, {"b": [2]}], pyarrow.string(), ['"a"', "1", None, '{"b":[2]}']),
        ([2**63, 1], pyarrow.string(), ["9223372036854775808", "1"]),
        ([["退", "换"], []], pyarrow.list_(pyarrow.field("element", pyarrow.string())), [["退", "换"], []]),
        ([[1], ["a"]], pyarrow.string(), ["[1]", '["a"]']),
    ],
)
def test_a_column_of_ones_own_has_the_type_that_fits_every_value(values, kind, read):
    assert of_meta(*values) == (kind, read)


def test_a_run_is_written_in_row_groups(monkeypatch):
    monkeypatch.setattr(arrow, "BATCH", 3)
    file = written(ragstone.Run.from_scores([{**ROW, "sample_id": f"s{n}"} for n in range(8)]))
    assert parquet.ParquetFile(file).num_row_groups == 3
    assert parquet.read_table(file)["id"].to_pylist() == [f"s{n}" for n in range(8)]


def test_any_text_is_held():
    texts = HOSTILE | REFUSED
    lines = [{"id": "a1", "text": text, "verdict": text, "evidence": [text, 7], "confidence": text} for text in texts.values()]
    samples = [{"id": name, "answer": text, "contexts": [text], "meta": {"k": text}} for name, text in texts.items()]
    found = table(ragstone.Run.from_scores([{**ROW, "sample_id": "script", "verdicts": lines}], samples))
    answers = dict(zip(texts, found["answer"].to_pylist(), strict=True))
    assert {name: answers[name] for name in HOSTILE} == HOSTILE
    assert (answers["half a pair"], answers["nul"]) == ("half \ufffd of a pair \ufffd", "a\x00b")
    assert [line["confidence"] for line in found["faithfulness.verdicts"].to_pylist()[list(texts).index("script")]] == [None] * len(texts)


def test_no_number_is_left_under_a_cell_that_is_not_ok():
    lines = [{"id": "a1", "verdict": "supported", "confidence": 0.9}]
    failed = {**ROW, "value": None, "status": "failed", "reason": "verdicts", "verdicts": lines}
    found = table(ragstone.Run.from_scores([failed]))
    assert found["faithfulness.verdicts"].to_pylist()[0][0]["confidence"] is None
    assert (found["faithfulness"].to_pylist(), found["faithfulness.reason"].to_pylist()) == ([None], ["verdicts"])


def test_names_that_are_taken_get_a_prefix():
    sample = {"id": "s1", "meta": {"faithfulness.verdicts": "mine"}}
    found = table(ragstone.Run.from_scores([ROW], [sample]))
    assert (found["faithfulness.verdicts"].to_pylist(), found["metric.faithfulness.verdicts"].to_pylist()) == (["mine"], [[]])
