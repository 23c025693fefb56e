"""The table: one entry a row. To add one, write a function that takes the Lab and returns figures, name it here, and name the row
in texts.toml under its key."""

from collections.abc import Callable
from dataclasses import dataclass

import counts
import pace
import weight
from lab import Figures, Lab


@dataclass(frozen=True)
class Row:
    """A row: its key in texts.toml, what it is measured with, the most that ragstone may take, digits and unit to show."""

    key: str
    measure: Callable[[Lab], Figures]
    bar: float | None
    digits: int = 2
    unit: str = ""
    quoted: bool = False
    """True for the rows the README quotes."""


ROWS = (
    Row("requests", counts.chat_requests, 7, quoted=True),
    Row("requests_joint", counts.chat_requests_joint, 4, quoted=True),
    Row("requests_large", counts.large_requests, 7),
    Row("requests_large_joint", counts.large_requests_joint, 4),
    Row("tokens", counts.prompt_tokens, 2.2, unit="×", quoted=True),
    Row("tokens_joint", counts.prompt_tokens_joint, 1.1, unit="×", quoted=True),
    Row("embeddings", counts.embedding_requests, 2, quoted=True),
    Row("cpu", pace.request_cpu, 1.0, unit=" ms", quoted=True),
    Row("cpu_floor", pace.request_cpu_over_floor, 3.5, unit="×"),
    Row("cpu_bare", pace.bare_cpu, None, unit=" ms"),
    Row("slow_excess", pace.slow_excess, 3),
    Row("slow_span", pace.slow_span, None, unit="×", quoted=True),
    Row("quick_span", pace.quick_span, None, unit="×"),
    Row("import", pace.import_cpu, 0.35, unit=" s", quoted=True),
    Row("help", pace.help_cpu, 0.35, unit=" s"),
    Row("show", pace.show_cpu, 0.45, unit=" s"),
    Row("heavy", pace.heavy_modules, 0, digits=0),
    Row("packages", weight.packages, 30, digits=0, quoted=True),
    Row("megabytes", weight.megabytes, 160, digits=0, unit=" MB", quoted=True),
    Row("memory", weight.memory, 1.5, unit="×", quoted=True),
    Row("failed", counts.failed_cells, 0, digits=0, quoted=True),
    Row("second_run", counts.second_run, 0, digits=0, quoted=True),
    Row("answers_changed", counts.answers_changed, 0, digits=0),
)
