"""The plan joint: which rows it joins, what it asks, how groups and failures come together."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.needs import sample

from ragstone.metrics.needs import Checked, Claims, Cosine, Inverted, Matched, Need, Rated
from ragstone.plans import get, joint, separate
from ragstone.plans.base import Case
from ragstone.plans.joint import Part, asked_jointly, merged
from ragstone.questions.base import Failed, Question, Reading, Reply
from ragstone.questions.check_claims import WORDS
from ragstone.types import Sample

FULL = {"question": "保修多久？", "answer": "保修一年。", "contexts": ["保修期为一年。", "食堂十一点开门。"], "reference": "一年。"}


def row(**columns: Any) -> Sample:
    return sample(**{name: value for name, value in {**FULL, **columns}.items() if value is not None})


# ------------------------------------------------------------------ which rows
@pytest.mark.parametrize(
    ("columns", "joined"),
    [
        ({}, True),
        ({"contexts": ["", "保修期为一年。", " "]}, True),
        ({"expected_behavior": "refuse"}, True),
        ({"reference": None}, False),
        ({"reference": " "}, False),
        ({"answer": None}, False),
        ({"answer": ""}, False),
        ({"answer": " \n"}, False),
        ({"question": None}, False),
        ({"contexts": None}, False),
        ({"contexts": []}, False),
        ({"contexts": ["", "  "]}, False),
        ({"reference_points": ("一年",)}, False),
        ({"reference": None, "reference_points": ("一年",)}, False),
        ({"reference_alternatives": ("一年整。",)}, False),
        ({"reference": None, "reference_alternatives": ("一年整。",)}, False),
    ],
)
def test_rows_that_are_asked_jointly(columns: dict[str, Any], joined: bool) -> None:
    for need in (Claims("answer"), Claims("reference"), Checked("answer"), Checked("reference"), Rated("reference")):
        assert asked_jointly(need, row(**columns)) is joined


@pytest.mark.parametrize("need", [Rated("answer"), Matched(), Inverted(3), Cosine("a", ("b",))])
def test_needs_that_no_joint_request_meets(need: Need) -> None:
    assert not asked_jointly(need, row())


@pytest.mark.parametrize("need", [Claims("answer"), Rated("reference"), Rated("answer"), Inverted(2), Cosine("a", ("b",))])
def test_other_rows_are_asked_word_for_word_as_under_separate(need: Need) -> None:
    case = Case(row(reference_alternatives=("一年整。",)), "zh")
    assert list(next(joint.resolve(need, case))) == list(next(separate.resolve(need, case)))


def test_the_kinds_are_those_of_separate_and_two_more() -> None:
    assert get("joint") is joint
    assert [kind.name for kind in joint.kinds[len(separate.kinds) :]] == ["split_both", "check_all"]


# ------------------------------------------------------------------ a judge for whole needs
Says = Callable[[dict[str, Any]], Any]


class Desk:
    """Meets needs as the driver does, each once; judges with a function a kind, or fails with a word."""

    def __init__(self, case: Case, **says: Says | str | dict[str, Any]) -> None:
        self.case, self.says = case, says
        self.asked: list[Question] = []
        self.met: dict[Any, Any] = {}

    @property
    def kinds(self) -> list[str]:
        return [question.kind.name for question in self.asked]

    def meet(self, need: Any) -> Any:
        if need not in self.met:
            self.met[need] = self._run(joint.resolve(need, self.case))
        return self.met[need]

    def _run(self, steps: Any) -> Any:
        try:
            asked = next(steps)
            while True:
                asked = steps.send([self._reply(item) if isinstance(item, Question) else self.meet(item) for item in asked])
        except StopIteration as done:
            return done.value

    def _reply(self, question: Question) -> Reply:
        self.asked.append(question)
        says = self.says[question.kind.name]
        if callable(says):
            says = says(question.input)
        if isinstance(says, str):
            return Reply(question.key, None, Reading(), says)
        raw = repr(says).replace("'", '"')
        return Reply(question.key, raw, question.kind.read(question.input, raw))


def check(asked: dict[str, Any], supported: Sequence[int] = ()) -> list[dict[str, Any]]:
    """Every claim is supported by the contexts of `supported` that are in the request."""
    found = sorted({context["id"] for context in asked["contexts"]} & set(supported))
    word = "supported" if found else "not_found"
    return [{"id": claim["id"], "evidence": found, "verdict": word} for claim in asked["claims"]]


def rate(asked: dict[str, Any], useful: Sequence[int] = (1,)) -> list[dict[str, Any]]:
    return [{"id": context["id"], "verdict": int(context["id"] in useful)} for context in asked["contexts"]]


def desk(columns: dict[str, Any] | None = None, *, answer: Any = ("a", "b"), reference: Any = ("r",), **says: Any) -> Desk:
    good: dict[str, Any] = {
        "split_both": {"answer_claims": list(answer), "reference_claims": list(reference)},
        "split_claims": lambda asked: {"claims": list(answer if asked["of"] == "answer" else reference)},
        "check_all": lambda asked: {"claims": check(asked, (1,)), "contexts": rate(asked)},
        "check_claims": lambda asked: {"verdicts": check(asked, (1,))},
        "rate_contexts": lambda asked: {"verdicts": rate(asked)},
    }
    return Desk(Case(row(**(columns or {})), "zh"), **{**good, **says})


def words(checked: Any) -> list[str]:
    return [finding.verdict for finding in checked.findings]


NEEDS = (Claims("answer"), Claims("reference"), Checked("answer"), Checked("reference"), Rated("reference"))


# ------------------------------------------------------------------ what is asked
def test_all_needs_of_a_row_take_two_requests() -> None:
    at = desk()
    for need in NEEDS:
        assert not isinstance(at.meet(need), Failed)
    assert at.kinds == ["split_both", "check_all"]


@pytest.mark.parametrize("need", NEEDS[2:])
def test_any_one_need_asks_the_same_requests_in_full(need: Need) -> None:
    alone, all_ = desk(), desk()
    alone.meet(need)
    for each in NEEDS:
        all_.meet(each)
    assert [question.key for question in alone.asked] == [question.key for question in all_.asked]


def test_answer_claims_come_first_and_equal_claims_are_sent_once() -> None:
    at = desk(answer=("保修１年。", "运费 5 元"), reference=("送货上门", "保修1年"))
    found = at.meet(Checked("reference"))
    assert at.asked[1].input["claims"] == [
        {"id": 1, "text": "保修１年。"},
        {"id": 2, "text": "运费 5 元"},
        {"id": 3, "text": "送货上门"},
    ]
    assert [(f.id, f.evidence) for f in found.findings] == [("r1", ("c1",)), ("r2", ("c1",))]


def test_contexts_go_out_once_in_an_order_that_is_not_the_rank() -> None:
    at = desk({"contexts": [*(f"第{n}段" for n in range(1, 9)), "第1段", " "]})
    at.meet(Rated("reference"))
    sent = [context["id"] for context in at.asked[1].input["contexts"]]
    assert sorted(sent) == list(range(1, 9)) != sent
    other = desk({"contexts": [f"第{n}段" for n in range(1, 9)]})
    other.case = Case(other.case.sample.model_copy(update={"id": "s2"}), "zh")
    other.meet(Rated("reference"))
    assert [context["id"] for context in other.asked[1].input["contexts"]] != sent


def test_findings_come_back_by_rank() -> None:
    at = desk({"contexts": ["甲", "", "乙", "甲"]}, check_all=lambda asked: {"claims": check(asked, (3,)), "contexts": rate(asked, (3,))})
    assert [(f.id, f.verdict) for f in at.meet(Rated("reference")).findings] == [
        ("c1", "not_useful"),
        ("c2", "not_useful"),
        ("c3", "useful"),
        ("c4", "not_useful"),
    ]
    assert at.meet(Rated("reference")).duplicates == ("c4",)
    assert [f.evidence for f in at.meet(Checked("answer")).findings] == [("c3",), ("c3",)]


@pytest.mark.parametrize(
    ("answer", "reference", "kinds"), [((), (), ["rate_contexts"]), ((), ("r",), ["check_all"]), (("a",), (), ["check_all"])]
)
def test_without_any_claim_contexts_are_rated_alone(answer: Any, reference: Any, kinds: list[str]) -> None:
    at = desk(answer=answer, reference=reference)
    assert words(at.meet(Rated("reference"))) == ["useful", "not_useful"]
    assert at.meet(Checked("answer")).findings == () or answer
    assert at.kinds == ["split_both", *kinds]


@pytest.mark.parametrize(("contexts", "claims"), [(12, 20), (13, 20), (12, 21), (15, 27), (30, 45)])
def test_what_does_not_fit_is_cut_and_merged(contexts: int, claims: int) -> None:
    side = [f"a{n}" for n in range(claims - 1)]
    at = desk(
        {"contexts": [f"第{n}段" for n in range(1, contexts + 1)]},
        answer=side,
        check_all=lambda asked: {"claims": check(asked, (2, contexts)), "contexts": rate(asked, (1, contexts))},
        check_claims=lambda asked: {"verdicts": check(asked, (2, contexts))},
    )
    found, rated = at.meet(Checked("answer")), at.meet(Rated("reference"))
    evidence = ("c2", f"c{contexts}")
    assert [f.evidence for f in (*found.findings, *at.meet(Checked("reference")).findings)] == [evidence] * claims
    assert [f.id for f in rated.findings if f.verdict == "useful"] == ["c1", f"c{contexts}"]
    groups = -(-contexts // 12)
    assert at.kinds.count("check_all") == groups
    assert at.kinds.count("check_claims") == groups * max(0, -(-(claims - 20) // 20))
    assert all(len(q.input["contexts"]) <= 12 and len(q.input["claims"]) <= 20 for q in at.asked[1:])


LINES = st.builds(
    lambda word, evidence: {"verdict": word, "evidence": sorted(evidence), "quote": None, "reason": None},
    st.sampled_from(WORDS),
    st.frozensets(st.integers(1, 30), max_size=3),
)


@given(st.lists(st.dictionaries(st.integers(1, 4), LINES), min_size=1, max_size=4), st.randoms())
def test_merging_groups_of_contexts(groups: list[dict[int, dict[str, Any]]], draw: Any) -> None:
    parts = [
        Part({**{("claims", n): line for n, line in group.items()}, ("contexts", place): {"verdict": place % 2}}, {})
        for place, group in enumerate(groups, 1)
    ]
    found = merged(parts).items
    everywhere = set.intersection(*(set(group) for group in groups))
    assert {slot[1] for slot in found if slot[0] == "claims"} == everywhere
    for n in everywhere:
        lines = [group[n] for group in groups]
        best = min((line["verdict"] for line in lines), key=WORDS.index)
        assert found["claims", n]["verdict"] == best
        if len(lines) > 1:
            assert set(found["claims", n]["evidence"]) == {e for line in lines if line["verdict"] == best for e in line["evidence"]}
    assert {slot[1] for slot in found if slot[0] == "contexts"} == set(range(1, len(groups) + 1))
    shuffled = draw.sample(parts, len(parts))
    again = merged(shuffled).items
    assert {slot: (line["verdict"], line.get("evidence")) for slot, line in again.items()} == {
        slot: (line["verdict"], line.get("evidence")) for slot, line in found.items()
    }


# ------------------------------------------------------------------ what fails
@pytest.mark.parametrize("word", ["truncated", "too_long", "blocked", "empty_reply", "bad_reply"])
def test_a_request_that_fails_for_what_it_holds_is_asked_in_halves(word: str) -> None:
    good = desk()
    expected = [good.meet(need) for need in NEEDS]
    for kind in ("split_both", "check_all"):
        at = desk(**{kind: word})
        assert [at.meet(need) for need in NEEDS] == expected
    assert at.kinds == ["split_both", "check_all", "check_claims", "rate_contexts"]


@pytest.mark.parametrize("word", sorted(joint.OF_ENDPOINT))
def test_trouble_of_the_endpoint_is_not_asked_in_halves(word: str) -> None:
    at = desk(split_both=word)
    assert [at.meet(need) for need in NEEDS[:4]] == [Failed(word)] * 4
    assert words(at.meet(Rated("reference"))) == ["useful", "not_useful"]
    assert at.kinds == ["split_both", "rate_contexts"]
    at = desk(check_all=word)
    assert [at.meet(need) for need in NEEDS[2:]] == [Failed(word)] * 3
    assert at.kinds == ["split_both", "check_all"]


def test_one_text_that_cannot_be_split_costs_only_what_needs_its_claims() -> None:
    at = desk(split_both="blocked", split_claims=lambda asked: "blocked" if asked["of"] == "reference" else {"claims": ["a"]})
    assert at.meet(Checked("reference")) == Failed("blocked")
    assert words(at.meet(Checked("answer"))) == ["supported"]
    assert words(at.meet(Rated("reference"))) == ["useful", "not_useful"]


@pytest.mark.parametrize(
    ("left_out", "failed"),
    [
        (("claims", 1), {Checked("answer"): "verdicts 1/2"}),
        (("claims", 3), {Checked("reference"): "verdicts 0/1"}),
        (("contexts", 2), {Rated("reference"): "verdicts 1/2"}),
    ],
)
def test_a_missing_verdict_fails_its_own_cells_only(left_out: tuple[str, int], failed: dict[Need, str]) -> None:
    def partly(asked: dict[str, Any]) -> dict[str, Any]:
        said = {"claims": check(asked, (1,)), "contexts": rate(asked)}
        return {name: [line for line in lines if (name, line["id"]) != left_out] for name, lines in said.items()}

    at = desk(check_all=partly)
    for need in NEEDS[2:]:
        assert at.meet(need) == (Failed(failed[need]) if need in failed else desk().meet(need))
    assert at.kinds.count("check_all") == 3


def test_a_re_ask_that_does_not_come_fails_its_own_cells_only() -> None:
    def once(asked: dict[str, Any]) -> Any:
        return "timeout" if "problem" in asked else {"claims": check(asked, (1,))[1:], "contexts": rate(asked)}

    at = desk(check_all=once)
    assert at.meet(Checked("answer")) == Failed("timeout")
    assert words(at.meet(Checked("reference"))) == ["supported"]
    assert words(at.meet(Rated("reference"))) == ["useful", "not_useful"]


def test_one_half_asked_alone_may_fail_alone() -> None:
    at = desk(check_all="blocked", check_claims="blocked")
    assert [at.meet(Checked(side)) for side in ("answer", "reference")] == [Failed("blocked")] * 2  # type: ignore[arg-type]
    assert words(at.meet(Rated("reference"))) == ["useful", "not_useful"]


def test_a_group_of_contexts_that_fails_takes_every_claim_with_it() -> None:
    at = desk(
        {"contexts": [f"第{n}段" for n in range(1, 15)]},
        check_all=lambda asked: "timeout" if len(asked["contexts"]) == 2 else {"claims": check(asked, (1,)), "contexts": rate(asked)},
    )
    assert at.meet(Checked("answer")) == Failed("timeout")
    assert at.meet(Rated("reference")) == Failed("timeout")
