import base64
from typing import Any

import numpy as np
import pytest

from ragstone.embed.replies import read_vector, read_vectors

FLOATS = base64.b64encode(np.array([1.5, -2], dtype="<f4").tobytes()).decode()


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ([1, 2.5], [1, 2.5]),
        ([[1, 2]], [1, 2]),
        (FLOATS, [1.5, -2]),
        ([0, 0.0], "embedding_zero"),
        ([1e-60, 0], "embedding_zero"),
        ([], "embedding_missing"),
        (None, "embedding_missing"),
        ("not base64!", "embedding_missing"),
        (base64.b64encode(b"abc").decode(), "embedding_missing"),
        ([1, None], "embedding_missing"),
        ([1, float("nan")], "embedding_missing"),
        ([1, float("inf")], "embedding_missing"),
        ([1, 1e300], "embedding_missing"),
        ([[1], [2]], "embedding_missing"),
        ([[1], 2], "embedding_missing"),
        ({"values": [1]}, "embedding_missing"),
        (3, "embedding_missing"),
    ],
)
def test_one_embedding_is_read(given: Any, read: Any) -> None:
    vector = read_vector(given)
    if isinstance(read, str):
        assert isinstance(vector, str)
        assert vector == read
    else:
        assert not isinstance(vector, str)
        assert (vector.dtype, vector.tolist(), vector.flags.writeable) == (np.float32, read, False)


@pytest.mark.parametrize(
    ("rows", "firsts"),
    [
        ([(0, 1), (1, 2), (2, 3)], [1, 2, 3]),
        ([(2, 3), (0, 1), (1, 2)], [1, 2, 3]),
        ([(None, 1), (None, 2), (None, 3)], [1, 2, 3]),
        ([(0, 1), (0, 2), (0, 3)], [1, 2, 3]),
        ([(1, 1), (2, 2), (3, 3)], [1, 2, 3]),
        ([("0", 1), ("1", 2), ("2", 3)], [1, 2, 3]),
        ([(2, 3), (0, 1)], [1, None, 3]),
        ([(None, 1), (None, 2)], [None, None, None]),
        ([(0, 1), (0, 2)], [None, None, None]),
        ([(i, i + 1) for i in range(4)], [None, None, None]),
        ([], [None, None, None]),
    ],
)
def test_vectors_stand_at_their_index(rows: list[tuple[Any, int]], firsts: list[int | None]) -> None:
    data = [{"embedding": [float(x), 1.0]} | ({} if i is None else {"index": i}) for i, x in rows]
    read = read_vectors({"data": data}, 3)
    assert [None if isinstance(v, str) else int(v[0]) for v in read] == firsts


@pytest.mark.parametrize("data", [{}, {"data": None}, {"data": "x"}, {"data": [None, 3]}])
def test_a_body_without_rows_has_no_vectors(data: dict[str, Any]) -> None:
    assert read_vectors(data, 2) == ["embedding_missing"] * 2
