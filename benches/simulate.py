"""Check the statistics of `show`, `compare` and `plan` on made scores whose truth is known.

    python benches/simulate.py [--repetitions 2000] [--seed 0] [--quick]

Every repetition is a run or a pair of runs, read by ragstone's own functions. Prints a table and whether each bar is kept;
exit code 0 if all are, else 1. The same seed gives the same figures.
"""

import argparse
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from shapes import HALF_DIFFER, SHAPES, Shape, tilted

from ragstone.analysis.intervals import DIFFERENCES, SCORES, Interval, Scale, interval
from ragstone.analysis.planning import Formula, detectable
from ragstone.analysis.signflip import sign_flip
from ragstone.analysis.tied import Simulation
from ragstone.analysis.variance import random_effects

SIZES = (20, 50, 200)
ALPHA, POWER = 0.05, 0.8
PLANNED = 1e-6
"""A gap this share larger than the detectable one needs no sample more by rounding."""
MOST_FLAGGED, LEAST_COVERED, MOST_COVERED = 0.06, 0.93, 0.97
POWER_OFF, SHARE_OFF = 0.03, 0.15
MOST_TIES = 0.7
PILOT = 30_000
"""Pairs a plan knows the tied shapes from: so many that its own error, not that of the pilot, is measured."""
CLUSTER = 5
REPEATS = 3


@dataclass(frozen=True)
class Bar:
    """One figure beside what it must keep to."""

    figure: float
    least: float = -math.inf
    most: float = math.inf

    @property
    def kept(self) -> bool:
        """True if the figure keeps to it."""
        return self.least <= self.figure <= self.most


@dataclass(frozen=True)
class Row:
    """Figures of one shape and size; None = not measured there."""

    shape: str
    n: int
    figures: dict[str, Bar | None]


# ------------------------------------------------------------------ the questions asked of every repetition
def found(values: Sequence[float], scale: Scale, clusters: Sequence[int] | None = None) -> Interval:
    """Return the interval of one repetition; repetitions with the same values are asked once."""
    if clusters is not None:
        return _given(interval(values, scale, clusters=clusters))
    return _found(tuple(sorted(round(v, 12) for v in values)), scale)


@cache
def _found(values: tuple[float, ...], scale: Scale) -> Interval:
    return _given(interval(values, scale))


def _given(ci: Interval | None) -> Interval:
    if ci is None:
        raise ValueError("no interval: fewer than two values")
    return ci


def holds(ci: Interval, truth: float) -> bool:
    """True if the truth lies in the interval."""
    return ci.low <= truth <= ci.high


def flagged(values: Sequence[float], clusters: Sequence[int] | None = None) -> bool:
    """True if `compare` would call the difference better or worse: p <= alpha, and the interval excludes 0."""
    return not holds(found(values, DIFFERENCES, clusters), 0) and (sign_flip(values, clusters).p or 0) <= ALPHA


def share(answers: Iterable[bool]) -> float:
    """Return the share that is true."""
    return float(np.mean(list(answers)))


def covered(repetitions: Any, scale: Scale, truth: float) -> float:
    """Return how often the interval holds the truth."""
    return share(holds(found(values, scale), truth) for values in repetitions.tolist())


# ------------------------------------------------------------------ pairs
def pairs(shape: Shape, n: int, repetitions: int, rng: Any) -> Row:
    """Nothing changed: false alarms and coverage. A real change of a size that `plan` calls detectable: coverage and power."""
    sizes = shape.sizes(rng)
    usual = float(sizes.mean())
    base, new = shape.draw(rng, (repetitions, n))
    gap, sd = _planned(float((sizes**2).mean()), n)
    change = min(gap, usual)
    real = tilted(rng, shape, (repetitions, n), change, usual)
    most = MOST_COVERED if shape.name in HALF_DIFFER else 1.0
    least = LEAST_COVERED if n >= 50 else 0.0
    figures: dict[str, Bar | None] = {
        "flagged": Bar(share(flagged(d) for d in (new - base).tolist()), most=MOST_FLAGGED),
        "covered, no change": Bar(covered(new - base, DIFFERENCES, 0.0), least, most),
        "covered, change": Bar(covered(real, DIFFERENCES, change), least, most),
        "covered, scores": Bar(covered(base, SCORES, shape.mean), least),
    }
    figures |= _power(shape, gap, sd, repetitions, rng) if gap <= usual else {"pairs planned": None, "power": None}
    return Row(shape.name, n, figures)


def _planned(square: float, n: int) -> tuple[float, float]:
    """Return the gap that `plan` calls detectable with n pairs, and the sd beside it: squared differences have the mean sd^2 + gap^2."""
    reach = detectable(1.0, n, ALPHA, POWER)
    sd = math.sqrt(square / (1 + reach**2))
    return reach * sd, sd


def _power(shape: Shape, gap: float, sd: float, repetitions: int, rng: Any) -> dict[str, Bar | None]:
    """Return how often the gap is found with as many pairs as `plan` asks for; above 70 % ties it knows the shape from a pilot."""
    sizes = shape.sizes(rng)
    tied = float((sizes == 0).mean()) > MOST_TIES
    how = Simulation(sizes[:PILOT].tolist(), ALPHA, POWER) if tied else Formula(sd, ALPHA, POWER)
    count = how.needed(gap * (1 + PLANNED))
    real = tilted(rng, shape, (repetitions, count), gap, float(sizes.mean()))
    return {"pairs planned": Bar(count), "power": Bar(share(flagged(d) for d in real.tolist()), POWER - POWER_OFF, POWER + POWER_OFF)}


