"""The noncentral t where SciPy gives NaN, against its definition integrated numerically."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, special, stats

from dsqa.stats.comparison.noncentral import noncentral_t_cdf


def integrated(t: float, df: float, noncentrality: float) -> float:
    """T = (Z + δ)/√(V/df): average Φ(t √(v/df) − δ) over V ~ χ²(df)."""
    low, high = stats.chi2(df).ppf([1e-14, 1 - 1e-14])
    return integrate.quad(
        lambda v: stats.norm.cdf(t * np.sqrt(v / df) - noncentrality) * stats.chi2(df).pdf(v), low, high, limit=200
    )[0]


@pytest.mark.parametrize(
    ("df", "noncentrality", "t"), [(19, 2.0, 2.1), (99, 6.0, 3.2), (4, -1.0, 0.5), (399, 9.0, 1.98)]
)
def test_is_the_integral(df: float, noncentrality: float, t: float) -> None:
    assert noncentral_t_cdf(t, df, noncentrality) == pytest.approx(integrated(t, df, noncentrality), abs=1e-9)


def test_scipys_gaps_are_next_to_nothing() -> None:
    rng = np.random.default_rng(1)
    gaps = 0
    for _ in range(1000):
        df, shift, t = rng.integers(2, 400), rng.uniform(-12, 12), rng.uniform(-12, 12)
        if np.isnan(special.nctdtr(df, shift, t)):
            gaps += 1
            if gaps <= 15:
                assert noncentral_t_cdf(t, df, shift) == pytest.approx(integrated(t, df, shift), abs=1e-8)
    assert gaps > 0
