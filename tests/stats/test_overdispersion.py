from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from dsqa.errors import StatisticsError
from dsqa.stats import beta_binomial

X, N = np.array([0, 3, 5, 10, 9, 1, 10, 4]), np.array([10, 10, 8, 10, 10, 6, 10, 12])


def likelihood(mean, correlation):
    size = (1 - correlation) / correlation
    return stats.betabinom.logpmf(X, N, mean * size, (1 - mean) * size).sum()


def test_maximum_agrees_with_a_general_optimiser_on_scipys_likelihood():
    best = optimize.minimize(
        lambda v: -likelihood(1 / (1 + np.exp(-v[0])), 1 / (1 + np.exp(-v[1]))),
        [0, 0],
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-12},
    )
    fit = beta_binomial(X, N)
    assert fit.log_likelihood == pytest.approx(-best.fun, rel=1e-9)
    assert (fit.mean, fit.correlation) == pytest.approx(tuple(1 / (1 + np.exp(-best.x))), rel=1e-5)


def test_interval_ends_are_where_the_profile_has_fallen_by_1_92():
    fit = beta_binomial(X, N)
    for end in (fit.interval.low, fit.interval.high):
        top = max(likelihood(end, c) for c in np.linspace(0.001, 0.999, 4000))
        assert fit.log_likelihood - top == pytest.approx(stats.chi2.isf(0.05, 1) / 2, abs=1e-4)


def test_without_over_dispersion_it_is_the_binomial():
    x, n = np.full(10, 5), np.full(10, 20)
    fit = beta_binomial(x, n)
    assert fit.mean == pytest.approx(0.25, abs=1e-6)
    assert fit.correlation < 1e-6
    for end in (fit.interval.low, fit.interval.high):
        fall = stats.binom.logpmf(50, 200, 0.25) - stats.binom.logpmf(50, 200, end)
        # Narrow cells could still be over-dispersed for other means, so the profile falls a bit less.
        assert 1.3 < fall <= 1.93


def test_questions_that_differ_make_it_much_wider_than_the_binomial():
    x, n = np.array([0, 0, 0, 20, 20, 20, 20, 1]), np.full(8, 20)
    fit = beta_binomial(x, n)
    assert fit.correlation > 0.7
    assert fit.interval.width > 2.5 * 2 * 1.96 * np.sqrt(0.25 / 160)


def test_right_and_wrong_swapped_mirror_it():
    a, b = beta_binomial(X, N), beta_binomial(N - X, N)
    assert (a.mean, a.interval.low, a.interval.high) == pytest.approx(
        (1 - b.mean, 1 - b.interval.high, 1 - b.interval.low), abs=1e-5
    )
    assert a.correlation == pytest.approx(b.correlation, rel=1e-4)


@pytest.mark.parametrize(
    ("x", "n", "message"),
    [
        ([1], [2], "at least two cells"),
        ([1, 3], [2, 2], "must lie between"),
        ([0, 1], [1, 1], "over-dispersion cannot be seen"),
        ([0, 0], [5, 5], "all runs are wrong"),
        ([5, 5], [5, 5], "all are right"),
    ],
)
def test_what_cannot_be_fitted_is_refused(x, n, message):
    with pytest.raises(StatisticsError, match=message):
        beta_binomial(x, n)
