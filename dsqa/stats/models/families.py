"""The two likelihoods of the hierarchical model, with each question's intercept integrated out.

Both take θ = (μ, effects of levels, ln σ, …) and cells of counts; see `dsqa.stats.models.hierarchical`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import special

from dsqa.stats.interval import FloatArray

__all__ = ["Cells", "Family", "NormalScores", "RightOrWrong"]


@dataclass(frozen=True)
class Cells:
    """Sums over cells, shape (questions, conditions), 0 runs where a question was not asked; x per condition."""

    x: FloatArray
    runs: FloatArray
    total: FloatArray
    squares: float


class Family(Protocol):
    """A likelihood, and draws of the questions' standardised intercepts given θ."""

    extra: int

    def value(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log-likelihood and its gradient."""
        ...

    def draw(self, theta: FloatArray, rng: np.random.Generator) -> tuple[float, FloatArray]:
        """Return the log-likelihood, and one draw of every question's u, shape (questions,)."""
        ...


class RightOrWrong:
    """Binomial counts, logit link; u on one grid for all questions (trapezoid rule)."""

    extra = 0

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        # A question with n runs has a peak as narrow as 2/(σ √n): steps of 0.6 of that, for σ up to 6.
        most = float(cells.runs.sum(axis=1).max())
        step = float(np.clip(0.6 * 2 / (6 * math.sqrt(most)), 0.004, 0.05))
        self.u = np.arange(-7.0, 7.0 + step, step)
        self.log = math.log(step / math.sqrt(2 * math.pi))

    def _posterior(self, theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        c = self.cells
        eta = (c.x @ theta[:-1])[:, None] + math.exp(float(theta[-1])) * self.u
        inside = c.total @ eta - c.runs @ np.logaddexp(0, eta) - self.u**2 / 2
        peak = inside.max(axis=1, keepdims=True)
        mass = np.exp(inside - peak)
        sums = mass.sum(axis=1, keepdims=True)
        value = float((peak + np.log(sums)).sum()) + len(sums) * self.log
        return value, mass / sums, eta

    def value(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log-likelihood and its gradient."""
        c = self.cells
        value, weights, eta = self._posterior(theta)
        p = special.expit(eta)
        per_condition = (c.total - c.runs * (weights @ p.T)).sum(axis=0)
        moved = weights * self.u
        along = (c.total * moved.sum(axis=1, keepdims=True) - c.runs * (moved @ p.T)).sum()
        return value, np.append(c.x.T @ per_condition, math.exp(float(theta[-1])) * along)

    def draw(self, theta: FloatArray, rng: np.random.Generator) -> tuple[float, FloatArray]:
        """Return the log-likelihood, and one draw of every question's u."""
        value, weights, _ = self._posterior(theta)
        reached = np.cumsum(weights, axis=1)
        at = (reached < rng.random((len(reached), 1)) * reached[:, -1:]).sum(axis=1)
        step = self.u[1] - self.u[0]
        return value, np.asarray(self.u[at] + step * (rng.random(len(at)) - 0.5))


class NormalScores:
    """Scores with one residual SD, as normal; the intercepts have closed forms. θ ends in ln σ, ln s."""

    extra = 1

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self.n = cells.runs.sum(axis=1)

    def _parts(self, theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        c = self.cells
        sigma, s = math.exp(float(theta[-2])), math.exp(float(theta[-1]))
        mean = c.x @ theta[:-2]
        residual = (c.total - c.runs * mean).sum(axis=1)
        squares = c.squares - 2 * float((c.total @ mean).sum()) + float((c.runs @ mean**2).sum())
        grown = 1 + sigma**2 * self.n / s**2
        value = -float(self.n.sum()) * (math.log(s) + math.log(2 * math.pi) / 2) - squares / (2 * s**2)
        value += float((sigma**2 * residual**2 / (2 * s**4 * grown) - np.log(grown) / 2).sum())
        return value, sigma * residual / s**2 / grown, 1 / np.sqrt(grown)

    def value(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log-likelihood and its gradient."""
        c = self.cells
        sigma, s = math.exp(float(theta[-2])), math.exp(float(theta[-1]))
        mean = c.x @ theta[:-2]
        off = c.total - c.runs * mean
        pull, grown = off.sum(axis=1), 1 + sigma**2 * self.n / s**2
        squares = c.squares - 2 * float((c.total @ mean).sum()) + float((c.runs @ mean**2).sum())
        part = sigma**2 * pull**2 / s**4 / grown
        per_condition = (off / s**2 - (sigma**2 * pull / s**4 / grown)[:, None] * c.runs).sum(axis=0)
        by_sigma = float((part / grown - (grown - 1) / grown).sum())
        by_s = -float(self.n.sum()) + squares / s**2
        by_s += float((part * ((grown - 1) / grown - 2) + (grown - 1) / grown).sum())
        return self._parts(theta)[0], np.array([*(c.x.T @ per_condition), by_sigma, by_s])

    def draw(self, theta: FloatArray, rng: np.random.Generator) -> tuple[float, FloatArray]:
        """Return the log-likelihood, and one draw of every question's u."""
        value, centre, width = self._parts(theta)
        return value, np.asarray(centre + width * rng.standard_normal(len(centre)))
