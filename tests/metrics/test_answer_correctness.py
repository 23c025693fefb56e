import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.needs import FAILED, claims, play, sample

from ragstone.errors import ConfigError
from ragstone.metrics.answer_correctness import AnswerCorrectness, f_beta
from ragstone.metrics.needs import ClaimList, Claims, Cosine, Cosines, Finding, Matched, MatchedClaims

WORDS = {"s": "supported", "c": "contradicted", "n": "not_found"}


def matched(answer: ClaimList, reference: ClaimList, said: str, covered: str, inconsistent: tuple[str, ...] = ()) -> MatchedClaims:
    answers = tuple(Finding(c.id, WORDS[v], ("r1",) if v != "n" else ()) for c, v in zip(answer.claims, said, strict=True))
    references = tuple(Finding(c.id, "covered" if v == "1" else "missing") for c, v in zip(reference.claims, covered, strict=True))
    return MatchedClaims(answer, reference, answers, references, inconsistent)


def table(said: str, covered: str, cosine: float, **marks: tuple[str, ...]) -> dict[object, object]:
    answer, reference = claims("a", *(f"a{i}" for i in range(len(said)))), claims("r", *(f"r{i}" for i in range(len(covered))))
    found: dict[object, object] = {Claims("answer"): answer, Claims("reference"): reference, Cosine("x", ("r",)): Cosines((cosine,))}
    return {**found, Matched(): matched(answer, reference, said, covered, **marks)}


ROW = sample(answer="x", reference="r")


@pytest.mark.parametrize(
    ("said", "covered", "cosine", "value"),
    [
        ("sn", "10", 1.0, 0.625),
        ("ssn", "110", 0.9, 0.725),
        ("s", "1", 1.0, 1.0),
        ("n", "0", 0.0, 0.0),
        ("c", "0", -1.0, 0.0),
        ("s", "100000", 1.0, 0.75 * (2 * 1 / 6 / (1 + 1 / 6)) + 0.25),
    ],
)
def test_three_quarters_claims_one_quarter_cosine(said: str, covered: str, cosine: float, value: float) -> None:
    score, _ = play(AnswerCorrectness(), ROW, table(said, covered, cosine))
    assert score.value == pytest.approx(value, abs=1e-12)
    assert score.detail["tp"] == said.count("s")
    assert score.detail["fp"] == len(said) - said.count("s")
    assert score.detail["fn"] == covered.count("0")
    assert score.detail["cosine"] == cosine
    assert score.detail["weights"] == [0.75, 0.25]


def test_beta_weighs_recall() -> None:
    score, _ = play(AnswerCorrectness(beta=2), ROW, table("sn", "1000", 1.0))
    assert score.value == pytest.approx(0.75 * (5 * 0.5 * 0.25 / (4 * 0.5 + 0.25)) + 0.25, abs=1e-12)


def test_weights_are_shares_and_no_cosine_is_asked_without_weight() -> None:
    score, asked = play(AnswerCorrectness(weights=(1, 0)), ROW, table("sn", "10", 0.3))
    assert (score.value, score.detail["cosine"]) == (0.5, None)
    assert not [need for need in asked if isinstance(need, Cosine)]
    even, _ = play(AnswerCorrectness(weights=(1, 1)), ROW, table("sn", "10", 0.3))
    assert even.value == pytest.approx(0.5 * 0.5 + 0.5 * 0.3, abs=1e-12)
    assert even.detail["weights"] == [0.5, 0.5]


def test_verdict_lines_of_both_sides() -> None:
    score, _ = play(AnswerCorrectness(), ROW, table("sc", "10", 1.0, inconsistent=("r1",)))
    assert [(v.kind, v.id, v.verdict, v.evidence) for v in score.verdicts] == [
        ("answer_claim", "a1", "supported", ("r1",)),
        ("answer_claim", "a2", "contradicted", ("r1",)),
        ("reference_claim", "r1", "covered", ()),
        ("reference_claim", "r2", "missing", ()),
    ]
    assert score.detail["inconsistent"] == ["r1"]


