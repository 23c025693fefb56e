import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.needs import FAILED, play, rated, sample

from ragstone.metrics.context_precision import ContextPrecision, average_precision
from ragstone.metrics.needs import Rated

EXAMPLES = [
    ([1, 0, 1, 0, 0], (1 + 2 / 3) / 2),
    ([1, 1, 0, 0, 0], 1.0),
    ([0, 0, 0, 1, 1], 0.325),
    ([1, 0, 1], (1 + 2 / 3) / 2),
    ([1, 1, 1], 1.0),
    ([1, 0, 0, 0], 1.0),
    ([0, 0, 0, 1], 0.25),
    ([0, 1], 0.5),
    ([0, 0, 0], 0.0),
]


@pytest.mark.parametrize(("useful", "value"), EXAMPLES)
def test_average_precision_of_the_ranking(useful: list[int], value: float) -> None:
    row = sample(question="q", reference="r", contexts=[f"c{i}" for i in range(len(useful))])
    score, _ = play(ContextPrecision(), row, {Rated("reference"): rated(*useful)})
    assert score.value == pytest.approx(value, abs=1e-12)
    if value in (0.0, 1.0):
        assert score.value == value
    assert [v.verdict for v in score.verdicts] == ["useful" if u else "not_useful" for u in useful]
    assert score.detail == {"against": "reference"}


@given(st.lists(st.booleans(), max_size=30))
def test_law_in_range_and_one_exactly_when_all_useful_stand_first(useful: list[bool]) -> None:
    value = average_precision(useful)
    assert 0 <= value <= 1
    assert (value == 1.0) == (any(useful) and useful == sorted(useful, reverse=True))
    assert average_precision([*useful, False]) == value


@pytest.mark.parametrize("contexts", [[], [""], [" ", "\t"]])
def test_nothing_retrieved_is_zero(contexts: list[str]) -> None:
    score, asked = play(ContextPrecision(), sample(question="q", reference="r", contexts=contexts), {})
    assert (score.value, score.reason, asked) == (0.0, "no_context", [])
    assert [v.verdict for v in score.verdicts] == ["not_useful"] * len(contexts)


@pytest.mark.parametrize(
    ("metric", "columns", "reason"),
    [
        (ContextPrecision(), {"question": "q", "contexts": ["c"]}, "missing:reference"),
        (ContextPrecision(), {"question": "q", "contexts": ["c"], "reference": "  "}, "missing:reference"),
        (ContextPrecision(), {"question": "q", "reference": "r"}, "contexts_missing"),
        (ContextPrecision(), {"contexts": ["c"], "reference": "r"}, "missing:question"),
        (ContextPrecision(against="answer"), {"question": "q", "contexts": ["c"], "reference": "r"}, "missing:answer"),
        (ContextPrecision(against="answer"), {"question": "q", "contexts": ["c"], "answer": ""}, "missing:answer"),
    ],
)
def test_what_is_missing_is_named(metric: ContextPrecision, columns: dict[str, object], reason: str) -> None:
    score, asked = play(metric, sample(**columns), {})
    assert (score.status, score.reason, asked) == ("not_applicable", reason, [])


def test_points_written_by_people_are_a_yardstick() -> None:
    score, _ = play(ContextPrecision(), sample(question="q", reference_points=("p",), contexts=["c"]), {Rated("reference"): rated(1)})
    assert score.value == 1.0


def test_of_several_references_the_best_counts_and_is_named() -> None:
    row = sample(question="q", reference="r", reference_alternatives=("r2", "r3"), contexts=["a", "b"])
    answers = {Rated("reference", 0): rated(0, 1), Rated("reference", 1): rated(1, 0), Rated("reference", 2): rated(1, 0)}
    score, asked = play(ContextPrecision(), row, answers)
    assert (score.value, score.detail["best"]) == (1.0, 1)
    assert asked == list(answers)
    assert [v.verdict for v in score.verdicts] == ["useful", "not_useful"]


def test_a_failed_need_fails_the_cell() -> None:
    score, _ = play(ContextPrecision(), sample(question="q", reference="r", contexts=["c"]), {Rated("reference"): FAILED})
    assert (score.status, score.reason) == ("failed", "timeout")


def test_the_yardstick_never_shows_in_the_name() -> None:
    assert ContextPrecision(against="answer").text == "context_precision"
