"""Two runs written by hand for comparisons: scores by sample, as rows of scores.jsonl."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ragstone import Comparison, Run, compare

Row = dict[str, Any]
Cell = float | str | None
"""A value; a failure by its reason; None = not applicable."""


def rows(values: Iterable[Cell] | dict[str, Cell], metric: str = "faithfulness", repeat: int = 0) -> list[Row]:
    """Score rows q00, q01, … or of named samples."""
    named = values if isinstance(values, dict) else {f"q{i:02}": value for i, value in enumerate(values)}
    return [row(name, value, metric, repeat=repeat) for name, value in named.items()]


def row(name: str, value: Cell, metric: str = "faithfulness", **more: Any) -> Row:
    if isinstance(value, str):
        return {"sample_id": name, "metric": metric, "value": None, "status": "failed", "reason": value, **more}
    if value is None:
        return {"sample_id": name, "metric": metric, "value": None, "status": "not_applicable", "reason": "no_claims", **more}
    return {"sample_id": name, "metric": metric, "value": float(value), "status": "ok", **more}


def claim(kind: str, id: str, text: str, verdict: str, *evidence: str, **more: Any) -> Row:
    return {"kind": kind, "id": id, "text": text, "verdict": verdict, "evidence": list(evidence), "reason": None, **more}


def compared(base: Sequence[Row], new: Sequence[Row], **options: Any) -> Comparison:
    """Compare two runs of rows; samples and manifests by base_samples, new_manifest and so on."""
    runs = [
        Run.from_scores(list(held), options.pop(f"{side}_samples", None), options.pop(f"{side}_manifest", None))
        for side, held in (("base", base), ("new", new))
    ]
    return compare(*runs, **options)


def document(base: Sequence[Row], new: Sequence[Row], **options: Any) -> Row:
    """The document of a comparison in English; every number in it can be written as JSON."""
    found = compared(base, new, **options).to_dict("en")
    json.dumps(found, allow_nan=False)
    return found


def only(base: Sequence[Row], new: Sequence[Row], **options: Any) -> Row:
    """The one metric of a comparison."""
    (metric,) = document(base, new, **options)["metrics"]
    return metric


def write(folder: Path, held: Iterable[Row], samples: Iterable[Row] | None = None, manifest: Row | None = None) -> Path:
    """Write a run folder."""
    folder.mkdir(parents=True)
    for name, part in (("scores.jsonl", held), ("samples.jsonl", samples)):
        if part is not None:
            (folder / name).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in part), encoding="utf-8")
    if manifest is not None:
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder
