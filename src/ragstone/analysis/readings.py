"""The rules behind the readings: each looks at the facts of a run and fires, or does not.

A rule claims no more than the data show. Where several causes look alike in a run (the knowledge base lacks the document, the
index missed it), each rule fires as soon as what they have in common is visible, and the catalogue calls them possible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ragstone.analysis.facts import PAIRS, Facts, Tally, Together
from ragstone.analysis.signs import CORRECT, FAITHFUL, PRECISE, RECALLED, RELEVANT

METRICS = (FAITHFUL, RELEVANT, PRECISE, RECALLED, CORRECT)
LEVELS = {
    **dict.fromkeys((FAITHFUL, CORRECT), ("high", "middle", "low")),
    **dict.fromkeys((RELEVANT, PRECISE, RECALLED), ("high", "low")),
}
"""Levels of each metric that have a meaning of their own."""

OFTEN = 0.1
"""Share of samples from which on a sign says something about the run."""
SELDOM = 0.05
"""Share of samples up to which a sign is an exception."""
GAP = 0.1
"""A high and a middle mean closer than this are about the same."""
WIDE_GAP = 0.2
"""Of two means that are not high, a middle one so far above the other is read as the high one."""
MANY_OFF = 0.2
"""Share of answers off the question from which on relevancy is a concern; its mean has no limits of its own."""
LARGE = 0.25
"""Share of samples from which on a quadrant is worth a word."""
ENOUGH_SAMPLES, ENOUGH_OF_A_KIND = 50, 5
"""Fewer samples than these make a gold set thin."""


@dataclass(frozen=True, slots=True)
class Fired:
    """That a rule fired, and on what."""

    metrics: tuple[str, ...]
    """One or two names."""
    pattern: str
    """Where the metrics stand: `low`, `high_low`, a quadrant, or the sign that was met."""
    weight: float
    """How much of the run it concerns, in [0, 1]."""
    tally: Tally | None = None
    """Samples that show it; None where the means alone do."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Numbers the text names."""
    together: Together | None = None
    """Of a pair: where it stands over the samples that have both metrics."""


Rule = Callable[[Facts], Fired | None]


# ------------------------------------------------------------------ one metric
def short(metric: str, facts: Facts) -> Fired | None:
    """The mean is not high; for answer_relevancy: many answers are off the question."""
    mean, level = facts.mean(metric), facts.standing(metric)
    if mean is None or level is None:
        return None
    if metric == RELEVANT:
        tally = facts.sign("off_question")
        fires = tally.count and (level == "low" or tally.share >= MANY_OFF)
        return Fired((metric,), "low", max(1 - mean, tally.share), tally) if fires else None
    return None if level == "high" else Fired((metric,), level, 1 - mean)


def at_level(metric: str, level: str, facts: Facts) -> Fired | None:
    """The mean is high, middle or low."""
    mean = facts.mean(metric)
    return Fired((metric,), level, 1 - mean) if mean is not None and facts.standing(metric) == level else None


# ------------------------------------------------------------------ two metrics
def pair(first: str, second: str, sides: tuple[str, str], facts: Facts) -> Fired | None:
    """Both means, over the samples that have both, lie on these sides of the high limit; nearly equal ones are on no two sides."""
    found = facts.together.get((first, second))
    if found is None or _sides(first, second, found) != sides:
        return None
    if (first, second) == (PRECISE, RECALLED) and 2 * facts.sign("no_context").share >= 1:
        return None  # where nothing was retrieved, neither search nor ranking can be judged
    a, b = found.means
    weight = abs(a - b) if sides[0] != sides[1] else 1 - min(a, b)
    return Fired((first, second), "_".join(found.standings), weight, together=found)


def _sides(first: str, second: str, found: Together) -> tuple[str, str] | None:
    levels, gap = found.standings, found.means[0] - found.means[1]
    if any(name == RELEVANT and level == "middle" for name, level in zip((first, second), levels, strict=True)):
        return None  # a middling relevancy may be good or bad: that depends on the embedder
    if set(levels) == {"high", "middle"} and abs(gap) < GAP:
        return None
    if "high" not in levels and "middle" in levels and abs(gap) >= WIDE_GAP:
        return ("high", "low") if gap > 0 else ("low", "high")
    one, two = ("high" if level == "high" else "low" for level in levels)
    return one, two


