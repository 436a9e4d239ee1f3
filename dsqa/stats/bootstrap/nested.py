"""The bootstrap for runs within questions: which of the two is resampled is the estimand's business.

===========  ==========================================================================================
runs         these questions, other runs: draws runs within each question
questions    other questions, runs coming along with them: draws questions, keeps their runs. The whole
             variance is in it, since a question's observed value carries the noise of its runs
             (Davison & Hinkley 1997, section 3.8, strategy 1); the default
both         draws questions, then runs within each drawn copy. Counts the noise of runs twice, so it is
             too wide by σ²_run/(questions · runs) in the variance; offered because others report it
===========  ==========================================================================================

Paired across models: pass each question's difference as a sample of one value and resample questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from dsqa.errors import StatisticsError
from dsqa.stats.bootstrap.resampling import count_weights
from dsqa.stats.bootstrap.statistics import Statistic, weighted_mean
from dsqa.stats.interval import Interval, as_sample, check_level, level_text
from dsqa.stats.streams import DEFAULT_SEED, stream

__all__ = ["Resample", "nested_interval"]

Resample = Literal["runs", "questions", "both"]


def nested_interval(
    questions: Sequence[ArrayLike],
    statistic: Statistic = weighted_mean,
    *,
    seed: int = DEFAULT_SEED,
    resample: Resample = "questions",
    method: Literal["percentile", "basic"] = "percentile",
    level: float = 0.95,
    resamples: int = 9999,
) -> Interval:
    """Return an interval for the mean over questions of a statistic of each question's runs.

    Parameters
    ----------
    questions
        The values of each question's runs, of any lengths. The order of questions and of runs within them
        does not change the distribution drawn from; sorting makes it not change the draw either.
    statistic
        Of one question's runs: `weighted_mean`, `weighted_sd`, or any function of values and weights.
    seed
        Fixes the draw.
    resample
        What is drawn again; see the table at the top of the module.
    method
        "basic" mirrors the distribution around the estimate. A statistic such as the SD is too low in every
        resample of runs; averaging over questions keeps that bias while the spread shrinks, so with "runs"
        or "both" the percentile rule can miss and "basic" is the better choice.
    level, resamples
        Nominal coverage and number of draws.

    Raises
    ------
    StatisticsError
        Fewer than two questions for "questions" or "both", no variation, missing values, or a setting out
        of range.
    """
    check_level(level)
    if resample not in get_args(Resample):
        raise StatisticsError(f"cannot resample '{resample}'", hint=", ".join(get_args(Resample)))
    if method not in ("percentile", "basic"):
        raise StatisticsError(f"unknown method '{method}'", hint="percentile or basic")
    if resamples < 2 / (1 - level):
        raise StatisticsError(f"{resamples} resamples are too few for {level_text(level)} ends", hint="9999 is usual")
    samples = sorted((as_sample(values, what="values") for values in questions), key=lambda s: (s.size, s.tolist()))
    count = len(samples)
    if count < (1 if resample == "runs" else 2):
        raise StatisticsError("at least two questions are needed to resample questions")
    observed = np.array([float(statistic(sample, np.ones(sample.size))) for sample in samples])
    rng = stream(seed, "nested bootstrap", resample, count)
    chosen = (
        np.broadcast_to(np.arange(count), (resamples, count))
        if resample == "runs"
        else rng.integers(0, count, (resamples, count))
    )
    if resample == "questions":
        draws = observed[chosen].mean(axis=1)
    else:
        # A pool of within-question resamples each; every drawn copy takes one of its own.
        sizes = {sample.size for sample in samples}
        weights = {size: count_weights(size, resamples, seed) for size in sizes}
        pools = np.stack([statistic(sample, weights[sample.size]) for sample in samples])
        draws = pools[chosen, rng.integers(0, resamples, (resamples, count))].mean(axis=1)
    if np.ptp(draws) == 0:
        raise StatisticsError("every resample gives the same value: the bootstrap knows nothing here")
    tails = [(1 - level) / 2, (1 + level) / 2]
    low, high = (float(end) for end in np.quantile(draws, tails, method="inverted_cdf"))
    if method == "basic":
        low, high = 2 * float(observed.mean()) - high, 2 * float(observed.mean()) - low
    what = {"runs": "runs within questions", "questions": "questions", "both": "questions and runs"}[resample]
    return Interval(low, high, level, f"{method} bootstrap over {what}, {resamples:,} resamples")
