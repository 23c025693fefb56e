"""The chain from question to answer, each metric's mean drawn where it is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.analysis.pooled import base_name
from ragstone.cli.numbers import metric_label, ratio
from ragstone.cli.plain import cut_middle
from ragstone.cli.width import pad, width
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.analysis.summary import MetricSummary, Summary
    from ragstone.types import Language

STATIONS = ("question", "retrieval", "contexts", "generation", "answer")
PLACES = {
    "context_precision": "retrieval",
    "context_recall": "retrieval",
    "keyword_recall": "retrieval",
    "faithfulness": "generation",
    "answer_relevancy": "answer",
    "answer_correctness": "answer",
}
"""Where in the chain a metric looks; other metrics have no place in the drawing."""
_ARROW = "──>"
_COLUMNS = 80


def chain_diagram(summary: Summary, lang: Language) -> list[str]:
    """Return the drawing in lines of at most 80 columns: what is measured at the answer stands above it, the rest below."""
    at: dict[str, list[MetricSummary]] = {}
    for metric in summary.metrics:
        if place := PLACES.get(base_name(metric.metric)):
            at.setdefault(place, []).append(metric)
    if not at:
        return []
    boxes = [_centred(say(f"show.station_{name}", lang)) for name in STATIONS]
    starts = [sum(width(box) + 2 + len(_ARROW) for box in boxes[:i]) for i in range(len(boxes))]
    middle = {name: start + 1 + width(box) // 2 for name, start, box in zip(STATIONS, starts, boxes, strict=True)}
    return [
        *_leftwards(at.get("answer", []), middle["answer"], 0, lang, above=True),
        _edge(boxes, "┌┐", "┴" if "answer" in at else "", [middle["answer"]]),
        _ARROW.join(f"│{box}│" for box in boxes),
        _edge(boxes, "└┘", "┬", [middle[name] for name in ("retrieval", "generation") if name in at]),
        *_below(at, middle, lang),
    ]


def _centred(label: str) -> str:
    columns = max(10, width(label) + 2)
    return pad(" " * ((columns - width(label)) // 2) + label, columns)


def _edge(boxes: list[str], corners: str, knot: str, knots: list[int]) -> str:
    line = (" " * len(_ARROW)).join(corners[0] + "─" * width(box) + corners[1] for box in boxes)
    for column in knots if knot else ():
        line = line[:column] + knot + line[column + 1 :]
    return line


def _below(at: dict[str, list[MetricSummary]], middle: dict[str, int], lang: Language) -> list[str]:
    """Generation first, written towards the left, so that retrieval has the whole line to its right afterwards."""
    retrieval = at.get("retrieval", [])
    lines = _leftwards(at.get("generation", []), middle["generation"], middle["retrieval"] + 2 if retrieval else 0, lang, above=False)
    if retrieval:
        column = middle["retrieval"]
        lines = [line[:column] + "│" + line[column + 1 :] for line in lines]
    texts = _texts(retrieval, _COLUMNS - middle["retrieval"] - 3, lang)
    for i, text in enumerate(texts):
        lines.append(" " * middle["retrieval"] + ("└─ " if i == len(texts) - 1 else "├─ ") + text)
    return lines


def _leftwards(metrics: list[MetricSummary], column: int, left: int, lang: Language, *, above: bool) -> list[str]:
    texts = _texts(metrics, column - left - 2, lang)
    lines = []
    for i, text in enumerate(texts):
        end = i == (0 if above else len(texts) - 1)
        knot = ("┐" if above else "┘") if end else "┤"
        lines.append(" " * (column - 2 - width(text)) + text + " ─" + knot)
    return lines


def _texts(metrics: list[MetricSummary], columns: int, lang: Language) -> list[str]:
    """Return `name  mean  n/total` of each metric, aligned; a name too long is cut, the numbers never."""
    numbers = [ratio(m) for m in metrics]
    room = columns - max((width(n) for n in numbers), default=0) - 1
    names = [cut_middle(metric_label(m.metric, lang), room) for m in metrics]
    widest = max((width(n) for n in names), default=0)
    return [f"{pad(name, widest)} {number}" for name, number in zip(names, numbers, strict=True)]
