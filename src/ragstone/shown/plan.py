"""How many samples a comparison needs, as a document, as words and as a page: `ragstone.plan` and `ragstone plan`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from ragstone.analysis.planning import ALPHA, CORRELATION, POWER, REPEATS, ZERO, Planned, Spread, planned
from ragstone.errors import ConfigError
from ragstone.figures import NONE, metric_name
from ragstone.shown.blocks import Block, Heading, Table, Text, to_html, to_markdown
from ragstone.terms import MOST_SEED
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.results import Run
    from ragstone.types import Language

MOST_N, MOST_REPEATS = 10**9, 100
FEW = 20
"""A scatter known from fewer samples is told to be rough."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Plan(Planned):
    """How many samples a gap needs, and what gap the samples at hand can show; None = cannot be computed, or not asked for."""

    others: tuple[Planned, ...] = ()
    """With runs and no metric named: the plans of all their metrics, the widest scatter first."""
    seed: int = 0

    def __repr__(self) -> str:
        """One line: what was asked, and the answer."""
        told = {"metric": self.metric, "sd": self.spread.sd, "gap": self.gap, "n": self.n}
        answers = {"n_needed": self.n_needed, "detectable": self.detectable}
        return f"Plan({', '.join(f'{name}={value!r}' for name, value in (told | answers).items() if value is not None)})"

    @property
    def metric(self) -> str | None:
        """The metric planned for; None if the scatter was given as a number."""
        return self.spread.metric

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """The document of `plan --json`; `text` in `lang`, unset = the language of the screen."""
        lang = lang or screen_language()
        s = self.spread
        return {
            "metric": s.metric,
            "sd": s.sd,
            "sd_source": s.source,
            "correlation": s.correlation,
            **{name: getattr(self, name) for name in ("alpha", "power", "gap", "n", "n_needed", "detectable", "method")},
            "table": [{"n": n, "detectable": gap} for n, gap in self.table],
            "judged": None if s.judged is None else {"min": s.judged[0], "max": s.judged[1]},
            "repeats": None
            if self.repeats is None
            else [{"repeats": r.repeats, "n_needed": r.n_needed, "requests": r.requests} for r in self.repeats],
            "metrics": [{"metric": p.spread.metric, "sd": p.spread.sd, "n": p.n, "n_needed": p.n_needed} for p in self.others],
            "text": joined(sentences(self, lang), lang),
        }

    def blocks(self, lang: Language) -> list[Block]:
        """The page of `ragstone plan`."""
        return list(_page(self, lang))

    def to_markdown(self, lang: Language | None = None) -> str:
        """The page as Markdown; `lang` unset = the language of the screen."""
        return to_markdown(self.blocks(lang or screen_language()))

    def _repr_html_(self) -> str:
        """The page for a notebook, in the language of the screen."""
        lang = screen_language()
        return to_html(self.blocks(lang), lang)


def plan(
    run: Run | None = None,
    other: Run | None = None,
    *,
    sd: float | None = None,
    gap: float | None = None,
    n: int | None = None,
    metric: str | None = None,
    alpha: float = ALPHA,
    power: float = POWER,
    repeats: int | None = None,
    judge_sd: float | None = None,
    correlation: float | None = None,
    seed: int = 0,
) -> Plan:
    """Return how many samples a difference needs, and how large a difference the samples at hand can show.

    `plan(sd=0.254, gap=0.03).n_needed` is 565: n = ((z(1 - alpha / 2) + z(power)) * sd / gap) ** 2, rounded up, and 2 more
    because the test has to estimate sd.

    Args:
        run: take the scatter from this run: sd * sqrt(2 * (1 - correlation)) of its scores.
        other: a second run on the same questions: the scatter is that of the differences of pairs, nothing is assumed.
            Where more than 70 % of these are 0, sample sizes come from a seeded simulation of the sign-flip test.
        sd: the scatter itself, instead of runs: standard deviation of the paired differences, in (0, 2].
        gap: difference of means to be found, in (0, 2].
        n: samples that are there; unset = those of the runs.
        metric: which metric of the runs; unset = the one whose differences scatter most, since it needs most samples.
        alpha: how often a difference may be reported where there is none.
        power: how often the gap should be found where it is there.
        repeats: compare judging each sample 1, 2, … up to so many times (unset: 3), where the judge's noise is known.
        judge_sd: standard deviation of one sample's score when the judge is asked again; unset = from repeats of the runs.
        correlation: between the scores of two versions, assumed where one run is given; unset = 0.5.
        seed: seed of the simulation.

    Raises:
        ConfigError: something is out of range, missing, or said twice.
        RunFolderError: a run cannot be read, the two share no metric or sample, or nothing scatters.
    """
    given = {"--sd": sd, "--gap": gap, "--n": n, "--alpha": alpha, "--power": power}
    _check_numbers(given | {"--repeats": repeats, "--judge-sd": judge_sd, "--correlation": correlation, "--seed": seed})
    _check_together(run, other, sd=sd, gap=gap, n=n, metric=metric, correlation=correlation)
    wanted: dict[str, Any] = {"gap": gap, "n": n, "alpha": alpha, "power": power, "repeats": repeats or REPEATS, "seed": seed}
    if run is None:
        assert sd is not None
        return _shown(planned(_given(sd, judge_sd), **wanted), seed=seed)
    from ragstone.shown.scatter import requests_a_sample, scatter

    spreads = scatter(run, other, metric, CORRELATION if correlation is None else correlation, judge_sd)
    found = [planned(spread, requests=requests_a_sample(run), **wanted) for spread in spreads]
    return _shown(found[0], others=() if metric is not None or len(found) == 1 else tuple(found), seed=seed)


