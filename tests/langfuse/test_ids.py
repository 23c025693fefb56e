"""Ids are those of Langfuse's SDK, always the same, and apart for what is apart."""

import importlib
import warnings
from hashlib import sha256
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.langfuse.ids import experiment_id, item_id, mean_id, score_id, seed, span_id, trace_id

NAMES = ["q1", "第一题", "a b/c", "x|y", "\\", "é𠮷", "' OR 1=1 --"]


@pytest.fixture(scope="module")
def sdk():
    """The class of the SDK's client; never an object of it, which would start threads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("langfuse").Langfuse


@pytest.mark.parametrize("name", NAMES)
def test_traces_and_observations_are_named_as_the_sdk_names_them(sdk, name):
    parts = ("clp1", "run 7", name)
    assert trace_id(*parts) == sdk.create_trace_id(seed=seed(*parts))
    told = SimpleNamespace(_create_observation_id=None)
    assert span_id(*parts, "answer") == sdk._create_observation_id(told, seed=seed(*parts, "answer"))


@pytest.mark.parametrize("name", NAMES)
def test_experiments_are_named_as_the_sdk_names_them(sdk, name):
    made = sdk._create_experiment_id(SimpleNamespace(), project_id="clp1", dataset_id="clds2", run_name=name)
    assert experiment_id("clp1", "clds2", name) == made


def test_plain_names_make_plain_seeds():
    assert seed("p", "r", "q1") == "p|r|q1"
    assert score_id("p", "r", "q1", "faithfulness") == sha256(b"p|r|q1|faithfulness").hexdigest()[:32]


def test_a_bar_within_a_name_is_no_end_of_it():
    made = [seed(*parts) for parts in (("a|b",), ("a", "b"), ("a\\", "b"), ("a\\|b",), ("a|", "b"), ("a", "|b"))]
    assert len({*made}) == len(made)


PARTS = st.lists(st.text(st.sampled_from("ab|\\")), min_size=1, max_size=4)


@given(PARTS, PARTS)
def test_seeds_of_different_parts_differ(left, right):
    assert (seed(*left) == seed(*right)) == (left == right)


def test_kinds_of_ids_do_not_meet():
    made = [
        score_id("p", "r", "s", "m"),
        mean_id("p", "r", "m"),
        trace_id("p", "r", "s"),
        score_id("p", "r", "s", "n"),
        mean_id("p", "s", "m"),
    ]
    assert len({*made}) == len(made)
    assert all(len(one) == 32 for one in made)
    assert len({span_id("p", "r", "s", role) for role in ("root", "retrieval", "answer", "metric:m")}) == 4


@pytest.mark.parametrize(
    ("dataset", "row", "plain"),
    [
        ("ragstone/0a1b2c3d", "q1", True),
        ("金标集/0a1b2c3d", "第一题", True),
        ("ragstone/0a1b2c3d", "q" * 300, False),
        ("ragstone/0a1b2c3d", "问" * 90, False),
        ("ragstone/0a1b2c3d", "a\nb", False),
        ("ragstone/0a1b2c3d", "\ud800", False),
        ("金" * 300, "q1", False),
        ("d\x00", "q1", False),
    ],
)
def test_item_ids_are_readable_where_they_can_be_and_always_fit(dataset, row, plain):
    made = item_id(dataset, row)
    assert (made == f"{dataset}/{row}") == plain
    assert len(made.encode()) <= 255
    assert made.isprintable()
    assert made != item_id(dataset, row + "x")
    assert made != item_id(dataset + "x", row)


@given(st.text(st.characters(), max_size=400), st.text(st.characters(), max_size=400))
def test_any_text_has_ids(run, sample):
    assert len(trace_id("p", run, sample)) == 32
    assert len(experiment_id("p", sample, run)) == 16
    assert 1 <= len(item_id(run, sample).encode()) <= 255
