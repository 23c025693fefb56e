"""A metric of another package is found by its entry point; what is no metric is refused by name."""

from importlib.metadata import EntryPoint

import pytest

from ragstone import metrics
from ragstone.errors import ConfigError
from ragstone.metrics.base import Metric, Steps
from ragstone.types import Sample


class AnswerLength(Metric):
    """Shorter answers are better."""

    name = "answer_length"
    side = "generation"
    needs = ("answer",)

    def steps(self, sample: Sample) -> Steps:
        """Score the length."""
        yield []
        return self.ok(sample, 1 / (1 + len(sample.answer or "")))


NO_METRIC = 3


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch):
    def install(name: str) -> None:
        point = EntryPoint(name, f"{__name__}:{name}", metrics.ENTRY_POINTS)
        monkeypatch.setattr(EntryPoint, "load", lambda self: globals()[self.name])
        monkeypatch.setattr(metrics, "entry_points", lambda group: [point] if group == metrics.ENTRY_POINTS else [])
        metrics.available.cache_clear()

    yield install
    metrics.available.cache_clear()


def test_a_metric_of_another_package_comes_after_the_shipped_ones(installed):
    shipped = list(metrics.available())
    installed("AnswerLength")
    assert list(metrics.available()) == [*shipped, "answer_length"]
    assert metrics.parse("answer_length") == AnswerLength()


def test_what_is_no_metric_is_refused_by_name(installed):
    installed("NO_METRIC")
    with pytest.raises(ConfigError, match="NO_METRIC"):
        metrics.available()
