import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.needs import FAILED, claims, play, sample

from ragstone.errors import ConfigError
from ragstone.metrics.answer_relevancy import AnswerRelevancy
from ragstone.metrics.needs import Claims, Cosine, Cosines, Inverted, ReverseQuestion, ReverseQuestions
from ragstone.questions.base import Failed

QUESTIONS = ("退款多久到账？", "信用卡退款要多久？", "退款到账时间？")


def reverse(*flags: int) -> ReverseQuestions:
    return ReverseQuestions(tuple(ReverseQuestion(QUESTIONS[i % 3] + "?" * (i // 3), bool(f)) for i, f in enumerate(flags)))


def asked_back(row_question: str, *cosines: float, flags: tuple[int, ...] = (0, 0, 0)) -> dict[object, object]:
    questions = reverse(*flags)
    return {Inverted(3): questions, Cosine(row_question, tuple(q.text for q in questions.questions)): Cosines(cosines)}


@pytest.mark.parametrize(
    ("cosines", "value"),
    [
        ((0.55, 0.50, 0.52), 1.57 / 3),
        ((0.88, 0.82, 0.86), 2.56 / 3),
        ((0.91, 0.62, 0.55), 2.08 / 3),
        ((1.0, 1.0, 1.0), 1.0),
        ((-1.0, -0.5, 0.0), 0.0),
    ],
)
@pytest.mark.parametrize("question", ["退货怎么寄回去？", "How do I send it back?"])
def test_mean_of_clamped_cosines(cosines: tuple[float, ...], value: float, question: str) -> None:
    score, _ = play(AnswerRelevancy(), sample(question=question, answer="x"), asked_back(question, *cosines))
    assert score.value == pytest.approx(value, abs=1e-12)
    assert [v.cosine for v in score.verdicts] == list(cosines), "the raw cosine stays in the trace"
    assert score.detail == {"cosines": list(cosines), "noncommittal": [False] * 3}


def test_one_stray_flag_does_not_zero_the_score() -> None:
    score, _ = play(AnswerRelevancy(), sample(question="q", answer="x"), asked_back("q", 0.9, 0.6, 0.6, flags=(1, 0, 0)))
    assert score.value == pytest.approx(0.7, abs=1e-12)
    assert [v.verdict for v in score.verdicts] == ["noncommittal", "committal", "committal"]


def test_all_flagged_is_zero_without_asking_for_embeddings() -> None:
    score, asked = play(AnswerRelevancy(), sample(question="q", answer="x"), {Inverted(3): reverse(1, 1, 1)})
    assert (score.value, score.status, asked) == (0.0, "ok", [Inverted(3)])
    assert score.detail["flags"] == ["refusal"]


def test_an_empty_answer_is_zero_and_nothing_is_asked() -> None:
    for behavior in ("answer", "refuse", "clarify"):
        score, asked = play(AnswerRelevancy(), sample(question="q", answer=" ", expected_behavior=behavior), {})
        assert (score.value, score.reason, asked) == (0.0, "empty_answer", [])


def test_no_question_at_all_fails() -> None:
    score, _ = play(AnswerRelevancy(), sample(question="q", answer="x"), {Inverted(3): ReverseQuestions(())})
    assert (score.status, score.reason) == ("failed", "no_questions")


@pytest.mark.parametrize(
    ("behavior", "answer", "listed", "flags", "reason"),
    [
        ("refuse", "抱歉，资料里没有。", [], (1, 1, 1), "expected_refusal"),
        ("refuse", "Sorry, I do not know.", [], (), "expected_refusal"),
        ("clarify", "请先说明您在哪个园区？", [], (0, 0, 0), "expected_clarification"),
        ("clarify", "Which site are you at?", [], (0, 0, 0), "expected_clarification"),
    ],
)
def test_doing_what_was_expected_does_not_count_as_irrelevant(
    behavior: str, answer: str, listed: list[str], flags: tuple[int, ...], reason: str
) -> None:
    answers = {Claims("answer"): claims("a", *listed), Inverted(3): reverse(*flags)}
    score, _ = play(AnswerRelevancy(), sample(question="q", answer=answer, expected_behavior=behavior), answers)
    assert (score.status, score.reason) == ("not_applicable", reason)


@pytest.mark.parametrize(
    ("behavior", "answer", "listed", "flags"),
    [
        ("refuse", "电话是 010。", ["电话是 010"], (1, 1, 1)),
        ("refuse", "Hm.", [], (1, 0, 1)),
        ("clarify", "好的。", [], (0, 0, 0)),
        ("clarify", "Which site? Site A closes at 5.", ["Site A closes at 5"], (0, 0, 0)),
    ],
)
def test_otherwise_the_row_is_scored_as_usual(behavior: str, answer: str, listed: list[str], flags: tuple[int, ...]) -> None:
    table = asked_back("q", 0.5, 0.5, 0.5, flags=flags)
    score, _ = play(
        AnswerRelevancy(),
        sample(question="q", answer=answer, expected_behavior=behavior),
        {**table, Claims("answer"): claims("a", *listed)},
    )
    assert score.status == "ok"
    assert score.value == (0.0 if all(flags) else 0.5)


@pytest.mark.parametrize("strictness", [0, -1, 21, 2.0, True, "3"])
def test_a_strictness_out_of_range_is_refused(strictness: object) -> None:
    with pytest.raises(ConfigError, match="strictness"):
        AnswerRelevancy(strictness=strictness)  # type: ignore[arg-type]


def test_strictness_is_the_number_of_questions_and_shows_in_the_name() -> None:
    metric = AnswerRelevancy(strictness=1)
    _, asked = play(metric, sample(question="q", answer="x"), {Inverted(1): reverse(1)})
    assert asked == [Inverted(1)]
    assert metric.text == "answer_relevancy(strictness=1)"


def test_a_failed_need_fails_the_cell() -> None:
    score, _ = play(AnswerRelevancy(), sample(question="q", answer="x"), {Inverted(3): FAILED})
    assert (score.status, score.reason) == ("failed", "timeout")
    score, _ = play(
        AnswerRelevancy(),
        sample(question="q", answer="x"),
        lambda need: reverse(0) if isinstance(need, Inverted) else Failed("embedding_zero"),
    )
    assert (score.status, score.reason) == ("failed", "embedding_zero")


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=8))
def test_law_value_stays_in_range(cosines: list[float]) -> None:
    def answer(need: object) -> object:
        return reverse(*[0] * len(cosines)) if isinstance(need, Inverted) else Cosines(tuple(cosines))

    score, _ = play(AnswerRelevancy(), sample(question="q", answer="x"), answer)
    assert score.value is not None
    assert 0 <= score.value <= 1
