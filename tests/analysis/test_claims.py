import pytest
from support.evidence_rows import line, row

from ragstone.analysis.claims import UNSURE, Gathering, lines_of, majority, same_text
from ragstone.language import fold


def gathered(*rows, kind="answer_claim"):
    found = Gathering()
    for one in rows:
        if one["metric"] == "answer_correctness":
            found.match(one)
        else:
            found.check(one, "answer_claim" if one["metric"] == "faithfulness" else "reference_claim")
    return found.claims(kind)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["x"], "x"),
        (["x", "x"], "x"),
        (["x", "y"], UNSURE),
        (["x", "x", "y"], "x"),
        (["x", "y", "z"], UNSURE),
        (["x", "x", "y", "y"], UNSURE),
        (["x", "x", "x", "y", "y"], UNSURE),
        (["x"] * 4 + ["y"] * 2, "x"),
    ],
)
def test_two_thirds_of_the_repeats_decide(words, found):
    assert majority(words) == found


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("质保期为 3 年。", "质保期为3年", True),
        ("The warranty is 3 years.", "the  warranty is 3 years", True),
        ("质保期为 3 年", "质保期为 5 年", False),
        ("low -5 ℃", "low 5 ℃", False),
        (None, "", True),
        ("“三年”保修", "三年保修", True),
        ("「三年」保修。", "《三年》保修", True),
        ("“保修三年。”", "保修三年", True),
        ("It is “free”.", 'it is "free"', True),
        ("it’s free", "It's free!", True),
        ("7-10 天", "7–10天", True),
        ("7～10 天", "7 — 10天", True),
        ("7-10 天", "710 天", False),
        ("7–10 days", "710 days", False),
        ("−5 ℃", "-5℃", True),
        ("−5 ℃", "5 ℃", False),
        ("~5 天", "-5 天", False),
        ("1.5 h", "15 h", False),
        ("3/4", "34", False),
    ],
)
def test_texts_are_compared_folded(one, other, same):
    assert (same_text(one) == same_text(other)) is same


def test_a_claim_is_one_record_over_both_metrics():
    (claim,) = gathered(
        row("faithfulness", line("a1", "-", "c2", text="质保 5 年。")),
        row("answer_correctness", line("a1", "!", "r1", text="质保5年", confidence=0.7), line("r1", "0")),
    )
    assert (claim.id, claim.text, claim.grounding, claim.chunks) == ("a1", "质保 5 年。", "not_found", ("c2",))
    assert (claim.matching, claim.matches, claim.confidence, claim.unsure) == ("contradicted", ("r1",), 0.7, False)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("“三年”保修", "三年保修"),
        ("《手册》第 3 条", "手册第3条"),
        ("It’s “free”", "its free"),
        ("7-10 天", "7–10天"),
        ("7～10 天", "7-10 天"),
        ("7-10 天", "710 天"),
        ("−5 ℃", "-5 ℃"),
        ("−5 ℃", "5 ℃"),
    ],
)
def test_one_folding_says_what_the_other_says(one, other):
    assert (same_text(one) == same_text(other)) is (fold(one) == fold(other))


@pytest.mark.parametrize("elsewhere", [{"best": 1}, {"repeat": 1}])
def test_one_id_with_another_text_elsewhere_is_another_claim(elsewhere):
    found = gathered(
        row("context_recall", line("r1", "+", "c1", text="first reference")),
        row("answer_correctness", line("r1", "0", text="second reference"), line("a1", "!", "r1"), **elsewhere),
        kind="reference_claim",
    )
    assert [(c.id, c.text, c.grounding, c.matching) for c in found] == [
        ("r1", "first reference", "supported", None),
        ("r1.2", "second reference", None, "missing"),
    ]


@pytest.mark.parametrize(("keys", "same"), [((None, None), True), (("k", "k"), True), (("k", None), True), (("k", "other"), False)])
def test_one_id_in_the_same_repeat_is_one_claim_however_it_is_worded(keys, same):
    found = gathered(
        row("context_recall", line("r1", "+", "c1", text="质保期为 1 年", key=keys[0])),
        row("answer_correctness", line("r1", "0", text="质保期：一年", key=keys[1])),
        kind="reference_claim",
    )
    assert (len(found) == 1) is same
    assert (found[0].grounding, found[0].matching) == ("supported", "missing" if same else None)


def test_evidence_names_the_claim_of_its_own_row():
    rows = [
        row("context_recall", line("r1", "+", "c1", text="first reference")),
        row("answer_correctness", line("r1", "0", text="second reference"), line("a1", "!", "r1", "r9"), best=2),
    ]
    assert [c.matches for c in gathered(*rows)] == [("r1.2",)]


