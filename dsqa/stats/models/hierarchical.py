r"""A Bayesian hierarchical model of accuracy or score: questions, models, temperatures, partially pooled.

η = μ + Σ_f b_{f, level} + σ u_q,   u_q ~ Normal(0, 1),   b_f | τ_f ~ Normal(0, τ_f²),   τ_f² ~ ν s_f²/χ²_ν

with accuracy: right ~ Binomial(runs, logit⁻¹ η), and score ~ Normal(η, residual SD). τ_f integrates out: b_f is
multivariate t. μ ~ Normal(0, s_μ²), σ ~ half-t(4) with scale s_σ, ln of the residual SD flat. All scales are in
`Priors`; on the score's scale they are multiplied by its largest SD over that of the logistic distribution.

No Markov chain: the questions' intercepts are integrated out to many digits (`families`), the few remaining
parameters are drawn by importance sampling from a multivariate t around the posterior's mode, and u_q exactly
given these. Draws are independent, so their error is known: the effective number of draws (Σw)²/Σw² is reported
and below `LEAST_DRAWS` there is a refusal, as where the mode was not found. One effect of a model holds for all
questions: where models suit different questions, intervals of differences hold for these very questions.

References: Gelman et al. (2013), Bayesian Data Analysis, chapters 5 and 10; Gelman (2006), Bayesian Analysis 1:515.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
from scipy import special, stats

from dsqa.errors import StatisticsError
from dsqa.stats.columns import as_floats, require
from dsqa.stats.dispersion import SCORE_BOUNDS
from dsqa.stats.interval import FloatArray, check_level
from dsqa.stats.models.families import Cells, Family, NormalScores, RightOrWrong
from dsqa.stats.models.maximum import maximise

__all__ = ["LEAST_DRAWS", "Hierarchical", "Priors", "hierarchical", "prior_sensitivity"]

LEAST_DRAWS = 200
"""Effective draws below which nothing is reported."""

_HEAVY = 7
_SCORE_SCALE = (SCORE_BOUNDS[1] - SCORE_BOUNDS[0]) / 2 / (math.pi / math.sqrt(3))


@dataclass(frozen=True)
class Priors:
    """Scales on the log-odds scale.

    Parameters
    ----------
    mean
        SD of μ.
    question
        Scale of the half-t(4) of σ, the SD between questions.
    effect
        Scale s of the SD τ between levels of a factor.
    freedom
        ν of τ².
    """

    mean: float = 2.5
    question: float = 2.5
    effect: float = 0.7
    freedom: float = 4.0

    def scaled(self, factor: float) -> Priors:
        """Return the priors with all scales multiplied."""
        return replace(self, mean=self.mean * factor, question=self.question * factor, effect=self.effect * factor)


@dataclass(frozen=True)
class Hierarchical:
    """A posterior, as tables.

    Parameters
    ----------
    measure, priors, level
        As asked.
    levels
        factor, level, estimate, low, high: mean accuracy (or score) over these questions and the other conditions.
    differences
        factor, first, second, estimate, low, high of first − second on the measure's scale; odds_ratio with its
        ends for accuracy; probability_above: that first is above second.
    questions
        question, runs, observed, estimate (shrunken, mean over the conditions), low, high, rank (1 is best),
        rank_low, rank_high.
    spread
        SD between questions: estimate, low, high; log odds for accuracy.
    effective_draws
        Independent draws that the weighted ones are worth.
    """

    measure: str
    priors: Priors
    level: float
    levels: pd.DataFrame
    differences: pd.DataFrame
    questions: pd.DataFrame
    spread: tuple[float, float, float]
    effective_draws: float


def hierarchical(
    outcomes: pd.DataFrame,
    *,
    rng: np.random.Generator,
    measure: Literal["accuracy", "score"] = "accuracy",
    factors: Sequence[str] = ("model", "temperature"),
    priors: Priors | None = None,
    level: float = 0.95,
    draws: int = 2000,
) -> Hierarchical:
    """Fit the hierarchical model.

    Parameters
    ----------
    outcomes
        One row per run: question_id, the factors, and the measure; rows without a value are left out.
    rng
        For the draws.
    measure
        "accuracy" (0 or 1) or "score".
    factors
        Columns with an effect for each level; those that the table lacks or that do not vary are passed over.
    priors
        `Priors()` if None.
    level
        Of the posterior intervals (equal tails).
    draws
        Weighted draws; at least 500.

    Raises
    ------
    StatisticsError
        A column is missing, fewer than three questions, values that are all equal or, for accuracy, not 0 and
        1, a posterior whose mode was not found, or too few effective draws.

    Examples
    --------
    >>> rows = [(f"q{q}", m, int((q + 2 * r) % 8 < n)) for q in range(8) for m, n in (("a", 6), ("b", 3))
    ...         for r in range(8)]
    >>> table = pd.DataFrame(rows, columns=["question_id", "model", "accuracy"])
    >>> fit = hierarchical(table, rng=np.random.default_rng(1))
    >>> bool(fit.differences["probability_above"][0] > 0.99)
    True
    """
    check_level(level)
    if measure not in ("accuracy", "score"):
        raise StatisticsError(f"unknown measure '{measure}'", hint="accuracy or score")
    if draws < 500:
        raise StatisticsError(f"{draws} draws are too few", hint="2,000 are usual")
    require(outcomes, ("question_id", measure), "outcome table")
    varied = [name for name in factors if name in outcomes.columns and outcomes[name].nunique() > 1]
    table = outcomes[["question_id", *varied]].astype(str).assign(value=as_floats(outcomes[measure]))
    table = table.dropna(subset="value")
    if table["question_id"].nunique() < 3:
        raise StatisticsError("fewer than three questions: the spread between questions cannot be seen")
    if measure == "accuracy" and not table["value"].isin([0.0, 1.0]).all():
        raise StatisticsError("accuracy is not only 0 and 1")
    if table["value"].nunique() < 2:
        raise StatisticsError(f"all runs have the same {measure}: nothing tells questions or conditions apart")
    cells, questions, blocks = _cells(table, varied)
    family: Family = RightOrWrong(cells) if measure == "accuracy" else NormalScores(cells)
    chosen = priors or Priors()
    scale = chosen if measure == "accuracy" else chosen.scaled(_SCORE_SCALE)
    thetas, weights, u = _sample(family, cells, blocks, scale, rng, draws, measure)
    effective = 1 / float((weights**2).sum())
    if effective < LEAST_DRAWS:
        raise StatisticsError(
            f"the posterior of {measure} is not well enough known: {effective:.0f} effective draws of {draws}",
            hint="more draws, more questions, or tighter priors",
        )
    # Equal weights from here on: draws chosen by their weights, at evenly spaced places.
    places = (np.arange(draws) + rng.random()) / draws
    picked = np.minimum(np.searchsorted(np.cumsum(weights), places), draws - 1)
    return _summary(thetas[picked], u[picked], cells, questions, blocks, measure, chosen, level, effective)


def prior_sensitivity(
    outcomes: pd.DataFrame,
    *,
    seed: int = 20240611,
    measure: Literal["accuracy", "score"] = "accuracy",
    factors: Sequence[str] = ("model", "temperature"),
    scales: Sequence[float] = (0.5, 1.0, 2.0),
    level: float = 0.95,
    draws: int = 2000,
) -> pd.DataFrame:
    """Return the differences between levels under tighter and wider priors: scale, and the columns of `differences`.

    The same random numbers for each, so that rows differ by their priors. A prior under which there is no
    posterior to report has a row with a note.
    """
    rows = []
    for scale in scales:
        try:
            fit = hierarchical(
                outcomes,
                rng=np.random.default_rng(seed),
                measure=measure,
                factors=factors,
                priors=Priors().scaled(scale),
                level=level,
                draws=draws,
            )
            rows.append(fit.differences.assign(prior_scale=scale, note=""))
        except StatisticsError as reason:
            rows.append(pd.DataFrame({"prior_scale": [scale], "note": [reason.message]}))
    table = pd.concat(rows, ignore_index=True)
    return table[["prior_scale", *[name for name in table.columns if name != "prior_scale"]]]


def _cells(table: pd.DataFrame, varied: list[str]) -> tuple[Cells, list[str], dict[str, tuple[list[str], slice]]]:
    levels = {name: sorted(table[name].unique()) for name in varied}
    # Without factors there is one condition, of no labels.
    keys = list(zip(*(table[name] for name in varied), strict=True)) if varied else [()] * len(table)
    known_keys = sorted(set(keys))
    columns = [np.ones((len(known_keys), 1))]
    blocks, at = {}, 1
    for i, (name, known) in enumerate(levels.items()):
        columns.append(np.array([[key[i] == label for label in known] for key in known_keys], dtype=np.float64))
        blocks[name] = (known, slice(at, at + len(known)))
        at += len(known)
    codes, questions = pd.factorize(table["question_id"], sort=True)
    order, count = {key: i for i, key in enumerate(known_keys)}, len(known_keys)
    of = np.array([order[key] for key in keys])
    value, shape = table["value"].to_numpy(dtype=np.float64), (len(questions), count)
    flat = codes * count + of
    runs = np.bincount(flat, minlength=len(questions) * count).reshape(shape).astype(np.float64)
    total = np.bincount(flat, value, len(questions) * count).reshape(shape).astype(np.float64)
    return Cells(np.hstack(columns), runs, total, float((value**2).sum())), list(questions), blocks


def _prior(
    theta: FloatArray, width: int, blocks: dict[str, tuple[list[str], slice]], priors: Priors, centre: float
) -> tuple[float, FloatArray]:
    """Return the log prior density (up to a constant) and its gradient; ln σ stands at `width`."""
    gradient = np.zeros(len(theta))
    off = (theta[0] - centre) / priors.mean
    value = -(off**2) / 2
    gradient[0] = -off / priors.mean
    for _, where in blocks.values():
        b, nu = theta[where], priors.freedom
        inside = 1 + float(b @ b) / (nu * priors.effect**2)
        value -= (nu + len(b)) / 2 * math.log(inside)
        gradient[where] = -(nu + len(b)) * b / (nu * priors.effect**2) / inside
    ratio = math.exp(2 * float(theta[width])) / (4 * priors.question**2)
    # Half-t(4) of σ, and σ itself for drawing ln σ.
    value += -2.5 * math.log1p(ratio) + float(theta[width])
    gradient[width] = -5 * ratio / (1 + ratio) + 1
    return float(value), gradient


def _sample(
    family: Family,
    cells: Cells,
    blocks: dict[str, tuple[list[str], slice]],
    priors: Priors,
    rng: np.random.Generator,
    draws: int,
    measure: str,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return draws of θ, shape (draws, k), their normalised weights, and u, shape (draws, questions)."""
    width = cells.x.shape[1]
    share = float(cells.total.sum() / cells.runs.sum())
    centre = 0.0 if measure == "accuracy" else sum(SCORE_BOUNDS) / 2

    def target(theta: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = family.value(theta)
        more, slope = _prior(theta, width, blocks, priors, centre)
        return value + more, gradient + slope

    start = np.zeros(width + 1 + family.extra)
    start[0] = float(special.logit(np.clip(share, 0.01, 0.99))) if measure == "accuracy" else share
    if family.extra:
        residual = max(cells.squares / float(cells.runs.sum()) - share**2, 1e-4)
        start[-2:] = math.log(residual) / 2
    starts = []
    for spread in (-0.7, 0.7):
        starts.append(start.copy())
        starts[-1][width] += spread
    mode, _, curvature = maximise(target, starts, what=f"posterior of {measure}")
    lower = np.linalg.cholesky(np.linalg.inv(curvature))
    z = rng.standard_normal((draws, len(mode))) / np.sqrt(rng.chisquare(_HEAVY, (draws, 1)) / _HEAVY)
    proposed = -(_HEAVY + len(mode)) / 2 * np.log1p((z**2).sum(axis=1) / _HEAVY)
    thetas = mode + z @ lower.T
    logs, u = np.empty(draws), np.empty((draws, len(cells.runs)))
    for i, theta in enumerate(thetas):
        value, u[i] = family.draw(theta, rng)
        logs[i] = value + _prior(theta, width, blocks, priors, centre)[0]
    logs -= proposed
    weights = np.exp(logs - logs.max())
    return thetas, weights / weights.sum(), u


def _summary(
    thetas: FloatArray,
    u: FloatArray,
    cells: Cells,
    questions: list[str],
    blocks: dict[str, tuple[list[str], slice]],
    measure: str,
    priors: Priors,
    level: float,
    effective: float,
) -> Hierarchical:
    tails = ((1 - level) / 2, (1 + level) / 2)
    width = cells.x.shape[1]
    sigma = np.exp(thetas[:, width])
    fixed = thetas[:, :width] @ cells.x.T
    eta = fixed[:, None, :] + (sigma[:, None] * u)[:, :, None]
    expected = special.expit(eta) if measure == "accuracy" else eta

    def ends(values: FloatArray) -> tuple[float, float, float]:
        low, high = np.quantile(values, tails).tolist()
        return float(values.mean()), low, high

    level_rows, pair_rows = [], []
    for name, (known, where) in blocks.items():
        means = [expected[:, :, cells.x[:, at] == 1].mean(axis=(1, 2)) for at in range(where.start, where.stop)]
        level_rows += [(name, label, *ends(mean)) for label, mean in zip(known, means, strict=True)]
        for i, j in itertools.combinations(range(len(known)), 2):
            gap = thetas[:, where.start + i] - thetas[:, where.start + j]
            # Log odds and their probabilities only for accuracy; on the score's scale the effect is the difference.
            ratio = tuple(np.exp(ends(gap))) if measure == "accuracy" else (math.nan,) * 3
            above = float((gap > 0).mean())
            pair_rows.append((name, known[i], known[j], *ends(means[i] - means[j]), *ratio, above))
    per_question = expected.mean(axis=2)
    ranks = stats.rankdata(-per_question, axis=1)
    rank_ends = np.quantile(ranks, tails, axis=0, method="inverted_cdf")
    runs = cells.runs.sum(axis=1)
    low, high = np.quantile(per_question, tails, axis=0)
    table = pd.DataFrame(
        {
            "question": questions,
            "runs": runs.astype(int),
            "observed": cells.total.sum(axis=1) / runs,
            "estimate": per_question.mean(axis=0),
            "low": low,
            "high": high,
            "rank": ranks.mean(axis=0),
            "rank_low": rank_ends[0],
            "rank_high": rank_ends[1],
        }
    )
    value = ["estimate", "low", "high"]
    ratios = ["odds_ratio", "odds_ratio_low", "odds_ratio_high"]
    return Hierarchical(
        measure=measure,
        priors=priors,
        level=level,
        levels=pd.DataFrame(level_rows, columns=["factor", "level", *value]),
        differences=pd.DataFrame(
            pair_rows, columns=["factor", "first", "second", *value, *ratios, "probability_above"]
        ),
        questions=table.sort_values("rank", kind="stable", ignore_index=True),
        spread=ends(sigma),
        effective_draws=effective,
    )