def test_an_answer_without_claims_scores_its_cosine_alone() -> None:
    answers = {Claims("answer"): claims("a"), Claims("reference"): claims("r", "r0"), Cosine("x", ("r",)): Cosines((0.4,))}
    score, asked = play(AnswerCorrectness(), ROW, answers)
    assert score.value == pytest.approx(0.1, abs=1e-12)
    assert Matched() not in asked
    assert [(v.id, v.verdict) for v in score.verdicts] == [("r1", "missing")]
    nothing, asked = play(AnswerCorrectness(weights=(1, 0)), ROW, answers)
    assert (nothing.value, len(asked)) == (0.0, 2)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"reference": "r"}, "missing:answer"),
        ({"answer": "x"}, "missing:reference"),
        ({"answer": "x", "reference": " "}, "missing:reference"),
    ],
)
def test_what_is_missing_is_named(columns: dict[str, object], reason: str) -> None:
    score, _ = play(AnswerCorrectness(), sample(**columns), {})
    assert (score.status, score.reason) == ("not_applicable", reason)


def test_an_empty_answer_is_zero_and_nothing_is_asked() -> None:
    score, asked = play(AnswerCorrectness(), sample(answer="", reference="r"), {})
    assert (score.value, score.reason, asked) == (0.0, "empty_answer", [])


def test_a_reference_without_claims_does_not_apply() -> None:
    score, _ = play(AnswerCorrectness(), ROW, {Claims("answer"): claims("a", "x"), Claims("reference"): claims("r")})
    assert (score.status, score.reason) == ("not_applicable", "no_reference_claims")


def test_of_several_references_the_best_counts_and_is_named() -> None:
    row = sample(answer="x", reference="r", reference_alternatives=("r2",))
    answer, first, second = claims("a", "a0"), claims("r", "r0"), claims("r", "q0")
    answers = {
        Claims("answer"): answer,
        Claims("reference", 0): first,
        Claims("reference", 1): second,
        Matched(0): matched(answer, first, "n", "0"),
        Matched(1): matched(answer, second, "s", "1"),
        Cosine("x", ("r",)): Cosines((0.1,)),
        Cosine("x", ("r2",)): Cosines((1.0,)),
    }
    score, _ = play(AnswerCorrectness(), row, answers)
    assert (score.value, score.detail["best"]) == (1.0, 1)


def test_points_without_a_text_are_joined_for_the_cosine() -> None:
    row = sample(answer="x", reference_points=("p", "q"))
    _, asked = play(AnswerCorrectness(), row, lambda need: FAILED if isinstance(need, Cosine) else claims("a", "z"))
    assert Cosine("x", ("p\nq",)) in asked


@pytest.mark.parametrize("weights", [(-1, 2), (0, 0), (1,), (1, 2, 3), ("a", 1), (float("nan"), 1), 3])
def test_weights_that_give_no_value_are_refused(weights: object) -> None:
    with pytest.raises(ConfigError, match="weights"):
        AnswerCorrectness(weights=weights)  # type: ignore[arg-type]


@pytest.mark.parametrize("beta", [0, -1, float("inf"), "2", True])
def test_a_beta_that_gives_no_value_is_refused(beta: object) -> None:
    with pytest.raises(ConfigError, match="beta"):
        AnswerCorrectness(beta=beta)  # type: ignore[arg-type]


def test_a_failed_need_fails_the_cell() -> None:
    score, _ = play(AnswerCorrectness(), ROW, lambda need: FAILED)
    assert (score.status, score.reason) == ("failed", "timeout")


@given(st.text("scn", min_size=1, max_size=8), st.text("01", min_size=1, max_size=8), st.floats(-1, 1), st.floats(0.1, 8))
def test_law_value_stays_in_range(said: str, covered: str, cosine: float, beta: float) -> None:
    score, _ = play(AnswerCorrectness(beta=beta), ROW, table(said, covered, cosine))
    assert score.value is not None
    assert 0 <= score.value <= 1


@given(st.floats(0, 1), st.floats(0, 1))
def test_law_f1_is_symmetric_and_between_its_parts(precision: float, recall: float) -> None:
    assert f_beta(precision, recall) == pytest.approx(f_beta(recall, precision))
    assert min(precision, recall) - 1e-9 <= f_beta(precision, recall) <= max(precision, recall) + 1e-9


@given(st.lists(st.sampled_from("scn"), min_size=1, max_size=8), st.lists(st.sampled_from("01"), min_size=1, max_size=8), st.data())
def test_law_the_order_of_claims_on_either_side_does_not_matter(said: list[str], covered: list[str], data: st.DataObject) -> None:
    other = data.draw(st.permutations(said)), data.draw(st.permutations(covered))
    first, _ = play(AnswerCorrectness(), ROW, table("".join(said), "".join(covered), 0.5))
    second, _ = play(AnswerCorrectness(), ROW, table("".join(other[0]), "".join(other[1]), 0.5))
    assert first.value == second.value
