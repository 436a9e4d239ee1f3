"""One cell: accuracy, pass@k, σ̄, agreement of its answers; and the accuracy pooled over questions.

Proportions are enumerated, not simulated: their coverage is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np
import pandas as pd
from scipy import stats

from analysis.coverage.tables import Row, attempt, ends, row
from dsqa.stats import (
    BootstrapMethod,
    answer_interval,
    beta_binomial,
    bootstrap_intervals,
    instability_intervals,
    pass_interval,
    proportion_bounds,
    weighted_mean,
    weighted_sd,
)

__all__ = ["answers", "pooled_proportions", "proportions", "repeated", "scores"]

SIZES = (2, 5, 10, 20, 50, 100)
RATES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99, 1.0)
SCORES = np.arange(7) / 2
# Probabilities of the scores 0, ½, 1, 1½, 2, 2½, 3.
SCORE_DISTRIBUTIONS: dict[str, tuple[float, ...]] = {
    "always wrong": (0, 0, 0, 1, 0, 0, 0),
    "always right": (0, 0, 0, 0, 0, 0, 1),
    "right, 1 in 100 fails": (0.01, 0, 0, 0, 0, 0, 0.99),
    "right, 1 in 20 fails": (0.05, 0, 0, 0, 0, 0, 0.95),
    "right, 1 in 10 wrong": (0, 0, 0, 0.1, 0, 0, 0.9),
    "right 3 in 4": (0, 0, 0, 0.25, 0, 0, 0.75),
    "coin toss, 1½ or 3": (0, 0, 0, 0.5, 0, 0, 0.5),
    "coin toss, 0 or 3": (0.5, 0, 0, 0, 0, 0, 0.5),
    "mostly wrong": (0, 0, 0.1, 0.75, 0, 0, 0.15),
    "three outcomes": (0.2, 0, 0, 0.4, 0, 0, 0.4),
    "code of mixed quality": (0, 0, 0.15, 0.25, 0.1, 0.2, 0.3),
    "spread out": (0.15, 0.1, 0.15, 0.2, 0.1, 0.15, 0.15),
}
ANSWER_DISTRIBUTIONS: dict[str, tuple[float, ...]] = {
    "one answer 9 in 10": (0.9, 0.1),
    "two answers, 7 : 3": (0.7, 0.3),
    "coin toss": (0.5, 0.5),
    "four answers, one common": (0.6, 0.2, 0.1, 0.1),
    "ten answers alike": (0.1,) * 10,
}
SEED = 1
"""Of the bootstraps inside: what is drawn is the cells."""
NAMES = {"bca": "BCa", "bayesian": "Bayesian"}


def proportions(_studies: int, resamples: int, _rng: np.random.Generator) -> list[Row]:
    """Accuracy of a cell: every interval for every possible count, weighted by the binomial."""
    rows = []
    for n in SIZES:
        counts = np.arange(n + 1)
        by_method = {
            name: proportion_bounds(counts, n, method=name) for name in ("wilson", "clopper-pearson", "jeffreys")
        }
        samples = [np.repeat([0.0, 1.0], [n - x, x]) for x in counts]
        for method in get_args(BootstrapMethod):
            intervals = bootstrap_intervals(samples, weighted_mean, seed=SEED, method=method, resamples=resamples)
            by_method[f"{NAMES.get(method, method)} bootstrap"] = ends(intervals)
        for method, (low, high) in by_method.items():
            for rate in RATES:
                weights = stats.binom.pmf(counts, n, rate)
                rows.append(row("accuracy", method, f"p = {rate:g}", n, rate, low, high, weights, exact=True))
            # What a bank meets is many rates: the mean over all of them.
            grid = np.linspace(0.0005, 0.9995, 1000)
            per_rate = [row("", "", "", n, p, low, high, stats.binom.pmf(counts, n, p), exact=True) for p in grid]
            mean = pd.DataFrame(per_rate).drop(columns=["statistic", "method", "distribution"]).mean()
            rows.append(
                {"statistic": "accuracy", "method": method, "distribution": "mean over p from 0 to 1"}
                | mean.to_dict()
                | {"n": n, "truth": np.nan}
            )
    return rows


def repeated(_studies: int, _resamples: int, _rng: np.random.Generator) -> list[Row]:
    """pass@5 and pass^5: the Wilson interval for p, mapped."""
    rows = []
    for n in SIZES:
        counts = np.arange(n + 1)
        for name, needed in (("pass@5", 1), ("pass^5", 5)):
            low, high = ends([pass_interval(n, int(x), 5, needed) for x in counts])
            for rate in RATES:
                truth = float(stats.binom.sf(needed - 1, 5, rate))
                weights = stats.binom.pmf(counts, n, rate)
                rows.append(row(name, "wilson, mapped", f"p = {rate:g}", n, truth, low, high, weights, exact=True))
    return rows


def draws(
    rng: np.random.Generator, probabilities: Sequence[float], n: int, cells: int
) -> tuple[list[np.ndarray], np.ndarray]:
    """Draw cells of n runs; return the distinct ones (indices of outcomes, sorted) and how often each came."""
    counts = rng.multinomial(n, probabilities, size=cells)
    distinct, times = np.unique(counts, axis=0, return_counts=True)
    return [np.repeat(np.arange(len(probabilities)), c) for c in distinct], times.astype(np.float64)


def scores(studies: int, resamples: int, rng: np.random.Generator) -> list[Row]:
    """σ̄ of a cell: the bare bootstraps, and the interval that dsqa reports."""
    rows = []
    for name, probabilities in SCORE_DISTRIBUTIONS.items():
        p = np.array(probabilities)
        truth = float(np.sqrt(max(p @ SCORES**2 - (p @ SCORES) ** 2, 0.0)) / 1.5)
        for n in SIZES:
            samples, times = draws(rng, probabilities, n, studies)
            values = [SCORES[sample] for sample in samples]
            for method in get_args(BootstrapMethod):
                low, high = ends(
                    bootstrap_intervals(values, weighted_sd, seed=SEED, method=method, resamples=resamples)
                )
                label = f"{NAMES.get(method, method)} bootstrap"
                rows.append(row("instability", label, name, n, truth, low / 1.5, high / 1.5, times))
            low, high = ends(instability_intervals(values, seed=SEED, resamples=resamples))
            rows.append(
                row("instability", "reported: BCa, exact and unseen outcomes", name, n, truth, low, high, times)
            )
    return rows


def answers(studies: int, resamples: int, rng: np.random.Generator) -> list[Row]:
    """Agreement of the parsed answers: share of the commonest, entropy, Gini–Simpson."""
    rows = []
    for name, probabilities in ANSWER_DISTRIBUTIONS.items():
        p = np.array(probabilities)
        truths = {
            "modal_share": p.max(),
            "entropy": float(-(p * np.log2(p)).sum()),
            "gini_simpson": float(1 - (p**2).sum()),
        }
        for n in SIZES:
            samples, times = draws(rng, probabilities, n, max(studies // 4, 1))
            keys = [[f"a{code}" for code in sample] for sample in samples]
            for statistic, truth in truths.items():
                intervals = [
                    attempt(lambda k=k, s=statistic: answer_interval(k, s, seed=SEED, resamples=resamples))
                    for k in keys
                ]
                low, high = ends(intervals)
                method = next((i.method.split(",")[0] for i in intervals if i is not None), "not available")
                rows.append(row(statistic, method, name, n, float(truth), low, high, times))
    return rows


def pooled_proportions(studies: int, _resamples: int, rng: np.random.Generator) -> list[Row]:
    """Accuracy over 20 questions of different difficulty: beta-binomial beside a Wilson that ignores it."""
    rows = []
    for rho in (0.1, 0.5):
        for mean in (0.2, 0.5):
            a, b = mean * (1 / rho - 1), (1 - mean) * (1 / rho - 1)
            name = f"20 questions, μ = {mean:g}, ρ = {rho:g}"
            for n in SIZES:
                right = rng.binomial(n, rng.beta(a, b, size=(max(studies // 4, 1), 20)))
                times = np.ones(len(right))
                fitted = [attempt(lambda x=x, n=n: beta_binomial(x, np.full(20, n)).interval) for x in right]
                low, high = ends(fitted)
                rows.append(row("pooled accuracy", "beta-binomial", name, n, mean, low, high, times))
                low, high = proportion_bounds(right.sum(axis=1), 20 * n)
                rows.append(row("pooled accuracy", "wilson on all runs", name, n, mean, low, high, times))
    return rows
