"""Bootstrap intervals for many samples at once.

Two routes to the bootstrap distribution, chosen per sample:

- *exact*: n observations with d distinct values have C(n+d−1, d−1) different resamples. Where that is
  no more than `resamples`, all are listed with their multinomial probabilities: the R = ∞ bootstrap,
  cheaper than drawing and without Monte Carlo error. Scores have few distinct values, so this is common.
- *drawn*: otherwise `resamples` rows of counts, shared by all samples of the same size.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from dsqa.errors import StatisticsError
from dsqa.stats.bootstrap.ends import BootstrapMethod, acceleration, interval_ends
from dsqa.stats.bootstrap.resampling import (
    compositions,
    count_weights,
    dirichlet_weights,
    number_of_compositions,
)
from dsqa.stats.bootstrap.statistics import MomentStatistic, Statistic, standard_errors, weighted_mean
from dsqa.stats.interval import FloatArray, Interval, as_sample, check_level, level_text
from dsqa.stats.streams import DEFAULT_SEED

__all__ = ["bootstrap_interval", "bootstrap_intervals"]

# Elements of one (samples × resamples) block: 4 MB, which stays in the cache.
_BLOCK = 500_000
_NAMES = {
    "percentile": "percentile",
    "basic": "basic",
    "bca": "BCa",
    "studentised": "studentised",
    "bayesian": "Bayesian",
}


def bootstrap_interval(
    values: ArrayLike,
    statistic: Statistic = weighted_mean,
    *,
    seed: int = DEFAULT_SEED,
    method: BootstrapMethod = "bca",
    level: float = 0.95,
    resamples: int = 9999,
) -> Interval:
    """Return a bootstrap interval for one sample; see `bootstrap_intervals`.

    Raises
    ------
    StatisticsError
        Fewer than two values, all values equal (every resample is then the sample itself and the
        bootstrap knows nothing), missing values, or a setting out of range.

    Examples
    --------
    >>> from dsqa.stats import weighted_sd
    >>> ci = bootstrap_interval([0, 3, 3, 1.5], weighted_sd, seed=1, method="percentile")
    >>> ci.method
    'percentile bootstrap, exact'
    """
    interval = bootstrap_intervals([values], statistic, seed=seed, method=method, level=level, resamples=resamples)[0]
    if not interval.available:
        raise StatisticsError(interval.note)
    return interval


def bootstrap_intervals(
    samples: Sequence[ArrayLike],
    statistic: Statistic = weighted_mean,
    *,
    seed: int = DEFAULT_SEED,
    method: BootstrapMethod = "bca",
    level: float = 0.95,
    resamples: int = 9999,
) -> list[Interval]:
    """Return a bootstrap interval per sample, resampling its values independently of the others.

    Parameters
    ----------
    samples
        1-D arrays of values, of any lengths. Row order within a sample does not matter.
    statistic
        A function of (values, weights), see `Statistic`; `weighted_mean` and `weighted_sd` are given.
    seed
        With the sample's size it fixes the draw; an interval does not depend on the other samples.
    method, level, resamples
        The rule, nominal coverage, and number of draws where the distribution is not listed in full.

    Returns
    -------
    list of Interval
        In the order of `samples`; not available (with the reason) where the bootstrap says nothing.

    Raises
    ------
    StatisticsError
        A sample is empty or holds missing values, or a setting is out of range.
    """
    check_level(level)
    if method not in get_args(BootstrapMethod):
        raise StatisticsError(f"unknown bootstrap method '{method}'", hint=f"one of {', '.join(_NAMES)}")
    if resamples < 2 / (1 - level):
        raise StatisticsError(f"{resamples} resamples are too few for {level_text(level)} ends", hint="9999 is usual")
    label = f"{_NAMES[method]} bootstrap"
    result: dict[int, Interval] = {}
    exact: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    drawn: defaultdict[int, list[int]] = defaultdict(list)
    sorted_samples = [as_sample(sample, what="values") for sample in samples]
    for i, sample in enumerate(sorted_samples):
        distinct = 1 + int(np.count_nonzero(np.diff(sample)))
        if sample.size < 2:
            result[i] = Interval.unavailable(level, label, "one value: its spread cannot be seen")
        elif distinct == 1:
            note = f"all {sample.size} values are equal: every resample is the sample itself"
            result[i] = Interval.unavailable(level, label, note)
        elif method != "bayesian" and number_of_compositions(sample.size, distinct) <= resamples:
            exact[(sample.size, distinct)].append(i)
        else:
            drawn[sample.size].append(i)
    for (size, distinct), members in exact.items():
        for block in _blocks(members, number_of_compositions(size, distinct)):
            cells = [sorted_samples[i] for i in block]
            ends = _exact_ends(cells, distinct, statistic, method, level)
            result |= _label(block, ends, level, f"{label}, exact")
    for size, members in drawn.items():
        make = dirichlet_weights if method == "bayesian" else count_weights
        weights = make(size, resamples, seed)
        for block in _blocks(members, resamples):
            cells = [sorted_samples[i] for i in block]
            ends = _drawn_ends(cells, weights, statistic, method, level)
            result |= _label(block, ends, level, f"{label}, {resamples:,} resamples")
    return [result[i] for i in range(len(sorted_samples))]


def _blocks(members: list[int], per_member: int) -> Iterator[list[int]]:
    step = max(1, _BLOCK // per_member)
    for start in range(0, len(members), step):
        yield members[start : start + step]


def _label(members: list[int], ends: tuple[FloatArray, FloatArray], level: float, method: str) -> dict[int, Interval]:
    out = {}
    for i, low, high in zip(members, *ends, strict=True):
        if np.isnan(low) or np.isnan(high):
            note = "the estimate lies outside of its bootstrap distribution, so the correction is undefined"
            if method.startswith("studentised"):
                note = "too many resamples have no spread to studentise by"
            out[i] = Interval.unavailable(level, method, note)
        else:
            out[i] = Interval(float(low), float(high), level, method)
    return out


def _evaluate(statistic: Statistic, values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the statistic for every cell (row of `values`) and every row of the shared `weights`."""
    if isinstance(statistic, MomentStatistic):
        shift = values.min(axis=1, keepdims=True)
        moved = values - shift
        return statistic.from_sums(weights.sum(axis=1), moved @ weights.T, moved**2 @ weights.T, shift)
    return np.stack([statistic(row, weights) for row in values])


