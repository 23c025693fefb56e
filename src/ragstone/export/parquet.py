"""`--to parquet`: one row a sample in typed columns, written a row group at a time."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, ClassVar

from ragstone.export.arrow import Batches
from ragstone.export.base import FileExporter, Order
from ragstone.extras import library

if TYPE_CHECKING:
    from ragstone.export.content import Content


class ParquetExporter(FileExporter):
    """Writes a Parquet file; key `ragstone` of its metadata holds signature, notice and the summary as JSON."""

    name: ClassVar[str] = "parquet"
    extra: ClassVar[str | None] = "parquet"
    suffix: ClassVar[str] = ".parquet"
    binary: ClassVar[bool] = True

    def write(self, content: Content, file: IO[bytes], order: Order) -> None:
        """Write the file."""
        wanted = "--to parquet"
        parquet = library("pyarrow.parquet", "parquet", wanted)
        batches = Batches(content, "parquet", wanted)
        with parquet.ParquetWriter(file, batches.schema, compression="zstd") as writer:
            for batch in batches:
                writer.write_batch(batch)
