"""The closed list of readers: each can be loaded, and none fails on anything."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.collect import readers

KEYS = ("responseData", "quoteList", "events", "event", "data", "sources", "document", "metadata", "choices", "type", "content", "messages")
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.sampled_from(["answer", "verbose", "source", '{"msg_type":"knowledge_recall"}']),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=25,
)


def test_the_list_names_every_reader():
    folder = Path(readers.__file__).parent
    assert sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__") == sorted(readers.NAMES)


@pytest.mark.parametrize("name", readers.NAMES)
@given(body=JSON)
def test_no_body_makes_a_reader_fail(name, body):
    made = readers.read(name, body)
    if isinstance(body, dict):
        assert all(made[key] == body[key] for key in body if key not in ("answer", "chunks", "interactive"))
    else:
        assert made == body
