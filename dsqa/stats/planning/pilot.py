r"""What a pilot says about the runs of a study to come.

A run's result is a category: a distinct (score, accuracy) pair. The category probabilities of a cell are unknown;
taking the observed shares for them would say that a cell with 5 right of 5 is always right, and promise too much.
They are drawn from a Dirichlet posterior instead,

    p_cell ~ Dirichlet(counts_cell + c · pooled),

pooled the shares over all questions of the condition and c = (1 − ρ)/ρ, ρ the correlation of two runs of one cell:
a Dirichlet-multinomial with concentration c has exactly that correlation (Mosimann 1962, Biometrika 49:65), so the
prior is the one that the spread between questions supports. ρ is the ANOVA estimate for the score,
(MS_between − MS_within)/(MS_between + (n₀ − 1) MS_within), clipped to [0, 1] (Donner 1986, Int. Stat. Rev. 54:67).

Questions of the study to come are drawn from the pilot's with replacement, the same for every condition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.columns import as_floats, require_runs
from dsqa.stats.interval import FloatArray

__all__ = ["METRICS", "Pilot", "read_pilot"]

METRICS = ("accuracy", "score")
# Two runs of a cell that agree no more than runs of different cells: all cells are the pooled one.
_LEAST_CORRELATION = 1e-6


@dataclass(frozen=True)
class Pilot:
    """Counts of what the runs of a pilot gave.

    Parameters
    ----------
    questions, conditions
        Their names, in the order of the arrays.
    counts
        Runs per category, shape (questions, conditions, categories); 0 in all where a cell was not asked.
    prior
        c · pooled, shape (conditions, categories).
    correlation
        ρ per condition.
    values
        For each of `METRICS` the value of every category, shape (categories,).
    """

    questions: tuple[str, ...]
    conditions: tuple[str, ...]
    counts: FloatArray
    prior: FloatArray
    correlation: FloatArray
    values: dict[str, FloatArray]

    def draw_cells(self, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        """Draw questions, and the category probabilities of their cells: (*shape, conditions, categories)."""
        chosen = rng.integers(0, len(self.questions), shape)
        return self._probabilities(self.counts[chosen], rng)

    def draw_own_cells(self, rng: np.random.Generator) -> FloatArray:
        """Draw the category probabilities of the pilot's own cells: (questions, conditions, categories)."""
        return self._probabilities(self.counts, rng)

    def _probabilities(self, counts: FloatArray, rng: np.random.Generator) -> FloatArray:
        # Gammas, normalised, are a Dirichlet; unlike rng.dirichlet they allow a weight of 0.
        gammas = rng.standard_gamma(counts + self.prior)
        total = gammas.sum(axis=-1, keepdims=True)
        return np.asarray(gammas / np.where(total == 0, 1, total), dtype=np.float64)


def read_pilot(outcomes: pd.DataFrame, *, by: str = "condition_id") -> Pilot:
    """Read a pilot from a table of outcomes.

    Parameters
    ----------
    outcomes
        One row per run; needed: question_id, `by`, score, accuracy. Runs without a score are left out.
    by
        What is compared or planned for separately: condition_id, model or temperature.

    Raises
    ------
    StatisticsError
        A column is missing, there are fewer than two questions, or no cell with two runs: then nothing tells
        the spread between runs from the one between questions.
    """
    require_runs(outcomes, ("question_id", "score", "accuracy"), by=[by])
    data = pd.DataFrame(
        {
            "question": outcomes["question_id"].astype("string"),
            "condition": outcomes[by].astype("string").fillna("default"),
            "score": as_floats(outcomes["score"]),
            "accuracy": as_floats(outcomes["accuracy"]),
        }
    ).dropna()
    questions, conditions = sorted(data["question"].unique()), sorted(data["condition"].unique())
    if len(questions) < 2:
        raise StatisticsError(
            f"a pilot needs at least two marked questions, this one has {len(questions)}",
            hint="ask a few more questions first: how much they differ decides how many are needed",
        )
    if data.groupby(["question", "condition"]).size().max() < 2:
        raise StatisticsError(
            "the pilot has one run per question and condition: the spread between runs cannot be seen",
            hint="ask at least twice; 5 to 10 runs make a useful pilot",
        )
    pairs = data[["score", "accuracy"]].drop_duplicates().sort_values(["score", "accuracy"], ignore_index=True)
    category = pd.MultiIndex.from_frame(pairs).get_indexer(pd.MultiIndex.from_frame(data[["score", "accuracy"]]))
    counts = np.zeros((len(questions), len(conditions), len(pairs)))
    q = pd.Index(questions).get_indexer(data["question"])
    c = pd.Index(conditions).get_indexer(data["condition"])
    np.add.at(counts, (q, c, category), 1.0)
    values = {name: pairs[name].to_numpy(dtype=np.float64) for name in METRICS}
    correlation = np.array([_correlation(counts[:, i], values["score"]) for i in range(len(conditions))])
    pooled = counts.sum(axis=0)
    pooled /= pooled.sum(axis=-1, keepdims=True)
    concentration = (1 - correlation) / np.maximum(correlation, _LEAST_CORRELATION)
    return Pilot(tuple(questions), tuple(conditions), counts, concentration[:, None] * pooled, correlation, values)


def _correlation(counts: FloatArray, values: FloatArray) -> float:
    """Return the ANOVA estimate of the correlation of two runs of one cell; counts (questions, categories)."""
    sizes = counts.sum(axis=1)
    counts, sizes = counts[sizes > 0], sizes[sizes > 0]
    groups, total = len(sizes), sizes.sum()
    if groups < 2 or total == groups:
        # This condition alone cannot tell; its cells are then taken as they were seen.
        return 1.0
    means = counts @ values / sizes
    within = float((counts @ values**2 - sizes * means**2).sum()) / (total - groups)
    between = float((sizes * (means - sizes @ means / total) ** 2).sum()) / (groups - 1)
    typical = (total - (sizes**2).sum() / total) / (groups - 1)
    spread = between + (typical - 1) * within
    return 1.0 if spread <= 0 else min(max((between - within) / spread, 0.0), 1.0)
