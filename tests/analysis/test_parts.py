"""f1 and cosine of answer_correctness apart, and which samples lost claims."""

import math

import pytest
from support.two_runs import claim, document, row

from ragstone.analysis.parts import ComparedCells, Part, is_part, part_name


def correct(name, value, f1, cosine, repeat=0, metric="answer_correctness"):
    return row(name, value, metric, detail={"f1": f1, "cosine": cosine, "weights": [0.75, 0.25]}, repeat=repeat)


def by_name(found):
    return {m["metric"]: m for m in found["metrics"]}


def test_a_part_is_the_mean_of_the_repeats_there_are():
    part = Part("m")
    part.put(2, 0, 0.5)
    part.put(2, 3, 0.1)
    part.put(2, 3, 0.7)
    assert part.value(2) == pytest.approx(0.6)
    assert all(math.isnan(part.value(at)) for at in (0, 1, 3))


def test_parts_follow_the_repeats_and_the_state_of_their_cell():
    base = [correct("a", 0.5, 0.2, 0.5), correct("a", 0.5, 0.4, 0.5, 1), correct("b", 0.5, 0.5, None), correct("c", 0.5, 1.0, 1.0)]
    new = [correct("a", 0.5, 0.5, 0.5), correct("b", 0.5, 0.5, 0.5), row("c", "timeout", "answer_correctness")]
    found = by_name(document(base, new))
    assert found["answer_correctness.f1"]["base_mean"] == pytest.approx((0.3 + 0.5) / 2)
    assert found["answer_correctness.cosine"]["left_out"] == [
        {"sample_id": "b", "why": "not_applicable"},
        {"sample_id": "c", "why": "failed_new"},
    ]


@pytest.mark.parametrize(
    "last",
    [
        row("a", 0.5, "answer_correctness"),
        row("a", 0.5, "answer_correctness", detail={"cosine": None, "f1": True}),
        row("a", "timeout", "answer_correctness", detail={"f1": 0.9, "cosine": 0.9}),
        row("a", None, "answer_correctness"),
    ],
)
def test_the_last_row_of_a_cell_decides_on_its_parts_too(last):
    cells = ComparedCells()
    for place, one in enumerate([correct("a", 0.5, 0.2, 0.5), correct("b", 0.5, 0.4, 0.6), correct("a", 0.5, 0.8, 0.7, repeat=1), last]):
        cells.add(one, place)
    f1, cosine = (cells.parts[part_name("answer_correctness", part)] for part in ("f1", "cosine"))
    assert (f1.value(0), cosine.value(0), f1.value(1), cosine.value(1)) == (0.8, 0.7, 0.4, 0.6)


def test_parameters_stay_in_the_name_of_a_part():
    name = "answer_correctness(beta=2)"
    both = [correct("a", 0.5, 0.5, 0.5, metric=name)]
    assert list(by_name(document(both, both))) == [name, part_name(name, "f1"), part_name(name, "cosine")]


@pytest.mark.parametrize(
    ("metric", "words", "lossy"),
    [
        ("faithfulness", ("supported", "not_found"), True),
        ("faithfulness", ("supported",), False),
        ("answer_correctness", ("covered", "missing"), True),
        ("answer_correctness", ("covered",), False),
        ("context_recall", ("not_found",), False),
    ],
)
def test_samples_that_lost_a_claim_are_remembered(metric, words, lossy):
    cells = ComparedCells()
    cells.add(row("s", 0.5, metric, verdicts=[claim("x", "1", "t", word) for word in words]), 0)
    assert (0 in cells.lossy.get(metric, ())) == lossy


@pytest.mark.parametrize(
    ("metric", "part"),
    [
        ("answer_correctness.f1", True),
        ("answer_correctness(beta=0.5).cosine", True),
        ("answer_correctness", False),
        ("answer_correctness.other", False),
        ("token.f1", False),
        ("f1", False),
    ],
)
def test_only_answer_correctness_has_parts(metric, part):
    assert is_part(metric) == part


def test_a_metric_that_only_sounds_like_a_part_is_tested_like_any_other():
    found = by_name(document([row(f"q{i}", 0.5, "token.f1") for i in range(8)], [row(f"q{i}", 0.6, "token.f1") for i in range(8)]))
    assert found["token.f1"]["verdict"] == "better"
