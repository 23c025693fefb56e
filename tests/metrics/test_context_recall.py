import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.needs import FAILED, checked, claims, play, sample

from ragstone.metrics.context_recall import ContextRecall
from ragstone.metrics.needs import Checked, CheckedClaims


@pytest.mark.parametrize(("verdicts", "value"), [("snnn", 0.25), ("ssn", 2 / 3), ("s", 1.0), ("c", 0.0), ("ssss", 1.0)])
@pytest.mark.parametrize("reference", ["应列出储备类别与数量。", "List the categories and amounts."])
def test_share_of_reference_claims_found(verdicts: str, value: float, reference: str) -> None:
    listed = claims("r", *(f"point {i}" for i in range(len(verdicts))))
    score, _ = play(ContextRecall(), sample(reference=reference, contexts=["c"]), {Checked("reference"): checked(listed, *verdicts)})
    assert score.value == pytest.approx(value, abs=1e-12)
    assert {v.kind for v in score.verdicts} == {"reference_claim"}
    assert [v.key for v in score.verdicts] == [f"k{i}" for i in range(1, len(verdicts) + 1)]


def test_nothing_retrieved_is_zero_but_a_reference_without_claims_wins() -> None:
    row = sample(reference="r", contexts=[])
    score, _ = play(ContextRecall(), row, {Checked("reference"): checked(claims("r", "x", "y"), "n", "n")})
    assert (score.value, score.reason) == (0.0, "no_context")
    score, _ = play(ContextRecall(), row, {Checked("reference"): CheckedClaims(claims("r"), ())})
    assert (score.status, score.reason) == ("not_applicable", "no_reference_claims")


def test_behaviour_points_count_unless_only_facts_are_wanted() -> None:
    listed = claims("r", "三类物资", "【行为】不得编造", behaviour=(2,))
    answers = {Checked("reference"): checked(listed, "s", "n")}
    row = sample(reference="r", contexts=["c"])
    everything, _ = play(ContextRecall(), row, answers)
    facts, _ = play(ContextRecall(points="facts"), row, answers)
    assert (everything.value, facts.value) == (0.5, 1.0)
    assert everything.detail == {"behaviour": 1}
    assert [v.behaviour for v in everything.verdicts] == [False, True]
    assert [v.id for v in facts.verdicts] == ["r1"]


def test_a_reference_of_behaviour_points_alone_has_no_facts() -> None:
    answers = {Checked("reference"): checked(claims("r", "【行为】先询问", behaviour=(1,)), "s")}
    score, _ = play(ContextRecall(points="facts"), sample(reference="r", contexts=["c"]), answers)
    assert (score.status, score.reason) == ("not_applicable", "no_reference_claims")


def test_points_are_marked_as_not_split() -> None:
    answers = {Checked("reference"): checked(claims("r", "p", unsplit=True), "s")}
    score, _ = play(ContextRecall(), sample(reference_points=("p",), contexts=["c"]), answers)
    assert score.detail == {"unsplit": True}


def test_of_several_references_the_best_counts_and_those_without_claims_are_left_out() -> None:
    row = sample(reference="r", reference_alternatives=("thanks", "r3"), contexts=["c"])
    answers = {
        Checked("reference", 0): checked(claims("r", "x", "y"), "s", "n"),
        Checked("reference", 1): CheckedClaims(claims("r"), ()),
        Checked("reference", 2): checked(claims("r", "z"), "s"),
    }
    score, _ = play(ContextRecall(), row, answers)
    assert (score.value, score.detail["best"]) == (1.0, 2)
    assert [v.text for v in score.verdicts] == ["z"]


@pytest.mark.parametrize(
    ("columns", "reason"), [({"contexts": ["c"]}, "missing:reference"), ({"reference": "r"}, "contexts_missing"), ({}, "contexts_missing")]
)
def test_what_is_missing_is_named(columns: dict[str, object], reason: str) -> None:
    score, _ = play(ContextRecall(), sample(**columns), {})
    assert (score.status, score.reason) == ("not_applicable", reason)


def test_a_failed_need_fails_the_cell() -> None:
    score, _ = play(ContextRecall(), sample(reference="r", contexts=["c"]), {Checked("reference"): FAILED})
    assert (score.status, score.reason) == ("failed", "timeout")


@given(st.lists(st.sampled_from("scn"), min_size=1, max_size=8).flatmap(lambda v: st.tuples(st.just(v), st.permutations(v))))
def test_law_value_is_in_range_and_does_not_depend_on_the_order_of_claims(orders: tuple[list[str], list[str]]) -> None:
    values = set()
    for verdicts in orders:
        listed = claims("r", *(f"point {i}" for i in range(len(verdicts))))
        score, _ = play(ContextRecall(), sample(reference="r", contexts=["c"]), {Checked("reference"): checked(listed, *verdicts)})
        values.add(score.value)
    assert values == {orders[0].count("s") / len(orders[0])}
