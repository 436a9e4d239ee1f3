"""Studies to come, simulated: the mean of every question under every condition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dsqa.errors import StatisticsError
from dsqa.stats.interval import FloatArray
from dsqa.stats.planning.pilot import METRICS, Pilot

__all__ = ["check_plan", "simulated_means"]

# Numbers drawn at a time: bounds the memory, whatever the plan.
_BLOCK = 1_000_000


def simulated_means(
    pilot: Pilot, metric: str, *, questions: int, runs: int, simulations: int, rng: np.random.Generator
) -> FloatArray:
    """Return question means of simulated studies, shape (simulations, questions, conditions)."""
    values = pilot.values[metric]
    per_study = questions * len(pilot.conditions) * len(values)
    step = max(1, _BLOCK // per_study)
    parts = []
    for start in range(0, simulations, step):
        shape = (min(step, simulations - start), questions)
        parts.append(rng.multinomial(runs, pilot.draw_cells(shape, rng)) @ values / runs)
    return np.concatenate(parts)


def check_plan(metric: str, questions: Sequence[int], runs: Sequence[int], simulations: int) -> None:
    """Raise `StatisticsError` for a plan that cannot be simulated."""
    if metric not in METRICS:
        raise StatisticsError(f"cannot plan for '{metric}'", hint=f"one of {', '.join(METRICS)}")
    if not questions or min(questions) < 2:
        raise StatisticsError("a mean over questions needs at least two of them to have an interval")
    if not runs or min(runs) < 1:
        raise StatisticsError("numbers of runs start at 1")
    if simulations < 100:
        raise StatisticsError(f"{simulations} simulated studies say too little", hint="500 are usual")
