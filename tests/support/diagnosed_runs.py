"""Small runs to be diagnosed, with Chinese and English samples."""

from typing import Any

from support.evidence_rows import line, lost_cell, row

from ragstone.results import Run

Row = dict[str, Any]


def sample_rows(sample_id: str, **texts: str) -> list[Row]:
    """Rows of a sample that says one thing wrong, leaves one out, and says one right."""
    claims = {name: texts.get(name, f"text of {name}") for name in ("a1", "a2", "r1", "r2", "c1", "c2", "c3")}

    def told(id: str, word: str, *evidence: str) -> Row:
        return line(id, word, *evidence, text=claims[id])

    return [
        row("faithfulness", told("a1", "!", "c1"), told("a2", "+", "c2"), sample_id=sample_id),
        row("answer_relevancy", value=0.9, sample_id=sample_id),
        row("context_precision", told("c1", "u"), told("c2", "u"), told("c3", "n"), sample_id=sample_id),
        row("context_recall", told("r1", "+", "c1"), told("r2", "-"), sample_id=sample_id),
        row("answer_correctness", told("a1", "!", "r1"), told("a2", "+", "r1"), told("r1", "="), told("r2", "0"), sample_id=sample_id),
    ]


ZH = {"a1": "质保期为 5 年。", "a2": "凭发票保修。", "r1": "质保期为 1 年。", "r2": "电池除外。", "c1": "整机保修 1 年。", "c2": "凭发票。"}
EN = {
    "a1": "The warranty is 5 years.",
    "a2": "Keep the receipt.",
    "r1": "The warranty is 1 year.",
    "r2": "Batteries are excluded.",
    "c1": "Warranty: 1 year for the device.",
    "c2": "A receipt is needed.",
}


def refusal(sample_id: str) -> list[Row]:
    """Rows of an answer without claims."""
    return [
        lost_cell("faithfulness", "not_applicable", "no_claims", sample_id),
        row("context_recall", line("r1", "+", "c1"), sample_id=sample_id),
        row("answer_correctness", line("r1", "0", text="x"), sample_id=sample_id, cosine=0.2),
    ]


def clean(sample_id: str) -> list[Row]:
    """Rows of an answer that loses nothing."""
    return [
        row("faithfulness", line("a1", "+", "c1"), sample_id=sample_id),
        row("context_recall", line("r1", "+", "c1"), sample_id=sample_id),
        row("answer_correctness", line("a1", "+", "r1"), line("r1", "="), sample_id=sample_id, cosine=1.0),
    ]


def mixed() -> Run:
    """A run with faults in both languages, an expected and another refusal, a clean sample and a failed one."""
    rows = [*sample_rows("zh-1", **ZH), *sample_rows("en-1", **EN), *refusal("zh-2"), *refusal("en-2"), *clean("zh-3")]
    rows += [lost_cell("faithfulness", sample_id="en-3"), lost_cell("answer_correctness", "not_applicable", "no_claims", "en-3")]
    samples = [
        {"id": id, "question": f"question {id}", "answer": f"answer {id}", "meta": {"topic": topic}}
        for id, topic in (("zh-1", "保修"), ("en-1", "保修"), ("zh-2", "leave"), ("en-2", "leave"), ("zh-3", None), ("en-3", None))
    ]
    samples[2]["expected_behavior"] = "refuse"
    return Run.from_scores(rows, samples, {"signature": "ragstone 0 | made by hand"})
