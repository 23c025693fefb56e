"""Values as a settings file writes them."""

import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.config.writing import toml

values = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=50)
@given(st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=8), values, max_size=4))
def test_whatever_json_holds_is_valid_toml(value):
    assert tomllib.loads(f"x = {toml(value)}")["x"] == value


def test_null_is_left_out():
    assert tomllib.loads(f"x = {toml({'a': None, 'b': [None, 1]})}") == {"x": {"b": [1]}}


def test_a_pattern_is_written_as_it_is():
    assert toml([r"\[doc\d+\]", "it's \\d", "plain"]) == r"""['\[doc\d+\]', "it's \\d", "plain"]"""
