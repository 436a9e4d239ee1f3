"""The smaller optimisers at their edges, over many seeds: no start is better than the one reported."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dsqa.errors import StatisticsError
from dsqa.stats import beta_binomial, variance_components
from dsqa.stats.overdispersion import _profile
from dsqa.stats.variance import _deviance, _sufficient


@pytest.mark.parametrize("seed", range(12))
def test_reml_of_unbalanced_scores_is_lowest_where_it_says(seed):
    rng = np.random.default_rng([seed, 5])
    rows = [
        (q, m, 1 + level + rng.normal(0, rng.choice([0.0, 0.4])) + rng.normal(0, 0.5))
        for q, level in enumerate(rng.normal(0, rng.choice([0.0, 0.1, 0.8]), 6))
        for m in range(3)
        for _ in range(int(rng.integers(1, 6)))
    ]
    table = pd.DataFrame(rows, columns=["question_id", "model", "score"])
    fit = variance_components(table)
    cells = _sufficient(table.rename(columns={"score": "value"}), ["question_id", "model"])
    found = np.array([fit.question, fit.question_model, fit.residual])
    for other in rng.uniform([0, 0, 0.05], 1, (40, 3)):
        assert _deviance(other, cells)[0] >= -2 * fit.log_likelihood - 1e-6
    for factor in (0.9, 1.1):
        assert _deviance(found * factor, cells)[0] >= -2 * fit.log_likelihood - 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_a_beta_binomial_is_highest_where_it_says(seed):
    rng = np.random.default_rng([seed, 6])
    n = rng.integers(1, 30, 8).astype(float)
    x = rng.binomial(n.astype(int), rng.choice([0.0, 1.0, 0.2, 0.9], 8)).astype(float)
    try:
        fit = beta_binomial(x, n)
    except StatisticsError:
        assert x.sum() in (0, n.sum()) or n.max() < 2
        return
    top = _profile(fit.mean, x, n)[1]
    assert max(_profile(mean, x, n)[1] for mean in np.linspace(0.01, 0.99, 49)) <= top + 1e-7
    assert fit.interval.low <= fit.mean <= fit.interval.high
