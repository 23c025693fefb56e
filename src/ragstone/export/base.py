"""What every exporter is: it writes a file, makes an object, or sends a run to another system."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, ClassVar

from ragstone.config.delivery import ExportSettings
from ragstone.extras import require

if TYPE_CHECKING:
    from ragstone.export.content import Content
    from ragstone.export.receipt import Receipt
    from ragstone.types import Language


def _unheard(_: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """How an export is wanted, besides the run and the name of the exporter."""

    lang: Language = "en"
    """Language of headings and sentences in what is written; names of columns and keys are ASCII in both."""
    settings: ExportSettings = field(default_factory=ExportSettings)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    """Where keys are looked up."""
    cache: str | None = None
    """Folder of what is remembered of hosts; None = nothing is remembered."""
    dry_run: bool = False
    """Tell what would be sent, send nothing."""
    tell: Callable[[str], None] = _unheard
    """Hears sentences that a person should know while the export is under way."""


class Exporter(ABC):
    """Something a run can be exported to. A subclass of one of the three kinds below stands in a file of its own."""

    name: ClassVar[str]
    """As in `--to`."""
    extra: ClassVar[str | None] = None
    """The extra of ragstone that installs what it needs."""

    def check(self, order: Order) -> None:
        """Raise ConfigError for what is missing or wrong before any run is read: a library, a key. Nothing is sent or written.

        Looks at the libraries of `extra`; who needs keys or settings besides looks at these, too.
        """
        del order
        if self.extra is not None:
            require(self.extra, self.name)


class FileExporter(Exporter):
    """Writes a file."""

    suffix: ClassVar[str]
    """Of the file's name, with its dot."""
    binary: ClassVar[bool] = False
    """True: never shown on a terminal, nor written to stdout."""

    @abstractmethod
    def write(self, content: Content, file: IO[bytes], order: Order) -> None:
        """Write the whole file. Memory must not grow with the samples, as far as the format allows.

        Raises ConfigError if a library is missing, RunFolderError if the run cannot be read.
        """


class FolderExporter(Exporter):
    """Writes a folder."""

    parts: ClassVar[tuple[str, ...]] = ("*",)
    """Patterns of the names in its folder. A folder that holds anything else was not written by it, and is never replaced."""

    @abstractmethod
    def write_folder(self, content: Content, folder: str, order: Order) -> None:
        """Fill an empty folder."""


class ObjectExporter(Exporter):
    """Makes an object for Python."""

    @abstractmethod
    def make(self, content: Content, order: Order) -> Any:
        """Return the object."""


class Sink(Exporter):
    """Sends a run to another system."""

    @abstractmethod
    async def send(self, content: Content, order: Order) -> Receipt:
        """Send what is not there yet and say what became of it. Everything is sent, or told as missing, when it returns.

        Raises ConfigError for settings and keys that are missing or wrong in themselves, StoppedError (AuthError, EndpointError)
        when nothing more can be sent; what was taken stays taken, and the next call goes on from there.
        """
