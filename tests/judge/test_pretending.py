import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.judge.base import Identity
from ragstone.judge.pretending import PretendingJudge, pretended
from ragstone.questions.base import Question, ask, system_prompt
from ragstone.questions.kinds import KINDS

CONTEXTS = [{"id": 2, "text": "保修期为两年。"}, {"id": 1, "text": "The warranty runs two years."}]
CLAIMS = [{"id": 1, "text": "保修两年"}, {"id": 2, "text": "It is free"}]
INPUTS = {
    "split_claims": {"of": "answer", "question": "q", "text": "保修两年。运费自理。"},
    "split_both": {"question": "q", "answer": "Two years. Free.", "reference": "保修两年。"},
    "check_claims": {"contexts": CONTEXTS, "claims": CLAIMS},
    "rate_contexts": {"contexts": CONTEXTS, "question": "q", "reference": "r"},
    "check_all": {"contexts": CONTEXTS, "claims": CLAIMS, "question": "q", "reference": "r"},
    "match_claims": {"question": "q", "answer_claims": CLAIMS, "reference_claims": CLAIMS},
    "invert_answer": {"answer": "保修两年。", "count": 3},
}


def question(kind: str, lang: str = "zh", **more: object) -> Question:
    return ask(KINDS[kind], lang, 0, system_prompt(KINDS[kind], lang), {**INPUTS[kind], **more})  # type: ignore[arg-type]


def test_every_kind_that_is_put_to_a_judge_can_be_pretended() -> None:
    assert set(INPUTS) == {name for name, kind in KINDS.items() if kind.prompted}


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("lang", ["zh", "en"])
async def test_a_pretended_reply_is_whole(kind: str, lang: str) -> None:
    asked = question(kind, lang)
    raw = await PretendingJudge(Identity("m", "here")).complete(asked)
    reading = asked.kind.read(asked.input, raw.text or "")
    assert (reading.problem, reading.missing) == (None, ())
    assert raw.usage is not None
    assert raw.usage["prompt_tokens"] > raw.usage["completion_tokens"] > 0


async def test_an_equal_question_takes_nothing_again_and_a_later_one_is_not_exact() -> None:
    judge = PretendingJudge(Identity("m", "here"))
    first, later = question("split_claims"), question("check_claims")
    assert (await judge.complete(first)).attempts == 1
    assert (await judge.complete(first)).attempts == 0
    await judge.complete(later)
    assert judge.first == {first.key}
    judge.begin()
    await judge.complete(later)
    assert judge.first == {later.key}


@given(st.text(max_size=200), st.sampled_from(["zh", "en"]))
def test_any_text_can_be_split_and_inverted(text: str, lang: str) -> None:
    for kind, more in (("split_claims", {"text": text}), ("split_both", {"answer": text}), ("invert_answer", {"answer": text or "x"})):
        assert pretended(question(kind, lang, **more))