def quadrant(word: str, facts: Facts) -> Fired | None:
    """A quarter of the samples lies in a quadrant (of the good one: half)."""
    known = sum(count for name, count in facts.quadrants.items() if name != "unknown")
    tally = Tally(facts.quadrants.get(word, 0), known)
    least = 2 * LARGE if word == "good_good" else LARGE
    names = tuple(name for side in ((PRECISE, RECALLED), (FAITHFUL, CORRECT)) if (name := _weakest(side, facts)))
    return Fired(names, word, tally.share, tally) if names and tally.share >= least else None


def _weakest(names: tuple[str, ...], facts: Facts) -> str | None:
    means = {name: mean for name in names if (mean := facts.mean(name)) is not None}
    return min(means, key=lambda name: means[name]) if means else None


def faithful_but_badly_fed(facts: Facts) -> Fired | None:
    """Faithfulness is high while precision or recall is clearly lower."""
    weakest, faithful = _weakest((PRECISE, RECALLED), facts), facts.mean(FAITHFUL)
    if weakest is None or faithful is None or facts.standing(FAITHFUL) != "high" or not short(weakest, facts):
        return None
    gap = faithful - (facts.mean(weakest) or 0.0)
    return Fired((FAITHFUL, weakest), f"high_{facts.standing(weakest)}", gap) if gap >= GAP else None


def weak_groups(facts: Facts) -> Fired | None:
    """Some groups of samples lie clearly below the run in retrieval."""
    names = tuple(name for name in (PRECISE, RECALLED) if facts.mean(name) is not None)
    return Fired(names, "low", 1 - facts.weak[0].mean, values={"groups": facts.weak[:3]}) if facts.weak else None


# ------------------------------------------------------------------ signs
def sign(name: str, metrics: tuple[str, ...], least: float, facts: Facts) -> Fired | None:
    """A sign is met in at least this share of the samples that can show it, and in more than an exception of all; 0 = in any."""
    tally = facts.sign(name)
    if not tally.count or tally.share < least or (least and tally.count < SELDOM * facts.samples):
        return None
    return Fired(metrics, name, tally.count / facts.samples, tally)


def short_with(metric: str, signs: Mapping[str, float], facts: Facts) -> Fired | None:
    """A metric is short, and at least one of these signs is met often enough; the first such sign is named."""
    if not short(metric, facts):
        return None
    return next((fired for name, least in signs.items() if (fired := sign(name, (metric,), least, facts))), None)


def unsupported_and_not_fed(facts: Facts) -> Fired | None:
    """Faithfulness is short, and claims stand in no chunk where retrieval is known to have missed what was needed."""
    return short_with(FAITHFUL, {"not_fed": OFTEN}, facts)


def rerank_first(facts: Facts) -> Fired | None:
    """Precision is short, and useless chunks above useful ones are met more often than lists without a useful one.

    A shorter list would cut off useful chunks. Where nothing useful came, no reranker helps.
    """
    more = facts.sign("noise_first").count > facts.sign("nothing_useful").count
    return short_with(PRECISE, {"noise_first": OFTEN}, facts) if more else None


def shrink_top_k(facts: Facts) -> Fired | None:
    """All useful chunks stand before the first useless one, nearly everywhere, and the tail is noise in at least half of the samples.

    Not of fewer than 20 samples, which cannot show what holds for 95 %, and not where recall is short: the next chunks may be needed.
    """
    behind, first = facts.sign("noise_behind"), facts.sign("noise_first")
    k, chunks = facts.enough, facts.chunks
    if first.share > SELDOM or behind.of < 1 / SELDOM or 2 * behind.share < 1 or k is None or chunks is None or k >= chunks:
        return None
    if short(RECALLED, facts):
        return None
    return Fired((PRECISE,), "noise_behind", behind.share, behind, {"k": k, "chunks": chunks})


