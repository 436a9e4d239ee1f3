"""Two measurements of the same runs, against numbers by hand and by statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.metrics import cohen_kappa_score

from dsqa.errors import StatisticsError
from dsqa.stats.method_agreement import method_agreement


def test_mean_difference_has_the_error_of_a_clustered_intercept():
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(6), [4, 7, 2, 5, 9, 3])
    x = rng.normal(size=30) + clusters
    y = rng.normal(size=30)
    found = method_agreement(x, y, clusters)
    fit = sm.OLS(x - y, np.ones(30)).fit(
        cov_type="cluster", cov_kwds={"groups": clusters, "df_correction": True}, use_t=True
    )
    # statsmodels' factor has (n − 1)/(n − 1) = 1 for one column, so the errors are the same.
    low, high = fit.conf_int()[0]
    assert found.difference == pytest.approx(fit.params[0])
    assert (found.interval.low, found.interval.high) == (pytest.approx(low), pytest.approx(high))


def test_limits_of_repeats_are_those_of_variance_components():
    # Balanced, two per question: d = 0, 2 | 4, 6 | 8, 10; MS_within 2, MS_between 32, so s² = 2 + (32 − 2)/2 = 17.
    found = method_agreement([0, 2, 4, 6, 8, 10], np.zeros(6), list("aabbcc"))
    assert found.limits == (
        pytest.approx(5 - 1.959964 * 17**0.5, abs=1e-5),
        pytest.approx(5 + 1.959964 * 17**0.5, abs=1e-5),
    )


def test_kappa_is_cohens_and_weighted_for_ordered_marks():
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 3, 80), rng.integers(0, 3, 80)
    y = np.where(rng.random(80) < 0.5, x, y)
    groups = np.arange(80) % 8
    assert method_agreement(x, y, groups).kappa == pytest.approx(cohen_kappa_score(x, y, weights="quadratic"))
    two = method_agreement(x > 0, y > 0, groups)
    assert two.kappa == pytest.approx(cohen_kappa_score(x > 0, y > 0))
    assert two.kappa_kind == "Cohen"


def test_quantities_and_constant_marks_have_no_kappa():
    assert method_agreement([1.5, 2.25], [1.0, 2.0], ["a", "b"]).kappa_kind == "a quantity, not a mark"
    assert method_agreement([1, 1], [1, 1], ["a", "b"]).kappa_kind == "the marks do not vary"


def test_equal_is_within_the_share_of_the_larger():
    found = method_agreement([100, 100, 0], [100.4, 101, 0], ["a", "b", "c"], tolerance=0.005)
    assert found.share_equal == pytest.approx(2 / 3)


def test_one_question_has_no_interval_and_says_why():
    found = method_agreement([1.0, 2.0], [1.0, 1.0], ["a", "a"])
    assert not found.interval.available
    assert "one question" in found.interval.note


def test_missing_values_are_refused():
    with pytest.raises(StatisticsError, match="missing"):
        method_agreement([1.0, np.nan], [1.0, 1.0], ["a", "b"])
