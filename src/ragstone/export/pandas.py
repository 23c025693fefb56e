"""`pandas`: a run as a data frame, one row a sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ragstone.export.arrow import facts_of
from ragstone.export.base import ObjectExporter, Order

if TYPE_CHECKING:
    import pandas

    from ragstone.export.content import Content


class PandasExporter(ObjectExporter):
    """Makes the data frame of `run.to_pandas()`; its `attrs` say which run it is and what was measured."""

    name: ClassVar[str] = "pandas"
    extra: ClassVar[str | None] = "pandas"

    def make(self, content: Content, order: Order) -> pandas.DataFrame:
        """Return the frame; `attrs` holds signature, notice, run, samples and metrics (n, total, failed, … of each)."""
        frame = content.run.to_pandas()
        facts = facts_of(content)
        frame.attrs = {"signature": facts["run"]["signature"], "notice": facts["run"]["notice"], **facts}
        return frame
