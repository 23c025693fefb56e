"""Cells for a comparison: f1 and cosine of answer_correctness apart, and which samples lost claims."""

from __future__ import annotations

import math
from array import array
from typing import Any

from ragstone.analysis.cells import Cells, Column, Lane
from ragstone.analysis.names import Names
from ragstone.analysis.pooled import base_name, earned

Row = dict[str, Any]

PARTS = ("f1", "cosine")
"""What answer_correctness is made of."""
CORRECTNESS, FAITHFULNESS, RECALL = "answer_correctness", "faithfulness", "context_recall"


def part_name(metric: str, part: str) -> str:
    """Return the name of a part of a metric."""
    return f"{metric}.{part}"


def is_part(metric: str) -> bool:
    """True for the f1 and the cosine of answer_correctness; another metric may be named token.f1."""
    whole, _, part = metric.rpartition(".")
    return part in PARTS and base_name(whole) == CORRECTNESS


def empty_answer(row: Row) -> bool:
    """True for the answer_correctness of an empty answer: it covers no claim, though no verdict line says so."""
    return row["status"] == "ok" and row.get("reason") == "empty_answer" and not row.get("verdicts")


class Part:
    """One part of a metric: a number a sample and repeat, NaN where there is none."""

    def __init__(self, metric: str) -> None:
        self.metric = metric
        self._repeats: dict[int, array[float]] = {}

    def put(self, at: int, repeat: int, value: float) -> None:
        """Store a sample's number; a later one replaces it."""
        values = self._repeats.setdefault(repeat, array("d"))
        values.extend([math.nan] * (at + 1 - len(values)))
        values[at] = value

    def value(self, at: int) -> float:
        """Return the mean of a sample's repeats, NaN if it has none."""
        found = [v for values in self._repeats.values() if at < len(values) and not math.isnan(v := values[at])]
        return math.fsum(found) / len(found) if found else math.nan


class ComparedCells(Cells):
    """Cells that keep what a comparison needs besides the scores, and leave the mean over claims alone."""

    def __init__(self) -> None:
        super().__init__()
        self.names = self.ids = Names()
        self.parts: dict[str, Part] = {}
        self.lossy: dict[str, set[int]] = {}
        """Metric -> samples with a claim that is not supported or covered, or whose answer is empty."""

    def _note(self, cell: tuple[str, int, int], row: Row) -> None:
        metric, at, repeat = cell
        if base_name(metric) != CORRECTNESS:
            return
        if empty_answer(row):
            self.lossy.setdefault(metric, set()).add(at)
        detail = row.get("detail") if row["status"] == "ok" else None
        for part in PARTS:
            name, value = part_name(metric, part), detail.get(part) if isinstance(detail, dict) else None
            if isinstance(value, int | float) and not isinstance(value, bool):
                # a cosine below 0 counts as 0 in the score, so it does here
                self.parts.setdefault(name, Part(metric)).put(at, repeat, min(1.0, max(0.0, value)))
            elif name in self.parts:  # an earlier row of this cell may have told it
                self.parts[name].put(at, repeat, math.nan)

    def _pool(self, column: Column, lane: Lane, at: int, row: Row) -> None:
        if base_name(column.metric) in (CORRECTNESS, FAITHFULNESS) and any(
            isinstance(line, dict) and not earned(line) for line in row["verdicts"]
        ):
            self.lossy.setdefault(column.metric, set()).add(at)
