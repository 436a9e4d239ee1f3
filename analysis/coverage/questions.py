"""Means over questions and differences between two conditions: for other questions, and for these very ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import special

from analysis.coverage.candidates import bootstraps, strata, student
from analysis.coverage.tables import Row, rows_of
from dsqa.stats import proportion_bounds

__all__ = ["QUESTIONS", "RUNS", "changes", "differences", "means", "these_questions"]

QUESTIONS = (2, 3, 5, 10, 20, 41, 100)
RUNS = (2, 5, 10, 30, 100)
FAILS = 0.03
"""Share of runs that fail: score 0. Others score 1½, or 3 where they are right."""
_MANY = 200_000
Shape = Callable[[np.random.Generator, tuple[int, ...]], tuple[np.ndarray, np.ndarray]]


def _same(draw: Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]) -> Shape:
    def make(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        p = draw(rng, shape)
        return p, p

    return make


def _extreme(rng: np.random.Generator, shape: tuple[int, ...], share: float = 0.6) -> np.ndarray:
    u = rng.random(shape)
    return np.where(u < share / 2, 1.0, np.where(u < share, 0.0, rng.random(shape)))


def _shift(size: float, spread: float) -> Shape:
    def make(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        z = rng.normal(0, 2, shape)
        return special.expit(z + size + rng.normal(0, spread, shape)), special.expit(z)

    return make


def _moved(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    p = _extreme(rng, shape)
    odds = np.clip(p, 1e-12, 1 - 1e-12)
    return np.where((p > 0) & (p < 1), special.expit(special.logit(odds) + 1), p), p


PAIRS: dict[str, Shape] = {
    "none: rates from 0 to 1": _same(lambda rng, s: rng.random(s)),
    "none: most near 0 or 1": _same(lambda rng, s: rng.beta(0.3, 0.3, s)),
    "none: 6 in 10 always right or wrong": _same(_extreme),
    "none: all at 0.02": _same(lambda rng, s: np.full(s, 0.02)),
    "none: 0.99, one in ten 0.5": _same(lambda rng, s: np.where(rng.random(s) < 0.9, 0.99, 0.5)),
    "none on average": lambda rng, s: (rng.beta(0.5, 0.5, s), rng.beta(0.5, 0.5, s)),
    "small, log-odds 0.3": _shift(0.3, 0.0),
    "log-odds 1": _shift(1.0, 0.0),
    "log-odds 1, questions differ": _shift(1.0, 1.5),
    "log-odds 1, 6 in 10 always alike": _moved,
    "0.1 against 0.3": lambda rng, s: (np.full(s, 0.3), np.full(s, 0.1)),
    "one in ten turns": lambda rng, s: ((rng.random(s) < 0.1) * 1.0, np.zeros(s)),
    "one in five gains 0.8": lambda rng, s: ((rng.random(s) < 0.2) * 0.8, np.zeros(s)),
}
RATES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "rates from 0 to 1": lambda rng, s: rng.random(s),
    "most near 0 or 1": lambda rng, s: rng.beta(0.3, 0.3, s),
    "mostly low": lambda rng, s: rng.beta(0.5, 2.0, s),
    "mostly high, as text similarity": lambda rng, s: rng.beta(8.0, 2.0, s),
    "6 in 10 always right or wrong": _extreme,
    "9 in 10 always right or wrong": lambda rng, s: _extreme(rng, s, 0.9),
    "8 in 10 always right": lambda rng, s: np.where(rng.random(s) < 0.8, 1.0, rng.random(s)),
    "all at 0.05": lambda rng, s: np.full(s, 0.05),
    "one in ten at 0.9": lambda rng, s: (rng.random(s) < 0.1) * 0.9,
}


def counts(rng: np.random.Generator, p: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how many of n runs failed and how many were right."""
    failed = rng.binomial(n, FAILS, p.shape)
    return failed, rng.binomial(n - failed, p)


