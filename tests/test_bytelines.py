import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone import bytelines
from ragstone.bytelines import lines_of


@given(st.lists(st.sampled_from([b"\n", b"\r\n", b"\r", b"a", "退货".encode(), b"\0" * 7])).map(b"".join), st.integers(1, 9))
def test_law_lines_are_those_of_iterating(content: bytes, chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bytelines, "CHUNK", chunk)
        assert list(lines_of(io.BytesIO(content))) == list(io.BytesIO(content))


def test_a_long_line_is_read_in_few_pieces() -> None:
    class Counted(io.BytesIO):
        reads = 0

        def read(self, size: int | None = -1, /) -> bytes:
            self.reads += 1
            return super().read(size)

    file = Counted(b"x" * 10_000_000 + b"\nend")
    assert [len(line) for line in lines_of(file)] == [10_000_001, 3]
    assert file.reads < 12
