"""Sample text on a terminal: shown as text, whatever it holds. Nothing in it may move the cursor, change colour or turn the line round."""

import re
from collections.abc import Iterable

from ragstone.cli.width import pad, width, wrap

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|.)?", re.DOTALL)
_BREAKS = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_HIDDEN = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_SURROGATES = re.compile(r"[\ud800-\udfff]")


def safe(value: object) -> str:
    """Return a text without escape sequences, control characters and marks of direction; line breaks stay."""
    text = _BREAKS.sub("\n", _ESCAPES.sub("", str(value)).replace("\t", "    "))
    return _SURROGATES.sub("\ufffd", _HIDDEN.sub("", text))


def one_line(value: object) -> str:
    """Return a text as `safe` does, on one line, runs of blanks as one."""
    return " ".join(safe(value).split())


def clip(value: object, columns: int) -> str:
    """Return a text on one line of at most `columns`, cut with … where it is longer."""
    text = one_line(value)
    return text if width(text) <= columns else _head(text, columns - 1) + "…"


def cut_middle(value: object, columns: int) -> str:
    """Return a name on one line of at most `columns`, its middle left out where it is longer, so that both ends tell it apart."""
    text = one_line(value)
    if width(text) <= columns:
        return text
    tail = _head(text[::-1], (columns - 1) // 2)[::-1]
    return _head(text, columns - 1 - width(tail)) + "…" + tail


def folded(value: object, columns: int = 80, first: str = "", indent: str | None = None) -> list[str]:
    """Return a text in lines of at most `columns`: `first` before the first, `indent` (default: as wide) before the others."""
    margin = " " * width(first) if indent is None else indent
    room = max(8, columns - max(width(first), width(margin)))
    lines = [piece for paragraph in safe(value).split("\n") for line in wrap(paragraph, room) for piece in _pieces(line, room)]
    return [((margin if i else first) + line).rstrip() for i, line in enumerate(lines)]


def joined(parts: Iterable[str], columns: int = 80) -> list[str]:
    """Return parts with ` · ` between them, in lines that end between two parts only."""
    lines: list[str] = []
    for part in parts:
        if lines and width(lines[-1]) + 3 + width(part) <= columns:
            lines[-1] += f" · {part}"
        else:
            lines.append(part)
    return [line for long in lines for line in folded(long, columns)]


def table(rows: list[list[str]], align: str, columns: int = 80) -> list[str]:
    """Return rows (the first is the head) as aligned lines; `align` holds `l` or `r` a column.

    The gap between columns shrinks where they do not fit; then a name too long for its column stands on a line of its own. A head
    too long for its column, and a cell of half the line, lose their middle.
    """
    rows = [[row[0], *(cut_middle(cell, columns // 2) for cell in row[1:])] for row in rows]
    widths = [max(width(row[i]) for row in rows) for i in range(len(align))]
    gap = 2 if sum(widths) + 2 * (len(widths) - 1) <= columns else 1
    room = columns - sum(widths[1:]) - gap * (len(widths) - 1)
    rows[0][0] = cut_middle(rows[0][0], max(room, 8))
    widths[0] = min(widths[0], max(room, 8))
    lines = []
    for row in rows:
        cells = row
        if width(row[0]) > widths[0]:
            lines.append(clip(row[0], columns))
            cells = ["", *row[1:]]
        lines.append((" " * gap).join(_cell(text, size, side) for text, size, side in zip(cells, widths, align, strict=True)).rstrip())
    rule = "─" * (sum(widths) + gap * (len(widths) - 1))
    return [lines[0], rule, *lines[1:]]


def _cell(text: str, columns: int, side: str) -> str:
    return pad(text, columns) if side == "l" else " " * (columns - width(text)) + text


def _pieces(line: str, columns: int) -> list[str]:
    """A word wider than the line is broken; no text may leave its column. One pass: a chunk may be a single word of a megabyte."""
    pieces, start, used = [], 0, 0
    for i, letter in enumerate(line):
        taken = width(letter)
        if used + taken > columns and i > start:
            pieces.append(line[start:i])
            start, used = i, 0
        used += taken
    return [*pieces, line[start:]]


def _head(text: str, columns: int) -> str:
    used = 0
    for i, letter in enumerate(text):
        used += width(letter)
        if used > columns:
            return text[:i]
    return text
