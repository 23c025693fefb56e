import base64
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.embed.replies import read_vector, read_vectors, sends_base64, shows_vectors

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
        ([("2", 3), ("1", 2), ("0", 1)], [1, 2, 3]),
        ([(2.0, 3), (1.0, 2), (0.0, 1)], [1, 2, 3]),
        ([(3, 3), (1, 1), (2, 2)], [1, 2, 3]),
        ([(1, 1), (2, 2)], [None, None, None]),
        ([(0, 1), (2, 3)], [1, None, 3]),
        ([(0, 1), (0, 2), (1, 3)], [None, None, None]),
        ([(0, 1), (1, 2), (3, 3)], [None, None, None]),
        ([(0, 1), (None, 2), (2, 3)], [None, None, None]),
        ([(-1, 1), (0, 2), (1, 3)], [None, None, None]),
        ([("a", 1), ("b", 2), ("c", 3)], [1, 2, 3]),
        ([(True, 2), (False, 1), (2, 3)], [None, None, None]),
        ([(7, 1), (8, 2), (9, 3)], [None, None, None]),
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


@given(st.integers(1, 12).flatmap(lambda n: st.permutations(range(n))), st.sampled_from([0, 1]), st.sampled_from([int, str, float]))
def test_any_order_of_rows_gives_the_same_vectors(order: list[int], first: int, written: Any) -> None:
    data = [{"index": written(i + first), "embedding": [float(i + 1), 1.0]} for i in order]
    assert [v[0] for v in read_vectors({"data": data}, len(order)) if not isinstance(v, str)] == [i + 1 for i in range(len(order))]


@given(
    st.lists(
        st.tuples(st.none() | st.booleans() | st.integers(-2, 6) | st.sampled_from(["0", "1", "x", 0.5]), st.integers(1, 9)), max_size=6
    )
)
def test_whatever_the_indices_say_every_vector_is_one_that_came(rows: list[tuple[Any, int]]) -> None:
    read = read_vectors({"data": [{"index": i, "embedding": [float(n)]} for i, n in rows]}, 4)
    assert len(read) == 4
    kept = [int(v[0]) for v in read if not isinstance(v, str)]
    assert not Counter(kept) - Counter(n for _, n in rows)


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ({"data": []}, True),
        ({"embeddings": [[1.0]]}, True),
        ({"embeddings": {"float": [[1.0]]}}, True),
        ({"embeddings": "none"}, False),
        ({"vectors": [[1.0]]}, False),
        ({"choices": []}, False),
    ],
)
def test_a_body_shows_vectors_or_is_another_kind(data: dict[str, Any], shown: bool) -> None:
    assert shows_vectors(data) == shown


@pytest.mark.parametrize(("given", "told"), [([[1.0]], False), ([FLOATS], True), ([], False), ([None], False)])
def test_base64_is_told_from_numbers(given: list[Any], told: bool) -> None:
    assert sends_base64({"data": [{"embedding": row} for row in given]}) == told


@pytest.mark.parametrize("data", [{}, {"data": None}, {"data": "x"}, {"data": [None, 3]}])
def test_a_body_without_rows_has_no_vectors(data: dict[str, Any]) -> None:
    assert read_vectors(data, 2) == ["embedding_missing"] * 2


_NUMBERS = st.one_of(
    st.floats(width=32, allow_nan=False),
    st.floats(allow_nan=True),
    st.integers(-(10**40), 10**40),
    st.booleans(),
    st.sampled_from([0.0, 1e-30, 1e-60, 3e38, "0.5", None]),
)


@given(st.integers(0, 3).flatmap(lambda size: st.lists(st.lists(_NUMBERS, min_size=size, max_size=size), min_size=1, max_size=3)))
def test_vectors_read_together_are_those_read_one_by_one(given: list[list[Any]]) -> None:
    together = read_vectors({"data": [{"embedding": numbers} for numbers in given]}, len(given))
    for one, other in zip(together, map(read_vector, given), strict=True):
        if isinstance(one, str) or isinstance(other, str):
            assert isinstance(one, str)
            assert one == other
        else:
            assert one.dtype == other.dtype == np.float32
            assert one.tobytes() == other.tobytes()
            assert not one.flags.writeable
