"""Which difference between two conditions a study would find, paired by question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from dsqa.errors import StatisticsError
from dsqa.stats.interval import FloatArray, check_level
from dsqa.stats.planning.pilot import Pilot
from dsqa.stats.planning.simulate import check_plan, simulated_means
from dsqa.stats.streams import DEFAULT_SEED, stream

__all__ = ["plan_comparison", "power_curve"]


def plan_comparison(
    pilot: Pilot,
    *,
    metric: str = "accuracy",
    difference: float,
    questions: Sequence[int],
    runs: Sequence[int],
    seed: int = DEFAULT_SEED,
    level: float = 0.95,
    power: float = 0.8,
    simulations: int = 500,
) -> pd.DataFrame:
    """Simulate paired studies and say how often they would find a difference between two conditions.

    The test is the paired t test of the question means, two-sided at 1 − `level`. The differences of a simulated
    study keep their spread; their mean is moved to the difference asked about (the pilot's own difference is not
    taken for the truth).

    Parameters
    ----------
    pilot
        From `read_pilot`, with at least two conditions.
    metric
        ``accuracy`` or ``score``.
    difference
        The true difference of the means, in the metric's unit.
    questions, runs
        The numbers to try.
    seed, simulations
        Of the simulated studies.
    level
        1 − the test's size.
    power
        For `smallest_difference`.

    Returns
    -------
    pandas.DataFrame
        first, second (the conditions), questions, runs, requests (both conditions together), power (share of
        simulated studies that find `difference`), smallest_difference (found with the stated power).

    Raises
    ------
    StatisticsError
        One condition only, or a setting out of range.
    """
    check_level(power)
    if not difference > 0:
        raise StatisticsError(f"the difference to find must be above 0, got {difference:g}")
    rows = []
    for head, noise, reach in _simulated(pilot, metric, questions, runs, seed, level, simulations):
        row = head | {
            "power": _power(difference, noise, reach),
            "smallest_difference": _smallest(power, noise, reach),
        }
        rows.append(row)
    return pd.DataFrame(rows)


def power_curve(
    pilot: Pilot,
    *,
    metric: str = "accuracy",
    differences: Sequence[float],
    questions: Sequence[int],
    runs: Sequence[int],
    seed: int = DEFAULT_SEED,
    level: float = 0.95,
    simulations: int = 500,
) -> pd.DataFrame:
    """Return how likely paired studies of each size find each difference: the curve of power over the difference.

    Parameters
    ----------
    pilot, metric, questions, runs, seed, level, simulations
        As in `plan_comparison`, from the same simulated studies.
    differences
        True differences of the means to try; 0 gives the share of false alarms.

    Returns
    -------
    pandas.DataFrame
        first, second, questions, runs, requests, difference, power, and monte_carlo_error (its standard error,
        √(power (1 − power)/simulations)).

    Raises
    ------
    StatisticsError
        As `plan_comparison`; a difference below 0.
    """
    if not differences or min(differences) < 0:
        raise StatisticsError("a power curve is over differences of 0 and more", hint="such as 0, 0.05, 0.1, 0.2")
    rows = []
    for head, noise, reach in _simulated(pilot, metric, questions, runs, seed, level, simulations):
        for difference in differences:
            found = _power(difference, noise, reach)
            error = float(np.sqrt(found * (1 - found) / simulations))
            rows.append(head | {"difference": difference, "power": found, "monte_carlo_error": error})
    return pd.DataFrame(rows)


def _simulated(
    pilot: Pilot,
    metric: str,
    questions: Sequence[int],
    runs: Sequence[int],
    seed: int,
    level: float,
    simulations: int,
) -> Iterator[tuple[dict[str, object], FloatArray, FloatArray]]:
    """Yield for every plan and pair what identifies it, each study's error of the mean, and what its test needs."""
    check_level(level)
    check_plan(metric, questions, runs, simulations)
    if len(pilot.conditions) < 2:
        raise StatisticsError("the pilot has one condition: there is nothing to compare it with")
    for q in questions:
        critical = float(stdtrit(q - 1, (1 + level) / 2))
        for n in runs:
            rng = stream(seed, "plan comparison", q, n)
            means = simulated_means(pilot, metric, questions=q, runs=n, simulations=simulations, rng=rng)
            for i, j in combinations(range(len(pilot.conditions)), 2):
                gaps = means[:, :, i] - means[:, :, j]
                noise = gaps.mean(axis=1)
                noise -= noise.mean()
                reach = critical * gaps.std(axis=1, ddof=1) / np.sqrt(q)
                first, second = pilot.conditions[i], pilot.conditions[j]
                head = {"first": first, "second": second, "questions": q, "runs": n, "requests": 2 * q * n}
                yield head, noise, reach


def _power(difference: float, noise: FloatArray, reach: FloatArray) -> float:
    return float((np.abs(difference + noise) > reach).mean())


def _smallest(power: float, noise: FloatArray, reach: FloatArray) -> float:
    """Return the smallest difference found in a share `power` of the studies: the quantile of what each needs."""
    # A study with mean noise e finds d > 0 once d + e > reach; the chance of the wrong sign is left out.
    return float(np.quantile(np.maximum(reach - noise, 0.0), power, method="higher"))
