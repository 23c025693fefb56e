"""Claims that two runs judge differently."""

import pytest
from support.two_runs import claim, document, row


def correctness(name, *words, texts="r", keys=None, repeat=0, kind="reference_claim", **more):
    lines = [
        claim(kind, f"r{i}", f"{texts}{i}", word, **({"key": f"{keys}{i}"} if keys else {}), **more) for i, word in enumerate(words, 1)
    ]
    return row(name, 0.5, "answer_correctness", verdicts=lines, repeat=repeat)


def faithfulness(name, *claims, **more):
    lines = [claim("answer_claim", f"a{i}", text, word, *evidence) for i, (text, word, *evidence) in enumerate(claims, 1)]
    return row(name, 0.5, "faithfulness", verdicts=lines, **more)


def changes(base, new):
    found = document(base, new)["claims"]
    return {name: [(c["sample_id"], c["claim"], c["base"], c["new"]) for c in held] for name, held in found.items() if held}


def test_every_key_of_a_claim():
    base = [
        correctness("s", "covered", keys="k"),
        row("s", 1, "context_recall", verdicts=[claim("reference_claim", "r1", "r1", "supported", "c2", key="k1")]),
    ]
    new = [
        correctness("s", "missing", keys="k"),
        row("s", 1, "context_recall", verdicts=[claim("reference_claim", "r1", "r1", "not_found", key="k1")]),
    ]
    found = document(base, new)["claims"]
    assert found == {
        "gained": [],
        "lost": [
            {
                "sample_id": "s",
                "claim": "r1",
                "key": "k1",
                "text": "r1",
                "base": "covered",
                "new": "missing",
                "base_evidence": ["c2"],
                "new_evidence": [],
            }
        ],
        "newly_contradicted": [],
        "newly_unsupported": [],
    }


@pytest.mark.parametrize(
    ("old", "now", "found"),
    [
        (("covered", "missing"), ("covered", "missing"), {}),
        (("covered", "missing"), ("missing", "covered"), {"lost": ["r1"], "gained": ["r2"]}),
        (("covered", "covered"), ("covered", "covered"), {}),
    ],
)
@pytest.mark.parametrize("keys", [None, "k"])
def test_gold_claims_by_key_or_text(old, now, found, keys):
    told = changes([correctness("s", *old, keys=keys)], [correctness("s", *now, keys=keys)])
    assert {name: [c[1] for c in held] for name, held in told.items()} == found


def test_a_key_holds_though_text_and_id_change():
    base = [row("s", 1, "answer_correctness", verdicts=[claim("reference_claim", "r1", "年假 20 天", "covered", key="k")])]
    new = [row("s", 0, "answer_correctness", verdicts=[claim("reference_claim", "r2", "带薪年假 20 天", "missing", key="k")])]
    assert changes(base, new) == {"lost": [("s", "r2", "covered", "missing")]}


def test_equal_texts_under_two_keys_are_two_claims():
    base = [correctness("s", "covered", keys="k")]
    assert changes(base, [correctness("s", "missing", keys="other")]) == {}
    assert changes(base, [correctness("s", "missing")]) == {"lost": [("s", "r1", "covered", "missing")]}


def test_width_case_and_full_stop_do_not_make_another_claim():
    base = [row("s", 1, "answer_correctness", verdicts=[claim("reference_claim", "r1", "ＡＢＣ 三天。", "covered")])]
    new = [row("s", 0, "answer_correctness", verdicts=[claim("reference_claim", "r1", "abc 三天", "missing")])]
    assert list(changes(base, new)) == ["lost"]


def test_the_majority_of_the_repeats_decides():
    base = [correctness("s", word, repeat=i) for i, word in enumerate(("covered", "covered", "missing"))]
    assert changes(base, [correctness("s", "missing")]) == {"lost": [("s", "r1", "covered", "missing")]}
    split = base[1:]
    assert changes(split, [correctness("s", "missing")]) == {}
    assert changes(split, [correctness("s", "covered")]) == {}


@pytest.mark.parametrize(
    ("old", "now", "found"),
    [
        ([("x", "supported", "c1")], [("x", "contradicted", "c2")], {"newly_contradicted": [("s", "a1", "supported", "contradicted")]}),
        ([("x", "supported", "c1")], [("x", "not_found")], {"newly_unsupported": [("s", "a1", "supported", "not_found")]}),
        ([("x", "not_found")], [("x", "not_found")], {}),
        ([("x", "not_found")], [("x", "contradicted")], {"newly_contradicted": [("s", "a1", "not_found", "contradicted")]}),
        ([("x", "contradicted")], [("x", "not_found")], {"newly_unsupported": [("s", "a1", "contradicted", "not_found")]}),
        ([("y", "supported")], [("x", "not_found")], {"newly_unsupported": [("s", "a1", None, "not_found")]}),
        ([], [("x", "not_found")], {"newly_unsupported": [("s", "a1", None, "not_found")]}),
        ([("x", "not_found")], [("x", "supported"), ("y", "supported")], {}),
    ],
)
def test_claims_of_the_new_answer(old, now, found):
    assert changes([faithfulness("s", *old)], [faithfulness("s", *now)]) == found


def test_a_claim_is_new_where_the_base_run_made_none_but_not_where_it_failed_or_tells_nothing():
    new = [faithfulness("s", ("x", "not_found"))]
    assert list(changes([row("s", None, "faithfulness")], new)) == ["newly_unsupported"]
    assert changes([row("s", "timeout", "faithfulness")], new) == {}
    assert changes([row("s", 1.0, "faithfulness")], new) == {}


