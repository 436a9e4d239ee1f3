"""Which is best, and how likely: ranks over bootstrap resamples of questions and runs.

In each resample of questions (the same for all models) and of runs within them, the models are ranked by their
mean. The share of resamples in which a model comes first, ties shared, is its *probability of being best*: a
confidence statement about the ranking (Efron & Tibshirani 1998, "the problem of regions"), close to a posterior
under a flat prior, not a p value. With two models it is about one minus the one-sided p value of their
difference. It says nothing about how much better: see the differences.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from dsqa.errors import StatisticsError
from dsqa.stats.bootstrap import Resample
from dsqa.stats.comparison.layout import Paired
from dsqa.stats.comparison.paired import DIGITS, resampled_means
from dsqa.stats.interval import check_level
from dsqa.stats.streams import DEFAULT_SEED

__all__ = ["probability_best"]


def probability_best(
    paired: Paired,
    *,
    seed: int = DEFAULT_SEED,
    resample: Resample = "both",
    level: float = 0.95,
    resamples: int = 9999,
) -> pd.DataFrame:
    """Return each label's probability of being best, and its rank.

    Parameters
    ----------
    paired
        From `pair_by_question`.
    seed, level, resamples
        Of the bootstrap.
    resample
        "both" questions and runs; "questions" or "runs" alone, see `dsqa.stats.comparison.paired`.

    Returns
    -------
    pandas.DataFrame
        label, estimate (its mean over questions), probability_best (adding up to 1), expected_rank (1 is best),
        rank_low, rank_high (the ends between which its rank lies in a share `level` of resamples).

    Raises
    ------
    StatisticsError
        One question, unless only runs are resampled.

    Examples
    --------
    >>> from dsqa.stats.comparison import pair_by_question
    >>> rows = [(f"q{q}", m, r) for q in range(6) for m, r in (("a", 1), ("b", q % 2))]
    >>> table = pd.DataFrame(rows, columns=["question_id", "model", "accuracy"])
    >>> best = probability_best(pair_by_question(table), seed=1, resamples=999)
    >>> bool(best["probability_best"][0] > 0.98)
    True
    """
    check_level(level)
    if len(paired.values) < 2 and resample != "runs":
        raise StatisticsError("one question: whether a model is best on others cannot be seen")
    draws = np.round(resampled_means(paired, resample=resample, resamples=resamples, seed=seed), DIGITS)
    goodness = -draws if paired.low_is_better else draws
    first = goodness == goodness.max(axis=1, keepdims=True)
    share = (first / first.sum(axis=1, keepdims=True)).mean(axis=0)
    ranks = stats.rankdata(-goodness, axis=1)
    low, high = np.quantile(ranks, [(1 - level) / 2, (1 + level) / 2], axis=0, method="inverted_cdf")
    return pd.DataFrame(
        {
            "label": list(paired.labels),
            "estimate": paired.values.mean(axis=0),
            "probability_best": share,
            "expected_rank": ranks.mean(axis=0),
            "rank_low": low,
            "rank_high": high,
        }
    )
