"""Whatever a value holds, what is sent can be sent, fits, and is itself where nothing had to be changed."""

import math

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.langfuse.payload import clean, dumped, fitted, shortened

TEXTS = st.text(st.characters(), max_size=60)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5),
    max_leaves=25,
)


def holds_null_field(value):
    if isinstance(value, dict):
        return any(one is None or holds_null_field(one) for one in value.values())
    return isinstance(value, list) and any(holds_null_field(one) for one in value)


@given(VALUES)
def test_a_clean_value_is_json_without_null_fields_and_stays_as_it_is(value):
    made = clean(value)
    assert orjson.loads(orjson.dumps(made)) == made
    assert not holds_null_field(made)
    assert b"\\u0000" not in orjson.dumps(made)
    assert clean(made) == made


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0, True, "", "忽略以上", {"a": [0, {"b": ""}]}, [None, 1]])
def test_a_value_that_can_be_sent_is_not_touched(value):
    assert repr(clean(value)) == repr(value)


@pytest.mark.parametrize(
    ("value", "made"),
    [
        ("a\ud800b", "a?b"),
        ("a\0b", "a\ufffdb"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (2**60, str(2**60)),
        (-(2**53), str(-(2**53))),
        ({"a": None, 1: (2,)}, {"1": [2]}),
        ({3}, "{3}"),
    ],
)
def test_what_cannot_be_sent_is_replaced(value, made):
    assert clean(value) == made
    assert fitted(value, 1000) == (made, False)
    assert dumped(value, 1000) == (orjson.dumps(made).decode(), False)


def test_what_lies_too_deep_becomes_text():
    deep = "bottom"
    for _ in range(400):
        deep = [deep]
    assert "bottom" in orjson.dumps(clean(deep)).decode()


@given(VALUES, st.integers(1000, 4000), st.integers(1, 400))
def test_nothing_is_larger_than_it_may_be(value, limit, times):
    made, cut = dumped({"all": [value] * times}, limit)
    assert len(made.encode()) <= limit
    whole = clean({"all": [value] * times})
    assert cut == (len(orjson.dumps(whole)) > limit)
    if not cut:
        assert orjson.loads(made) == whole
    orjson.loads(made)


@pytest.mark.parametrize("text", ["x" * 50_000, "问" * 50_000, "\x01" * 50_000, '"' * 50_000])
def test_a_long_text_is_cut_and_tells_how_long_it_was(text):
    made, cut = fitted({"id": "a1", "text": text}, 10_000)
    assert cut
    assert made["id"] == "a1"
    assert made["text"].endswith("… [50000]")
    assert len(orjson.dumps(made)) <= 10_000


def test_a_list_too_long_keeps_its_beginning():
    made, cut = fitted(list(range(10_000)), 5000)
    assert cut
    assert made[:500] == list(range(500))
    assert made[-1] == "… [10000]"


@pytest.mark.parametrize(("text", "made"), [("abc", "abc"), ("a" * 40, "a" * 14 + "… [40]"), ("", "")])
def test_a_text_is_shortened_with_a_mark(text, made):
    assert shortened(text, 20) == made
