import pytest
from support.evidence_rows import line, lost_cell, row

from ragstone.analysis.evidence import WEIGHTS, about, digest, evidence

FULL = [
    row("faithfulness", line("a1", "+", "c1"), line("a2", "-"), in_parts=2),
    row(
        "answer_relevancy",
        {**line("q1", "committal", text="who?"), "cosine": 0.6},
        {**line("q2", "noncommittal", text="what?"), "cosine": 0.2},
        value=0.4,
    ),
    row("context_precision", line("c1", "u"), line("c2", "n"), against="reference", clipped={"contexts_dropped": 3}),
    row("context_recall", line("r1", "+", "c1"), line("r2", "-"), best=1),
    row("answer_correctness", line("a1", "+", "r1"), line("a2", "-"), line("r1", "="), line("r2", "0")),
    row("keyword_recall", line("k1", "found", "c1", text="gate"), line("k2", "missing", text="dock")),
]


def test_one_record_holds_what_all_metrics_say():
    found = evidence("s", FULL)
    assert found.values == {
        "faithfulness": 0.5,
        "answer_relevancy": 0.4,
        "context_precision": 0.5,
        "context_recall": 0.5,
        "answer_correctness": 0.5,
        "keyword_recall": 0.5,
    }
    assert [(c.id, c.grounding, c.matching, c.matches) for c in found.answer_claims] == [
        ("a1", "supported", "supported", ("r1",)),
        ("a2", "not_found", "not_found", ()),
    ]
    assert [(c.id, c.grounding, c.matching) for c in found.reference_claims] == [
        ("r1", "supported", "covered"),
        ("r2", "not_found", "missing"),
    ]
    assert [(c.id, c.rank, c.useful) for c in found.chunks] == [("c1", 1, True), ("c2", 2, False)]
    assert [(q.text, q.committal, q.cosine) for q in found.questions] == [("who?", True, 0.6), ("what?", False, 0.2)]
    assert [(k.text, k.found, k.chunks) for k in found.keywords] == [("gate", True, ("c1",)), ("dock", False, ())]
    assert (found.f1, found.f1_told, found.cosine, found.weights) == (0.5, True, 0.5, WEIGHTS)
    assert (found.clipped, found.best, found.in_parts) == ({"contexts_dropped": 3}, {"context_recall": 1}, {"faithfulness"})
    assert (found.ok, found.has_claims, found.repeats, found.about, found.expected_behavior) == (True, True, 1, None, None)


def test_the_plain_metric_counts_before_one_with_parameters():
    rows = [row("faithfulness(x=1)", value=0.1), row("faithfulness", value=0.2), row("answer_correctness(beta=2)", value=0.3, f1=0.1)]
    assert evidence("s", rows).values == {"faithfulness": 0.2, "answer_correctness": 0.3}


def test_repeats_are_averaged_and_a_failed_one_does_not_count():
    rows = [row("faithfulness", value=v, repeat=i) for i, v in enumerate([0.2, 0.4])]
    rows += [
        lost_cell("faithfulness"),
        row("answer_correctness", value=0.5, f1=0.2),
        row("answer_correctness", value=0.7, f1=0.4, repeat=1),
    ]
    found = evidence("s", rows)
    assert found.values == {"faithfulness": pytest.approx(0.3), "answer_correctness": pytest.approx(0.6)}
    assert found.f1 == pytest.approx(0.3)
    assert (found.repeats, found.states["faithfulness"]) == (3, ("ok", None))


@pytest.mark.parametrize(
    ("rows", "state"),
    [
        ([lost_cell("m", "not_applicable", "no_claims")], ("not_applicable", "no_claims")),
        ([lost_cell("m", "not_applicable", "no_claims"), lost_cell("m")], ("failed", "timeout")),
        ([lost_cell("m", reason=None)], ("failed", "unknown")),
        ([lost_cell("m"), {**row("m", value=0.0), "reason": "no_context"}], ("ok", "no_context")),
    ],
)
def test_states_say_why(rows, state):
    found = evidence("s", rows)
    assert found.states == {"m": state}
    assert found.ok is (state[0] == "ok")


@pytest.mark.parametrize(("flagged", "count", "found"), [(1, 1, True), (2, 3, True), (1, 2, False), (1, 3, False)])
def test_a_flag_needs_two_thirds_of_the_repeats(flagged, count, found):
    rows = [row("answer_relevancy", value=0.0, **({"flags": ["refusal"]} if n < flagged else {})) for n in range(count)]
    assert ("refusal" in evidence("s", rows).flags) is found


