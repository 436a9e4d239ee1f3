r"""Where the variance of a score comes from when facets are crossed: question, model, temperature, judge, run.

Model: y = μ + Σ_t e_t + residual, one random effect e_t per level of every term t; a term is a facet
("question") or facets crossed ("question:model"). What no term explains is the residual: runs, and whatever
is not asked for.

Estimation is MIVQUE(0) (Hartley, Rao & LaMotte 1978, Biometrics 34:233): with V_t = Z_t Z_t', M the centring
matrix and q_t = y' M V_t M y,

    E q_s = Σ_t tr(M V_s M V_t) σ²_t,

a linear system for the σ²_t. Each trace and q_t is a sum over counts and totals of groups, so 160,000 runs take no
matrix of that size. It is unbiased whatever the distribution and the balance; for balanced data it is the
analysis-of-variance estimate, the best unbiased one. An estimate below 0 says that the component is small; it is
reported as it came and counts as 0 in shares and coefficients (Brennan 2001, Generalizability Theory, p. 85).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.columns import as_floats, require
from dsqa.stats.interval import FloatArray

__all__ = ["GStudy", "g_study"]

RESIDUAL = "run"


@dataclass(frozen=True)
class GStudy:
    """Variance components of crossed facets, and what follows from them.

    Parameters
    ----------
    components
        Term → σ², the residual ("run") last; as estimated, so possibly below 0.
    subject
        The facet whose levels are to be told apart, usually the question.
    mean
        Of the scores.
    levels
        Facet → its number of levels in the data.
    runs
        Scores used.
    """

    components: dict[str, float]
    subject: str
    mean: float
    levels: dict[str, int]
    runs: int

    def _positive(self) -> dict[str, float]:
        return {term: max(value, 0.0) for term, value in self.components.items()}

    def shares(self) -> dict[str, float]:
        """Return each component's share of the sum of all, negative ones counted as 0.

        Raises
        ------
        StatisticsError
            There is no variance.
        """
        positive = self._positive()
        total = sum(positive.values())
        if total <= 0:
            raise StatisticsError("all scores are equal: there is no variance to share out")
        return {term: value / total for term, value in positive.items()}

    def error_variance(self, *, absolute: bool, **numbers: int) -> float:
        """Return the variance of a subject's mean over so many levels of each facet (a D-study).

        Parameters
        ----------
        absolute
            True: all that moves the mean (for its value); False: what moves it against other subjects (for
            ranking them), that is the terms that hold the subject, and the runs.
        **numbers
            Facet → levels averaged over, ``run`` the runs per cell; 1 where not named.

        Raises
        ------
        StatisticsError
            An unknown facet, or a number below 1.
        """
        facets = set(self.levels) - {self.subject} | {RESIDUAL}
        for name, number in numbers.items():
            if name not in facets:
                raise StatisticsError(
                    f"'{name}' is no facet of this study", hint=f"facets: {', '.join(sorted(facets))}"
                )
            if number < 1:
                raise StatisticsError(f"{name}: a mean is over at least 1, got {number}")
        cells = math.prod(numbers.get(facet, 1) for facet in facets if facet != RESIDUAL)
        variance = 0.0
        for term, value in self._positive().items():
            parts = term.split(":")
            if term == self.subject or not (absolute or self.subject in parts or term == RESIDUAL):
                continue
            averaged = cells * numbers.get(RESIDUAL, 1) if term == RESIDUAL else 1
            averaged *= math.prod(numbers.get(part, 1) for part in parts if part not in (self.subject, RESIDUAL))
            variance += value / averaged
        return variance

    def generalisability(self, **numbers: int) -> float:
        """Return E ρ² = σ²_subject/(σ²_subject + relative error), how reliably means rank subjects, in [0, 1]."""
        return self._coefficient(absolute=False, **numbers)

    def dependability(self, **numbers: int) -> float:
        """Return Φ = σ²_subject/(σ²_subject + absolute error), how reliable the means are as values, in [0, 1]."""
        return self._coefficient(absolute=True, **numbers)

    def _coefficient(self, *, absolute: bool, **numbers: int) -> float:
        subject = max(self.components[self.subject], 0.0)
        total = subject + self.error_variance(absolute=absolute, **numbers)
        if total <= 0:
            raise StatisticsError("all scores are equal: reliability means nothing here")
        return subject / total

    def table(self) -> pd.DataFrame:
        """Return the components as a table: term, levels, variance, share."""
        shares = self.shares()
        rows = [
            {
                "term": term,
                "levels": math.prod(self.levels[part] for part in term.split(":")) if term != RESIDUAL else self.runs,
                "variance": value,
                "share": shares[term],
            }
            for term, value in self.components.items()
        ]
        return pd.DataFrame(rows)


def g_study(
    table: pd.DataFrame,
    *,
    value: str = "score",
    facets: Mapping[str, str] | None = None,
    terms: Sequence[str] | None = None,
    subject: str = "question",
) -> GStudy:
    """Estimate variance components of crossed facets.

    Parameters
    ----------
    table
        One row per score; rows whose value is missing are left out.
    value
        The score's column.
    facets
        Name → column; question (question_id), model and temperature by default, where they vary. Add
        ``{"reader": "reader"}`` or ``{"judge": "judge"}`` for a table with several marks per run.
    terms
        Such as ``["question", "model", "question:model"]``; by default every facet and every crossing of them
        that the data can tell from the residual.
    subject
        The facet whose levels are to be told apart.

    Raises
    ------
    StatisticsError
        A column is missing, the subject has one level, terms cannot be told apart (confounded), or there are
        fewer scores than terms.

    Examples
    --------
    >>> rows = [(q, m, 3.0 * q + m + r) for q in range(3) for m in range(2) for r in (0, 1)]
    >>> study = g_study(pd.DataFrame(rows, columns=["question_id", "model", "score"]))
    >>> {term: round(v, 3) for term, v in study.components.items()}
    {'question': 9.0, 'model': 0.5, 'question:model': -0.25, 'run': 0.5}
    """
    columns = dict(facets or {"question": "question_id", "model": "model", "temperature": "temperature"})
    if facets is None:
        columns = {name: column for name, column in columns.items() if name == subject or column in table.columns}
    require(table, (value, *columns.values()), "table")
    y = as_floats(table[value])
    known = ~np.isnan(y)
    y, data = y[known], table.loc[known, list(columns.values())]
    codes = {name: pd.factorize(data[column], use_na_sentinel=False)[0] for name, column in columns.items()}
    levels = {name: int(code.max(initial=-1)) + 1 for name, code in codes.items()}
    if subject not in levels:
        raise StatisticsError(f"'{subject}' is no facet of this study", hint=f"facets: {', '.join(levels)}")
    if levels[subject] < 2:
        raise StatisticsError(f"at least two levels of {subject} are needed to see variance between them")
    if facets is None:
        levels = {name: number for name, number in levels.items() if number > 1}
    chosen = _terms(terms, tuple(levels), codes, len(y))
    groups = {term: _group(term, codes) for term in chosen}
    components = _mivque(y - y.mean(), groups)
    return GStudy(components, subject, float(y.mean()), levels, len(y))


def _group(term: str, codes: Mapping[str, np.ndarray]) -> np.ndarray:
    parts = term.split(":")
    return np.asarray(np.unique(np.stack([codes[part] for part in parts]), axis=1, return_inverse=True)[1]).ravel()


def _terms(
    terms: Sequence[str] | None, facets: tuple[str, ...], codes: Mapping[str, np.ndarray], runs: int
) -> list[str]:
    if terms is not None:
        for term in terms:
            unknown = [part for part in term.split(":") if part not in facets]
            if unknown or term == RESIDUAL:
                raise StatisticsError(f"'{term}' is no term of these facets", hint=f"facets: {', '.join(facets)}")
        return list(dict.fromkeys(terms))
    everything = [":".join(c) for size in range(1, len(facets) + 1) for c in combinations(facets, size)]
    # A crossing with one score per level is the residual by another name.
    return [term for term in everything if _group(term, codes).max(initial=0) + 1 < runs]


def _mivque(y: FloatArray, groups: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Solve tr(M V_s M V_t) σ² = y' M V_s M y; `y` is centred, the residual's V is the identity."""
    n = len(y)
    names = [*groups, RESIDUAL]
    sizes = {term: np.bincount(group).astype(np.float64) for term, group in groups.items()}
    # Squared group sums: y'V_t y; for the residual y'y.
    right = [float((np.bincount(group, y) ** 2).sum()) for group in groups.values()] + [float(y @ y)]
    # 1'V_t1, and per score the size of its group in t: V_t 1.
    ones = {term: float((size**2).sum()) for term, size in sizes.items()} | {RESIDUAL: float(n)}
    reach = {term: sizes[term][groups[term]] for term in groups} | {RESIDUAL: np.ones(n)}
    left = np.empty((len(names), len(names)))
    for i, s in enumerate(names):
        for j, t in enumerate(names[: i + 1]):
            both = _trace(s, t, groups, sizes, n)
            left[i, j] = left[j, i] = both - 2 * float(reach[s] @ reach[t]) / n + ones[s] * ones[t] / n**2
    scale = np.sqrt(np.diag(left))
    if (scale == 0).any() or np.linalg.cond(left / np.outer(scale, scale)) > 1e10:
        raise StatisticsError(
            "these terms cannot be told apart in this design (some facets do not vary, or vary together)",
            hint="name fewer terms, such as terms=['question']",
        )
    solved = np.linalg.solve(left / np.outer(scale, scale), np.array(right) / scale) / scale
    return dict(zip(names, solved.tolist(), strict=True))


def _trace(s: str, t: str, groups: Mapping[str, np.ndarray], sizes: Mapping[str, FloatArray], n: int) -> float:
    """Return tr(V_s V_t): the sum of squared sizes of the groups that s and t make together."""
    if RESIDUAL in (s, t):
        return float(n)
    if s == t:
        return float((sizes[s] ** 2).sum())
    joint = groups[s].astype(np.int64) * len(sizes[t]) + groups[t]
    return float((np.unique(joint, return_counts=True)[1].astype(np.float64) ** 2).sum())
