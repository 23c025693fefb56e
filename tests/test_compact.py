import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.compact import ABSENT, Cell, LastLines, PerCell

CELLS = st.tuples(st.sampled_from(["s1", "样本二", "s3", ""]), st.sampled_from(["m", "n(beta=2)"]), st.integers(0, 3))
KEYS = st.sampled_from(["", "00", "aa", "AA", *(hashlib.sha256(bytes([i])).hexdigest()[:32] for i in range(40))])


@given(st.lists(st.tuples(CELLS, st.integers(0, 2**40))), CELLS)
def test_law_a_number_per_cell_is_what_a_dict_holds(told: list[tuple[Cell, int]], other: Cell) -> None:
    found, expected = PerCell("q"), dict(told)
    for cell, value in told:
        found[cell] = value
    assert all(found[cell] == expected.get(cell, ABSENT) for cell in (*expected, other))
    assert len(found) == len(expected)
    assert sorted(v for _, _, lane in found.lanes() for v in lane if v != ABSENT) == sorted(expected.values())


def test_two_of_them_can_share_one_numbering() -> None:
    places = PerCell("q")
    places["s1", "m", 0] = 10
    marks = PerCell("b", places.ids)
    marks["s2", "m", 0] = 1
    assert [places["s2", "m", 0], marks["s1", "m", 0], marks["s2", "m", 0]] == [ABSENT, ABSENT, 1]
    assert places.ids is marks.ids
    assert len(places.ids) == 2


class Lines:
    """Rows by offset, as a file gives them back."""

    def __init__(self) -> None:
        self.rows: dict[int, dict[str, Any]] = {}

    def row_at(self, offset: int) -> dict[str, Any]:
        return self.rows[offset]


@given(st.lists(st.tuples(KEYS, st.integers(0, 2**34)), unique_by=lambda told: told[1]), KEYS)
def test_law_the_last_line_of_a_key_is_what_a_dict_holds(told: list[tuple[str, int]], other: str) -> None:
    lines, expected = Lines(), {}
    found = LastLines(lines.row_at)
    for key, offset in sorted(told, key=lambda line: line[1]):
        lines.rows[offset] = {"key": key}
        found.add(key, offset)
        expected[key.lower()] = offset
    for key in (*expected, other):
        row = found.find(key)
        assert (None if row is None else row[0]) == expected.get(key.lower())


@pytest.mark.parametrize("low", [0, 0xFF00FF00, 0x0A0A0A0A0A])
def test_offsets_that_look_like_marks_and_keys_that_share_one_are_told_apart(low: int) -> None:
    lines = Lines()
    found = LastLines(lines.row_at)
    shared = "0a" * 6  # bucket and mark of all these keys
    keys = [shared + f"{i:020x}" for i in range(50)]
    for i, key in enumerate(keys):
        lines.rows[low + i] = {"key": key}
        found.add(key, low + i)
    assert [found.find(key) for key in keys] == [(low + i, {"key": key}) for i, key in enumerate(keys)]
    assert found.find(shared + "f" * 20) is None
    assert found.find("00" * 16) is None
