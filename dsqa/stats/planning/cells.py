"""What more runs would settle about single cells: the verdict of each question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsqa.stats.dispersion import instability_intervals, normalised_instability
from dsqa.stats.interval import FloatArray
from dsqa.stats.planning.pilot import Pilot
from dsqa.stats.planning.simulate import check_plan
from dsqa.stats.proportions import proportion_bounds
from dsqa.stats.streams import DEFAULT_SEED, stream
from dsqa.stats.verdicts import verdicts

__all__ = ["plan_cells"]

_RESAMPLES = 999


def plan_cells(
    pilot: Pilot, *, runs: Sequence[int], seed: int = DEFAULT_SEED, simulations: int = 100, calls: bool = True
) -> pd.DataFrame:
    """Simulate the pilot's own cells with other numbers of runs, and count the verdicts that would be settled.

    Parameters
    ----------
    pilot
        From `read_pilot`.
    runs
        Numbers of runs per cell to try, each at least 2.
    seed, simulations
        Of the simulated studies.
    calls
        Whether to call the verdicts, which takes nearly all of the time; without, there is no `settled`.

    Returns
    -------
    pandas.DataFrame
        condition, runs, requests (cells × runs), half_width (mean half-width of a cell's 95 % Wilson interval for
        accuracy), half_width_90 (nine cells in ten are narrower), settled (mean share of cells whose verdict is
        settled).

    Raises
    ------
    StatisticsError
        A setting is out of range.
    """
    check_plan("score", (2,), [n - 1 for n in runs], simulations)
    score, accuracy = pilot.values["score"], pilot.values["accuracy"]
    asked = pilot.counts.sum(axis=-1) > 0
    _, condition = np.nonzero(asked)
    rows = []
    for n in runs:
        rng = stream(seed, "plan cells", n)
        draws = np.stack([rng.multinomial(n, pilot.draw_own_cells(rng)[asked]) for _ in range(simulations)])
        distinct, back = np.unique(draws.reshape(-1, len(score)), axis=0, return_inverse=True)
        right = distinct @ accuracy
        low, high = proportion_bounds(right, n)
        shares = pd.DataFrame({"runs": n, "accuracy": right / n, "accuracy_low": low, "accuracy_high": high})
        settled = _settled(shares, distinct, score, seed)[back.ravel()].reshape(simulations, -1) if calls else None
        width = ((high - low) / 2)[back.ravel()].reshape(simulations, -1)
        for i, name in enumerate(pilot.conditions):
            own = condition == i
            rows.append(
                {
                    "condition": name,
                    "runs": n,
                    "requests": int(own.sum()) * n,
                    "half_width": width[:, own].mean(),
                    "half_width_90": np.quantile(width[:, own], 0.9),
                }
                | ({} if settled is None else {"settled": settled[:, own].mean()})
            )
    return pd.DataFrame(rows)


def _settled(shares: pd.DataFrame, counts: NDArray[np.int64], score: FloatArray, seed: int) -> FloatArray:
    """Return 1 for each row of counts whose verdict is settled, else 0."""
    samples = [np.repeat(score, row) for row in counts]
    intervals = instability_intervals(samples, seed=seed, resamples=_RESAMPLES)
    table = shares.assign(
        instability=[normalised_instability(sample) for sample in samples],
        instability_low=[interval.low for interval in intervals],
        instability_high=[interval.high for interval in intervals],
    )
    return verdicts(table)["settled"].to_numpy(dtype=np.float64)