def _shown(found: Planned, **more: Any) -> Plan:
    return Plan(**{field.name: getattr(found, field.name) for field in fields(found)}, **more)


def _given(sd: float, judge_sd: float | None) -> Spread:
    noise = None if judge_sd is None else 2 * judge_sd**2  # a difference holds the noise of two scores
    return Spread(sd=sd, judge=noise, judge_held=noise)


# ------------------------------------------------------------------ what was given
_ALLOWED: dict[str, tuple[str, Callable[[float], bool]]] = {
    **dict.fromkeys(("--sd", "--gap", "--judge-sd"), ("spread", lambda x: 0 < x <= 2)),
    **dict.fromkeys(("--alpha", "--power"), ("share", lambda x: 0 < x < 1)),
    "--correlation": ("correlation", lambda x: 0 <= x < 1),
    "--n": ("n", lambda x: x == int(x) and 2 <= x <= MOST_N),
    "--repeats": ("repeats", lambda x: x == int(x) and 1 <= x <= MOST_REPEATS),
    "--seed": ("seed", lambda x: x == int(x) and 0 <= x <= MOST_SEED),
}


def _check_numbers(given: dict[str, Any]) -> None:
    lang = screen_language()
    problems = []
    for option, value in given.items():
        word, fits = _ALLOWED[option]
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if value is not None and not (number and fits(value)):
            problems.append(say("plan.number", lang, option=option, value=value, allowed=say(f"plan.allowed_{word}", lang)))
    if problems:
        raise ConfigError("\n".join(problems))


def _check_together(run: Run | None, other: Run | None, **given: Any) -> None:
    lang = screen_language()
    if run is None:
        for name in ("metric", "correlation"):
            if given[name] is not None:
                raise ConfigError(say("plan.only_with_from", lang, option=f"--{name}"))
        if given["sd"] is None:
            raise ConfigError(say("plan.second_alone" if other is not None else "plan.nothing_given", lang))
        if given["gap"] is None and given["n"] is None:
            raise ConfigError(say("plan.what_for", lang))
    elif given["sd"] is not None:
        raise ConfigError(say("plan.both_given", lang))
    elif other is not None and given["correlation"] is not None:
        raise ConfigError(say("plan.only_with_one", lang))


# ------------------------------------------------------------------ in words
def joined(texts: Iterable[str], lang: Language) -> str:
    """Return sentences as one paragraph."""
    return ("" if lang == "zh" else " ").join(texts)


def sentences(plan: Plan, lang: Language) -> list[str]:
    """Return a plan as sentences, the answer first."""
    return [*_answers(plan, lang), *_grounds(plan, lang), *_repeats_or_samples(plan, lang)]


def _answers(plan: Plan, lang: Language) -> Iterator[str]:
    if plan.gap is not None and plan.n_needed is None:
        yield say("plan.needed_none", lang, gap=_amount(plan.gap))
    elif plan.gap is not None:
        yield say("plan.needed", lang, gap=_amount(plan.gap), n=plan.n_needed, judged=_judged(plan.spread, "needed", lang))
    if plan.n is not None and plan.detectable is None:
        yield say("plan.detectable_none", lang, n=plan.n)
    elif plan.n is not None:
        yield say("plan.detectable", lang, n=plan.n, gap=_amount(plan.detectable), judged=_judged(plan.spread, "detectable", lang))
        if plan.detectable is not None and plan.detectable > 1:
            yield say("plan.detectable_whole", lang, n=plan.n)
    yield say("plan.meaning", lang, power=_share(plan.power), alpha=_share(plan.alpha))


