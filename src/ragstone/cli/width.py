"""Text on a terminal: a Chinese character takes two columns, and lines may break between any two of them."""

import re
import unicodedata
from collections.abc import Iterator

_NOT_FIRST = "，。、；：！？）】》」』”’％…,.;:!?)]}%"
_PIECE = re.compile(r"\s+|[^\s\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u3000-\u303f]+|.", re.DOTALL)


def width(text: str) -> int:
    """Return the columns `text` takes."""
    return sum(_columns(letter) for letter in text)


def pad(text: str, columns: int) -> str:
    """Return `text` filled with blanks to `columns`."""
    return text + " " * max(0, columns - width(text))


def wrap(text: str, columns: int) -> list[str]:
    """Return `text` in lines of at most `columns`; a longer word stays whole, closing marks never start a line."""
    lines, line = [], ""
    for piece in _pieces(text):
        if line and width(line) + width(piece.rstrip()) > columns:
            lines.append(line.rstrip())
            line = ""
        line += piece if line else piece.lstrip()
    return [*lines, line.rstrip()] if line.strip() or not lines else lines


def _pieces(text: str) -> Iterator[str]:
    """Words and single wide characters, each with the closing marks behind it."""
    held = ""
    for piece in _PIECE.findall(text.replace("\n", " ")):
        if held and piece[0] not in _NOT_FIRST and not (held[-1] in "（【《「『“‘([" and not piece.isspace()):
            yield held
            held = ""
        held += piece
    if held:
        yield held


def _columns(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Cf", "Cc"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