def values(failed: np.ndarray, right: np.ndarray, n: int) -> dict[str, np.ndarray]:
    """Return accuracy, mean score and σ̄ of each cell."""
    first = (1.5 * (n - failed) + 1.5 * right) / n
    second = (2.25 * (n - failed) + 6.75 * right) / n
    return {
        "accuracy": right / n,
        "score": first,
        "σ̄": np.sqrt(np.maximum(second - first**2, 0.0)) / 1.5,
    }


def means(studies: int, resamples: int, rng: np.random.Generator) -> list[Row]:
    """A mean over questions; the truth is that of cells with as many runs."""
    rows = []
    for name, draw in RATES.items():
        for n in RUNS:
            many = values(*counts(rng, draw(rng, (_MANY,)), n), n)
            for q in QUESTIONS:
                own = values(*counts(rng, draw(rng, (studies, q)), n), n)
                for measure, sample in own.items():
                    top = 3.0 if measure == "score" else 1.0
                    by = {"Student t": student(sample)}
                    if n == 10 and measure == "accuracy":
                        by |= bootstraps(sample[: studies // 2], rng, resamples)
                    by = {method: (np.maximum(lo, 0), np.minimum(hi, top)) for method, (lo, hi) in by.items()}
                    truth = float(many[measure].mean())
                    rows += rows_of(f"mean of {measure} over questions", f"N = {n}: {name}", q, truth, by)
    return rows


def differences(studies: int, resamples: int, rng: np.random.Generator) -> list[Row]:
    """Differences between models or temperatures, paired by question, for other questions."""
    rows = []
    for name, draw in PAIRS.items():
        for n in RUNS:
            many = [values(*counts(rng, p, n), n) for p in draw(rng, (_MANY,))]
            for q in QUESTIONS:
                own = [values(*counts(rng, p, n), n) for p in draw(rng, (studies, q))]
                for measure in own[0]:
                    truth = 0.0
                    if not name.startswith("none"):
                        truth = float((many[0][measure] - many[1][measure]).mean())
                    d = own[0][measure] - own[1][measure]
                    by = {"Student t": student(d)}
                    if n == 10 and measure == "accuracy":
                        by |= bootstraps(d[: studies // 2], rng, resamples)
                    rows += rows_of(f"difference of {measure}", f"N = {n}: {name}", q, truth, by)
    return rows


def these_questions(studies: int, _resamples: int, rng: np.random.Generator) -> list[Row]:
    """Differences on these very questions, other runs of them: also the change between two studies."""
    rows = []
    for name, draw in PAIRS.items():
        for n, m in ((2, 2), (5, 5), (10, 10), (30, 30), (100, 100), (5, 30)):
            for q in QUESTIONS:
                # A fresh bank every tenth study: truths are those of the bank.
                banks = [np.repeat(p, 10, axis=0) for p in draw(rng, (max(studies // 10, 1), q))]
                pairs = [counts(rng, p, size) for p, size in zip(banks, (n, m), strict=True)]
                cells = [values(*pair, size) for pair, size in zip(pairs, (n, m), strict=True)]
                sizes = np.repeat([n, m], q)
                for measure, scale in (("accuracy", 1.0), ("score", 1.5)):
                    gap = (cells[0][measure] - cells[1][measure]).mean(axis=1)
                    truth = ((1 - FAILS) * (banks[0] - banks[1])).mean(axis=1) * scale
                    spreads = [_variance(cell, measure) for cell in cells]
                    unbiased = np.concatenate([v / (k - 1) for v, k in zip(spreads, (n, m), strict=True)], axis=1)
                    plain = np.concatenate([v / k for v, k in zip(spreads, (n, m), strict=True)], axis=1)
                    by = {"t, variances within cells": strata(gap, unbiased / q**2, sizes)}
                    half = 1.959964 * np.sqrt((plain / q**2).sum(axis=1))
                    half = np.where(half > 1e-9, half, np.nan)
                    by["runs drawn again, normal"] = (gap - half, gap + half)
                    if measure == "accuracy":
                        by["MOVER of Wilson's"] = _mover(gap, pairs, (n, m))
                    label = f"N = {n}: {name}" if n == m else f"N = {n} and {m}: {name}"
                    rows += rows_of(f"difference of {measure}, these questions", label, q, truth, by)
                if name.startswith("none:") and n == m and n >= 5:
                    rows += _spread(banks, pairs, n, f"N = {n}: {name}")
    return rows


def _variance(cell: dict[str, np.ndarray], measure: str) -> np.ndarray:
    if measure == "accuracy":
        return cell["accuracy"] * (1 - cell["accuracy"])
    return (1.5 * cell["σ̄"]) ** 2


def _mover(
    gap: np.ndarray, pairs: Sequence[tuple[np.ndarray, np.ndarray]], sizes: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    q = pairs[0][1].shape[1]
    shares = [right / n for (_, right), n in zip(pairs, sizes, strict=True)]
    bounds = [proportion_bounds(right, n) for (_, right), n in zip(pairs, sizes, strict=True)]
    down = (shares[0] - bounds[0][0]) ** 2 + (bounds[1][1] - shares[1]) ** 2
    up = (bounds[0][1] - shares[0]) ** 2 + (shares[1] - bounds[1][0]) ** 2
    return gap - np.sqrt(down.sum(axis=1)) / q, gap + np.sqrt(up.sum(axis=1)) / q


def _spread(
    banks: Sequence[np.ndarray], pairs: Sequence[tuple[np.ndarray, np.ndarray]], n: int, label: str
) -> list[Row]:
    """σ̄ of these questions under no change: the jackknife over runs of each cell, in closed form from the counts."""
    q = banks[0].shape[1]
    gap, variances = np.zeros(len(banks[0])), []
    for (failed, right), sign in zip(pairs, (1, -1), strict=True):
        whole = values(failed, right, n)["σ̄"]
        gap = gap + sign * whole.mean(axis=1)
        number = np.stack([failed, n - failed - right, right])
        without = np.stack(
            [
                values(failed - 1, right, n - 1)["σ̄"],
                values(failed, right, n - 1)["σ̄"],
                values(failed, right - 1, n - 1)["σ̄"],
            ]
        )
        without = np.where(number > 0, without, 0.0)
        mean = (number * without).sum(axis=0) / n
        variances.append((n - 1) / n * (number * (without - mean) ** 2).sum(axis=0))
    ends = strata(gap, np.concatenate(variances, axis=1) / q**2, n)
    return rows_of("difference of σ̄, these questions", label, q, 0.0, {"t, jackknife within cells": ends})


def changes(studies: int, _resamples: int, rng: np.random.Generator) -> list[Row]:
    """The change of σ̄ between two studies with unequal numbers of runs: as it is, and at equal numbers."""
    rows = []
    for name in ("none: rates from 0 to 1", "none: 6 in 10 always right or wrong"):
        for n, m in ((5, 30), (10, 30), (10, 100)):
            table = expected_table(m, n)
            for q in QUESTIONS:
                p, _ = PAIRS[name](rng, (studies, q))
                few, many = rng.binomial(n, p), rng.binomial(m, p)
                small = np.sqrt(few / n * (1 - few / n))
                by = {
                    "Student t, σ̄ as it is": student(np.sqrt(many / m * (1 - many / m)) - small),
                    "Student t, at equal numbers of runs": student(table[many] - small),
                }
                rows += rows_of("change of σ̄, unequal numbers of runs", f"N = {n} and {m}: {name}", q, 0.0, by)
    return rows


def expected_table(m: int, n: int) -> np.ndarray:
    """Return the expected σ̄ of n of m runs, by how many of the m are right: scores 1½ and 3."""
    right = np.arange(m + 1)[:, None]
    own = np.arange(n + 1)[None, :]
    logs = _choose(right, own) + _choose(m - right, n - own) - _choose(np.array(m), np.array(n))
    weights = np.where((own <= right) & (n - own <= m - right), np.exp(logs), 0.0)
    return np.asarray((weights * np.sqrt(own / n * (1 - own / n))).sum(axis=1))


def _choose(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(np.maximum(n - k, 0) + 1)
