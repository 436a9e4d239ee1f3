"""How precise a mean over questions will be, for so many questions and so many runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from dsqa.errors import StatisticsError
from dsqa.stats.interval import check_level
from dsqa.stats.planning.pilot import Pilot
from dsqa.stats.planning.simulate import check_plan, simulated_means
from dsqa.stats.streams import DEFAULT_SEED, stream

__all__ = ["plan_precision"]


def plan_precision(
    pilot: Pilot,
    *,
    metric: str = "accuracy",
    target: float,
    questions: Sequence[int],
    runs: Sequence[int],
    seed: int = DEFAULT_SEED,
    level: float = 0.95,
    simulations: int = 500,
) -> pd.DataFrame:
    """Simulate studies and say how wide the interval of their headline number is.

    Estimand: the half-width of Student's t interval for the mean over questions of a condition, questions being a
    sample of many: t(Q − 1) · s/√Q, s the SD of the question means.

    Parameters
    ----------
    pilot
        From `read_pilot`.
    metric
        ``accuracy`` (in [0, 1]) or ``score`` (in [0, 3]).
    target
        The half-width that is wanted, in the metric's unit.
    questions, runs
        The numbers to try; every combination is a row per condition.
    seed, simulations
        Of the simulated studies.
    level
        Of the interval.

    Returns
    -------
    pandas.DataFrame
        condition, questions, runs, requests (questions × runs), half_width (mean over the simulated studies),
        half_width_90 (nine studies in ten are narrower), assurance (share of studies that reach the target),
        standard_error (SD of the simulated means).

    Raises
    ------
    StatisticsError
        A setting is out of range.
    """
    check_level(level)
    check_plan(metric, questions, runs, simulations)
    if not target > 0:
        raise StatisticsError(f"the half-width to reach must be above 0, got {target:g}")
    rows = []
    for q in questions:
        t = float(stdtrit(q - 1, (1 + level) / 2))
        for n in runs:
            rng = stream(seed, "plan precision", q, n)
            means = simulated_means(pilot, metric, questions=q, runs=n, simulations=simulations, rng=rng)
            widths = t * means.std(axis=1, ddof=1) / np.sqrt(q)
            errors = means.mean(axis=1).std(axis=0, ddof=1)
            rows += [
                {
                    "condition": name,
                    "questions": q,
                    "runs": n,
                    "requests": q * n,
                    "half_width": widths[:, i].mean(),
                    "half_width_90": np.quantile(widths[:, i], 0.9),
                    "assurance": (widths[:, i] <= target).mean(),
                    "standard_error": errors[i],
                }
                for i, name in enumerate(pilot.conditions)
            ]
    return pd.DataFrame(rows)
