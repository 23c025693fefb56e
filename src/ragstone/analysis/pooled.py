"""What a score leaves behind for the mean over claims (micro): a few counts a cell, read from its verdict lines.

A metric's `mean` weighs every sample the same; `micro` weighs every claim the same:

* one list of lines (faithfulness, context_recall, context_precision, keyword_recall, other metrics): good lines / lines;
* answer_relevancy: mean over the reverse questions of their cosines clamped to [0, 1]; an answer whose questions are all
  noncommittal counts 0 for each of them;
* answer_correctness: weights[0] * F_beta of the pooled claims of both sides + weights[1] * mean clamped cosine.
"""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

GOOD = frozenset({"supported", "covered", "useful", "committal", "found"})
"""Verdict words that count for the score."""
BAD = frozenset({"contradicted", "not_found", "missing", "not_useful", "noncommittal"})
"""Verdict words that count against it."""

Row = dict[str, Any]
Left = tuple[tuple[int, ...], float, float]
"""(whole counts, an amount that is summed, the weight of the claim part)"""


@dataclass(frozen=True, slots=True)
class Pooling:
    """How one metric is pooled: `counts` whole numbers a cell, read by `read`, brought together by `value`."""

    counts: int
    read: Callable[[Row], Left | None]
    value: Callable[[str, list[int], float, int, float], float | None]
    """(metric name, summed counts, summed amount, cells, weight of the claim part) -> micro"""


def pooling(metric: str) -> Pooling:
    """Return how a metric is pooled; parameters in its name do not matter."""
    return {"answer_relevancy": _QUESTIONS, "answer_correctness": _MATCHES}.get(base_name(metric), _LINES)


def base_name(metric: str) -> str:
    """Return a metric's name without its parameters: `answer_relevancy(strictness=1)` gives `answer_relevancy`."""
    return metric.partition("(")[0]


def beta_of(metric: str) -> float:
    """Return the beta of a metric's name: `answer_correctness(beta=2)` gives 2; 1 where it names none."""
    named = re.search(r"\bbeta=(\d+(?:\.\d+)?(?:e[+-]?\d+)?)", metric)
    return float(named[1]) if named else 1.0


def f_beta(precision: float, recall: float, beta: float = 1.0) -> float:
    """Return F_beta = (1 + beta^2) P R / (beta^2 P + R), in [0, 1]; 0 where both are 0. beta > 1 weighs recall more."""
    below = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / below if below else 0.0


def lost_lines(row: Row) -> tuple[Row, ...]:
    """Return the verdict lines of a row that cost it points: all that are not supported, covered, useful, committal or found."""
    return tuple(line for line in row.get("verdicts") or () if isinstance(line, dict) and not earned(line))


def earned(line: Row) -> bool:
    """True for a verdict line that costs no point; one whose verdict is no word is not."""
    word = line.get("verdict")
    return isinstance(word, str) and word in GOOD


def _tally(lines: Iterable[Row]) -> tuple[int, int] | None:
    good = total = 0
    for line in lines:
        word = line["verdict"]
        if word in GOOD:
            good += 1
        elif word not in BAD:
            return None
        total += 1
    return good, total


def _read_lines(row: Row) -> Left | None:
    found = _tally(row["verdicts"])
    return (found, 0.0, 1.0) if found else None


def _read_questions(row: Row) -> Left | None:
    lines = row["verdicts"]
    if all(line["verdict"] == "noncommittal" for line in lines):
        return (len(lines),), 0.0, 0.0
    return (len(lines),), math.fsum(_clamped(line["cosine"]) for line in lines), 0.0


def _read_matches(row: Row) -> Left | None:
    answer = _tally(line for line in row["verdicts"] if line["kind"] == "answer_claim")
    reference = _tally(line for line in row["verdicts"] if line["kind"] == "reference_claim")
    if answer is None or reference is None:
        return None
    claims, text = row["detail"]["weights"]
    return answer + reference, text * _clamped(row["detail"]["cosine"]) if text else 0.0, claims


def _clamped(cosine: float) -> float:
    return min(1.0, max(0.0, cosine))


def _share(_name: str, counts: list[int], _amount: float, _cells: int, _weight: float) -> float | None:
    return counts[0] / counts[1] if counts[1] else None


def _mean_cosine(_name: str, counts: list[int], amount: float, _cells: int, _weight: float) -> float | None:
    return amount / counts[0] if counts[0] else None


def _correctness(name: str, counts: list[int], amount: float, cells: int, weight: float) -> float | None:
    supported, claims, covered, points = counts
    if not points:
        return None
    precision, recall = supported / claims if claims else 0.0, covered / points
    return weight * f_beta(precision, recall, beta_of(name)) + amount / cells


_LINES = Pooling(2, _read_lines, _share)
_QUESTIONS = Pooling(1, _read_questions, _mean_cosine)
_MATCHES = Pooling(4, _read_matches, _correctness)
