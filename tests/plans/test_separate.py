import pytest
from support.needs import claims, sample

from ragstone.errors import ConfigError
from ragstone.metrics.needs import Checked, Claims, Cosine, Matched, Rated
from ragstone.plans import get, separate
from ragstone.plans.base import Case, claim_list, ranked, sent_contexts
from ragstone.questions import match_claims, rate_contexts
from ragstone.questions.base import Failed, Question, Reading, Reply


def first(need: object, row: object, language: str = "zh") -> list[object]:
    return list(next(separate.resolve(need, Case(row, language))))  # type: ignore[arg-type]


def reply(question: Question, raw: str) -> Reply:
    return Reply(question.key, raw, question.kind.read(question.input, raw))


def test_blank_and_repeated_contexts_are_not_sent_and_ranks_stay() -> None:
    contexts = sent_contexts(sample(contexts=["甲", " ", "乙", "甲", ""]))
    assert contexts.sent == ((1, "甲"), (3, "乙"))
    assert contexts.duplicates == ("c4",)


def test_equal_claims_after_folding_are_one() -> None:
    found = claim_list("answer", [("保修 1 年。", None, False), ("保修１年", "x", False), ("运费 5 元", None, False)])
    assert [(c.id, c.text, c.key) for c in found.claims] == [("a1", "保修 1 年。", None), ("a2", "运费 5 元", None)]
    assert found.merged == 1


def test_reference_claims_keep_a_key_that_does_not_depend_on_their_place() -> None:
    one = claim_list("reference", [("A", None, False), ("B", None, False)])
    two = claim_list("reference", [("b.", None, False)])
    assert one.claims[1].key == two.claims[0].key
    assert one.claims[0].key != one.claims[1].key


def test_points_written_by_people_are_never_split() -> None:
    row = sample(reference="long text", reference_points=("三类物资", "【行为】不得编造"))
    with pytest.raises(StopIteration) as done:
        next(separate.resolve(Claims("reference"), Case(row, "zh")))
    found = done.value.value
    assert found.unsplit
    assert [(c.id, c.text, c.behaviour) for c in found.claims] == [("r1", "三类物资", False), ("r2", "【行为】不得编造", True)]


def test_an_alternative_is_split_on_its_own() -> None:
    row = sample(reference="one", reference_alternatives=("two",), question="q")
    (question,) = first(Claims("reference", 1), row)
    assert question.input == {"of": "reference", "question": "q", "text": "two"}  # type: ignore[attr-defined]


def test_nothing_is_asked_about_claims_without_contexts() -> None:
    steps = separate.resolve(Checked("answer"), Case(sample(answer="x", contexts=[" "]), "zh"))
    assert list(next(steps)) == [Claims("answer")]
    with pytest.raises(StopIteration) as done:
        steps.send([claims("a", "x", "y")])
    assert [f.verdict for f in done.value.value.findings] == ["not_found", "not_found"]


def test_a_failed_need_below_is_passed_on() -> None:
    for need in (Checked("answer"), Matched()):
        steps = separate.resolve(need, Case(sample(answer="x", contexts=["c"], reference="r"), "zh"))
        asked = next(steps)
        with pytest.raises(StopIteration) as done:
            steps.send([Failed("timeout")] * len(asked))
        assert done.value.value == Failed("timeout")


def test_contexts_are_rated_in_an_order_shuffled_by_the_sample_id_with_ranks_as_ids() -> None:
    row = sample(question="q", reference="r", contexts=[f"c{i}" for i in range(8)])
    (question,) = first(Rated("reference"), row)
    sent = question.input["contexts"]  # type: ignore[attr-defined]
    assert [c["id"] for c in sent] != list(range(1, 9))
    assert {c["id"]: c["text"] for c in sent} == {i: f"c{i - 1}" for i in range(1, 9)}
    assert first(Rated("reference"), row)[0].key == question.key  # type: ignore[attr-defined]
    other = row.model_copy(update={"id": "s2"})
    assert first(Rated("reference"), other)[0].input["contexts"] != sent  # type: ignore[attr-defined]


def test_the_yardstick_always_stands_under_reference() -> None:
    row = sample(question="q", answer="the answer", contexts=["c"])
    (question,) = first(Rated("answer"), row)
    assert question.input["reference"] == "the answer"  # type: ignore[attr-defined]


def test_a_repeated_context_gets_the_verdict_of_its_first_and_a_blank_one_is_not_useful() -> None:
    row = sample(question="q", reference="r", contexts=["甲", "", "甲", "乙"])
    said = {1: rate_contexts.ContextVerdict(True, "yes"), 4: rate_contexts.ContextVerdict(False, "no")}
    found = ranked(row, sent_contexts(row), said)
    assert [(f.id, f.verdict) for f in found] == [("c1", "useful"), ("c2", "not_useful"), ("c3", "useful"), ("c4", "not_useful")]


@pytest.mark.parametrize(
    ("verdict", "matches", "stated", "covered", "inconsistent"),
    [
        ("supported", (1,), True, "covered", ()),
        ("supported", (1,), False, "covered", ("r1",)),
        ("not_found", (), True, "covered", ("r1",)),
        ("not_found", (), False, "missing", ()),
        ("contradicted", (1,), False, "missing", ()),
        ("contradicted", (1,), True, "covered", ("r1",)),
    ],
)
def test_a_reference_claim_is_covered_if_either_side_says_so(
    verdict: str, matches: tuple[int, ...], stated: bool, covered: str, inconsistent: tuple[str, ...]
) -> None:
    said = match_claims.Matches({1: match_claims.AnswerMatch(verdict, matches, None)}, {1: stated})  # type: ignore[arg-type]
    found = separate._both_sides(claims("a", "x"), claims("r", "y"), said)
    assert (found.reference[0].verdict, found.inconsistent) == (covered, inconsistent)
    assert found.answer[0].evidence == tuple(f"r{m}" for m in matches)


def test_cosines_are_passed_on_and_failures_keep_their_word() -> None:
    case = Case(sample(question="q", answer="x"), "zh")
    steps = separate.resolve(Cosine("q", ("a", "b")), case)
    (question,) = next(steps)
    assert question.input == {"text": "q", "others": ["a", "b"]}
    assert question.prompt_hash is None
    with pytest.raises(StopIteration) as done:
        steps.send([reply(question, '{"cosines":[0.5,-0.25]}')])
    assert done.value.value.values == (0.5, -0.25)
    steps = separate.resolve(Cosine("q", ("a",)), case)
    (question,) = next(steps)
    with pytest.raises(StopIteration) as done:
        steps.send([Reply(question.key, None, Reading(), "embedding_zero")])
    assert done.value.value == Failed("embedding_zero")


def test_an_unknown_plan_is_named() -> None:
    assert get("separate") is separate
    with pytest.raises(ConfigError, match="jont"):
        get("jont")
