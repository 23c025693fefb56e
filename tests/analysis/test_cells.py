import pytest

from ragstone.analysis.cells import Cells, Notice, RowProblem, checked


def row(sample_id, value=None, status=None, repeat=None, **more):
    found = {"sample_id": sample_id, "metric": "m", "value": value, "status": status or ("ok" if value is not None else "failed")}
    return {**found, **({} if repeat is None else {"repeat": repeat}), **more}


def cells_of(*rows, promise=()):
    cells = Cells()
    for name in promise:
        cells.ids.number(name)
    if promise:
        cells.promise(["m"])
    for place, one in enumerate(rows):
        cells.add(one, place)
    return cells


def outcomes(cells):
    column = cells.columns["m"]
    found = [cells.outcome(column, at) for at in range(len(cells))]
    return [value if value is None or value >= 0 else cells.reason(value) for value in found]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param([row("a", 0.5)], [0.5], id="a value"),
        pytest.param([row("a", 0), row("b", 1)], [0.0, 1.0], id="whole numbers"),
        pytest.param([row("a", None, reason="timeout")], [("failed", "timeout")], id="failed"),
        pytest.param([row("a", None, "not_applicable", reason="no_claims")], [("not_applicable", "no_claims")], id="not applicable"),
        pytest.param([row("a")], [("failed", "unknown")], id="no reason given"),
        pytest.param([row("a", 0.2, repeat=0), row("a", 0.6, repeat=2)], [0.4], id="mean of the repeats"),
        pytest.param([row("a", 1, repeat=0), row("a", None, repeat=1, reason="timeout")], [1.0], id="one ok repeat is enough"),
        pytest.param(
            [row("a", None, "not_applicable", 0, reason="no_claims"), row("a", None, repeat=1, reason="timeout")],
            [("failed", "timeout")],
            id="failed wins over not applicable",
        ),
        pytest.param(
            [row("a", None, repeat=1, reason="second"), row("a", None, repeat=0, reason="first")],
            [("failed", "first")],
            id="the first reason",
        ),
        pytest.param([row("a", 0.5), row("a", 1.0)], [1.0], id="the last line of a cell wins"),
        pytest.param([row("a", 0.5), row("a", None, reason="timeout")], [("failed", "timeout")], id="also when it failed"),
        pytest.param([row("a", 0.5), row("a", 1.0, repeat=0)], [1.0], id="no repeat is repeat 0"),
        pytest.param([row("b", 1), {**row("a", 1), "metric": "other"}, row("c", 0)], [1.0, None, 0.0], id="no row, no cell"),
    ],
)
def test_a_cell(rows, expected):
    assert outcomes(cells_of(*rows)) == expected


def test_a_promised_cell_without_a_row_is_interrupted():
    cells = cells_of(row("b", 1), row("d", 1), promise=["a", "b", "c"])
    assert outcomes(cells) == [("failed", "interrupted"), 1.0, ("failed", "interrupted"), 1.0]


def test_doubled_cells_are_counted():
    assert cells_of(row("a", 1), row("a", 0), row("a", 1), row("b", 1), row("b", 1, repeat=1)).doubled == 2


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ([row("a", 1)], 0),
        ([row("a", 0, repeat=1), row("a", 1, repeat=0)], 1),
        ([row("a", repeat=0, reason="x"), row("a", 1, repeat=1)], 1),
        ([row("a", None, "not_applicable", 0, reason="n"), row("a", repeat=1, reason="x")], 1),
        ([row("a", 1), row("a", 0)], 1),
    ],
)
def test_place_is_that_of_the_row_that_shows_the_cell(rows, place):
    cells = cells_of(*rows)
    assert cells.place(cells.columns["m"], 0) == place


def test_a_missing_cell_has_no_place():
    cells = cells_of(row("b", 1), promise=["a", "b"])
    assert cells.place(cells.columns["m"], 0) == -1


def test_places_may_lie_beyond_four_gigabytes():
    cells = Cells()
    cells.add(row("a", 1), 7)
    cells.add(row("b", 1), 2**33)
    assert [cells.place(cells.columns["m"], at) for at in (0, 1)] == [7, 2**33]


