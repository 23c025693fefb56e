"""Samples with cells as exporters see them, made up for tests of what they become in Langfuse."""

from typing import Any

from hypothesis import strategies as st
from support.hostile_texts import HOSTILE

from ragstone import Run
from ragstone.export.content import Cell, Content, Line
from ragstone.langfuse.frame import Frame

Row = dict[str, Any]

FRAME = Frame(
    host="https://lf.example",
    project_id="clproject0001",
    run_name="run-1",
    dataset="ragstone/0a1b2c3d",
    dataset_id="clds0000",
    timestamp="2026-11-30T23:59:59.500Z",
    run_id="run-1",
    signature="ragstone 0.1.0 | judge m",
    gold_fingerprint="0a1b2c3d4e5f6071",
    judge="m",
)
VERDICTS = [
    {"kind": "answer_claim", "id": "a1", "text": "24 working days", "verdict": "supported", "evidence": ["c1"], "reason": "said so"},
    {"kind": "answer_claim", "id": "a2", "text": "最多结转 5 天", "verdict": "not_found", "evidence": [], "reason": None},
]


def cell(metric: str = "faithfulness", value: float | None = 0.5, status: str = "ok", reason: str | None = None, **row: Any) -> Cell:
    """One metric on one sample; unmeasured as soon as `status` says so."""
    found = None if status != "ok" else value
    return Cell(metric, found, status, reason, {"metric": metric, "value": found, "verdicts": VERDICTS, "questions": ["ab" * 16], **row})


def line(*cells: Cell | None, id: str = "q1", **sample: Any) -> Line:
    """One sample with its cells."""
    told = {"question": "How much leave?", "answer": "24 days.", "contexts": ["Leave: 24 days."], "reference": "24", "language": "en"}
    row = {name: value for name, value in {"id": id, **told, **sample}.items() if value is not None}
    return Line(id, row, cells or (cell(),))


def content(rows: list[Row], samples: list[Row] | None = None, manifest: Row | None = None) -> Content:
    """A run in memory as exporters see it."""
    return Content(Run.from_scores(rows, samples, manifest))


def _hostile(name: str) -> str:
    return HOSTILE[name]


TEXTS = st.text(st.characters(), max_size=30) | st.sampled_from([*HOSTILE]).map(_hostile)
"""Any text, lone surrogates and control characters included, and those that try to be more than text."""
