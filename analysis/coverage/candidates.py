"""Candidate intervals, many studies at once: arrays (studies, questions) in, ends of shape (studies,) out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special, stats

from analysis.coverage.tables import Ends
from dsqa.stats.over_questions import FEWEST_QUESTIONS
from dsqa.stats.ties import too_few_differ

__all__ = ["BOOTSTRAPS", "bootstraps", "jackknife", "resampled_sums", "strata", "student", "unrefused"]

T = "Student t"
BOOTSTRAPS = ("percentile bootstrap", "BCa bootstrap", "studentised bootstrap")
LEVEL = 0.95
_TAILS = np.array([0.025, 0.975])


def unrefused(values: np.ndarray) -> np.ndarray:
    """Return which studies get an interval over questions at all, as `dsqa.stats.over_questions` decides it."""
    if values.shape[1] < FEWEST_QUESTIONS:
        return np.zeros(len(values), dtype=bool)
    spread = np.ptp(values, axis=1) > 1e-9
    # The rule asks whether most values are equal, which few studies are.
    middle = np.median(values, axis=1, keepdims=True)
    doubtful = spread & ((np.abs(values - middle) < 1e-9).sum(axis=1) > values.shape[1] // 2)
    for at in np.flatnonzero(doubtful):
        spread[at] = too_few_differ(values[at]) is None
    return spread


def student(values: np.ndarray, *, refuse: bool = True) -> Ends:
    """Return Student's t; without `refuse` also where the package gives none."""
    q = values.shape[1]
    centre, spread = values.mean(axis=1), values.std(axis=1, ddof=1)
    half = stats.t.ppf(_TAILS[1], q - 1) * spread / np.sqrt(q)
    half = np.where(unrefused(values) if refuse else spread > 1e-9, half, np.nan)
    return centre - half, centre + half


def bootstraps(values: np.ndarray, rng: np.random.Generator, resamples: int) -> dict[str, Ends]:
    """Return percentile, BCa and studentised bootstrap intervals over questions, where questions differ."""
    q = values.shape[1]
    centre = values.mean(axis=1)
    spread = values.std(axis=1) > 1e-9
    weights = rng.multinomial(q, np.full(q, 1 / q), resamples).astype(float)
    means = values @ weights.T / q
    ordered = np.sort(means, axis=1)
    out = {BOOTSTRAPS[0]: (_at(ordered, _TAILS[0]), _at(ordered, _TAILS[1]))}
    tie = 1e-12
    below = ((means < centre[:, None] - tie).mean(axis=1) + (means <= centre[:, None] + tie).mean(axis=1)) / 2
    moved = values - centre[:, None]
    with np.errstate(all="ignore"):
        a = (moved**3).sum(axis=1) / (6 * (moved**2).sum(axis=1) ** 1.5)
        z0 = special.ndtri(below)[:, None]
        shifted = z0 + special.ndtri(_TAILS)
        levels = special.ndtr(z0 + shifted / (1 - a[:, None] * shifted))
    levels = np.where(np.isfinite(levels), levels, 0.5)
    out[BOOTSTRAPS[1]] = (_at(ordered, levels[:, 0]), _at(ordered, levels[:, 1]))
    variance = np.maximum(values**2 @ weights.T / q - means**2, 0)
    with np.errstate(all="ignore"):
        t = np.where(np.abs(means - centre[:, None]) < tie, 0.0, (means - centre[:, None]) / np.sqrt(variance / q))
    t = np.sort(t, axis=1)
    error = values.std(axis=1) / np.sqrt(q)
    pair = centre - _at(t, _TAILS[1]) * error, centre - _at(t, _TAILS[0]) * error
    finite = np.isfinite(pair[0]) & np.isfinite(pair[1])
    out[BOOTSTRAPS[2]] = (np.where(finite, pair[0], np.nan), np.where(finite, pair[1], np.nan))
    return {name: (np.where(spread, lo, np.nan), np.where(spread, hi, np.nan)) for name, (lo, hi) in out.items()}


def _at(ordered: np.ndarray, level: float | np.ndarray) -> np.ndarray:
    size = ordered.shape[1]
    index = np.clip(np.ceil(np.broadcast_to(level, len(ordered)) * size - 1e-9).astype(int) - 1, 0, size - 1)
    return np.take_along_axis(ordered, index[:, None], axis=1)[:, 0]


def strata(centre: np.ndarray, variances: np.ndarray, sizes: np.ndarray | int) -> Ends:
    """Return t on Satterthwaite's degrees of freedom; variances of the weighted cell values, (studies, cells)."""
    total = variances.sum(axis=1)
    with np.errstate(all="ignore"):
        freedom = total**2 / (variances**2 / (np.asarray(sizes) - 1)).sum(axis=1)
    quantile = stats.t.ppf(_TAILS[1], np.where(np.isfinite(freedom), np.maximum(freedom, 1), 1))
    half = np.where(total > 1e-18, quantile * np.sqrt(total), np.nan)
    return centre - half, centre + half


def resampled_sums(
    sums: np.ndarray, statistic: Callable[[np.ndarray], np.ndarray], rng: np.random.Generator, resamples: int
) -> Ends:
    """Return the percentile bootstrap over clusters of a statistic of sums, shape (studies, clusters, k)."""
    g = sums.shape[1]
    weights = rng.multinomial(g, np.full(g, 1 / g), resamples).astype(float)
    draws = statistic(np.einsum("bg,sgk->sbk", weights, sums))
    with np.errstate(all="ignore"):
        lost = np.isnan(draws).mean(axis=1) > 0.5
        draws = np.where(lost[:, None], 0.0, draws)
        low, high = np.nanquantile(draws, _TAILS, axis=1)
    return np.where(lost, np.nan, low), np.where(lost, np.nan, high)


def jackknife(value: np.ndarray, without: np.ndarray, scale: str = "plain") -> Ends:
    """Return t on the jackknife's error, as `dsqa.stats.jackknife`: `without` has the shape (studies, clusters)."""
    g = without.shape[1]
    forward, back = {"plain": (_same, _same), "fisher": (_arctanh, np.tanh), "log": (_log, np.exp)}[scale]
    centre, others = forward(value), forward(without)
    proper = np.isfinite(centre) & np.isfinite(others).all(axis=1)
    centre = np.where(proper, centre, value)
    others = np.where(proper[:, None], others, without)
    error = np.sqrt((g - 1) / g * ((others - others.mean(axis=1, keepdims=True)) ** 2).sum(axis=1))
    half = np.where(error > 1e-10, stats.t.ppf(_TAILS[1], g - 1) * error, np.nan)
    low, high = centre - half, centre + half
    return np.where(proper, back(low), low), np.where(proper, back(np.minimum(high, 700)), high)


def _same(values: np.ndarray) -> np.ndarray:
    return values


def _arctanh(values: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.where(np.abs(values) < 1 - 1e-10, np.arctanh(values), np.nan)


def _log(values: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.where(values > 0, np.log(values), np.nan)
