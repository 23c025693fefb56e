"""The lines of a file of bytes."""

from collections.abc import Iterator
from typing import IO

CHUNK = 1 << 16


def lines_of(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file with their ends, as iterating over it does, but without a look at every single byte."""
    held = b""
    while chunk := file.read(max(CHUNK, len(held))):  # twice as much as is held: a long line is not searched again too often
        held += chunk
        start = 0
        while end := held.find(b"\n", start) + 1:
            yield held[start:end]
            start = end
        held = held[start:]
    if held:
        yield held
