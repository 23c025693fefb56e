import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from ragstone.analysis.quantiles import beta_cdf, beta_quantile, normal_cdf, normal_quantile, t_cdf, t_quantile

TAILS = [1e-10, 1e-6, 0.001, 0.01, 0.025, 0.2, 0.25, 0.3, 0.49]
DEGREES = [1, 1.5, 2, 3, 5, 10, 30, 100, 560, 1e3, 1e4, 99_999, 1e5, 1e6]
PARAMETERS = [0.5, 1, 2, 3.5, 10, 50, 300, 1000, 2e4, 1e5]
PARAMETER = st.floats(math.log(0.5), math.log(1e5)).map(math.exp)
SHARE = st.floats(1e-10, 0.999)


def close(value):
    return pytest.approx(value, rel=1e-10, abs=0)


@pytest.mark.parametrize("p", TAILS)
@pytest.mark.parametrize("df", DEGREES)
def test_t_agrees_with_scipy_in_both_tails(df, p):
    assert t_quantile(p, df) == close(special.stdtrit(df, p))
    assert t_quantile(1 - p, df) == close(-special.stdtrit(df, 1 - (1 - p)))
    assert t_cdf(special.stdtrit(df, p), df) == close(p)
    assert t_cdf(-special.stdtrit(df, p), df) == close(1 - p)


@pytest.mark.parametrize("p", [*TAILS, 0.5, 0.7, 0.975])
@pytest.mark.parametrize("a", PARAMETERS)
def test_beta_agrees_with_scipy(a, p):
    for b in PARAMETERS:
        assert beta_quantile(p, a, b) == close(special.betaincinv(a, b, p)), b


@given(PARAMETER, PARAMETER, SHARE)
def test_the_beta_quantile_undoes_the_distribution_function(a, b, p):
    x = beta_quantile(p, a, b)
    if 1e-6 < x < 1 - 1e-6:
        assert special.betainc(a, b, x) == pytest.approx(p, rel=1e-9)
        assert beta_cdf(x, a, b) == pytest.approx(p, rel=1e-9)


@given(PARAMETER, PARAMETER, st.floats(0, 1))
def test_the_beta_distribution_function_agrees_with_scipy(a, b, x):
    assert beta_cdf(x, a, b) == pytest.approx(special.betainc(a, b, x), rel=1e-9, abs=1e-14)


@given(st.floats(0.5, 1e6), SHARE)
def test_t_is_symmetric_and_rises_with_p(df, p):
    assert t_quantile(1 - p, df) == pytest.approx(-t_quantile(p, df), rel=1e-6, abs=1e-12)
    assert t_quantile(p, df) < t_quantile(p + (1 - p) / 2, df)


@pytest.mark.parametrize(
    ("found", "closed"),
    [
        (t_quantile(0.975, 1), math.tan(math.pi * 0.475)),
        (t_quantile(0.975, 2), 0.95 * math.sqrt(2 / (1 - 0.95**2))),
        (beta_quantile(0.025, 50, 1), 0.025 ** (1 / 50)),
        (beta_quantile(0.025, 1, 50), 1 - 0.975 ** (1 / 50)),
        (beta_quantile(0.3, 0.5, 0.5), math.sin(0.15 * math.pi) ** 2),
        (t_cdf(1, 1), 0.75),
        (normal_quantile(0.975), 1.959963984540054),
        (normal_cdf(1.959963984540054), 0.975),
        (normal_cdf(-10), 7.61985302416052e-24),
    ],
)
def test_closed_forms(found, closed):
    assert found == close(closed)


def test_the_middle_and_the_ends():
    assert t_quantile(0.5, 7) == 0 == normal_quantile(0.5)
    assert t_cdf(0, 3) == 0.5 == normal_cdf(0)
    assert (t_cdf(-math.inf, 3), t_cdf(math.inf, 3)) == (0, 1)
    assert (beta_cdf(0, 2, 3), beta_cdf(-1, 2, 3), beta_cdf(1, 2, 3), beta_cdf(2, 2, 3)) == (0, 0, 1, 1)


@pytest.mark.parametrize("p", [0, 1, -0.1, 1.1, math.nan])
def test_no_quantile_outside_0_to_1(p):
    for wrong in (lambda: t_quantile(p, 3), lambda: beta_quantile(p, 1, 1), lambda: normal_quantile(p)):
        with pytest.raises(ValueError, match="between 0 and 1"):
            wrong()


@pytest.mark.parametrize("parameter", [0, -1, math.nan, math.inf])
def test_parameters_are_positive(parameter):
    for wrong in (lambda: t_quantile(0.9, parameter), lambda: t_cdf(0.9, parameter), lambda: beta_quantile(0.9, 1, parameter)):
        with pytest.raises(ValueError, match="positive"):
            wrong()
