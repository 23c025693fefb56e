"""Small runs of one gold set, written as people think of them: a claim a letter, a run a word of marks."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

WORDS = {"answer_correctness": ("covered", "missing"), "context_recall": ("supported", "not_found")}


def claim_row(sample: str, marks: str, metric: str = "answer_correctness", repeat: int = 0, keys: bool = True) -> dict[str, Any]:
    """Return a score row; `marks` holds a claim each: + covered, - missing."""
    good, bad = WORDS[metric]
    lines = [
        {
            "kind": "reference_claim",
            "id": f"r{i}",
            "text": f"Claim {i} of {sample}.",
            "verdict": good if mark == "+" else bad,
            **({"key": f"{sample}/{i}"} if keys else {}),
        }
        for i, mark in enumerate(marks, 1)
    ]
    value = marks.count("+") / len(marks)
    return {"sample_id": sample, "metric": metric, "repeat": repeat, "value": value, "status": "ok", "verdicts": lines}


def failed_row(sample: str, metric: str = "answer_correctness") -> dict[str, Any]:
    """Return a cell that failed."""
    return {"sample_id": sample, "metric": metric, "value": None, "status": "failed", "reason": "timeout"}


def write_history_run(folder: Path, rows: Iterable[dict[str, Any]], day: int | None = 1, **manifest: Any) -> Path:
    """Write a run folder dated `day`; None = without a date."""
    folder.mkdir(parents=True)
    dated = {} if day is None else {"created_at": f"2026-03-{day:02}T09:00:00+00:00"}
    told = {"run_id": folder.name, "gold_fingerprint": "gold1", **dated, **manifest}
    (folder / "manifest.json").write_text(json.dumps(told), encoding="utf-8")
    (folder / "scores.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return folder
