import datetime as dt
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragstone.errors import DataError
from ragstone.reading.formats import open_table
from ragstone.samples import scan


def written(folder: Path, table: pa.Table, name: str = "a.parquet", **options) -> Path:
    pq.write_table(table, folder / name, **options)
    return folder / name


COLUMNS = {
    "问题": ["年假几天？", "q", None],
    "回答": ["5 天。", "", None],
    "检索片段": [["年假 5 天", "病假 3 天"], [], None],
    "contexts_of": pa.array([{"text": "a", "ids": [1, 2]}, None, None]),
    "error": [None, None, "timeout"],
    "n": pa.array([1, 2, None]),
    "x": pa.array([0.5, float("nan"), None]),
    "day": [dt.date(2024, 5, 1), None, None],
    "price": pa.array([Decimal("1.50"), None, None]),
}


def test_columns_come_as_the_same_rows_in_json_would(tmp_path):
    first, second, third = scan(written(tmp_path, pa.table(COLUMNS)))
    assert [c.text for c in first.contexts] == ["年假 5 天", "病假 3 天"]
    assert first.meta == {"contexts_of": {"text": "a", "ids": [1, 2]}, "n": 1, "x": 0.5, "day": "2024-05-01", "price": 1.5}
    assert (second.answer, second.contexts, second.meta["x"]) == ("", (), None)
    assert (third.question, third.answer, third.contexts, third.error) == (None, None, None, "timeout")


@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        ('["a", "b"]', ["a", "b"]),
        ("['a', 'b']", ["a", "b"]),
        ("一段文字", ["一段文字"]),
        ([{"text": "a", "id": "7", "score": 0.5}, {"text": "b", "id": None, "score": None}], ["a", "b"]),
    ],
)
def test_contexts_in_one_cell(tmp_path, cell, texts):
    (sample,) = scan(written(tmp_path, pa.table({"question": ["q"], "contexts": [cell]})))
    assert [c.text for c in sample.contexts] == texts


def test_a_frame_written_by_pandas_leaves_its_index_behind(tmp_path):
    frame = pd.DataFrame({"question": ["a", "b", "c"], "answer": [None, "x", float("nan")]}).iloc[[2, 1]]
    frame.to_parquet(tmp_path / "a.parquet")
    source = scan(tmp_path / "a.parquet")
    assert [(s.question, s.answer, s.meta) for s in source] == [("c", None, {}), ("b", "x", {})]


def test_reading_twice_in_batches_whatever_the_name(tmp_path):
    path = written(tmp_path, pa.table({"question": [f"q{i}" for i in range(1000)]}), "rows.bin", row_group_size=300)
    source = scan(path, limit=900)
    assert [s.question for s in source] == [s.question for s in source] == [f"q{i}" for i in range(900)]


def test_mistakes_are_told_with_row_and_column(tmp_path):
    table = pa.table({"question": ["q"] * 300, "answer": [5] * 300, "contexts": ["['a"] + ["b"] * 299})
    with pytest.raises(DataError) as caught:
        scan(written(tmp_path, table), lang="en")
    assert {(p.row, p.column) for p in caught.value.problems} == {(1, "contexts"), *((row, "answer") for row in range(1, 301))}


def test_two_columns_of_one_name(tmp_path):
    table = pa.table([["q"], ["a"], ["b"]], names=["question", "answer", "answer"])
    with pytest.raises(DataError, match=r"column answer: two columns have this name \(places 2, 3\)"):
        scan(written(tmp_path, table), lang="en")


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.9])
def test_a_file_that_is_cut_off_is_damaged(tmp_path, kept):
    path = written(tmp_path, pa.table(COLUMNS))
    data = path.read_bytes()
    path.write_bytes(data[: int(kept * len(data))])
    with pytest.raises(DataError, match="the Parquet file is damaged or cut off"):
        open_table(path, "utf-8", "en", 10**6)


def test_pages_that_are_broken_inside_are_damaged(tmp_path):
    path = written(tmp_path, pa.table({"question": [f"question {i}" for i in range(2000)]}), compression="zstd", use_dictionary=False)
    data = bytearray(path.read_bytes())
    data[200:400] = bytes(200)
    path.write_bytes(data)
    with pytest.raises(DataError, match="damaged"):
        scan(path, lang="en")


@pytest.mark.parametrize(
    "column",
    [
        pa.array([2**62], pa.timestamp("us")),
        pa.array([2**30], pa.date32()),
        pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(bytes([0, 0, 0, 0, 2, 0, 0, 0])), pa.py_buffer(b"\xd6\xd0")]),
    ],
    ids=["timestamp", "date", "gbk"],
)
def test_values_that_python_cannot_hold_are_damage(tmp_path, column):
    with pytest.raises(DataError, match="the Parquet file is damaged or cut off"):
        scan(written(tmp_path, pa.table({"question": ["q"], "x": column})), lang="en")
