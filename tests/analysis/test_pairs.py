"""Which samples belong together."""

import pytest
from support.two_runs import document, rows


def samples(**questions):
    return [{"id": name, "question": said, "reference": f"R {said}"} for name, said in questions.items()]


def pairs(base, new, **options):
    return document(base, new, **options)["pairs"]


def test_order_is_that_of_the_base_run():
    base, new = rows(dict.fromkeys("dacb", 0.5)), rows(dict.fromkeys("zbyac", 0.5))
    assert pairs(base, new) == {"common": 3, "only_base": ["d"], "only_new": ["z", "y"], "changed": [], "renamed": []}


@pytest.mark.parametrize(
    ("old", "now", "changed"),
    [
        ({"question": "q"}, {"question": "q"}, False),
        ({"question": "q"}, {"question": "Q"}, True),
        ({"question": "é"}, {"question": "é"}, False),
        ({"question": "年假几天？"}, {"question": "年假有几天？"}, True),
        ({"question": "q", "reference": "r"}, {"question": "q", "reference": "s"}, True),
        ({"question": "q", "reference": "r"}, {"question": "q"}, False),
        ({"reference_points": ["a", "b"]}, {"reference_points": ["a", "c"]}, True),
        ({"reference_alternatives": ["a"]}, {"reference_alternatives": ["a"]}, False),
        ({"question": "q", "answer": "a"}, {"question": "q", "answer": "b"}, False),
        ({}, {"question": "q"}, False),
        ({"question": 7}, {"question": 8}, True),
    ],
)
def test_another_question_or_reference_makes_no_pair(old, now, changed):
    both = rows({"a": 0.5, "b": 0.5})
    found = pairs(both, both, base_samples=[{"id": "a", **old}, {"id": "b"}], new_samples=[{"id": "a", **now}, {"id": "b"}])
    assert (found["changed"], found["common"]) == (["a"] if changed else [], 1 if changed else 2)


def test_equal_questions_under_other_ids_are_told_once_each():
    old = samples(a="same", b="gone", c="same", d="kept", e="same")
    new = samples(x="same", y="fresh", z="same", d="kept")
    found = pairs(rows(dict.fromkeys("abcde", 0.5)), rows(dict.fromkeys("xyzd", 0.5)), base_samples=old, new_samples=new)
    assert found["renamed"] == [{"base": "a", "new": "x"}, {"base": "c", "new": "z"}]
    assert (found["common"], found["only_base"], found["only_new"]) == (1, ["a", "b", "c", "e"], ["x", "y", "z"])


def test_the_same_answers_and_contexts_are_noticed():
    def told(**more):
        return [{"id": f"q0{i}", "answer": "A", "contexts": ["c"], **more} for i in range(8)]

    base, new = rows([0.5] * 8), rows([0.6] * 8)

    def codes(old, now):
        return [w["code"] for w in document(base, new, base_samples=old, new_samples=now)["warnings"]]

    assert "judge_noise_alone" in codes(told(), told())
    assert "judge_noise_alone" in codes(told(), told(contexts=[{"text": "c", "score": 0.5}]))
    assert "judge_noise_alone" not in codes(told(), told(answer="B"))
    assert "judge_noise_alone" not in codes(told(), told(contexts=["d"]))
    assert "judge_noise_alone" not in codes(told(answer=None), told(answer=None))
    assert "judge_noise_alone" not in codes(None, told())