def _observed(
    statistic: Statistic, values: FloatArray, counts: FloatArray, method: BootstrapMethod
) -> tuple[FloatArray, FloatArray | None]:
    """Return the estimates and, for BCa, the accelerations; one row of distinct values per cell."""
    estimate = np.array([statistic(v, c) for v, c in zip(values, counts, strict=True)])
    if method != "bca":
        return estimate, None
    # Observations with equal values have equal leave-one-out values: one each is enough.
    one_less = counts[:, None, :] - np.eye(counts.shape[1])
    jackknife = np.stack([statistic(v, w) for v, w in zip(values, one_less, strict=True)])
    return estimate, acceleration(jackknife, counts)


def _exact_ends(
    cells: list[FloatArray], distinct: int, statistic: Statistic, method: BootstrapMethod, level: float
) -> tuple[FloatArray, FloatArray]:
    size = cells[0].size
    pairs = [np.unique(cell, return_counts=True) for cell in cells]
    values = np.stack([value for value, _ in pairs])
    counts = np.stack([count for _, count in pairs]).astype(np.float64)
    weights, orders = compositions(size, distinct)
    probabilities = np.exp(orders + np.log(counts / size) @ weights.T)
    estimate, a = _observed(statistic, values, counts, method)
    errors = None
    if method == "studentised":
        spread = np.stack([standard_errors(statistic, row, weights) for row in values])
        own = [float(standard_errors(statistic, v, c)) for v, c in zip(values, counts, strict=True)]
        errors = (spread, np.array(own))
    return interval_ends(_evaluate(statistic, values, weights), probabilities, estimate, a, method, level, errors)


def _drawn_ends(
    cells: list[FloatArray],
    weights: FloatArray,
    statistic: Statistic,
    method: BootstrapMethod,
    level: float,
) -> tuple[FloatArray, FloatArray]:
    estimates, accelerations = [], []
    for cell in cells:
        value, count = np.unique(cell, return_counts=True)
        estimate, a = _observed(statistic, value[None], count[None].astype(np.float64), method)
        estimates.append(estimate[0])
        accelerations.append(0.0 if a is None else float(a[0]))
    draws = _evaluate(statistic, np.stack(cells), weights)
    errors = None
    if method == "studentised":
        spread = np.stack([standard_errors(statistic, cell, weights) for cell in cells])
        errors = (spread, np.array([float(standard_errors(statistic, cell, np.ones(cell.size))) for cell in cells]))
    return interval_ends(draws, None, np.array(estimates), np.array(accelerations), method, level, errors)
