import json
import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.plain_json import dumped

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(values)
def test_what_json_knows_comes_back(value):
    assert json.loads(dumped(value)) == value
    assert b"\n" not in dumped(value)


@given(st.dictionaries(st.text(), values))
def test_sorted_the_order_of_keys_is_no_matter(value):
    assert dumped(value, sort=True) == dumped(dict(reversed(value.items())), sort=True)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (math.nan, None),
        ([math.inf, 2**70, -math.inf], [None, 2**70, None]),
        ("前\ud800后", "前?后"),
        ({"\udc00": (1, 2)}, {"?": [1, 2]}),
        ({1: {None: 2}}, {"1": {"null": 2}}),
        ([datetime(2026, 1, 2, tzinfo=UTC), "\ud800"], ["2026-01-02 00:00:00+00:00", "?"]),
        (ValueError("x"), "x"),
    ],
)
def test_what_json_has_no_word_for_is_the_nearest_thing(value, told):
    assert json.loads(dumped(value), parse_constant=lambda token: 1 / 0) == told


def test_what_lies_too_deep_is_left_out():
    deep = [1]
    for _ in range(100_000):
        deep = [deep]
    found = json.loads(dumped({"deep": deep, "beside": "测"}))
    assert found["beside"] == "测"
    assert str(found["deep"]).count("[") == 199
