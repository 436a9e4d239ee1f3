"""How often does each interval that dsqa offers hold the truth? The table behind every default.

    python -m analysis.coverage [--cells 2000] [--resamples 1999] [--seed 20240611] [--quick]

Writes analysis/results/coverage.csv (one row per statistic, method, distribution and N) and docs/coverage.md made
from it. Proportions are enumerated, not simulated: their coverage is exact. The rest is simulated, `--cells` cells a
row, so a coverage of 95 % has a Monte Carlo error of 0.5 points at 2,000. Nominal coverage is 95 % throughout.

An interval that is "not available" (all answers equal, where a bootstrap knows nothing) is no miss: its share is a
column of its own, and coverage is among those that were given.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
from scipy import stats

from analysis.coverage_page import write_page
from dsqa.errors import StatisticsError
from dsqa.stats import (
    BootstrapMethod,
    Interval,
    answer_interval,
    beta_binomial,
    bootstrap_intervals,
    instability_intervals,
    nested_interval,
    pass_interval,
    proportion_bounds,
    weighted_mean,
    weighted_sd,
)

RESULTS = Path(__file__).parent / "results" / "coverage.csv"
SIZES = (5, 10, 20, 50, 100)
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
NAMES = {"bca": "BCa", "bayesian": "Bayesian"}
Row = dict[str, object]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=2000)
    parser.add_argument("--resamples", type=int, default=1999)
    parser.add_argument("--seed", type=int, default=20240611)
    parser.add_argument("--quick", action="store_true", help="N = 5 and 20 only, nothing written")
    chosen = parser.parse_args()
    sizes = (5, 20) if chosen.quick else SIZES
    rows: list[Row] = []
    for part in (proportions, repeated, scores, answers, question_means, pooled_proportions):
        begun = time.perf_counter()
        # A stream of its own for every part: adding one does not change the others.
        rng = np.random.default_rng([chosen.seed, *part.__name__.encode()])
        rows += part(sizes, chosen.cells, chosen.resamples, chosen.seed, rng)
        print(f"{part.__name__}: {time.perf_counter() - begun:.0f} s", file=sys.stderr)
    table = pd.DataFrame(rows)
    if chosen.quick:
        print(table.groupby(["statistic", "method", "n"], sort=False)["coverage"].agg(["mean", "min"]).to_string())
        return
    RESULTS.parent.mkdir(exist_ok=True)
    table.round(4).to_csv(RESULTS, index=False)
    write_page(pd.read_csv(RESULTS))


def row(
    statistic: str,
    method: str,
    distribution: str,
    n: int,
    truth: float,
    low: np.ndarray,
    high: np.ndarray,
    weights: np.ndarray,
    *,
    exact: bool = False,
) -> Row:
    """Return one row of the table from interval ends and how much each of them counts."""
    given = np.isfinite(low) & np.isfinite(high)
    share = weights[given] / max(weights[given].sum(), 1e-300)
    # The end points come out of arithmetic that may be off by a last digit where the truth lies exactly on them.
    slack = 1e-12
    below, above = truth < low[given] - slack, truth > high[given] + slack
    covered = 1 - float(share @ (below | above))
    known = bool(given.any())
    return {
        "statistic": statistic,
        "method": method,
        "distribution": distribution,
        "n": n,
        "truth": truth,
        "coverage": covered if known else np.nan,
        "truth_below": float(share @ below) if known else np.nan,
        "truth_above": float(share @ above) if known else np.nan,
        "mean_width": float(share @ (high[given] - low[given])) if known else np.nan,
        "not_available": float(1 - weights[given].sum() / weights.sum()),
        "standard_error": 0.0
        if exact
        else float(np.sqrt(max(covered * (1 - covered), 0) / max(weights[given].sum(), 1))),
    }


def ends(intervals: Sequence[Interval | None]) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of intervals as two arrays, NaN where there is none."""
    pairs = [(np.nan, np.nan) if i is None else (i.low, i.high) for i in intervals]
    low, high = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    return low, high


def attempt(make: Callable[[], Interval]) -> Interval | None:
    """Return an interval, or None where the estimator refuses."""
    try:
        return make()
    except StatisticsError:
        return None


def proportions(sizes: Sequence[int], _cells: int, resamples: int, seed: int, _rng: np.random.Generator) -> list[Row]:
    """Accuracy of a cell: every interval for every possible count, weighted by the binomial."""
    rows = []
    for n in sizes:
        counts = np.arange(n + 1)
        by_method = {
            name: proportion_bounds(counts, n, method=name) for name in ("wilson", "clopper-pearson", "jeffreys")
        }
        samples = [np.repeat([0.0, 1.0], [n - x, x]) for x in counts]
        for method in get_args(BootstrapMethod):
            intervals = bootstrap_intervals(samples, weighted_mean, seed=seed, method=method, resamples=resamples)
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


def repeated(sizes: Sequence[int], _cells: int, _resamples: int, _seed: int, _rng: np.random.Generator) -> list[Row]:
    """pass@5 and pass^5: the Wilson interval for p, mapped."""
    rows = []
    for n in sizes:
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


