"""`dataset`: a run as a Hugging Face data set, one row a sample, as an object or as a folder."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.export.arrow import Batches
from ragstone.export.base import FolderExporter, ObjectExporter, Order
from ragstone.extras import library
from ragstone.plain_json import dumped

if TYPE_CHECKING:
    from ragstone.export.content import Content

_WANTED = "the exporter dataset"


class DatasetExporter(ObjectExporter, FolderExporter):
    """Makes a `datasets.Dataset`, or the folder that `datasets.load_from_disk` reads."""

    name: ClassVar[str] = "dataset"
    extra: ClassVar[str | None] = "datasets"
    parts: ClassVar[tuple[str, ...]] = ("data-*-of-*.arrow", "dataset_info.json", "state.json", "cache-*.arrow")

    def make(self, content: Content, order: Order) -> Any:
        """Return the data set; `info.description` holds signature, notice and the summary as JSON."""
        datasets, arrow = library("datasets", "datasets", _WANTED), library("pyarrow", "datasets", _WANTED)
        batches = Batches(content, "datasets", _WANTED)
        table = arrow.Table.from_batches(batches, schema=batches.schema.remove_metadata())
        return datasets.Dataset(table, info=datasets.DatasetInfo(description=dumped(batches.facts).decode()))

    def write_folder(self, content: Content, folder: str, order: Order) -> None:
        """Fill the folder; the rows pass through a file in it, never through memory as a whole."""
        datasets, arrow = library("datasets", "datasets", _WANTED), library("pyarrow", "datasets", _WANTED)
        batches = Batches(content, "datasets", _WANTED)
        info = datasets.DatasetInfo(description=dumped(batches.facts).decode())
        with tempfile.TemporaryDirectory(dir=folder, prefix=".rows-", ignore_cleanup_errors=True) as held:
            path = Path(held) / "rows.arrow"
            schema = batches.schema.remove_metadata()
            with path.open("wb") as file, arrow.ipc.new_stream(file, schema) as writer:
                for batch in batches:
                    writer.write_batch(batch)
            with _quiet(datasets):
                datasets.Dataset.from_file(str(path), info=info).save_to_disk(folder)


@contextmanager
def _quiet(datasets: Any) -> Iterator[None]:
    """Keep the library's own progress bars off the screen, as they were before afterwards."""
    shown = not datasets.are_progress_bars_disabled()
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        if shown:
            datasets.enable_progress_bars()
