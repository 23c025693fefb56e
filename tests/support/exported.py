"""Run folders written row by row for exports, and exports of them as bytes."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ragstone
from ragstone import Run
from ragstone.export.base import FileExporter, Order
from ragstone.export.content import Content
from ragstone.export.registry import exporter

Row = dict[str, Any]

VERDICTS = {
    "faithfulness": [
        {"kind": "answer_claim", "id": "a1", "text": "保修一年。", "verdict": "supported", "evidence": ["c1"], "reason": None},
        {"kind": "answer_claim", "id": "a2", "text": "Batteries\nare included.", "verdict": "not_found", "evidence": [], "reason": None},
    ],
    "context_recall": [
        {"kind": "reference_claim", "id": "r1", "text": "运费由商家承担。", "verdict": "contradicted", "evidence": ["c1"], "reason": None}
    ],
}
SAMPLES: list[Row] = [
    {
        "id": "s1",
        "question": "保修多久？",
        "answer": "一年，含电池。",
        "contexts": ["保修一年。", {"text": "运费", "id": "d2"}],
        "reference": "一年。",
        "language": "zh",
        "meta": {"部门": "售后", "tries": -5, "tags": ["a", "b"]},
    },
    {"id": "=1+1", "question": "How long?", "answer": "", "contexts": [], "language": "en", "meta": {"faithfulness": "own", "部门": "-5"}},
    {"id": "s3", "question": "How long?", "answer": None, "contexts": None, "meta": {}},
]
SCORES: list[Row] = [
    {"sample_id": "s1", "metric": "faithfulness", "value": 0.5, "status": "ok", "verdicts": VERDICTS["faithfulness"], "questions": ["k1"]},
    {"sample_id": "s1", "metric": "context_recall", "value": 0.0, "status": "ok", "verdicts": VERDICTS["context_recall"]},
    {"sample_id": "=1+1", "metric": "faithfulness", "value": 1.0, "status": "ok"},
    {"sample_id": "=1+1", "metric": "context_recall", "value": None, "status": "failed", "reason": "timeout"},
    {"sample_id": "s3", "metric": "faithfulness", "value": None, "status": "not_applicable", "reason": "contexts_missing"},
]
MANIFEST: Row = {
    "run_id": "r1",
    "signature": "ragstone | judge local",
    "judge": {"model": "local"},
    "created_at": "2026-01-02T03:04:05+00:00",
    "metrics": {"faithfulness": {"version": 1}, "context_recall": {"version": 1}},
}


def write_folder(
    folder: Path, scores: Sequence[Row] | str = SCORES, samples: Sequence[Row] | None = SAMPLES, manifest: Row | None = MANIFEST
) -> Path:
    """Write a run folder; None leaves a file out, text is written as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, held in (("scores", scores), ("samples", samples)):
        if held is not None:
            text = held if isinstance(held, str) else "".join(json.dumps(row) + "\n" for row in held)
            (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    if manifest is not None:
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def exported(run: Run | Path, to: str, **order: Any) -> bytes:
    """Return what an exporter that writes a file writes."""
    found, file = exporter(to), io.BytesIO()
    assert isinstance(found, FileExporter)
    found.write(Content(run if isinstance(run, Run) else ragstone.load(run)), file, Order(**order))
    return file.getvalue()


def table(run: Run | Path, **order: Any) -> list[dict[str, str]]:
    """Return the rows of the CSV export, by name of column."""
    text = exported(run, "csv", **order).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def lines(run: Run | Path) -> list[Row]:
    """Return the objects of the JSON lines export."""
    return [json.loads(line) for line in exported(run, "jsonl").decode().splitlines()]
