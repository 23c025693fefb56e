"""The columns of a wide table: the same whatever is written with them, under names that no other has."""

import math

import pytest
from support.hand_made import METRICS, write_run
from support.hostile_texts import HOSTILE, REFUSED

import ragstone
from ragstone.export.columns import UNSUPPORTED, columns_of, flat, json_of
from ragstone.export.content import Content

ROW = {"sample_id": "s1", "metric": "faithfulness", "value": 0.5, "status": "ok"}


def content(samples=None, rows=(ROW,), manifest=None):
    return Content(ragstone.Run.from_scores(rows, samples, manifest))


def table(held):
    columns = columns_of(held)
    return [dict(zip(columns.names, columns.row(line), strict=True)) for line in held.lines()]


def test_a_whole_run(tmp_path):
    held = Content(ragstone.load(write_run(tmp_path / "r")))
    columns = columns_of(held)
    texts = ("id", "question", "answer", "contexts", "reference", "language", "expected_behavior")
    assert columns.names[:10] == (*texts, "reference_points", "error", "category")
    scores = [name for metric in METRICS for name in (metric, f"{metric}.status", f"{metric}.reason")]
    assert columns.names[10:] == (*scores, UNSUPPORTED)
    first, second, third, last = table(held)
    assert first["contexts"][1] == "The canteen opens at 11:30."
    assert first[UNSUPPORTED] == ["a1 contradicted: Employees get 25 days of leave a year.", "a2 not_found: HR tells about the rest."]
    assert (second["faithfulness"], second["faithfulness.status"], second["faithfulness.reason"]) == (None, "failed", "bad_reply")
    assert second["reference"] == "在订单页申请退货\n可选择上门取件或自行寄回"
    assert (second["answer_correctness.status"], second["answer_correctness.reason"]) == ("failed", "interrupted")
    assert second[UNSUPPORTED] is None
    assert (third["contexts"], third["expected_behavior"], third["context_precision.reason"]) == ([], "refuse", "no_context")
    assert (last["contexts"], last["answer"], last["error"]) == (None, None, "timeout")


def test_the_shared_columns_hold_what_the_data_frame_holds(tmp_path):
    run = ragstone.load(write_run(tmp_path / "r"))
    frame, rows = run.to_pandas(), table(Content(run))
    for name in frame.columns:
        told = [None if isinstance(value, float) and math.isnan(value) else value for value in frame[name].astype(object)]
        assert [row[name] for row in rows] == told, name


def test_a_run_without_samples_has_its_ids_and_scores():
    assert table(content()) == [
        {"id": "s1", "faithfulness": 0.5, "faithfulness.status": "ok", "faithfulness.reason": None, UNSUPPORTED: []}
    ]


def test_a_cell_that_is_not_there_is_none_in_every_column():
    rows = [ROW, {"sample_id": "s2", "metric": "m", "value": 1.0, "status": "ok"}]
    first, second = table(content(rows=rows))
    assert (first["m"], first["m.status"]) == (None, None)
    assert (second["faithfulness"], second["faithfulness.status"], second[UNSUPPORTED]) == (None, None, None)


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
        (["faithfulness"], [UNSUPPORTED], [f"meta.{UNSUPPORTED}", UNSUPPORTED]),
    ],
)
def test_every_name_is_given_once(metrics, keys, named):
    sample = {"id": "s1", "question": "q", "meta": {key: f"of {key}" for key in keys}}
    held = content([sample], [{**ROW, "metric": metric} for metric in metrics])
    names = columns_of(held).names
    assert len(set(names)) == len(names)
    assert set(named) <= set(names)
    (row,) = table(held)
    assert {f"of {key}" for key in keys} <= {value for value in row.values() if isinstance(value, str)}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", None, "b"], "text"),
        ([None, None], "text"),
        ([None, 3, 4], "count"),
        ([1, 2.5], "number"),
        ([True, False], "flag"),
        ([True, 1], "json"),
        (["a", 1], "json"),
        ([2**63], "json"),
        ([["a"], []], "texts"),
        ([["a", None]], "json"),
        ([{"a": 1}], "json"),
    ],
)
def test_the_kind_fits_every_value(values, kind):
    samples = [{"id": f"s{at}", "meta": {"组": value}} for at, value in enumerate(values, 1)]
    held = content(samples)
    assert {column.name: column.kind for column in columns_of(held).columns}["组"] == kind
    assert [row["组"] for row in table(held)] == values


@pytest.mark.parametrize("text", (HOSTILE | REFUSED).values(), ids=HOSTILE | REFUSED)
def test_any_text_stays_as_it_is_in_a_cell(text):
    held = content([{"id": "s1", "answer": text, "contexts": [text], "meta": {text: [text]}}])
    (line,) = held.lines()
    row = columns_of(held).flat_row(line)
    assert row[2] == text
    assert all(value is None or isinstance(value, str | float) for value in row)


@pytest.mark.parametrize(
    ("value", "kind", "shown"),
    [
        (None, "texts", None),
        ([], "texts", "[]"),
        (["退货", "b"], "texts", '["退货","b"]'),
        (["退货", "b"], "lines", "退货\nb"),
        ({"a": 2**70}, "json", '{"a": 1180591620717411303424}'),
        (True, "flag", True),
        (float("inf"), "number", "inf"),
        (0.0, "value", 0.0),
    ],
)
def test_one_cell_holds_a_text_or_a_number(value, kind, shown):
    assert flat(value, kind) == shown


def test_half_a_character_can_be_written_as_json():
    assert json_of(["\ud800"]) == '["\\ud800"]'
