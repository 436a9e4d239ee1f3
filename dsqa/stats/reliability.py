r"""How reliably one run, and the mean of N runs, tells the questions of one condition apart.

One facet, questions × runs: y = μ + question + run. With the mean squares of the one-way analysis of variance and
n₀ = (Σn − Σn²/Σn)/(Q − 1) runs per question,

    F = MS_between/MS_within,   θ = σ²_q/σ²_e = (F − 1)/n₀,   reliability of a mean of N runs = Nθ/(1 + Nθ),

negative θ counted as 0. With a single facet nested in the questions relative and absolute error coincide, so this is
the generalisability coefficient, the dependability coefficient Φ and the ICC(1) at once; from N = 1 to N it is the
Spearman–Brown formula. Brennan (2001), Generalizability Theory, chapters 2 and 5.

Scores of runs are far from normal, so the interval is not that of the F distribution: ln F is jackknifed over
questions, with t on Q − 1 degrees of freedom (Arvesen & Schmitz 1970, Biometrics 26:677).
See `dsqa.stats.jackknife`. Standard errors of the
components of any crossed design are delete-one-question jackknives too (Brennan 2001, section 6.3).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.columns import as_floats, require
from dsqa.stats.generalisability import g_study
from dsqa.stats.interval import FloatArray, Interval, check_level
from dsqa.stats.jackknife import jackknife_interval, leave_out

__all__ = ["RunReliability", "component_errors", "run_reliability"]


@dataclass(frozen=True)
class RunReliability:
    """Reliability of runs of one condition.

    Parameters
    ----------
    between, within
        σ²_q and σ²_e; `between` possibly below 0, as estimated.
    f
        MS_between/MS_within.
    f_interval
        Its jackknife interval; not available with fewer than three questions.
    typical_runs
        n₀.
    questions, runs
        Questions, and runs in all.
    mean
        Mean over questions of their mean score.
    """

    between: float
    within: float
    f: float
    f_interval: Interval
    typical_runs: float
    questions: int
    runs: int
    mean: float

    def of_mean(self, runs: int) -> tuple[float, Interval]:
        """Return the reliability of a question's mean over so many runs, in [0, 1], and its interval.

        Raises
        ------
        StatisticsError
            A number below 1.
        """
        if runs < 1:
            raise StatisticsError(f"a mean is over at least 1 run, got {runs}")
        interval = self.f_interval
        if not interval.available:
            return self._at(self.f, runs), interval
        ends = self._at(interval.low, runs), self._at(interval.high, runs)
        return self._at(self.f, runs), Interval(*ends, interval.level, interval.method, interval.note)

    def runs_for(self, reliability: float) -> int | None:
        """Return the fewest runs whose mean is that reliable; None where no number is enough.

        Raises
        ------
        StatisticsError
            A reliability outside of (0, 1).
        """
        if not 0 < reliability < 1:
            raise StatisticsError(f"a reliability lies between 0 and 1, got {reliability:g}")
        theta = self._theta(self.f)
        # One run more or less decides: the last digits of a float must not.
        return None if theta <= 0 else max(1, math.ceil(reliability / (1 - reliability) / theta - 1e-9))

    def error_of_question(self, runs: int) -> float:
        """Return the standard error of a question's mean over so many runs, for this very question."""
        return math.sqrt(self.within / runs)

    def error_of_mean(self, questions: int, runs: int) -> float:
        """Return the standard error of the mean over so many questions like these, each asked so many times."""
        return math.sqrt((max(self.between, 0.0) + self.within / runs) / questions)

    def _theta(self, f: float) -> float:
        return max((f - 1) / self.typical_runs, 0.0)

    def _at(self, f: float, runs: int) -> float:
        theta = self._theta(f)
        return runs * theta / (1 + runs * theta)