def scores(sizes: Sequence[int], cells: int, resamples: int, seed: int, rng: np.random.Generator) -> list[Row]:
    """σ̄ of a cell: the bare bootstraps, and the interval that dsqa reports."""
    rows = []
    for name, probabilities in SCORE_DISTRIBUTIONS.items():
        p = np.array(probabilities)
        truth = float(np.sqrt(max(p @ SCORES**2 - (p @ SCORES) ** 2, 0.0)) / 1.5)
        for n in sizes:
            samples, times = draws(rng, probabilities, n, cells)
            values = [SCORES[sample] for sample in samples]
            for method in get_args(BootstrapMethod):
                low, high = ends(
                    bootstrap_intervals(values, weighted_sd, seed=seed, method=method, resamples=resamples)
                )
                label = f"{NAMES.get(method, method)} bootstrap"
                rows.append(row("instability", label, name, n, truth, low / 1.5, high / 1.5, times))
            low, high = ends(instability_intervals(values, seed=seed, resamples=resamples))
            rows.append(
                row("instability", "reported: BCa, exact and unseen outcomes", name, n, truth, low, high, times)
            )
    return rows


def answers(sizes: Sequence[int], cells: int, resamples: int, seed: int, rng: np.random.Generator) -> list[Row]:
    """Agreement of the parsed answers: share of the commonest, entropy, Gini–Simpson."""
    rows = []
    for name, probabilities in ANSWER_DISTRIBUTIONS.items():
        p = np.array(probabilities)
        truths = {
            "modal_share": p.max(),
            "entropy": float(-(p * np.log2(p)).sum()),
            "gini_simpson": float(1 - (p**2).sum()),
        }
        for n in sizes:
            samples, times = draws(rng, probabilities, n, min(cells, 500))
            keys = [[f"a{code}" for code in sample] for sample in samples]
            for statistic, truth in truths.items():
                intervals = [
                    attempt(lambda k=k, s=statistic: answer_interval(k, s, seed=seed, resamples=resamples))
                    for k in keys
                ]
                low, high = ends(intervals)
                method = next((i.method.split(",")[0] for i in intervals if i is not None), "not available")
                rows.append(row(statistic, method, name, n, float(truth), low, high, times))
    return rows


def question_means(
    _sizes: Sequence[int], cells: int, resamples: int, seed: int, rng: np.random.Generator
) -> list[Row]:
    """A mean over questions (instability by category and level): questions resampled; N is their number."""
    rows = []
    shapes = {"most questions stable": (0.5, 2.0), "evenly spread": (1.0, 1.0), "either or": (0.3, 0.3)}
    for name, (a, b) in shapes.items():
        for n in (5, 10, 20, 41, 100):
            samples = list(rng.beta(a, b, size=(cells, n)))
            times = np.ones(cells)
            for method in get_args(BootstrapMethod):
                low, high = ends(
                    bootstrap_intervals(samples, weighted_mean, seed=seed, method=method, resamples=resamples)
                )
                label = f"{NAMES.get(method, method)} bootstrap"
                rows.append(row("mean over questions", label, name, n, a / (a + b), low, high, times))
            grid = np.stack(samples)
            half = stats.t(n - 1).ppf(0.975) * grid.std(axis=1, ddof=1) / np.sqrt(n)
            means = grid.mean(axis=1)
            rows.append(
                row("mean over questions", "Student t", name, n, a / (a + b), means - half, means + half, times)
            )
            part = samples[: min(cells, 400)]
            nested = [
                attempt(lambda s=s: nested_interval([[v] for v in s], seed=seed, resamples=resamples)) for s in part
            ]
            low, high = ends(nested)
            label = "nested: questions, percentile"
            rows.append(row("mean over questions", label, name, n, a / (a + b), low, high, times[: len(part)]))
    return rows


def pooled_proportions(
    sizes: Sequence[int], cells: int, _resamples: int, _seed: int, rng: np.random.Generator
) -> list[Row]:
    """Accuracy over 20 questions of different difficulty: beta-binomial beside a Wilson that ignores it."""
    rows = []
    for rho in (0.1, 0.5):
        for mean in (0.2, 0.5):
            a, b = mean * (1 / rho - 1), (1 - mean) * (1 / rho - 1)
            name = f"20 questions, μ = {mean:g}, ρ = {rho:g}"
            for n in sizes:
                right = rng.binomial(n, rng.beta(a, b, size=(min(cells, 200), 20)))
                times = np.ones(len(right))
                fitted = [attempt(lambda x=x, n=n: beta_binomial(x, np.full(20, n)).interval) for x in right]
                low, high = ends(fitted)
                rows.append(row("pooled accuracy", "beta-binomial", name, n, mean, low, high, times))
                low, high = proportion_bounds(right.sum(axis=1), 20 * n)
                rows.append(row("pooled accuracy", "wilson on all runs", name, n, mean, low, high, times))
    return rows


if __name__ == "__main__":
    main()