# ------------------------------------------------------------------ clusters
def clustered(n: int, repetitions: int, rng: Any) -> Row:
    """Questions in fives about one document, which a change helps or hurts together: naive and cluster figures side by side."""
    count = n // CLUSTER
    common = rng.choice([-1 / 3, 0, 0, 1 / 3], (repetitions, count))
    own = rng.choice([-1 / 3, 0, 0, 0, 1 / 3], (repetitions, count, CLUSTER))
    repeated = (common[:, :, None] + own).reshape(repetitions, n).tolist()
    clusters = np.repeat(np.arange(count), CLUSTER).tolist()
    figures: dict[str, Bar | None] = {
        "naive covered": Bar(share(holds(found(d, DIFFERENCES), 0) for d in repeated)),
        "cluster covered": Bar(share(holds(found(d, DIFFERENCES, clusters), 0) for d in repeated), LEAST_COVERED if n >= 50 else 0.0),
        "naive flagged": Bar(share(flagged(d) for d in repeated)),
        "cluster flagged": Bar(share(flagged(d, clusters) for d in repeated), most=MOST_FLAGGED),
    }
    return Row(f"clusters of {CLUSTER}", n, figures)


# ------------------------------------------------------------------ judge noise
def variances(kind: str, n: int, repetitions: int, rng: Any) -> Row:
    """The parts of samples and judge, at three repeats."""
    if kind == "smooth":
        values = rng.normal(0.7, 0.2, (repetitions, n, 1)) + rng.normal(0, 0.12, (repetitions, n, REPEATS))
        samples, judge = 0.2**2, 0.12**2
    else:
        # three claims a sample, each found supported with the sample's own chance, Beta(4, 2)
        chance = rng.beta(4, 2, (repetitions, n, 1))
        values = rng.binomial(3, chance, (repetitions, n, REPEATS)) / 3
        samples, judge = 8 / 252, (4 / 6 - 20 / 42) / 3
    split = [random_effects(groups) for groups in values.tolist()]
    parts = np.array([(v.samples, v.judge, v.judge_share) for v in split if v is not None]) / (samples, judge, judge / (samples + judge))
    bars = (1 - SHARE_OFF, 1 + SHARE_OFF) if n >= 200 else (-math.inf, math.inf)
    named = zip(("samples", "judge", "judge share"), parts.T, strict=True)
    figures: dict[str, Bar | None] = {}
    for name, ratios in named:
        figures[f"{name} / truth"] = Bar(float(ratios.mean()), *bars)
        figures[f"{name} within 15 %"] = Bar(share(abs(ratios - 1) <= SHARE_OFF))
    return Row(f"repeats, {kind}", n, figures)


# ------------------------------------------------------------------ the whole of it
Task = tuple[Callable[..., Row], tuple[Any, ...]]


def tasks() -> list[Task]:
    """Return every measurement, the slow ones first."""
    every: list[Task] = [(pairs, (at, n)) for n in reversed(SIZES) for at in range(len(SHAPES))]
    every += [(clustered, (n,)) for n in SIZES]
    every += [(variances, (kind, n)) for kind in ("smooth", "thirds") for n in (50, 200)]
    return every


def measure(number: int, repetitions: int, seed: int) -> Row:
    """Measure one task, with random numbers of its own."""
    what, given = tasks()[number]
    rng = np.random.default_rng([seed, number])
    return what(SHAPES[given[0]], given[1], repetitions, rng) if what is pairs else what(*given, repetitions, rng)


def tables(rows: Sequence[Row]) -> Iterator[str]:
    """Yield Markdown tables, one a set of figures; ! marks a bar that is missed."""
    order = {shape.name: at for at, shape in enumerate(SHAPES)}
    for names in dict.fromkeys(tuple(row.figures) for row in rows):
        yield "| shape | n | " + " | ".join(names) + " |"
        yield "|---|---|" + "---|" * len(names)
        alike = [row for row in rows if tuple(row.figures) == names]
        for row in sorted(alike, key=lambda row: (order.get(row.shape, 0), row.shape, row.n)):
            cells = (
                "-" if bar is None else f"{bar.figure:{'d' if isinstance(bar.figure, int) else '.3f'}}{'' if bar.kept else ' !'}"
                for bar in row.figures.values()
            )
            yield f"| {row.shape} | {row.n} | " + " | ".join(cells) + " |"
        yield ""


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--repetitions", type=int, default=2_000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--quick", action="store_true", help="200 repetitions: does it work? Bars may be missed by chance")
    given = options.parse_args()
    repetitions, count = 200 if given.quick else given.repetitions, len(tasks())
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        rows = list(pool.map(measure, range(count), [repetitions] * count, [given.seed] * count))
    print("\n".join(tables(rows)))
    missed = sum(bar is not None and not bar.kept for row in rows for bar in row.figures.values())
    print(f"{repetitions} repetitions, seed {given.seed}: " + (f"{missed} bars MISSED" if missed else "every bar is kept"))
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