def tail_needed(facts: Facts) -> Fired | None:
    """Precision and recall are short, and there are chunks; those at the end of the list may be useful."""
    if not short(RECALLED, facts) or facts.chunks is None:
        return None
    return short_with(PRECISE, {"useful_last": OFTEN}, facts) or short(PRECISE, facts)


def intent_right(facts: Facts) -> Fired | None:
    """Answers are off the question although the intent was recognised in most of them."""
    tally = facts.sign("intent_wrong")
    right = Tally(tally.of - tally.count, tally.of)
    fires = short(RELEVANT, facts) and 2 * right.share >= 1
    return Fired((RELEVANT,), "intent_right", right.count / facts.samples, right) if fires else None


def rewritten_away(facts: Facts) -> Fired | None:
    """Answers are off the question, retrieval is poor for them too, and a wrong intent does not explain it."""
    wrong = facts.sign("intent_wrong")
    return short_with(RELEVANT, {"poorly_fed": LARGE}, facts) if 2 * wrong.share < 1 else None


# ------------------------------------------------------------------ traps
def refusals_look_faithful(facts: Facts) -> Fired | None:
    """Faithfulness is high, and a tenth of the samples that should be answered has none since the answer states nothing."""
    return sign("silent", (FAITHFUL,), OFTEN, facts) if facts.standing(FAITHFUL) == "high" else None


def unlevelled_relevancy(facts: Facts) -> Fired | None:
    """Relevancy was measured, and its mean would be called middle or low."""
    return at_level(RELEVANT, "middle", facts) or at_level(RELEVANT, "low", facts)


def counted_conduct(facts: Facts) -> Fired | None:
    """References hold points about conduct, and recall or correctness is short."""
    return next((fired for name in (RECALLED, CORRECT) if (fired := short_with(name, {"directive": OFTEN}, facts))), None)


# ------------------------------------------------------------------ the run
def coverage_low(facts: Facts) -> Fired | None:
    """More than 5 % of the cells of a metric that has a mean failed; the worst metric is named."""
    tallies = {name: Tally(metric.failed, metric.failed + metric.n) for name, metric in facts.metrics.items() if metric.failed and metric.n}
    worst = max(tallies, key=lambda name: tallies[name].share, default=None)
    if worst is None or tallies[worst].share <= SELDOM:
        return None
    return Fired((worst,), "failed", tallies[worst].share, tallies[worst])


def measured(wanted: frozenset[str], unwanted: frozenset[str], facts: Facts) -> Fired | None:
    """The run has all of some metrics and none of others."""
    held = {name for name, metric in facts.metrics.items() if metric.n}
    names = tuple(name for name in (FAITHFUL, PRECISE) if name in wanted)
    return Fired(names, "measured", 0.0) if wanted <= held and not unwanted & held else None


def thin_gold(facts: Facts) -> Fired | None:
    """The gold set is small, or one of its categories is."""
    thin = facts.samples < ENOUGH_SAMPLES or (facts.smallest_group or ENOUGH_OF_A_KIND) < ENOUGH_OF_A_KIND
    return Fired(_some(facts), "thin", 0.0) if thin and _some(facts) else None


def any_run(facts: Facts) -> Fired | None:
    """There is something to read."""
    return Fired(_some(facts), "any", 0.0) if _some(facts) else None


def _some(facts: Facts) -> tuple[str, ...]:
    return tuple(name for name, metric in facts.metrics.items() if metric.n)[:1]


def _sides_of(pairs: tuple[tuple[str, str], ...]) -> dict[str, Rule]:
    words = ("high", "low")
    return {f"{a}_{x}_{b}_{y}": partial(pair, a, b, (x, y)) for a, b in pairs for x in words for y in words}


