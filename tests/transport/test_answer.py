"""Bodies as they come from the wire."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.transport.answer import in_utf8


@pytest.mark.parametrize(
    ("raw", "kind", "text"),
    [
        ("年假".encode(), "text/plain", "年假"),
        ("\ufeff年假".encode(), "", "年假"),
        ("年假".encode("gbk"), "text/html; charset=GBK", "年假"),
        ("年假".encode("gbk"), 'text/html; charset="gb18030"; x=1', "年假"),
        (b"a\xff", "text/plain; charset=nonsense", "a\ufffd"),
        (b"a\xff", "text/plain", "a\ufffd"),
    ],
)
def test_a_body_is_read_in_its_encoding(raw: bytes, kind: str, text: str) -> None:
    assert in_utf8(raw, kind).decode("utf-8-sig", "replace") == text


@given(st.text(), st.sampled_from(["", "text/plain", "text/plain; charset=gbk", "text/plain; charset=latin-1"]))
def test_what_is_utf8_stays_what_it_is(text: str, kind: str) -> None:
    raw = text.encode()
    assert b"\0" in raw[:4] or in_utf8(raw, kind) is raw


@given(st.binary(), st.text())
def test_no_body_and_no_type_is_too_strange(raw: bytes, kind: str) -> None:
    assert isinstance(in_utf8(raw, kind), bytes)