def test_correctness_says_nothing_of_the_contexts():
    base, new = (
        [row("s", 0.5, "answer_correctness", verdicts=[claim("answer_claim", "a1", "x", w)])] for w in ("supported", "contradicted")
    )
    assert changes(base, new) == {}


EMPTY = row("s", 0, "answer_correctness", reason="empty_answer", verdicts=[])


def test_an_empty_answer_loses_every_claim_it_covered():
    told = [correctness("s", "covered", "missing", "covered", keys="k")]
    assert changes(told, [EMPTY]) == {"lost": [("s", "r1", "covered", "missing"), ("s", "r3", "covered", "missing")]}
    assert changes([EMPTY], told) == {"gained": [("s", "r1", "missing", "covered"), ("s", "r3", "missing", "covered")]}
    assert changes([EMPTY], [EMPTY]) == {}
    assert changes(told, [row("s", "timeout", "answer_correctness")]) == {}
    assert changes(told, [row("s", 0, "answer_correctness", verdicts=[])]) == {}


def test_a_claim_that_an_empty_answer_loses_may_still_stand_in_the_contexts():
    def recall(chunk):
        return row("s", 1, "context_recall", verdicts=[claim("reference_claim", "r1", "保修三年。", "supported", chunk, key="k")])

    told = row("s", 1, "answer_correctness", verdicts=[claim("reference_claim", "r1", "保修三年。", "covered", key="k")])
    (lost,) = document([told, recall("c2")], [EMPTY, recall("c1")])["claims"]["lost"]
    assert (lost["claim"], lost["key"], lost["text"]) == ("r1", "k", "保修三年。")
    assert (lost["base_evidence"], lost["new_evidence"]) == (["c2"], ["c1"])
    (lost,) = document([told, recall("c2")], [EMPTY])["claims"]["lost"]
    assert (lost["base_evidence"], lost["new_evidence"]) == (["c2"], [])


@pytest.mark.parametrize(
    ("words", "verdict"), [("++-", "covered"), ("+-", None), ("+++--", None), ("++++--", "covered"), ("--+", "missing")]
)
def test_two_thirds_of_the_repeats_decide_as_everywhere(words, verdict):
    repeats = [correctness("s", "covered" if word == "+" else "missing", repeat=i) for i, word in enumerate(words)]
    assert ("lost" in changes(repeats, [correctness("s", "missing")])) is (verdict == "covered")
    assert ("gained" in changes(repeats, [correctness("s", "covered")])) is (verdict == "missing")


def test_a_claim_the_base_run_was_of_two_minds_about_is_new_without_a_verdict():
    base = [faithfulness("s", ("x", word), repeat=i) for i, word in enumerate(("supported", "not_found"))]
    assert changes(base, [faithfulness("s", ("x", "not_found"))]) == {"newly_unsupported": [("s", "a1", None, "not_found")]}


def bare(metric, *lines):
    return [row("s", 0.5, metric, verdicts=list(lines))]


def test_claims_without_text_and_key_are_told_apart_by_their_id():
    base = bare("answer_correctness", {"id": "r1", "verdict": "covered"}, {"id": "r2", "verdict": "missing"})
    new = bare("answer_correctness", {"id": "r1", "verdict": "missing"}, {"id": "r2", "verdict": "covered"})
    assert changes(base, new) == {"gained": [("s", "r2", "missing", "covered")], "lost": [("s", "r1", "covered", "missing")]}
    unnamed = bare("faithfulness", {"verdict": "supported"}, {"verdict": "not_found"})
    assert changes(unnamed, unnamed) == {}
    assert changes(bare("faithfulness", {"verdict": "supported"}, {"verdict": "supported"}), unnamed) == {
        "newly_unsupported": [("s", "a2", "supported", "not_found")]
    }


@pytest.mark.parametrize("text", ["Warranty: 3 years", "保修三年"])
def test_two_claims_of_one_row_with_one_text_are_two_claims(text):
    def run(*words):
        return bare("answer_correctness", *(claim("reference_claim", f"r{i}", text, word) for i, word in enumerate(words, 1)))

    assert changes(run("covered", "covered"), run("covered", "missing")) == {"lost": [("s", "r2", "covered", "missing")]}
    assert changes(run("covered", "missing"), run("covered", "missing")) == {}


def test_evidence_that_is_a_bare_name_counts():
    base = bare("faithfulness", {"id": "a1", "text": "保修三年", "verdict": "supported", "evidence": "c1"})
    new = bare("faithfulness", {"id": "a1", "text": "“保修三年”", "verdict": "contradicted", "evidence": "c2"})
    (found,) = document(base, new)["claims"]["newly_contradicted"]
    assert (found["base"], found["base_evidence"], found["new_evidence"]) == ("supported", ["c1"], ["c2"])


def test_lines_that_are_no_verdicts_are_passed_over():
    odd = [row("s", 0.5, "answer_correctness", verdicts=["x", {}, {"verdict": 3}, {"id": "r1", "verdict": "missing", "evidence": "c1"}])]
    assert changes(odd, odd) == {}


def test_claims_stand_in_the_order_of_the_base_run():
    base = [correctness(name, "covered") for name in "dab"]
    new = [correctness(name, "missing") for name in "abd"]
    assert [c[0] for c in changes(base, new)["lost"]] == ["d", "a", "b"]