RULES: dict[str, Rule] = {
    **{f"{metric}_short": partial(short, metric) for metric in METRICS},
    **{f"{metric}_{level}": partial(at_level, metric, level) for metric, levels in LEVELS.items() for level in levels},
    **_sides_of(PAIRS),
    **{word: partial(quadrant, word) for word in ("good_good", "good_bad", "bad_good", "bad_bad")},
    "faithful_but_badly_fed": faithful_but_badly_fed,
    "weak_groups": weak_groups,
    "coverage_low": coverage_low,
    # symptoms
    "claims_unsupported": partial(sign, "unsupported", (FAITHFUL,), OFTEN),
    "points_missing": partial(sign, "point_missing", (RECALLED,), OFTEN),
    "noise_first": partial(sign, "noise_first", (PRECISE,), OFTEN),
    # decisions
    "unsupported_and_not_fed": unsupported_and_not_fed,
    "unsupported_though_fed": partial(sign, "added", (FAITHFUL,), OFTEN),
    "rerank_first": rerank_first,
    "shrink_top_k": shrink_top_k,
    "nothing_useful": partial(short_with, PRECISE, {"nothing_useful": OFTEN}),
    "contradicted": partial(sign, "contradicted", (FAITHFUL,), OFTEN),
    "answers_refuse": partial(short_with, RELEVANT, {"refused": OFTEN, "noncommittal": OFTEN}),
    "fed_but_missing": partial(sign, "fed_but_missing", (CORRECT,), OFTEN),
    "intent_wrong": partial(short_with, RELEVANT, {"intent_wrong": LARGE}),
    "intent_right": intent_right,
    "rewritten_away": rewritten_away,
    # causes
    "should_not_answer": partial(sign, "should_not_answer", (FAITHFUL,), 0.0),
    "judged_on_less": partial(short_with, FAITHFUL, {"cut_short": 0.0}),
    "reply_cut": partial(sign, "reply_cut", (FAITHFUL,), 0.0),
    "more_than_asked": partial(short_with, RELEVANT, {"more_than_asked": LARGE}),
    "part_answered": partial(short_with, RELEVANT, {"wide_cosines": LARGE}),
    "one_question": partial(sign, "one_question", (RELEVANT,), 0.5),
    "embedding_lost": partial(sign, "embedding_lost", (RELEVANT,), 0.0),
    "ranked_badly": partial(short_with, PRECISE, {"noise_first": OFTEN, "nothing_useful": OFTEN}),
    "noisy": partial(short_with, PRECISE, {"noise_first": OFTEN, "nothing_useful": OFTEN, "mostly_noise": OFTEN}),
    "mostly_noise": partial(short_with, PRECISE, {"mostly_noise": LARGE}),
    "keywords_unheard": partial(short_with, PRECISE, {"keywords_unheard": OFTEN, "keywords_only": 0.5}),
    "chunks_dropped": partial(sign, "chunks_dropped", (PRECISE,), 0.0),
    "nothing_covered": partial(short_with, RECALLED, {"nothing_covered": OFTEN}),
    "not_met": partial(short_with, RECALLED, {"keywords_unheard": OFTEN, "nothing_useful": OFTEN}),
    "list_too_short": partial(short_with, RECALLED, {"useful_last": MANY_OFF, "few_chunks": 0.5}),
    "partly_covered": partial(short_with, RECALLED, {"partly_covered": MANY_OFF}),
    "gold_too_fine": partial(short_with, RECALLED, {"many_points": MANY_OFF, "directive": MANY_OFF}),
    # traps
    "refusals_look_faithful": refusals_look_faithful,
    "tail_needed": tail_needed,
    "unlevelled_relevancy": unlevelled_relevancy,
    "counted_conduct": counted_conduct,
    "one_chunk": partial(sign, "one_chunk", (PRECISE,), LARGE),
    "lent_points": partial(sign, "lent_points", (CORRECT,), OFTEN),
    "reference_doubtful": partial(sign, "reference_doubtful", (CORRECT,), 0.0),
    # the run
    "only_faithfulness": partial(measured, frozenset({FAITHFUL}), frozenset({RELEVANT, PRECISE, RECALLED, CORRECT})),
    "only_retrieval": partial(measured, frozenset({PRECISE}), frozenset({FAITHFUL, RELEVANT, CORRECT})),
    "full_set": partial(measured, frozenset({FAITHFUL, RELEVANT, PRECISE, RECALLED}), frozenset()),
    "cheap_pair": partial(measured, frozenset({FAITHFUL, PRECISE}), frozenset({RELEVANT, RECALLED, CORRECT})),
    "thin_gold": thin_gold,
    "any_run": any_run,
}
"""Every rule by its name."""
