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
    sys.stdout.flush()
    sys.stdout.buffer.write(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    sys.stdout.buffer.flush()
