import json
from datetime import date

import pytest

from ragstone.analysis.slices import Groups, SampleFacts, expected_behavior, label


@pytest.mark.parametrize(
    ("row", "behaviour"),
    [
        ({}, "answer"),
        ({"expected_behavior": "refuse"}, "refuse"),
        ({"expected_behavior": "clarify", "meta": {"expected_behavior": "refuse"}}, "clarify"),
        ({"meta": {"expected_behavior": "refuse"}}, "refuse"),
        (
            {"expected_behavior": "answer", "meta": {"expected_behavior": "refuse"}},
            "refuse",
        ),  # "answer" is also what a filled-in default says
        ({"expected_behavior": "whatever", "meta": None}, "answer"),
    ],
)
def test_expected_behaviour_comes_from_the_column_or_from_meta(row, behaviour):
    assert expected_behavior(row) == behaviour


@pytest.mark.parametrize(
    ("row", "key", "value"),
    [
        ({"meta": {"category": "退换货"}}, "category", "退换货"),
        ({"category": "leave"}, "category", "leave"),
        ({"meta": {"category": "inner"}, "category": "outer"}, "category", "inner"),
        ({"meta": {"tags": ["a", "b"]}}, "tags", '["a","b"]'),
        ({"meta": {"n": 3}}, "n", 3),
        ({"language": "zh"}, "language", "zh"),
        ({}, "expected_behavior", "answer"),
        ({"question": "q"}, "question", None),
        ({"meta": {}}, "category", None),
    ],
)
def test_label(row, key, value):
    assert label(row, key) == value


def test_groups_come_in_the_order_of_their_values_and_samples_without_one_last():
    facts = SampleFacts("category")
    for at, category in enumerate([None, "b", "a", "b", None]):
        facts.add(at, {"meta": {"category": category}} if category else {"meta": {"other": 1}})
    assert list(facts.groups(6)) == [("b", [1, 3]), ("a", [2]), (None, [0, 4, 5])]
    assert list(facts.keys) == ["other", "category"]


def test_values_of_different_types_are_different_slices():
    facts = SampleFacts("v")
    for at, value in enumerate([1, True, "1", 1]):
        facts.add(at, {"meta": {"v": value}})
    assert list(facts.groups(4)) == [(1, [0, 3]), (True, [1]), ("1", [2])]


def test_a_later_row_of_a_sample_replaces_the_earlier():
    facts = SampleFacts("v")
    facts.add(0, {"expected_behavior": "refuse", "meta": {"v": "old"}})
    facts.add(0, {"meta": {"v": "new"}})
    assert list(facts.groups(1)) == [("new", [0])]
    assert facts.expecting("refuse", 1) == []


def test_clusters_number_the_groups_and_set_every_sample_without_one_apart():
    groups = Groups("doc")
    for at, doc in enumerate(["x", None, "y", "x"]):
        groups.add(at, {"meta": {"doc": doc}})
    numbers, without = groups.clusters(5)
    assert without == 2
    assert numbers[0] == numbers[3]
    assert len(set(numbers)) == 4


def test_slicing_by_itself_takes_the_category_and_lets_go_of_too_many():
    facts = SampleFacts(automatic=True)
    assert (facts.key, facts.sliced) == ("category", False)
    facts.add(0, {"meta": {"category": "x"}})
    assert facts.sliced
    assert facts.keys == {}, "nobody asks which other keys there are"
    for at in range(40):
        facts.add(at, {"meta": {"category": at}})
    assert (facts.sliced, facts.slices.crowded) == (False, True)


def test_a_key_that_somebody_names_is_taken_whatever_it_holds():
    facts = SampleFacts("team", automatic=True)
    facts.add(0, {"meta": {"category": "x"}})
    assert (facts.key, facts.automatic, facts.sliced) == ("team", False, True)
    assert list(facts.groups(1)) == [(None, [0])]


class Odd:
    def __str__(self):
        return "odd\ud800"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (float("nan"), None),
        (float("inf"), None),
        (10**30, str(10**30)),
        ("\ud800x", "\ufffdx"),
        (b"x", "b'x'"),
        ({1}, "{1}"),
        ((1, 2), "[1,2]"),
        ({"a": [1]}, '{"a":[1]}'),
        (date(2026, 1, 2), "2026-01-02"),
        (Odd(), "odd\ufffd"),
        (True, True),
        (1.5, 1.5),
        ("退货", "退货"),
    ],
)
def test_any_value_of_meta_is_one_a_document_can_hold(value, told):
    found = label({"meta": {"k": value}}, "k")
    assert (found, type(found)) == (told, type(told))
    json.dumps(found, allow_nan=False).encode()
