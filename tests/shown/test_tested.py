"""A run in a test: means that are numbers and explain themselves, coverage that must hold, rules."""

import pytest
from support.gated import A, run

from ragstone.errors import ConfigError
from ragstone.shown.tested import Tested

LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])


def test_a_mean_is_a_number():
    mean = Tested(run(A)).mean("faithfulness")
    assert mean == pytest.approx(0.69)
    assert mean >= 0.6
    assert isinstance(mean, float)


@LANGUAGES
def test_it_explains_itself(lang, monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    lines = Tested(run([*A, 1.0, "-"])).mean("faithfulness").ragstone_explanation()
    text = "\n".join(lines)
    assert [word for word in ("41", "42", "95.0%", "no_claims 1", "0.500  s0") if word not in text] == []
    assert sum(line.startswith("  0.500") for line in lines) == 5


@LANGUAGES
@pytest.mark.parametrize(("values", "part"), [([0.9] * 9 + [None], "0.900"), ([None, None], "timeout 2"), (["-"], "no_claims 1")])
def test_a_mean_over_too_little_fails_the_test(values, part, lang, monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    with pytest.raises(AssertionError) as failed:
        Tested(run(values)).mean("faithfulness")
    assert part in str(failed.value)


def test_less_coverage_counts_where_that_is_meant():
    assert Tested(run([0.9] * 9 + [None])).mean("faithfulness", min_coverage=0.9) == pytest.approx(0.9)


def test_an_unknown_metric_is_no_failed_assertion():
    with pytest.raises(ConfigError, match="did you mean faithfulness"):
        Tested(run(A)).mean("faithfullness")


def test_rules():
    assert Tested(run(A)).gate({"metrics": {"faithfulness": {"min_mean": 0.6}}}).passed
    with pytest.raises(AssertionError, match="below the limit 0\\.900"):
        Tested(run(A)).gate({"metrics": {"faithfulness": {"min_mean": 0.9}}})
    with pytest.raises(AssertionError, match="lower than in the baseline"):
        Tested(run([0.4, 0.8] * 20)).gate(baseline=run(A))
