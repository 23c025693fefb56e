import pytest

from ragstone.analysis.pooled import base_name, lost_lines, pooling


def lines(kind, *words, **more):
    return [{"kind": kind, "id": f"x{i}", "text": "t", "verdict": word, **more} for i, word in enumerate(words, 1)]


def micro(metric, *rows):
    """Bring rows of one metric together as Cells does."""
    pool = pooling(metric)
    left = [pool.read(row) for row in rows]
    counts = [sum(column) for column in zip(*(found[0] for found in left), strict=True)]
    return pool.value(metric, counts, sum(found[1] for found in left), len(left), left[-1][2])


@pytest.mark.parametrize(
    ("metric", "kind", "words"),
    [
        ("faithfulness", "answer_claim", [["supported", "not_found"], ["supported", "contradicted", "not_found", "supported"]]),
        ("context_recall", "reference_claim", [["supported", "not_found"], ["supported", "contradicted", "not_found", "supported"]]),
        ("context_precision", "context", [["useful", "not_useful"], ["useful", "not_useful", "not_useful", "useful"]]),
        ("keyword_recall", "keyword", [["found", "missing"], ["found", "missing", "missing", "found"]]),
        ("my_own_metric", "claim", [["supported", "missing"], ["found", "missing", "missing", "found"]]),
    ],
)
def test_one_list_of_lines_is_pooled_as_good_over_all(metric, kind, words):
    assert micro(metric, *({"verdicts": lines(kind, *said)} for said in words)) == 3 / 6


def test_relevancy_pools_clamped_cosines_over_questions():
    first = {"verdicts": [*lines("question", "committal", cosine=0.5), *lines("question", "noncommittal", cosine=-0.2)]}
    second = {"verdicts": lines("question", "committal", cosine=0.8)}
    assert micro("answer_relevancy(strictness=2)", first, second) == pytest.approx((0.5 + 0 + 0.8) / 3, abs=1e-12)


def test_an_answer_with_noncommittal_questions_only_counts_nothing_for_each_of_them():
    evasive = {"verdicts": lines("question", "noncommittal", "noncommittal")}
    assert micro("answer_relevancy", evasive, {"verdicts": lines("question", "committal", cosine=0.9)}) == pytest.approx(0.3, abs=1e-12)


def matches(answer, reference, cosine, weights=(0.75, 0.25)):
    return {
        "verdicts": lines("answer_claim", *answer) + lines("reference_claim", *reference),
        "detail": {"cosine": cosine, "weights": list(weights)},
    }


def test_correctness_pools_the_claims_of_both_sides_and_the_cosines_apart():
    rows = [
        matches(["supported", "not_found"], ["covered", "missing"], 1.0),
        matches(["supported", "supported", "contradicted", "not_found"], ["covered"], 0.6),
    ]
    precision, recall = 3 / 6, 2 / 3
    f1 = 2 * precision * recall / (precision + recall)
    assert micro("answer_correctness", *rows) == pytest.approx(0.75 * f1 + 0.25 * 0.8, abs=1e-12)


def test_correctness_takes_beta_from_the_name_and_weights_from_the_detail():
    row = matches(["supported", "not_found"], ["covered"], None, weights=(1.0, 0.0))
    assert micro("answer_correctness(beta=2,weights=[1,0])", row) == pytest.approx(5 * 0.5 / (4 * 0.5 + 1), abs=1e-12)


def test_a_claimless_answer_pools_to_the_cosine_alone():
    assert micro("answer_correctness", matches([], ["missing"], 0.4)) == pytest.approx(0.1, abs=1e-12)


@pytest.mark.parametrize("metric", ["faithfulness", "answer_correctness"])
def test_words_nobody_knows_cannot_be_pooled(metric):
    row = matches(["supported", "perhaps"], ["covered"], 0.5)
    assert pooling(metric).read(row) is None


def test_lost_lines_are_those_that_do_not_count():
    row = {"verdicts": lines("answer_claim", "supported", "not_found", "contradicted", "odd")}
    assert [line["verdict"] for line in lost_lines(row)] == ["not_found", "contradicted", "odd"]
    assert lost_lines({}) == () == lost_lines({"verdicts": None})


def test_parameters_do_not_belong_to_the_name():
    assert base_name("answer_relevancy(strictness=1)") == base_name("answer_relevancy") == "answer_relevancy"


@pytest.mark.parametrize("odd", [None, True, 3.5, [], ["supported"], {}, {"a": 1}])
def test_a_verdict_that_is_no_word_earns_nothing_and_breaks_nothing(odd):
    line = {"kind": "answer_claim", "id": "a1", "text": "t", "verdict": odd}
    assert lost_lines({"verdicts": [line, {**line, "verdict": "supported"}]}) == (line,)
