"""The verdicts of a comparison in plain words: what changed, whether that can be told from chance, and what would settle it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ragstone.analysis.parts import is_part
from ragstone.figures import NONE, metric_name, percent
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.analysis.comparison import ComparedRuns
    from ragstone.analysis.contrast import Contrast
    from ragstone.analysis.intervals import Interval
    from ragstone.types import Language

FINEST = 9
"""Decimals beyond which two scores are the same."""
SMALL = 0.02
"""A margin that is offered where the whole interval lies within it."""
MANY = 1_000_000
"""More questions than anybody has."""
MEASURED = {"better": "compare.measuring_better", "worse": "compare.measuring_worse"}
"""Where the same answers were measured otherwise: nothing has become better or worse."""
MEASURED_IN_ALL = {"better": "higher", "worse": "lower"}
EVENLY = {"better": "better_evenly", "worse": "worse_evenly", "identical": "identical_evenly"}
"""Where the interval has no width: "between 0.100 and 0.100" would promise what nobody knows."""
ORDER = ("worse", "better", "equivalent", "identical", "cannot_tell", "too_few")


def verdict_text(found: Contrast, lang: Language, *, family: int = 1, alone: str | None = None, apart: int = 0) -> str:
    """Return what a metric's numbers mean, for a reader who knows no statistics.

    Args:
        found: the metric.
        lang: language of the text.
        family: how many metrics were tested together.
        apart: samples that make no pair, where that is to be said.
        alone: `judge_noise` or `measuring`, where that alone can make a difference: both runs hold the same answers.
    """
    unpaired = say("compare.headline_partly", lang, questions=questions(apart, lang)) if apart else ""
    return together((part for part in (*_sentences(found, lang, family, alone), unpaired) if part), lang)


def _sentences(found: Contrast, lang: Language, family: int, alone: str | None) -> Iterator[str]:
    if not found.n:
        yield say("compare.none_paired", lang, name=label(found.metric, lang))
    elif found.verdict is None:
        yield say("compare.part", lang, head=head(found, lang))
        return
    else:
        key = f"compare.verdict_{_kind(found)}"
        if key == "compare.verdict_leaning" and family > 1:
            key = "compare.verdict_leaning_among"
        if key.startswith("compare.verdict_identical") and alone:
            key = "compare.verdict_identical_alone"
        if alone == "measuring" and found.verdict in MEASURED:
            key = MEASURED[found.verdict]
        yield say(key, lang, **_values(found, lang, family))
        if found.wins or found.losses:
            yield say("compare.counts", lang, wins=found.wins, losses=found.losses, ties=found.ties)
            yield say(f"compare.alone_{alone}", lang) if alone else _needs(found, lang)
            if alone == "judge_noise" and found.verdict in ("better", "worse"):
                yield say("compare.judge_drifted", lang)
        if found.judge_noise and found.judge_noise.judge_share is not None:
            yield say("compare.judge_part", lang, share=percent(found.judge_noise.judge_share))
    yield _left_out(found, lang)


def _kind(found: Contrast) -> str:
    """The verdict, told apart further where the numbers beside it would else seem to say something different."""
    ci = found.ci
    if found.verdict in ("cannot_tell", "identical") and ci is None:
        return "one_cluster"
    if found.verdict == "cannot_tell" and ci is not None and (ci.low > 0 or ci.high < 0):
        return "leaning"
    if found.verdict in EVENLY and found.sd == 0 and ci is not None and ci.high - ci.low < 10**-FINEST:
        return EVENLY[found.verdict]
    return str(found.verdict)


def _values(found: Contrast, lang: Language, family: int) -> dict[str, object]:
    low, high = ends(found.ci) if found.ci else (NONE, NONE)
    near, far = sorted((low.lstrip("+-"), high.lstrip("+-")), key=float) if found.ci else (NONE, NONE)
    return {
        "head": head(found, lang),
        "name": label(found.metric, lang),
        "base": score(found.base_mean, decimals_of(found)),
        "questions": questions(found.n, lang),
        "low": low,
        "high": high,
        "near": near,
        "far": far,
        "odds": odds(found.p_adjusted, lang),
        "margin": f"{found.margin:g}" if found.margin is not None else NONE,
        "family": family,
    }


def _needs(found: Contrast, lang: Language) -> str:
    """How many questions would settle what these do not."""
    if found.verdict not in ("cannot_tell", "too_few") or not found.sd or found.detectable is None or _kind(found) == "one_cluster":
        return ""
    if found.needed_n is not None and found.needed_n > found.n:
        if found.needed_n > MANY:
            return say("compare.needs_many", lang)
        key = "compare.needs_margin" if found.margin is not None else "compare.needs"
        needed = say(key, lang, count=about(found.needed_n), n=found.n, margin=f"{found.margin or 0:g}")
        return together([needed, *_no_matter(found, lang)], lang)
    if found.verdict == "too_few":
        return ""
    if _kind(found) == "leaning":
        return say("compare.settled_by_more", lang)
    return say("compare.finds", lang, questions=questions(found.n, lang), gap=size(min(1.0, found.detectable)))


def _no_matter(found: Contrast, lang: Language) -> Iterator[str]:
    """How to call a difference none that is small whatever it is; nobody needs thousands of questions for it."""
    ci = found.ci
    if found.verdict == "cannot_tell" and found.margin is None and ci is not None and max(-ci.low, ci.high) <= SMALL:
        yield say("compare.no_matter", lang, margin=f"{SMALL:g}")


def _left_out(found: Contrast, lang: Language) -> str:
    lost = sum(why != "not_applicable" for _, why in found.left_out)
    aside = len(found.left_out) - lost
    parts = []
    if lost:
        low, high = (signed(bound) for bound in found.bounds)
        parts.append(say("compare.lost_cells", lang, count=lost, low=low, high=high))
    if aside:
        parts.append(say("compare.aside", lang, questions=questions(aside, lang)))
    return together(parts, lang)


def headline(runs: ComparedRuns, lang: Language) -> str:
    """Return the outcome of a comparison in a few sentences: the metrics by verdict, worse ones first."""
    pairs = runs.pairs
    whole = not pairs.apart and not any(m.left_out for m in runs.metrics)
    parts = [say("compare.headline_all" if whole else "compare.headline", lang, questions=questions(len(pairs), lang))]
    changed = any(m.wins or m.losses for m in runs.metrics)
    if runs.alone and changed:
        parts.append(say(f"compare.headline_alone_{runs.alone}", lang))
    if pairs.apart:
        parts.append(say("compare.headline_partly", lang, questions=questions(pairs.apart, lang)))
    for verdict in ORDER:
        names = [label(m.metric, lang) for m in runs.metrics if m.verdict == verdict]
        if names:
            word = MEASURED_IN_ALL.get(verdict, verdict) if runs.alone == "measuring" else verdict
            parts.append(say(f"compare.headline_{word}", lang, names=say("compare.comma", lang).join(names)))
    if not runs.alike and not (runs.alone and changed):
        parts.append(say("compare.headline_unalike", lang))
    return together(parts, lang)


def head(found: Contrast, lang: Language) -> str:
    """Return `name base → new (difference, n questions)`."""
    decimals = decimals_of(found)
    return say(
        "compare.head",
        lang,
        name=label(found.metric, lang),
        base=score(found.base_mean, decimals),
        new=score(found.new_mean, decimals),
        difference=signed(found.difference, decimals),
        questions=questions(found.n, lang),
    )


def label(metric: str, lang: Language, *, short: bool = False) -> str:
    """Return a metric's name; for a part of answer_correctness that of the metric and of the part, or (short) of the part alone."""
    if not is_part(metric):
        return metric_name(metric, lang)
    whole, _, part = metric.rpartition(".")
    if short:
        return say(f"compare.short_{part}", lang)
    return say(f"compare.part_{part}", lang, name=metric_name(whole, lang))


