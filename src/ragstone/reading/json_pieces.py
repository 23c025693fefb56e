"""A JSON array of objects read piece by piece, so that a long file takes no more memory than a short one."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import orjson

CHUNK = 1 << 18
_BLANKS = " \t\r\n"
_DECODER = json.JSONDecoder()


def comes_in_pieces(path: Path, encoding: str) -> bool:
    """True if the file is one array of objects from end to end; anything else must be read as a whole to say what is wrong with it."""
    try:
        for _ in array_objects(path, encoding):
            pass
    except (ValueError, RecursionError, OSError):
        return False
    return True


def array_objects(path: Path, encoding: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of the array.

    Raises:
        ValueError: the file is no such array, raised where it ceases to be one.
        OSError: the file cannot be read.
    """
    with path.open(encoding="utf-8-sig" if encoding == "utf-8" else encoding, newline="") as file:
        text = _Text(file)
        text.take("[")
        if text.peek() != "]":
            yield text.object()
            while text.peek() == ",":
                text.take(",")
                yield text.object()
        text.take("]")
        if text.peek():
            raise ValueError("something follows the array")


class _Text:
    """The rest of a text, of which only a piece is held."""

    def __init__(self, file: IO[str]) -> None:
        self._file, self._held, self._at = file, "", 0

    def peek(self) -> str:
        """Return the next character that is no blank, "" at the end."""
        while True:
            while self._at < len(self._held):
                if (char := self._held[self._at]) not in _BLANKS:
                    return char
                self._at += 1
            if not self._more():
                return ""

    def take(self, char: str) -> None:
        """Go past a character that must come next."""
        if self.peek() != char:
            raise ValueError(f"{char} expected")
        self._at += 1

    def object(self) -> dict[str, Any]:
        """Go past an object and return it, as orjson reads it."""
        if self.peek() != "{":
            raise ValueError("an object expected")
        while True:
            try:
                _, end = _DECODER.raw_decode(self._held, self._at)
                break
            except ValueError:
                if not self._more():
                    raise
        found: dict[str, Any] = orjson.loads(self._held[self._at : end])
        self._at = end
        return found

    def _more(self) -> bool:
        """Read on, twice as much as is held, so that a long object is not begun again too often."""
        held = self._held[self._at :]
        chunk = self._file.read(max(CHUNK, len(held)))
        self._held, self._at = held + chunk, 0
        return bool(chunk)