def test_f1_is_worked_out_where_the_row_does_not_tell_it():
    lines = [line("a1", "+", "r1"), line("a2", "-"), line("r1", "="), line("r2", "0"), line("r3", "0")]
    found = evidence("s", [{**row("answer_correctness", *lines, value=0.4), "detail": None}])
    assert found.f1 == pytest.approx(0.4)
    assert (found.f1_told, found.cosine, found.weights) == (False, None, WEIGHTS)
    assert evidence("s", [{**row("answer_correctness", value=0.4), "detail": {"f1": "?"}}]).f1 is None


@pytest.mark.parametrize(("name", "beta"), [("(beta=2)", 2.0), ("(beta=0.5,weights=[1,0])", 0.5), ("(weights=[1,0])", 1.0), ("", 1.0)])
def test_where_the_row_does_not_tell_f_it_is_that_of_the_metric_s_beta(name, beta):
    lines = [line("a1", "+", "r1"), line("r1", "="), line("r2", "0"), line("r3", "0")]
    found = evidence("s", [{**row(f"answer_correctness{name}", *lines, value=0.4), "detail": None}])
    assert found.f1 == pytest.approx((1 + beta**2) * (1 / 3) / (beta**2 + 1 / 3))


@pytest.mark.parametrize(
    ("sample", "reason", "found"),
    [
        (None, None, None),
        (None, "expected_refusal", "refuse"),
        (None, "expected_clarification", "clarify"),
        ({"id": "s"}, None, "answer"),
        ({"id": "s", "meta": {"expected_behavior": "clarify"}}, None, "clarify"),
        ({"id": "s"}, "expected_refusal", "refuse"),
    ],
)
def test_expected_behaviour(sample, reason, found):
    rows = [lost_cell("answer_relevancy", "not_applicable", reason)]
    assert evidence("s", rows, sample and about(sample)).expected_behavior == found


def test_what_a_sample_row_says_is_kept_without_its_texts():
    sample = {"id": "s", "question": "门卫电话？", "answer": " ", "contexts": ["x", "y"], "context_ids": ["1", "2", "3"]}
    found = about({**sample, "meta": {"category": "contacts", "intent_top1": "list"}})
    assert (found.category, found.intent_top1, found.contexts, found.context_ids) == ("contacts", "list", 2, 3)
    assert (found.answer, found.question, found.error) == (None, digest("门卫电话？"), False)
    assert digest("门卫 电话?") == digest("门卫电话？")
    assert about({"id": "s", "intent_top1": "x", "error": "HTTP 500"}).error


def test_ranks_come_from_the_ids_else_from_the_order():
    assert [(c.id, c.rank) for c in evidence("s", [row("context_precision", line("c2", "n"), line("c1", "u"))]).chunks] == [
        ("c1", 1),
        ("c2", 2),
    ]
    lines = [{"id": "doc-7", "verdict": "useful"}, {"id": "doc-3", "verdict": "not_useful"}]
    assert [(c.id, c.rank, c.useful) for c in evidence("s", [row("context_precision", *lines, value=1.0)]).chunks] == [
        ("doc-7", 1, True),
        ("doc-3", 2, False),
    ]


def test_repeats_that_do_not_agree_leave_a_chunk_open():
    rows = [row("context_precision", line("c1", word), repeat=n) for n, word in enumerate("un")]
    assert [c.useful for c in evidence("s", rows).chunks] == [None]


@pytest.mark.parametrize("verdicts", [None, [], ["x", None, {}], [{"id": None, "text": None, "evidence": "c1", "confidence": "high"}]])
def test_lines_of_any_shape_are_read(verdicts):
    names = ("faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness", "keyword_recall")
    found = evidence("s", [{**row(name, value=0.5), "verdicts": verdicts, "detail": {"weights": [1], "flags": "x"}} for name in names])
    assert found.weights == WEIGHTS
    assert set(found.values.values()) == {0.5}


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ([1, 0], (1.0, 0.0)),
        ([0, 1], (0.0, 1.0)),
        ([3, 1], (0.75, 0.25)),
        *((odd, WEIGHTS) for odd in (None, "x", [1], [1, 2, 3], ["1", 0], [None, 1], [-1, 2], [0, 0], [float("nan"), 1], [10**400, 1], {})),
    ],
)
def test_weights_sum_to_one_or_are_the_usual_ones(told, found):
    assert evidence("s", [row("answer_correctness", line("a1", "-"), line("r1", "0"), weights=told)]).weights == found


@pytest.mark.parametrize("odd", ["0.5", None, True, [], float("nan"), float("inf"), 10**400])
def test_an_f1_that_is_no_number_is_worked_out(odd):
    found = evidence("s", [row("answer_correctness", line("a1", "+", "r1"), line("r1", "="), line("r2", "0"), value=0.5, f1=odd)])
    assert (found.f1, found.f1_told) == (pytest.approx(2 / 3), False)
