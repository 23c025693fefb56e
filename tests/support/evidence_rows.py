"""Score rows of one sample, made up claim by claim."""

from typing import Any

Row = dict[str, Any]

KINDS = {"a": "answer_claim", "r": "reference_claim", "c": "context", "q": "question", "k": "keyword"}
WORDS = {
    "+": "supported",
    "!": "contradicted",
    "-": "not_found",
    "=": "covered",
    "0": "missing",
    "u": "useful",
    "n": "not_useful",
}


def line(id: str, word: str, *evidence: str, text: str | None = None, **more: Any) -> Row:
    """Return a verdict line; `word` may be one of the signs of WORDS."""
    said = WORDS.get(word, word)
    return {"kind": KINDS[id[0]], "id": id, "text": text or f"text of {id}", "verdict": said, "evidence": list(evidence), **more}


def row(metric: str, *lines: Row, value: float | None = None, sample_id: str = "s", repeat: int = 0, **detail: Any) -> Row:
    """Return a score row; without a value that of its lines: good lines / lines, or by hand for answer_correctness."""
    base = {"sample_id": sample_id, "metric": metric, "repeat": repeat, "status": "ok", "reason": None, "verdicts": list(lines)}
    if metric.startswith("answer_correctness"):
        f1 = detail.setdefault("f1", f1_of(lines))
        detail.setdefault("weights", [0.75, 0.25])
        detail.setdefault("cosine", 0.5)
        value = 0.75 * f1 + 0.25 * detail["cosine"] if value is None else value
    elif value is None:
        value = sum(one["verdict"] in ("supported", "useful", "found") for one in lines) / len(lines)
    return {**base, "value": value, "detail": detail}


def f1_of(lines: tuple[Row, ...]) -> float:
    """F1 of an answer_correctness row's lines."""
    sides = [[one["verdict"] in ("supported", "covered") for one in lines if one["kind"] == KINDS[side]] for side in "ar"]
    precision, recall = (sum(side) / len(side) if side else 0.0 for side in sides)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def lost_cell(metric: str, status: str = "failed", reason: str | None = "timeout", sample_id: str = "s", **detail: Any) -> Row:
    """Return a row of a cell that is not ok."""
    return {"sample_id": sample_id, "metric": metric, "value": None, "status": status, "reason": reason, "detail": detail}