def run_reliability(
    table: pd.DataFrame, *, value: str = "score", question: str = "question_id", level: float = 0.95
) -> RunReliability:
    """Estimate how reliable the runs of one condition are.

    Parameters
    ----------
    table
        One row per run of one condition; rows whose value is missing are left out.
    value, question
        Columns.
    level
        Of the interval.

    Raises
    ------
    StatisticsError
        A column is missing, fewer than two questions, no question with two runs, or runs that never differ.

    Examples
    --------
    >>> rows = [(q, q + r) for q in range(5) for r in (0, 1)]
    >>> found = run_reliability(pd.DataFrame(rows, columns=["question_id", "score"]))
    >>> found.between, found.within, round(found.of_mean(1)[0], 4)
    (2.25, 0.5, 0.8182)
    """
    check_level(level)
    require(table, (value, question), "table")
    y = as_floats(table[value])
    known = ~np.isnan(y)
    if not known.any():
        raise StatisticsError(f"no run has a value of {value}")
    codes, names = pd.factorize(table[question][known])
    y = y[known]
    if len(names) < 2:
        raise StatisticsError("at least two questions are needed to see variance between them")
    # Centred, so that sums of squares lose no digits.
    centred = y - y.mean()
    sizes = np.bincount(codes).astype(np.float64)
    sums, squares = (np.bincount(codes, weights).astype(np.float64) for weights in (centred, centred**2))
    if sizes.max() < 2:
        raise StatisticsError("no question has two runs: variance between runs cannot be seen")
    within_q = np.maximum(squares - sums**2 / sizes, 0.0)
    if within_q.sum() <= 1e-12 * max(float(squares.sum()), 1e-300) or not within_q.any():
        raise StatisticsError("runs of a question never differ: one run is as reliable as many")
    ones = np.ones((1, len(sizes)))
    [between], [within], [typical] = _mean_squares(ones, sizes, sums, within_q)
    f = float(between / within)
    return RunReliability(
        between=float((between - within) / typical),
        within=float(within),
        f=f,
        f_interval=_jackknifed(sizes, sums, within_q, f, level),
        typical_runs=float(typical),
        questions=len(names),
        runs=len(y),
        mean=float((sums / sizes).mean() + y.mean()),
    )


def component_errors(
    table: pd.DataFrame,
    *,
    value: str = "score",
    facets: Mapping[str, str] | None = None,
    terms: Sequence[str] | None = None,
    subject: str = "question",
) -> dict[str, float]:
    """Return the standard error of each variance component of `g_study`, by leaving out one subject at a time.

    Parameters
    ----------
    table, value, facets, terms, subject
        As in `g_study`.

    Raises
    ------
    StatisticsError
        As `g_study`; fewer than three subjects.
    """
    whole = g_study(table, value=value, facets=facets, terms=terms, subject=subject)
    column = (facets or {"question": "question_id"})[subject]
    known = table[~np.isnan(as_floats(table[value]))]
    # Small whole numbers group several times faster than strings.
    used = dict(facets or {"question": "question_id", "model": "model", "temperature": "temperature"})
    small = pd.DataFrame({column: known[column].factorize()[0], value: as_floats(known[value])})
    for name in used.values():
        if name in known.columns:
            small[name] = pd.factorize(known[name], use_na_sentinel=False)[0]
    n = whole.levels[subject]
    if n < 3:
        raise StatisticsError(f"{n} levels of {subject} are too few to leave one out")
    chosen = [term for term in whole.components if term != "run"]
    kept = {name: col for name, col in used.items() if name in whole.levels}
    without = [
        g_study(small[small[column] != code], value=value, facets=kept, terms=chosen, subject=subject).components
        for code in range(n)
    ]
    draws = pd.DataFrame(without).to_numpy(dtype=np.float64)
    errors = np.sqrt((n - 1) / n * ((draws - draws.mean(axis=0)) ** 2).sum(axis=0))
    return dict(zip(without[0], errors.tolist(), strict=True))


def _mean_squares(
    kept: FloatArray, sizes: FloatArray, sums: FloatArray, within_q: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return MS_between, MS_within and n₀ for each row of weights (0 or 1 per question)."""
    total, questions = kept @ sizes, kept.sum(axis=1)
    between = (kept @ (sums**2 / sizes) - (kept @ sums) ** 2 / total) / (questions - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        within = (kept @ within_q) / (total - questions)
    typical = (total - (kept @ sizes**2) / total) / (questions - 1)
    return between, within, typical


def _jackknifed(sizes: FloatArray, sums: FloatArray, within_q: FloatArray, f: float, level: float) -> Interval:
    method, n = "jackknife over questions", len(sizes)
    if n < 3:
        return Interval.unavailable(level, method, f"{n} questions are too few to leave one out")
    between, within, _ = _mean_squares(leave_out(n), sizes, sums, within_q)
    if (within <= 0).any() or (between <= 0).any() or f <= 0:
        return Interval.unavailable(level, method, "all that varies is in one question")
    return jackknife_interval(
        f, between / within, kind="reliability of one run", level=level, scale="log", clusters=n
    )
