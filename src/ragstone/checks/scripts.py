"""Traditional and simplified Chinese in one text, or in one set."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Literal

from ragstone.checks.base import Finding, Gold, Row, Said, Value
from ragstone.checks.texts import items_of
from ragstone.resources import read_toml

Script = Literal["traditional", "simplified"]
FEWEST = 2
"""Different characters of a script that show it is used: one alone may be a name."""
PLAIN, SHARE = 3, 0.1
"""A mixture is beyond doubt from so many different characters, and so large a share of all that tell a script."""
EVEN = 0.3
"""From this share of the rows on, a set is of both scripts."""
_TITLE = re.compile("《[^》]*》")
_KANA = re.compile("[\u3041-\u30fa]")


def scripts(gold: Gold) -> Iterator[Finding]:
    """Yield script_mix."""
    held: dict[Script, list[Row]] = {"traditional": [], "simplified": []}
    unlike: list[tuple[Row, dict[str, Script]]] = []
    for row in gold.rows:
        columns = [(column, *counted(text)) for column, items in items_of(row.sample) for text in items]
        yield from _within(row, columns)
        if apart := dict(_unlike(columns)):
            unlike.append((row, apart))
        elif script := _script(columns):
            held[script].append(row)
    fewer, more = sorted(held, key=lambda script: len(held[script]))
    yield from _columns(unlike, more, len(gold.rows))
    total = len(held[fewer]) + len(held[more])
    if held[fewer] and len(held[fewer]) >= EVEN * total:
        counts = {"traditional": len(held["traditional"]), "simplified": len(held["simplified"])}
        first = min(rows[0].number for rows in held.values() if rows)
        yield Finding("script_mix", "note", first, values={"which": Said("check.scripts_set", counts)})
        return
    for row in held[fewer]:
        values: dict[str, Value] = {"script": Said(f"check.{fewer}"), "others": Said(f"check.{more}"), "count": len(held[more])}
        yield row.found("script_mix", "note", None, which=Said("check.script_of_row", values))


def _script(columns: Sequence[tuple[str, list[str], list[str]]]) -> Script | None:
    """The script of texts together; None where too little tells."""
    both = [len({char for _, *found in columns for char in found[i]}) for i in (0, 1)]
    if max(both) < FEWEST or both[0] == both[1]:
        return None
    return "traditional" if both[0] > both[1] else "simplified"


def _unlike(columns: Sequence[tuple[str, list[str], list[str]]]) -> Iterator[tuple[str, Script]]:
    """Yield each column that is in another script than the rest of the row, with its script."""
    scripts = {column: _script([held for held in columns if held[0] == column]) for column, *_ in columns}
    for column, script in scripts.items():
        rest = _script([held for held in columns if held[0] != column])
        alone = list(scripts.values()).count(script) == 1
        if script and rest and script != rest and alone and column != "reference_contexts":
            yield column, script


def _columns(unlike: Sequence[tuple[Row, dict[str, Script]]], usual: Script, rows: int) -> Iterator[Finding]:
    """Rows of both scripts, each by the column that is not as the set is."""
    if len(unlike) > max(FEWEST, EVEN * rows):
        values: dict[str, Value] = {"which": Said("check.scripts_of_columns", {"count": len(unlike)})}
        yield Finding("script_mix", "note", unlike[0][0].number, values=values)
        return
    for row, scripts in unlike:
        column, script = max(scripts.items(), key=lambda item: (item[1] != usual, item[0]))
        others = "simplified" if script == "traditional" else "traditional"
        said = Said("check.script_of_column", {"script": Said(f"check.{script}"), "others": Said(f"check.{others}")})
        yield row.found("script_mix", "note", column, which=said)


def _within(row: Row, columns: list[tuple[str, list[str], list[str]]]) -> Iterator[Finding]:
    told: set[str] = set()
    for column, traditional, simplified in columns:
        kinds = [tuple(dict.fromkeys(found)) for found in (traditional, simplified)]
        if min(map(len, kinds)) < FEWEST:
            continue
        counts = sorted((len(traditional), len(simplified)))
        plain = column != "reference_contexts" and min(map(len, kinds)) >= PLAIN and counts[0] >= SHARE * sum(counts)
        said = Said("check.scripts_within", {"traditional": kinds[0], "simplified": kinds[1]})
        if column not in told:
            told.add(column)
            yield row.found("script_mix", "warning" if plain else "note", column, which=said)


def counted(text: str) -> tuple[list[str], list[str]]:
    """Return the characters of `text` that only traditional, and only simplified Chinese has; titles of works do not count."""
    if text.isascii() or _KANA.search(text):
        return [], []
    traditional, simplified = _table()
    plain = _TITLE.sub("", text)
    return traditional.findall(plain), simplified.findall(plain)


@functools.cache
def _table() -> tuple[re.Pattern[str], re.Pattern[str]]:
    pairs = read_toml("checks", "scripts.toml")["pairs"].split()
    traditional, simplified = (re.compile(f"[{''.join(pair[i] for pair in pairs)}]") for i in (0, 1))
    return traditional, simplified
