"""What commands put on stdout: tables for people, or one JSON document and nothing else."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragstone.analysis.summary import Summary
    from ragstone.types import Language


def show_run(summary: Summary, lang: Language, *, json: bool = False) -> None:
    """Print a run's table, or its summary as the document of `show --json`."""
    if json:
        print_document(summary.to_dict())
        return
    from ragstone.cli.tables import summary_table

    print(summary_table(summary, lang), flush=True)  # what is told on stderr afterwards must stand below it


def print_document(document: dict[str, Any]) -> None:
    """Print one JSON document in UTF-8, whatever the encoding of the terminal."""
    import orjson

    if sys.stdout is None:  # the caller has closed it, as `print` knows by itself
        return
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    try:
        drawn = orjson.dumps(document, option=options)
    except TypeError:  # a path or key that is no UTF-8, as Python keeps it
        drawn = orjson.dumps(_in_utf_8(document), option=options)
    sys.stdout.flush()
    sys.stdout.buffer.write(drawn)
    sys.stdout.buffer.flush()


def _in_utf_8(value: Any) -> Any:
    """Return a value with U+FFFD for what no UTF-8 can hold."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_in_utf_8(key): _in_utf_8(held) for key, held in value.items()}
    return [_in_utf_8(held) for held in value] if isinstance(value, list | tuple) else value