def questions(n: int, lang: Language) -> str:
    """Return a number of questions in words."""
    return say("compare.one_question", lang) if n == 1 else say("compare.questions", lang, n=n)


def together(sentences: Iterable[str], lang: Language) -> str:
    """Return sentences as a paragraph: with blanks between them in English, without in Chinese."""
    return ("" if lang == "zh" else " ").join(sentences)


# ------------------------------------------------------------------ numbers
def signed(value: float | None, decimals: int = 3) -> str:
    """Return a difference with its sign and three decimals, more where it would else look like none."""
    if value is None:
        return NONE
    if abs(value) < 10**-FINEST:
        return "0.000"
    return f"{value:+.{max(decimals, places(value))}f}"


def ends(interval: Interval) -> tuple[str, str]:
    """Return the ends of an interval of a difference; beyond -1 and 1, where scores cannot differ, it is not drawn."""
    return signed(max(-1.0, interval.low)), signed(min(1.0, interval.high))


def size(value: float) -> str:
    """Return how large a difference is, without its sign."""
    return signed(value).lstrip("+-")


def score(value: float | None, decimals: int = 3) -> str:
    """Return a mean; 1 and 0 without a remainder only for what is exactly that."""
    if value is None:
        return NONE
    step = 10**-decimals
    return f"{min(max(value, step), 1 - step) if 0 < value < 1 else value:.{decimals}f}"


def places(value: float) -> int:
    """Return how many decimals show a difference: three, or as many as its first digit needs."""
    return 3 if abs(value) >= 0.0005 else min(FINEST, max(3, math.ceil(-math.log10(abs(value)))))


def decimals_of(found: Contrast) -> int:
    """Return how many decimals tell the two means apart where they differ: `0.691 → 0.691 (+0.001)` would contradict itself."""
    base, new = found.base_mean, found.new_mean
    if base is None or new is None or abs(new - base) < 10**-FINEST:
        return 3
    fewest = places(new - base)
    return next((d for d in range(fewest, FINEST + 1) if score(base, d) != score(new, d)), FINEST)


def about(count: int) -> str:
    """Return a number of questions in at most two digits, rounded up: 558 is about 560."""
    step = 10 ** max(0, len(str(count)) - 2)
    return f"{math.ceil(count / step) * step:,}"


def odds(p: float | None, lang: Language) -> str:
    """Return a chance as `about 1 in 50`."""
    if p is None:
        return NONE
    if p < 0.001:
        return say("compare.odds_below", lang, count=1000)
    if p > 0.3:
        return say("compare.odds_percent", lang, percent=round(100 * p))
    return say("compare.odds_about", lang, count=about(max(2, math.floor(1 / p))))


def chance(p: float | None, alpha: float) -> str:
    """Return a p for a table: three decimals, more where it would else look as if it did not exceed `alpha`."""
    if p is None or p < 0.001:
        return NONE if p is None else "<0.001"
    decimals = next((d for d in range(3, FINEST) if (float(f"{p:.{d}f}") <= alpha) == (p <= alpha)), FINEST)
    return f"{p:.{decimals}f}"
