"""The columns of a wide table: the same whatever is written with them, under names that no other has."""

import csv
import io
import math

import pytest
from support.hand_made import METRICS, write_run
from support.hostile_texts import HOSTILE, REFUSED

import ragstone
from ragstone.export.base import Order
from ragstone.export.columns import columns_of, flat
from ragstone.export.content import Content
from ragstone.export.registry import exporter

ROW = {"sample_id": "s1", "metric": "faithfulness", "value": 0.5, "status": "ok"}


def content(samples=None, rows=(ROW,), manifest=None):
    return Content(ragstone.Run.from_scores(rows, samples, manifest))


def table(held):
    columns = columns_of(held)
    return [dict(zip(columns.names, columns.row(line), strict=True)) for line in held.lines()]


def test_a_whole_run(tmp_path):
    held = Content(ragstone.load(write_run(tmp_path / "r")))
    names = columns_of(held).names
    texts = ("id", "question", "answer", "contexts", "reference", "expected_behavior", "error", "reference_points", "language", "category")
    assert (names[:5], set(names[: len(texts)])) == (texts[:5], set(texts))
    scores = [name for metric in METRICS for name in (metric, f"{metric}.status", f"{metric}.reason")]
    assert list(names[len(texts) :]) == [*scores, "unsupported_claims", "missing_claims"]
    first, second, third, last = table(held)
    assert first["contexts"][1] == "The canteen opens at 11:30."
    assert first["unsupported_claims"] == [
        "a1 contradicted: Employees get 25 days of leave a year.",
        "a2 not_found: HR tells about the rest.",
    ]
    assert (second["faithfulness"], second["faithfulness.status"], second["faithfulness.reason"]) == (None, "failed", "bad_reply")
    assert second["missing_claims"] == ["context_recall r2 not_found: 可选择上门取件或自行寄回"]
    assert (second["answer_correctness.status"], second["answer_correctness.reason"]) == ("failed", "interrupted")
    assert second["unsupported_claims"] is None
    assert (third["contexts"], third["expected_behavior"], third["context_precision.reason"]) == ([], "refuse", "no_context")
    assert (last["contexts"], last["answer"], last["error"]) == (None, None, "timeout")


def test_scores_are_those_of_the_data_frame(tmp_path):
    run = ragstone.load(write_run(tmp_path / "r"))
    frame, rows = run.to_pandas(), table(Content(run))
    for name in (column.name for column in columns_of(Content(run)).columns if column.kind in ("value", "status", "reason")):
        told = [None if isinstance(value, float) and math.isnan(value) else value for value in frame[name].astype(object)]
        assert [row[name] for row in rows] == told, name


def test_every_wide_table_has_these_columns(tmp_path):
    content, file = Content(ragstone.load(write_run(tmp_path / "r"))), io.BytesIO()
    exporter("csv").write(content, file, Order())
    heads = next(csv.reader(io.StringIO(file.getvalue().decode("utf-8-sig"))))
    assert tuple(head for head in heads if not head.startswith("ragstone.")) == columns_of(content).names


def test_a_run_without_samples_has_its_ids_and_scores():
    assert table(content()) == [
        {"id": "s1", "faithfulness": 0.5, "faithfulness.status": "ok", "faithfulness.reason": None, "unsupported_claims": []}
    ]


def test_a_cell_that_is_not_there_is_none_in_every_column():
    rows = [ROW, {"sample_id": "s2", "metric": "m", "value": 1.0, "status": "ok"}]
    first, second = table(content(rows=rows))
    assert (first["m"], first["m.status"]) == (None, None)
    assert (second["faithfulness"], second["faithfulness.status"], second["unsupported_claims"]) == (None, None, None)


def test_repeats_are_one_row():
    rows = [{**ROW, "repeat": repeat, "value": value} for repeat, value in ((0, 0.5), (1, 1.0))]
    rows.append({**ROW, "repeat": 2, "value": None, "status": "failed", "reason": "timeout"})
    (row,) = table(content(rows=rows))
    assert (row["faithfulness"], row["faithfulness.status"]) == (0.75, "ok")


@pytest.mark.parametrize(
    ("metrics", "keys", "named"),
    [
        (["faithfulness"], ["id", "问题", "faithfulness"], ["meta.id", "问题", "meta.faithfulness"]),
        (["faithfulness"], ["meta.id", "id"], ["meta.id", "meta.meta.id"]),
        (["a", "a.status"], [], ["a", "a.status", "a.reason", "metric.a.status", "a.status.status", "a.status.reason"]),
        (["answer"], [], ["metric.answer", "answer.status"]),
        (["m"], ["", " ", "question"], ["meta.", "meta. ", "meta.question"]),
        (["m"], ["own"], ["meta.own"]),
        (["faithfulness"], ["unsupported_claims"], ["meta.unsupported_claims", "unsupported_claims"]),
    ],
)
def test_every_name_is_given_once(metrics, keys, named):
    sample = {"id": "s1", "question": "q", "meta": {key: f"of {key}" for key in keys}}
    held = content([sample], [{**ROW, "metric": metric} for metric in metrics])
    names = columns_of(held, reserved=["own"]).names
    assert len(set(names)) == len(names)
    assert set(named) <= set(names)
    (row,) = table(held)
    assert {f"of {key}" for key in keys} <= {value for value in row.values() if isinstance(value, str)}


@pytest.mark.parametrize("text", (HOSTILE | REFUSED).values(), ids=HOSTILE | REFUSED)
def test_any_text_stays_as_it_is_in_a_cell(text):
    held = content([{"id": "s1", "answer": text, "contexts": [text], "meta": {text: [text]}}])
    (line,) = held.lines()
    row = dict(zip(columns_of(held).names, columns_of(held).flat_row(line), strict=True))
    assert row["answer"] == text
    assert all(value is None or isinstance(value, str | float) for value in row.values())


@pytest.mark.parametrize(
    ("value", "kind", "shown"),
    [
        (None, "contexts", None),
        ([], "contexts", "[]"),
        (["退货"], "own", '["退货"]'),
        (["退货", {"text": "b"}], "contexts", '["退货",\n {"text":"b"}]'),
        (["退货", "b"], "claims", "退货\nb"),
        ([], "claims", None),
        ({"a": 2**70}, "own", '{"a":1180591620717411303424}'),
        (True, "own", True),
        (float("inf"), "own", None),
        (0.0, "value", 0.0),
    ],
)
def test_one_cell_holds_a_text_or_a_number(value, kind, shown):
    assert flat(value, kind) == shown


def test_names_are_spelled_as_a_writer_wants_and_still_given_once():
    held = content([{"id": "s1", "meta": {"a": 1, "A": 2}}], [{**ROW, "metric": "ID"}])
    names = columns_of(held, spelled=str.lower).names
    assert names[-5:] == ("a", "meta.a", "metric.id", "id.status", "id.reason")
