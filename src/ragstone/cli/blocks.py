"""Blocks on a terminal: plain text of at most 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ragstone.cli.plain import folded, one_line, table
from ragstone.cli.width import width
from ragstone.shown.blocks import Block, Code, Heading, Items, Table, Text

COLUMNS = 80


def screen(blocks: Iterable[Block]) -> str:
    """Return blocks as text; a heading stands right above its block, everything else is set off by an empty line."""
    lines: list[str] = []
    after_heading = True
    for block in blocks:
        lines += ([] if after_heading else [""]) + list(_drawn(block))
        after_heading = isinstance(block, Heading)
    return "\n".join(lines)


def _drawn(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        yield from folded(one_line(block.text), COLUMNS)
    elif isinstance(block, Text):
        yield from folded(one_line(block.text), COLUMNS, "! " if block.warning else "")
    elif isinstance(block, Code):
        yield one_line(block.text)
    elif isinstance(block, Items):
        for item in block.items:
            yield from folded(one_line(item), COLUMNS, "- ")
    else:
        yield from _table(block)


def _table(block: Table) -> Iterator[str]:
    rows = [[one_line(cell) for cell in row] for row in (block.head, *block.rows)]
    needed = sum(max(width(row[i]) for row in rows) + 1 for i in range(1, len(block.align)))
    if needed + 8 <= COLUMNS:
        yield from table(rows, block.align, COLUMNS)
        return
    head = rows[0]
    for row in rows[1:]:  # too wide for the screen: a row a paragraph
        yield from folded(row[0], COLUMNS)
        for name, cell in zip(head[1:], row[1:], strict=True):
            yield from folded(cell, COLUMNS, f"  {name}" + (": " if width(name) == len(name) else "："))
