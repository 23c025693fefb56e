"""The cells of one metric on the samples two runs share."""

from support.two_runs import row, rows

from ragstone import Run
from ragstone.analysis.paired import ABSENT, LOST, NONE, OK, column_of, paired
from ragstone.analysis.pairs import PairFacts, Side, pair
from ragstone.analysis.parts import ComparedCells


def side(held, samples=None, manifest=None):
    cells, facts = ComparedCells(), PairFacts()
    Run.from_scores(held, samples, manifest).cells(facts, [], cells)
    return Side(cells, facts)


def test_values_and_states():
    cells = side([*rows([0.5, "timeout", None]), row("q03", 1.0, "other"), *rows({"q04": 0.2}), row("q04", 0.6, repeat=1)]).cells
    values, states = column_of(cells, "faithfulness", range(5))
    assert values.tolist() == [0.5, 0, 0, 0, 0.4]
    assert states.tolist() == [OK, LOST, NONE, ABSENT, OK]


def test_a_promised_cell_without_a_row_has_failed():
    samples = [{"id": "q00"}, {"id": "q01"}]
    cells = side(rows([0.5]), samples, {"metrics": {"faithfulness": {}, "other": {}}}).cells
    assert column_of(cells, "faithfulness", range(2))[1].tolist() == [OK, LOST]
    assert column_of(cells, "other", range(2))[1].tolist() == [LOST, LOST]


def test_base_and_new_stand_side_by_side_whatever_their_order():
    base, new = side(rows({"a": 0.1, "b": 0.2, "c": 0.3})), side(rows({"c": 0.9, "x": 0.5, "a": 0.7}))
    cells = paired(base, new, pair(base, new), "faithfulness")
    assert (cells.base.tolist(), cells.new.tolist()) == ([0.1, 0.3], [0.7, 0.9])
    assert cells.over([1]).new.tolist() == [0.9]
