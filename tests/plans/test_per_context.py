"""The plan per-context: one request a context for ratings, the rest as under separate."""

import json

import pytest
from support.needs import sample

from ragstone.metrics.needs import Checked, Claims, Cosine, Inverted, Matched, Need, Rated
from ragstone.plans import get, per_context, separate
from ragstone.plans.base import Case
from ragstone.questions.base import Failed, Question, Reply

CASE = Case(sample(question="q", answer="回答", contexts=["甲", "乙", "", "甲", "丙"], reference="r"), "zh")


def replies(asked: list[Question], *, dropped: int = 0) -> list[Reply]:
    found = []
    for question in asked:
        (context,) = question.input["contexts"]
        lines = [] if context["id"] == dropped else [{"id": context["id"], "reason": "r", "verdict": context["id"] % 2}]
        raw = json.dumps({"verdicts": lines})
        found.append(Reply(question.key, raw, question.kind.read(question.input, raw)))
    return found


def test_each_context_is_rated_on_its_own_all_at_once() -> None:
    steps = per_context.resolve(Rated("reference"), CASE)
    asked = list(next(steps))
    assert sorted(q.input["contexts"][0]["text"] for q in asked) == sorted(["甲", "乙", "丙"])  # type: ignore[attr-defined]
    assert {q.kind.name for q in asked} == {"rate_contexts"}  # type: ignore[attr-defined]
    with pytest.raises(StopIteration) as done:
        steps.send(replies(asked))  # type: ignore[arg-type]
    assert [f.verdict for f in done.value.value.findings] == ["useful", "not_useful", "not_useful", "useful", "useful"]
    assert done.value.value.duplicates == ("c4",)


def test_a_context_without_verdict_is_counted_among_all() -> None:
    steps = per_context.resolve(Rated("reference"), CASE)
    asked = list(next(steps))
    for _ in range(2):
        asked = list(steps.send(replies(asked, dropped=2)))  # type: ignore[arg-type]
        assert [q.input["contexts"][0]["id"] for q in asked] == [2]  # type: ignore[attr-defined]
    with pytest.raises(StopIteration) as done:
        steps.send(replies(asked, dropped=2))  # type: ignore[arg-type]
    assert done.value.value == Failed("verdicts 2/3")


@pytest.mark.parametrize("need", [Claims("answer"), Checked("answer"), Matched(), Inverted(3), Cosine("a", ("b",))])
def test_other_needs_are_met_as_under_separate(need: Need) -> None:
    assert list(next(per_context.resolve(need, CASE))) == list(next(separate.resolve(need, CASE)))


def test_it_is_known_by_its_name() -> None:
    assert get("per-context") is per_context
    assert per_context.kinds == separate.kinds
