"""Whether the order of a cell's runs matters: asked until something came, and drift from the first run to the last.

Runs of a cell that were asked a fixed number of times, by a service that does not change, are exchangeable: given
what they gave, every order is as likely.

*Stopped by what came.* Let a cell of n runs have s values (texts, or answers) that occur in it once only. In a random
order the last run is one of these with probability s/n. The statistic is the number of cells whose last run holds
such a value, over cells with 0 < s < n; given the cells' values it is Poisson–binomial, so the p value is exact. Too
many: cells were asked until something new came. Too few: until something came again. Twice the smaller tail, for
texts and for answers (a run without a readable answer has a value of its own), Holm-adjusted.

*Drift.* Σ over cells Σ (i − ī)(x − x̄) over the runs i of a cell, with x the score or the words of the text. In random
order it has mean 0 and variance Σ over cells Σ(i − ī)² Σ(x − x̄)² / (n − 1) (Hájek, Šidák & Sen 1999, Theory of Rank
Tests, section 3.3); the p value is that of the normal distribution, from ten cells that vary on. Holm-adjusted.

Both at 0.01: every page asks for them, and neither is what the page is about.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.special import ndtr

from dsqa.stats.adjust import adjust_p
from dsqa.stats.columns import as_floats

__all__ = ["ORDER_ALPHA", "LastRun", "Trend", "last_runs", "trends"]

ORDER_ALPHA = 0.01
_LEAST = 10


@dataclass(frozen=True)
class LastRun:
    """How often a cell's last run holds a value that occurs in it once only.

    Parameters
    ----------
    what
        ``text`` or ``answer``.
    cells
        Cells that can tell.
    new
        Those whose last run holds such a value.
    expected
        How many there would be in random order.
    p
        Two-sided, adjusted.
    """

    what: str
    cells: int
    new: int
    expected: float
    p: float


@dataclass(frozen=True)
class Trend:
    """A drift from the first run of a cell to the last.

    Parameters
    ----------
    what
        ``score`` or ``words``.
    cells
        Cells in which it varies.
    slope
        Least-squares change from one run to the next, all cells together.
    p
        Two-sided, adjusted.
    """

    what: str
    cells: int
    slope: float
    p: float


def last_runs(outcomes: pd.DataFrame) -> list[LastRun]:
    """Test for texts and answers whether the last run of a cell is as new as any other.

    Parameters
    ----------
    outcomes
        One row per run: question_id, condition_id, run, status; text_hash and answer_key where there are. Failed
        runs are left out: they hold nothing.
    """
    runs = outcomes[outcomes["status"].astype(str) != "failed"].sort_values("run", kind="stable")
    found = []
    for what, name in (("text", "text_hash"), ("answer", "answer_key")):
        if name not in runs.columns or runs[name].isna().all():
            continue
        value = runs[name].astype("string").fillna("\0") if what == "answer" else runs[name].dropna().astype("string")
        cell = runs.loc[value.index].groupby(["question_id", "condition_id"], observed=True).ngroup()
        times = value.groupby([cell, value]).transform("size")
        single = (times == 1).groupby(cell)
        table = pd.DataFrame({"n": single.size(), "s": single.sum(), "last": single.last()})
        table = table[(table["s"] > 0) & (table["s"] < table["n"])]
        if len(table) < 2:
            continue
        chance = (table["s"] / table["n"]).to_numpy(dtype=np.float64)
        new = int(table["last"].sum())
        # Half a second to load, which an import whose design has no fault need not wait for.
        from scipy.stats import poisson_binom  # noqa: PLC0415

        law = poisson_binom(chance)
        p = min(1.0, 2 * min(float(law.sf(new - 1)), float(law.cdf(new))))
        found.append(LastRun(what, len(table), new, float(chance.sum()), p))
    adjusted: Iterable[float] = adjust_p([row.p for row in found]) if found else []
    return [replace(row, p=float(p)) for row, p in zip(found, adjusted, strict=True)]


def trends(outcomes: pd.DataFrame) -> list[Trend]:
    """Test for the score and the words of a text whether they drift from a cell's first run to its last.

    Parameters
    ----------
    outcomes
        One row per run: question_id, condition_id, run, status; score and words_out where there are. Failed runs are
        left out: an outage is no drift of the model.
    """
    runs = outcomes[outcomes["status"].astype(str) != "failed"]
    found = []
    for what, name in (("score", "score"), ("words", "words_out")):
        if name not in runs.columns:
            continue
        own = pd.DataFrame({
            "cell": runs.groupby(["question_id", "condition_id"], observed=True).ngroup(),
            "i": as_floats(runs["run"]),
            "x": as_floats(runs[name]),
        }).dropna()  # fmt: skip
        if own.empty:
            continue
        own["i"] = own.groupby("cell")["i"].rank(method="first")
        by = own.groupby("cell")
        di, dx = (own[column] - by[column].transform("mean") for column in ("i", "x"))
        sums = pd.DataFrame({"ii": di**2, "xx": dx**2, "ix": di * dx}).groupby(own["cell"]).sum()
        sums["n"] = by.size()
        sums = sums[(sums["n"] > 1) & (sums["xx"] > 1e-12)]
        if len(sums) < _LEAST:
            continue
        spread = float(np.sqrt((sums["ii"] * sums["xx"] / (sums["n"] - 1)).sum()))
        z = float(sums["ix"].sum()) / spread
        found.append(Trend(what, len(sums), float(sums["ix"].sum() / sums["ii"].sum()), float(2 * ndtr(-abs(z)))))
    adjusted: Iterable[float] = adjust_p([row.p for row in found]) if found else []
    return [replace(row, p=float(p)) for row, p in zip(found, adjusted, strict=True)]
