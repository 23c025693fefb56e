import json
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.reading import json_pieces
from ragstone.reading.json_pieces import array_objects, comes_in_pieces
from ragstone.reading.json_rows import JsonArrayTable, Row

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text('ab"\\{}[],: 退货\u2028\n', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('a"}甲', max_size=2), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text('k\\"退', max_size=3), VALUES, max_size=3)


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_pieces, "CHUNK", 7)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "gb18030"])
@pytest.mark.parametrize("indent", [None, 2])
def test_law_pieces_are_what_the_whole_is(tmp_path: Path, small_chunks: None, encoding: str, indent: int | None) -> None:
    path = tmp_path / "x.json"

    @given(st.lists(OBJECTS, max_size=5))
    def law(rows: list[dict[str, object]]) -> None:
        path.write_text(" \n" + json.dumps(rows, ensure_ascii=False, indent=indent) + "\r\n ", encoding=encoding)
        assert list(array_objects(path, encoding)) == rows
        whole, pieces = (list(JsonArrayTable(path, encoding, "en", in_pieces=way).rows()) for way in (False, True))
        assert whole == pieces == [Row(number, row) for number, row in enumerate(rows, 1)]

    law()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[]x",
        "[1]",
        '["a"]',
        '[{"a": 1},]',
        '[{"a": 1} {"b": 2}]',
        '{"a": 1}',
        '[{"a": NaN}]',
        '[{"a": "\\ud800"}]',
        '[{"a": 1}',
        "[,]",
    ],
)
def test_what_is_no_array_of_objects_is_read_as_a_whole(tmp_path: Path, small_chunks: None, text: str) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    assert not comes_in_pieces(tmp_path / "x.json", "utf-8")


@pytest.mark.parametrize("content", [b'[{"a": "\xff"}]', b"[" * 100_000])
def test_what_cannot_be_read_does_not_come_in_pieces(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.json").write_bytes(content)
    assert not comes_in_pieces(tmp_path / "x.json", "utf-8")
    assert not comes_in_pieces(tmp_path / "gone.json", "utf-8")


def test_a_file_that_changed_meanwhile_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(orjson.dumps([{"a": 1}]) + b"!")
    first, problem = JsonArrayTable(tmp_path / "x.json", "utf-8", "en", in_pieces=True).rows()
    assert first == Row(1, {"a": 1})
    assert "changed" in problem.text
