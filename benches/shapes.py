"""Scores as judges give them, made by rule: pairs of one question under two versions that are equally good, or not."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Rng = np.random.Generator
Draw = Callable[[Rng, tuple[int, int]], tuple[Any, Any]]

THIRDS_AND_HALVES = ((0.0, 1 / 3, 0.5, 2 / 3, 1.0), (0.1, 0.2, 0.2, 0.2, 0.3))
CEILING = ((1 / 3, 0.5, 2 / 3, 1.0), (0.02, 0.03, 0.05, 0.90))


@dataclass(frozen=True)
class Shape:
    """One kind of score: how pairs are drawn where nothing has changed, and the true mean of a score."""

    name: str
    draw: Draw
    mean: float

    def sizes(self, rng: Rng) -> Any:
        """Return |differences| of very many pairs."""
        base, new = self.draw(rng, (1, 400_000))
        return np.abs(new - base).ravel()


def lumps(values: tuple[float, ...], chances: tuple[float, ...], tied: float) -> Draw:
    """Two draws from the same few values; a pair is tied with chance `tied`, and else two draws that differ."""
    each, own = np.array(values), np.array(chances)
    pairs = np.outer(own, own)
    np.fill_diagonal(pairs, 0)
    pairs *= (1 - tied) / pairs.sum()
    # what the unequal pairs take from a value is missing from its ties, so that single scores keep their chances
    equal = own - pairs.sum(axis=1)
    if equal.min() < 0:
        raise ValueError("so few ties do not go with these chances")
    joint = (pairs + np.diag(equal)).ravel()

    def draw(rng: Rng, size: tuple[int, int]) -> tuple[Any, Any]:
        at = rng.choice(len(joint), size, p=joint)
        return each[at // len(each)], each[at % len(each)]

    return draw


def smooth(rng: Rng, size: tuple[int, int]) -> tuple[Any, Any]:
    """Beta(5, 2) scores with a correlation of 0.57: the two share part of their gamma variables."""
    up, down = rng.gamma(3, size=size), rng.gamma(1.2, size=size)
    base, new = ((up + rng.gamma(2, size=size), down + rng.gamma(0.8, size=size)) for _ in range(2))
    return base[0] / (base[0] + base[1]), new[0] / (new[0] + new[1])


def _mean(values: tuple[float, ...], chances: tuple[float, ...]) -> float:
    return math.fsum(v * p for v, p in zip(values, chances, strict=True))


def _of(name: str, values: tuple[float, ...], chances: tuple[float, ...], tied: float) -> Shape:
    return Shape(name, lumps(values, chances, tied), _mean(values, chances))


SHAPES = (
    _of("thirds and halves", *THIRDS_AND_HALVES, 0.5),
    _of("near the ceiling", *CEILING, 0.88),
    _of("binary", (0.0, 1.0), (0.3, 0.7), 0.75),
    Shape("smooth", smooth, 5 / 7),
    _of("rare losses", (0.5, 1.0), (0.02, 0.98), 0.965),
)
HALF_DIFFER = ("thirds and halves", "smooth")
"""Shapes of which half of the pairs differ, or more."""


def tilted(rng: Rng, shape: Shape, size: tuple[int, int], gap: float, usual: float) -> Any:
    """Return differences of the shape's sizes, of which so many are gains that their mean is `gap`; `usual` = mean size."""
    base, new = shape.draw(rng, size)
    return np.abs(new - base) * np.where(rng.random(size) < (1 + gap / usual) / 2, 1, -1)
