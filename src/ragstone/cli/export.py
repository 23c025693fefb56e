"""`ragstone export RUN --to NAME`: a run as a file, on stdout, or sent to another system."""

from __future__ import annotations

import codecs
import io
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragstone.export.base import FileExporter, Order
    from ragstone.export.receipt import Receipt
    from ragstone.exporting import Written
    from ragstone.types import Language


def command(
    ctx: typer.Context,
    run: Annotated[Path, typer.Argument(metavar="RUN", help="export.option_run")],
    to: Annotated[str | None, typer.Option("--to", metavar="NAME", help="export.option_to")] = None,
    output: Annotated[str | None, typer.Option("-o", "--output", metavar="FILE", help="export.option_output")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="export.option_dry_run")] = False,
    force: Annotated[bool, typer.Option("--force", help="export.option_force")] = False,
    json: Annotated[bool, typer.Option("--json", help="export.option_json")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="export.option_quiet")] = False,
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="export.option_config")] = None,
    lang: Annotated[str | None, typer.Option("--lang", metavar="zh|en", help="cli.lang")] = None,
) -> int:
    """Export a run; the help stands in the catalogue."""
    from ragstone.cli.help import language_of
    from ragstone.export.asked import order_of
    from ragstone.export.base import FileExporter
    from ragstone.export.registry import exporter
    from ragstone.exporting import export_run
    from ragstone.text import screen_language

    said = screen_language(lang) if lang else language_of(ctx)
    name = _named(to, output, said)
    found = exporter(name)
    wanted = {"lang": said, "dry_run": dry_run, "on_notice": _teller(quiet=quiet)}
    order = order_of(found, wanted, config, ctx.find_root().obj["environ"])
    if isinstance(found, FileExporter) and output in (None, "-"):
        done: Written | Receipt = _to_stdout(run, found, order, json=json)
        _tell(done, said, json=json, quiet=quiet, alone=dry_run)
    else:
        done = export_run(run, name, output, force=force, order=order)
        _tell(done, said, json=json, quiet=quiet, alone=True)
    return done.exit_code


def _named(to: str | None, output: str | None, lang: Language) -> str:
    """Return the name of the exporter; where none is named, the end of the file's name tells which one is meant."""
    from ragstone.errors import ConfigError
    from ragstone.export.registry import known_names, names
    from ragstone.text import say

    if to is not None and to.strip():
        return to.strip()
    meant = Path(output or "").suffix[1:].lower()
    hint = say("export.nearest", lang, name=f"--to {meant}") if meant in names() else ""
    raise ConfigError(say("export.to_missing", lang, nearest=hint, known=known_names(lang)))


def _teller(*, quiet: bool) -> Callable[[str], None]:
    from ragstone.cli.exits import whisper

    return (lambda _: None) if quiet else whisper


def _to_stdout(run: Path, found: FileExporter, order: Order, *, json: bool) -> Written:
    """Write to stdout, which holds nothing else then."""
    from ragstone.errors import ConfigError
    from ragstone.export.content import Content
    from ragstone.exporting import filling, opened, written
    from ragstone.text import say

    lang = order.lang
    if found.binary:
        raise ConfigError(say("export.needs_file", lang, name=found.name, suffix=found.suffix))
    if json and not order.dry_run:
        raise ConfigError(say("export.json_needs_file", lang, suffix=found.suffix))
    content = Content(opened(run))
    done = written(found, content, None, order)
    if order.dry_run or sys.stdout is None:
        return done
    sys.stdout.flush()
    file: Any = Screen(sys.stdout.buffer) if sys.stdout.isatty() else sys.stdout.buffer
    filling(found, content, order)(file)
    sys.stdout.buffer.flush()
    return done


class Screen(io.RawIOBase):
    """A terminal as a binary file: shows text, whatever it holds. Nothing in sample data may move the cursor; a BOM is left out."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._decoder = file, codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        """It is there to be written to."""
        return True

    def write(self, data: Any) -> int:
        """Write a piece; it may end within a character."""
        from ragstone.cli.plain import safe

        text = self._decoder.decode(bytes(data)).replace("\r", "")
        self._file.write(safe(text).encode())
        return len(data)

    def flush(self) -> None:
        """Write what is held back."""
        self._file.flush()


def _tell(done: Written | Receipt, lang: Language, *, json: bool, quiet: bool, alone: bool) -> None:
    """Say what became of it: on stdout, unless that holds the export itself. What is missing is told even if quiet."""
    from ragstone.cli.blocks import screen
    from ragstone.cli.exits import whisper
    from ragstone.cli.output import print_document

    if json:
        print_document(done.to_dict())
    elif not alone:
        if not quiet:
            whisper(screen(done.blocks(lang)))
    elif not quiet or done.exit_code:
        print(screen(done.blocks(lang)), flush=True)
