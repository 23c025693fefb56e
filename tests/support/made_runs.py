"""Runs made up verdict by verdict: every sample once in Chinese and once in English, so that no rule can depend on the words.

Verdicts are spelled with one letter: s supported, x contradicted, n not found, c covered, m missing, 1 useful, 0 not useful.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from ragstone import Run
from ragstone.analysis.evidence import Evidence, about, evidence
from ragstone.analysis.facts import Facts, Watch
from ragstone.analysis.levels import Levels

Row = dict[str, Any]

WORDS = {"s": "supported", "x": "contradicted", "n": "not_found", "c": "covered", "m": "missing", "1": "useful", "0": "not_useful"}
TEXTS = {"en": "Statement {n} of this text.", "zh": "这段文字的第 {n} 条论断。"}


def run(*samples: Row) -> Run:
    """Return a run that holds each sample in both languages."""
    rows, told = list[Row](), list[Row]()
    for number, sample in enumerate(samples):
        for lang in ("zh", "en"):
            id = f"{lang}-{number}"
            rows += [{"sample_id": id, **row} for row in _rows(lang, sample)]
            told.append({"id": id, "language": lang, "question": TEXTS[lang].format(n=0), **sample.get("sample", {})})
    return Run.from_scores(rows, told)


def evidences(made: Run) -> list[Evidence]:
    """Return the evidence of every sample of a run."""
    return [evidence(row["id"], made.rows_of(row["id"]), about(row)) for row in made.samples or ()]


def facts(*samples: Row, levels: Levels | None = None) -> Facts:
    """Return what a run of these samples shows."""
    watch = Watch(levels)
    for found in evidences(run(*samples)) if samples else ():
        watch.add(found)
    return watch.facts()


def one(**sample: Any) -> Evidence:
    """Return the evidence of a single sample."""
    return evidences(run(sample))[0]


# ------------------------------------------------------------------ rows
def _rows(lang: str, sample: Row) -> Iterable[Row]:
    """Score rows of a sample.

    Keys: claims, recall, chunks, answer, points, keywords (verdict letters), cosines, noncommittal, behaviour (reference claims
    about conduct), keyword (the text of each), cosine (of correctness), values (metrics without lines) with their detail and
    reason, failed and not_applicable (metric -> reason), match (answer claim -> reference claims it names), sample (columns of
    samples.jsonl).
    """
    if "claims" in sample:
        yield _row("faithfulness", _lines(lang, "answer_claim", "a", sample["claims"]), "s")
    if "recall" in sample:
        lines = _lines(lang, "reference_claim", "r", sample["recall"])
        yield _row("context_recall", [{**line, "behaviour": True} if sample.get("behaviour") else line for line in lines], "s")
    if "chunks" in sample:
        lines = _lines(lang, "context", "c", sample["chunks"])
        yield {**_row("context_precision", lines, "1"), "value": average_precision(sample["chunks"])}
    if "points" in sample:
        yield _correctness(lang, sample)
    if "cosines" in sample:
        yield _relevancy(lang, sample["cosines"], sample.get("noncommittal", False))
    if "keywords" in sample:
        words, text = {"s": "found", "n": "missing"}, sample.get("keyword", "台账")
        lines = [{"kind": "keyword", "id": f"k{i}", "text": text, "verdict": words[w]} for i, w in enumerate(sample["keywords"], 1)]
        yield _row("keyword_recall", lines, "s", value=sample["keywords"].count("s") / len(lines))
    for metric, value in sample.get("values", {}).items():
        yield {"metric": metric, "value": value, "status": "ok", "reason": sample.get("reason"), "detail": sample.get("detail", {})}
    for status in ("failed", "not_applicable"):
        for metric, reason in sample.get(status, {}).items():
            yield {"metric": metric, "value": None, "status": status, "reason": reason}


def average_precision(chunks: str) -> float:
    """Return the mean of precision@k over the useful ranks."""
    ranks = [rank for rank, word in enumerate(chunks, 1) if word == "1"]
    return sum(found / rank for found, rank in enumerate(ranks, 1)) / len(ranks) if ranks else 0.0


def _lines(lang: str, kind: str, letter: str, words: str) -> list[Row]:
    texts = [TEXTS[lang].format(n=f"{letter}{i}") for i in range(1, len(words) + 1)]
    return [
        {"kind": kind, "id": f"{letter}{i}", "text": t, "verdict": WORDS[w]} for i, (t, w) in enumerate(zip(texts, words, strict=True), 1)
    ]


def _row(metric: str, lines: list[Row], good: str, value: float | None = None) -> Row:
    right = sum(line["verdict"] == WORDS[good] for line in lines)
    return {"metric": metric, "value": right / len(lines) if value is None else value, "status": "ok", "verdicts": lines}


def _correctness(lang: str, sample: Row) -> Row:
    answer, points, cosine = sample.get("answer", ""), sample["points"], sample.get("cosine", 1.0)
    precision, recall = answer.count("s") / len(answer) if answer else 0.0, points.count("c") / len(points)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    named = sample.get("match", {})
    answers = [{**line, "evidence": named.get(line["id"], [])} for line in _lines(lang, "answer_claim", "a", answer)]
    lines = answers + _lines(lang, "reference_claim", "r", points)
    detail = {"f1": f1, "cosine": cosine, "weights": [0.75, 0.25]}
    return {"metric": "answer_correctness", "value": 0.75 * f1 + 0.25 * cosine, "status": "ok", "verdicts": lines, "detail": detail}


def _relevancy(lang: str, cosines: Sequence[float], noncommittal: bool) -> Row:
    word = "noncommittal" if noncommittal else "committal"
    lines = [
        {"kind": "question", "id": f"q{i}", "text": TEXTS[lang].format(n=i), "verdict": word, "cosine": c} for i, c in enumerate(cosines, 1)
    ]
    detail = {"cosines": list(cosines), "noncommittal": [noncommittal] * len(cosines)}
    value = 0.0 if noncommittal else sum(cosines) / len(cosines)
    return {"metric": "answer_relevancy", "value": value, "status": "ok", "verdicts": lines, "detail": detail}
