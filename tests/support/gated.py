"""Runs for tests of rules: a list of scores becomes a run with samples."""

from collections.abc import Iterator
from typing import Any

from ragstone import Run

A = [0.5, 0.88] * 20


def rows_of(values: Any, metric: str = "faithfulness") -> Iterator[dict[str, Any]]:
    """Make rows; None is a failed cell, "-" one that is not applicable."""
    for i, value in enumerate(values):
        state = {None: ("failed", "timeout"), "-": ("not_applicable", "no_claims")}.get(value, ("ok", None))
        number = value if state[0] == "ok" else None
        yield {"sample_id": f"s{i}", "metric": metric, "value": number, "status": state[0], "reason": state[1]}


def run(values: Any, metric: str = "faithfulness", manifest: dict[str, Any] | None = None) -> Run:
    samples = [
        {"id": f"s{i}", "question": f"q{i}", "meta": {"category": "leave" if i % 2 else "pay", "year": 2024}} for i in range(len(values))
    ]
    return Run.from_scores(rows_of(values, metric), samples, manifest)