@pytest.mark.parametrize("same", [{"key": "k"}, {"text": "t"}])
def test_key_then_text_bring_together_what_the_ids_do_not(same):
    found = gathered(
        row("context_recall", line("r1", "+", text="before", key="other"), line("r2", "-", text="t", key="k")),
        row("answer_correctness", line("r5", "0", **{"text": "reworded", "key": None, **same})),
        kind="reference_claim",
    )
    assert [(c.id, c.grounding, c.matching) for c in found] == [("r1", "supported", None), ("r2", "not_found", "missing")]


def test_equal_texts_within_a_row_stay_two_claims():
    found = gathered(
        row("faithfulness", line("a1", "+", text="x"), line("a2", "-", text="x")),
        row("answer_correctness", line("a1", "+", text="x"), line("a2", "!", text="x")),
    )
    assert [(c.id, c.grounding, c.matching) for c in found] == [("a1", "supported", "supported"), ("a2", "not_found", "contradicted")]


def test_repeats_vote_and_their_evidence_is_that_of_the_winners():
    words = [("+", "c1"), ("+", "c2"), ("-", "c3")]
    (claim,) = gathered(*(row("faithfulness", line("a1", w, c, confidence=0.5 + 0.1 * n)) for n, (w, c) in enumerate(words)))
    assert (claim.grounding, claim.chunks) == ("supported", ("c1", "c2"))
    assert claim.confidence == pytest.approx(0.6)
    (claim,) = gathered(row("faithfulness", line("a1", "+")), row("faithfulness", line("a1", "-")))
    assert claim.grounding == UNSURE
    assert claim.unsure


@pytest.mark.parametrize(
    ("given", "usual", "found"),
    [
        ({"verdict": "covered"}, "answer_claim", ("reference_claim", "r1")),
        ({"verdict": "supported"}, "answer_claim", ("answer_claim", "a1")),
        ({"verdict": "supported", "id": "r7"}, "answer_claim", ("reference_claim", "r7")),
        ({"verdict": "missing"}, "keyword", ("keyword", "k1")),
        ({"verdict": "useful", "id": "chunk-9"}, "context", ("context", "chunk-9")),
        ({"kind": "question", "id": 4}, "context", ("question", "4")),
    ],
)
def test_lines_made_by_hand_may_lack_kinds_and_ids(given, usual, found):
    assert [pair[:2] for pair in lines_of({"verdicts": [given, "no line"]}, usual)] == [found]


@pytest.mark.parametrize("word", ["partial", None, 1, ["supported"]])
def test_an_unknown_word_is_no_verdict(word):
    (claim,) = gathered(row("faithfulness", {**line("a1", "+"), "verdict": word}, value=0.0))
    assert claim.unsure


@pytest.mark.parametrize(
    ("metric", "id", "word", "found"),
    [
        ("faithfulness", "a1", "contradicted", "contradicted"),
        ("faithfulness", "a1", "missing", UNSURE),
        ("answer_correctness", "a1", "not_found", "not_found"),
        ("answer_correctness", "a1", "covered", UNSURE),
        ("answer_correctness", "r1", "missing", "missing"),
        ("answer_correctness", "r1", "supported", UNSURE),
        ("answer_correctness", "r1", ["missing"], UNSURE),
    ],
)
def test_a_word_of_the_other_kind_of_claim_is_no_verdict(metric, id, word, found):
    told = {**line(id, "x"), "verdict": word}
    (claim,) = gathered(row(metric, told, value=0.5), kind=told["kind"])
    assert (claim.grounding or claim.matching) == found


@pytest.mark.parametrize(
    ("told", "found"),
    [(0.6, 0.6), (0, 0.0), (1, 1.0), *((odd, None) for odd in ("0.3", None, True, -0.1, 1.5, float("nan"), float("inf"), 10**400, [0.2]))],
)
def test_a_confidence_is_a_number_from_0_to_1(told, found):
    (claim,) = gathered(row("faithfulness", line("a1", "-", confidence=told)))
    assert claim.confidence == found


@pytest.mark.parametrize(("told", "found"), [("c1", ("c1",)), (["c1", "c1"], ("c1",)), ("", ()), (None, ()), (5, ()), ({"c1": 1}, ())])
def test_evidence_may_be_a_name_without_a_list(told, found):
    (claim,) = gathered(row("faithfulness", {**line("a1", "+"), "evidence": told}))
    assert claim.chunks == found


def test_evidence_finds_lines_whose_ids_are_worked_out():
    lines = [
        {"text": "x", "verdict": "contradicted", "evidence": ["r2"]},
        {"text": "y", "verdict": "covered"},
        {"text": "z", "verdict": "missing"},
    ]
    (claim,) = gathered({"metric": "answer_correctness", "value": 0.2, "status": "ok", "verdicts": lines})
    assert (claim.id, claim.matches) == ("a1", ("r2",))