LINES = [{"verdict": "supported"}, {"verdict": "not_found"}]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param([row("a", 0.5)], None, id="no lines"),
        pytest.param([row("a", 0.5, verdicts=LINES), row("b", 1)], 0.5, id="lines of one only"),
        pytest.param([row("a", 0.5, verdicts=LINES), row("b", 1, verdicts=LINES[:1])], 2 / 3, id="claims weigh the same"),
        pytest.param(
            [row("a", 0.5, repeat=0, verdicts=LINES), row("a", 1, repeat=1, verdicts=LINES[:1])], 2 / 3, id="repeats are pooled too"
        ),
        pytest.param([row("a", 0.5, verdicts=LINES), row("a", 1, verdicts=LINES[:1])], 1.0, id="a replaced row leaves nothing"),
        pytest.param(
            [row("b", 1, verdicts=LINES[:1]), row("a", 0.5, verdicts=LINES), row("a", 1)], 1.0, id="nor one replaced by a bare row"
        ),
        pytest.param([row("a", None, reason="x", verdicts=LINES)], None, id="failed cells are not pooled"),
        pytest.param([row("a", 1, verdicts=["not a line"])], None, id="lines of another shape"),
        pytest.param([row("a", 0.5, verdicts=LINES * 40000)], 0.5, id="very many lines"),
    ],
)
def test_pooled(rows, expected):
    cells = cells_of(*rows)
    assert cells.pooled(cells.columns["m"], range(len(cells))) == expected


@pytest.mark.parametrize(
    ("change", "code", "value"),
    [
        ({"value": 1.5}, "value_out_of_range", 1.5),
        ({"value": -0.1}, "value_out_of_range", -0.1),
        ({"value": float("inf")}, "value_out_of_range", float("inf")),
        ({"value": True}, "value_out_of_range", True),
        ({"value": "1"}, "value_out_of_range", "1"),
        ({"value": None}, "value_and_status", "ok, None"),
        ({"status": "failed"}, "value_and_status", "failed, 0.5"),
        ({"status": "fine"}, "status_unknown", "fine"),
        ({"status": None}, "field_missing", "status"),
        ({"sample_id": None}, "field_missing", "sample_id"),
        ({"metric": ""}, "field_missing", "metric"),
        ({"repeat": -1}, "repeat_invalid", -1),
        ({"repeat": 1.5}, "repeat_invalid", 1.5),
        ({"repeat": False}, "repeat_invalid", False),
    ],
)
def test_what_no_run_may_hold(change, code, value):
    with pytest.raises(RowProblem) as caught:
        checked({**row("a", 0.5), **change})
    assert (caught.value.code, caught.value.value) == (code, value)


def test_nan_is_out_of_range():
    with pytest.raises(RowProblem, match="value_out_of_range"):
        checked(row("a", float("nan")))


def test_numbers_as_ids_are_read_as_text():
    assert checked({"sample_id": 7, "metric": "m", "value": 1, "status": "ok", "repeat": None}) == ("7", "m", 0, 1.0)


def test_a_notice_reads_as_code_and_values():
    assert str(Notice("cells_doubled", (("count", 2), ("file", "x")))) == "cells_doubled: count=2, file=x"
    assert str(Notice("manifest_missing")) == "manifest_missing"


@pytest.mark.parametrize("wrong", [{"sample_id": [1]}, {"metric": {"a": 1}}, {"verdicts": 5}, {"verdicts": "x"}])
def test_a_row_of_the_wrong_shape_is_refused(wrong):
    with pytest.raises(RowProblem):
        checked({**row("a", 0.5), **wrong})


def test_a_cell_with_more_claims_than_two_bytes_count_is_pooled_like_any_other():
    cells = Cells()
    lines = [{"verdict": "supported"}] * 70_000 + [{"verdict": "not_found"}] * 30_000
    for number, verdicts in enumerate(([{"verdict": "supported"}], lines, [{"verdict": "not_found"}])):
        row = {"sample_id": f"s{number}", "metric": "faithfulness", "repeat": 0, "value": 0.5, "status": "ok", "verdicts": verdicts}
        cells.add(row, number)
    assert cells.pooled(cells.column("faithfulness"), range(3)) == 70_001 / 100_002
    assert cells.pooled(cells.column("faithfulness"), [0, 2]) == 0.5