def _judged(spread: Spread, sentence: str, lang: Language) -> str:
    """How often each answer is judged, as a part of a sentence; nothing where that is once, or not known."""
    low, high = spread.judged or (1, 1)
    if high == 1:
        return ""
    times = say("plan.times_alike", lang, count=high) if low == high else say("plan.times_unlike", lang, low=low, high=high)
    return say(f"plan.{sentence}_judged", lang, times=times, where=say(f"plan.as_{spread.source}", lang))


def _grounds(plan: Plan, lang: Language) -> Iterator[str]:
    spread = plan.spread
    if spread.source == "given":
        yield say("plan.source_given", lang, sd=_amount(spread.sd))
    elif spread.source == "two_runs":
        yield say("plan.source_two_runs", lang, sd=_amount(spread.sd), n=spread.n)
    else:
        values = {"n": spread.n, "scores": _amount(spread.scores), "correlation": f"{spread.correlation:g}", "sd": _amount(spread.sd)}
        yield say("plan.source_one_run", lang, **values)
    if plan.method == "simulation":
        zeros = sum(abs(d) <= ZERO for d in spread.differences) / len(spread.differences)
        yield say("plan.simulated", lang, share=_share(zeros), seed=plan.seed)
    if spread.n is not None and spread.n < FEW:
        yield say("plan.source_few", lang, n=spread.n)
    if plan.others:
        yield say("plan.widest", lang)


def _repeats_or_samples(plan: Plan, lang: Language) -> Iterator[str]:
    if plan.gap is None:
        return
    if plan.repeats is None:
        yield say("plan.judge_unknown", lang)
        return
    once, most = plan.repeats[0], plan.repeats[min(1, len(plan.repeats) - 1)]
    if once.n_needed is None or most.n_needed is None or most is once:
        return
    if most.n_needed > 0.98 * once.n_needed:
        yield say("plan.repeats_useless", lang)
        return
    values = {"repeats": most.repeats, "n": most.n_needed, "requests": most.requests}
    yield say("plan.repeats_more", lang, once=once.n_needed, requests_once=once.requests, **values)
    if plan.spread.shrunk(10**9) < ZERO:
        yield say("plan.repeats_all_judge", lang)


# ------------------------------------------------------------------ the page
def _page(plan: Plan, lang: Language) -> Iterator[Block]:
    metric = plan.metric
    yield Heading(say("plan.title", lang) if metric is None else say("plan.title_metric", lang, metric=metric_name(metric, lang)))
    yield Text(joined(_answers(plan, lang), lang))
    for sentence in _grounds(plan, lang):
        yield Text(sentence)
    if plan.others:
        yield _metrics(plan, lang)
    yield _sizes(plan, lang)
    for sentence in _repeats_or_samples(plan, lang):
        yield Text(sentence)
    if plan.repeats is not None:
        yield _repeat_table(plan, lang)


def _sizes(plan: Plan, lang: Language) -> Table:
    head = (say("plan.column_n", lang), say("plan.column_detectable", lang))
    rows = ((say("plan.here", lang, n=n) if n == plan.n else str(n), _amount(gap)) for n, gap in plan.table)
    return Table(head, tuple(rows), "lr")


def _metrics(plan: Plan, lang: Language) -> Table:
    columns = ("metric", "sd", "pairs", *(["needed"] if plan.gap is not None else []))
    rows = [(metric_name(str(p.spread.metric), lang), _amount(p.spread.sd), str(p.spread.n), _count(p.n_needed)) for p in plan.others]
    return Table(
        tuple(say(f"plan.column_{name}", lang) for name in columns),
        tuple(row[: len(columns)] for row in rows),
        "l" + "r" * (len(columns) - 1),
    )


def _repeat_table(plan: Plan, lang: Language) -> Table:
    head = tuple(say(f"plan.column_{name}", lang) for name in ("repeats", "needed", "requests"))
    rows = ((say("plan.times", lang, count=r.repeats), _count(r.n_needed), _count(r.requests)) for r in plan.repeats or ())
    return Table(head, tuple(rows), "lrr")


def _count(value: int | None) -> str:
    return NONE if value is None else str(value)


def _amount(value: float | None) -> str:
    """A difference or a scatter: three decimals, more for what would else be nothing."""
    if value is None:
        return NONE
    return f"{value:.3f}" if value >= 0.01 or value == 0 else f"{value:.2g}"


def _share(value: float) -> str:
    return f"{100 * value:.4g} %"
