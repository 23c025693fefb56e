"""A page as a list of blocks, written once and drawn as Markdown, as HTML or (see `ragstone.cli.blocks`) on a terminal.

Texts in blocks are plain: what sample data holds is escaped by whoever draws it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.resources import read_text

if TYPE_CHECKING:
    from ragstone.types import Language


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of what follows; `level` from 1, as far as the drawing tells levels apart."""

    text: str
    level: int = 3


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; `warning` marks what a reader must not miss."""

    text: str
    warning: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """A line to be copied as it is: a signature, a command."""

    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a head; `align` holds `l` or `r` a column."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    align: str


Block = Heading | Text | Code | Items | Table

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~&!])")
_LIST_LIKE = re.compile(r"^(\s*)([-+]|\d+[.)])(?=\s)")
_LINKS = re.compile(r"(https?|ftp)(:)(?=//)|(www)(\.)|@(?=\w)")
_INVISIBLE = "\u2060"
_STEERING = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def to_markdown(blocks: Iterable[Block]) -> str:
    """Return blocks as Markdown (GitHub's kind); no text in them can become a heading, a link, a mention, an image or HTML."""
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def to_html(blocks: Iterable[Block], lang: Language) -> str:
    """Return blocks as an HTML fragment: no script, no colour of its own for text, every value escaped."""
    from jinja2 import Environment

    page = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(read_text("html", "blocks.html"))
    return visible(page.render(lang=lang, blocks=[(type(block).__name__, block) for block in blocks]))


def visible(text: str) -> str:
    """Return a text without the unseen that steers a terminal or a browser: control characters, marks of direction."""
    return _STEERING.sub("", text)


def escaped(text: str) -> str:
    """Return a text on one line that Markdown shows as it is."""
    plain = _SPECIAL.sub(r"\\\1", " ".join(visible(text).split()))
    plain = _LIST_LIKE.sub(lambda m: f"{m[1]}{m[2][:-1]}\\{m[2][-1]}", plain)
    return _LINKS.sub(lambda m: f"{m[0]}{_INVISIBLE}" if m[0] == "@" else f"{m[1] or m[3]}{_INVISIBLE}{m[2] or m[4]}", plain)


def _markdown(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {escaped(block.text)}"
    if isinstance(block, Text):
        return f"> **!** {escaped(block.text)}" if block.warning else escaped(block.text)
    if isinstance(block, Code):
        line = " ".join(visible(block.text).split())
        fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
        return f"{fence} {line} {fence}" if len(fence) > 1 else f"`{line}`"
    if isinstance(block, Items):
        return "\n".join(f"- {escaped(item)}" for item in block.items)
    rows = [block.head, tuple("---:" if side == "r" else "---" for side in block.align), *block.rows]
    return "\n".join("| " + " | ".join(cell if i == 1 else escaped(cell) for cell in row) + " |" for i, row in enumerate(rows))
