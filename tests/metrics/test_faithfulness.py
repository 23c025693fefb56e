import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.needs import FAILED, checked, claims, play, sample

from ragstone.metrics.faithfulness import Faithfulness
from ragstone.metrics.needs import Checked, CheckedClaims

CASES = [
    pytest.param("AirPods 标准保修 1 年，自购买之日起算。延保至 3 年。", ["标准保修 1 年，自购买之日起算。"], id="zh"),
    pytest.param("The warranty is 1 year from purchase. It extends to 3 years.", ["Warranty: 1 year from purchase."], id="en"),
]


@pytest.mark.parametrize(("answer", "contexts"), CASES)
def test_two_of_three_claims_supported(answer: str, contexts: list[str]) -> None:
    listed = claims("a", "one", "two", "three")
    score, asked = play(Faithfulness(), sample(answer=answer, contexts=contexts), {Checked("answer"): checked(listed, "s", "s", "n")})
    assert score.value == pytest.approx(2 / 3, abs=1e-12)
    assert asked == [Checked("answer")]
    assert [(v.kind, v.id, v.verdict) for v in score.verdicts] == [
        ("answer_claim", "a1", "supported"),
        ("answer_claim", "a2", "supported"),
        ("answer_claim", "a3", "not_found"),
    ]


def test_a_contradicted_claim_is_not_supported() -> None:
    score, _ = play(Faithfulness(), sample(answer="x", contexts=["y"]), {Checked("answer"): checked(claims("a", "x", "y"), "s", "c")})
    assert score.value == 0.5


@pytest.mark.parametrize(
    ("columns", "status", "reason"),
    [
        ({"contexts": ["y"]}, "not_applicable", "missing:answer"),
        ({"answer": "x"}, "not_applicable", "contexts_missing"),
        ({"answer": "x", "contexts": ["y"], "error": "timeout: no answer in 30 s"}, "failed", "collect:timeout"),
        ({"answer": "x", "contexts": ["y"], "error": "连接被拒绝"}, "failed", "collect:error"),
        ({"answer": "", "contexts": ["y"]}, "not_applicable", "no_claims"),
        ({"answer": " \n", "contexts": []}, "not_applicable", "no_claims"),
    ],
)
def test_rows_that_are_not_judged(columns: dict[str, object], status: str, reason: str) -> None:
    score, asked = play(Faithfulness(), sample(**columns), {})
    assert (score.status, score.reason, score.value, asked) == (status, reason, None, [])


def test_an_answer_without_claims_does_not_apply_whatever_the_contexts() -> None:
    for contexts in (["y"], [], [" "]):
        score, _ = play(
            Faithfulness(), sample(answer="抱歉，没有找到。", contexts=contexts), {Checked("answer"): CheckedClaims(claims("a"), ())}
        )
        assert (score.status, score.reason) == ("not_applicable", "no_claims")


@pytest.mark.parametrize("contexts", [[], [""], ["  ", "\n"]])
def test_nothing_retrieved_is_zero_with_its_reason(contexts: list[str]) -> None:
    score, _ = play(Faithfulness(), sample(answer="x", contexts=contexts), {Checked("answer"): checked(claims("a", "x"), "n")})
    assert (score.value, score.reason) == (0.0, "no_context")


def test_a_failed_need_fails_the_cell_with_its_reason() -> None:
    score, _ = play(Faithfulness(), sample(answer="x", contexts=["y"]), {Checked("answer"): FAILED})
    assert (score.status, score.reason, score.value) == ("failed", "timeout", None)


def test_detail_says_what_was_merged_sent_once_or_written_by_people() -> None:
    listed = claims("a", "x", merged=2)
    score, _ = play(Faithfulness(), sample(answer="x", contexts=["y", "y"]), {Checked("answer"): checked(listed, "s", duplicates=("c2",))})
    assert score.detail == {"merged": 2, "duplicates": ["c2"]}


@given(st.lists(st.sampled_from("scn"), min_size=1, max_size=6))
def test_value_is_in_range_and_does_not_depend_on_the_order_of_claims(verdicts: list[str]) -> None:
    values = set()
    for order in itertools.islice(itertools.permutations(verdicts), 24):
        listed = claims("a", *(f"claim {i}" for i in range(len(order))))
        score, _ = play(Faithfulness(), sample(answer="x", contexts=["y"]), {Checked("answer"): checked(listed, *order)})
        values.add(score.value)
    assert values == {verdicts.count("s") / len(verdicts)}
    assert 0 <= values.pop() <= 1
