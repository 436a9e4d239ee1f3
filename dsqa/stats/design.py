"""From a formula and a table to the matrices of a regression, with errors that a user can act on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

from dsqa.errors import StatisticsError
from dsqa.stats.columns import as_floats, require
from dsqa.stats.interval import FloatArray

__all__ = ["Design", "design"]


@dataclass(frozen=True)
class Design:
    """A formula's matrices.

    Parameters
    ----------
    formula
        As given.
    y, x
        Response, shape (n,), and predictors, shape (n, p).
    names
        The columns of `x`.
    clusters
        Each row's cluster, numbered from 0; all zero without clusters.
    count
        Number of clusters; 0 without.
    rows
        Positions in the table of the rows used.
    dropped
        Rows left out because a value was missing.
    """

    formula: str
    y: FloatArray
    x: FloatArray
    names: tuple[str, ...]
    clusters: np.ndarray
    count: int
    rows: np.ndarray
    dropped: int

    def position(self, term: str) -> int:
        """Return the column of a term.

        Raises
        ------
        StatisticsError
            There is no such term.
        """
        if term not in self.names:
            raise StatisticsError(f"no term '{term}'", hint=f"terms: {', '.join(self.names)}")
        return self.names.index(term)


def plain(data: pd.DataFrame) -> pd.DataFrame:
    """Return the table with ordinary numbers: nullable columns hold pd.NA, which formulas do not know."""
    table = data.reset_index(drop=True)
    for name in table.columns:
        if pd.api.types.is_numeric_dtype(table[name]) and not pd.api.types.is_bool_dtype(table[name]):
            table[name] = as_floats(table[name])
    return table


def design(formula: str, data: pd.DataFrame, *, cluster: str | None = None, also: Sequence[str] = ()) -> Design:
    """Evaluate a formula.

    Parameters
    ----------
    formula
        As for statsmodels or R, such as ``"accuracy ~ C(level) + temperature"``.
    data
        One row per observation; rows with a missing value in a variable of the formula are dropped.
    cluster
        A column whose equal values mark rows that are not independent; rows without one are dropped.
    also
        Further columns that the table must have.

    Raises
    ------
    StatisticsError
        An unknown column, a formula that cannot be evaluated, too few rows or clusters, infinite values, or
        predictors that do not vary.
    """
    require(data, (*(() if cluster is None else (cluster,)), *also), "table")
    table = plain(data)
    if cluster is not None:
        table = table[table[cluster].notna()]
    if table.empty:
        raise StatisticsError(f"there are no rows to fit '{formula}' to")
    try:
        with np.errstate(divide="ignore", invalid="ignore"):
            model = smf.ols(formula, table, missing="drop")
    except (NameError, KeyError, SyntaxError, ValueError) as error:
        if "zero-size" in str(error):
            # numpy's words for the largest of nothing: no row was left to build the matrices of.
            raise StatisticsError(f"no row has all that '{formula}' needs") from None
        raise StatisticsError(f"the formula '{formula}' cannot be fitted: {error}") from None
    except Exception as error:
        # The formula library wraps every failure in classes of its own.
        if type(error).__module__.split(".")[0] not in {"patsy", "formulaic"}:
            raise
        raise StatisticsError(f"the formula '{formula}' cannot be fitted: {str(error).splitlines()[0]}") from None
    x, y = np.asarray(model.exog, dtype=np.float64), np.asarray(model.endog, dtype=np.float64)
    if y.ndim != 1:
        raise StatisticsError(f"the formula '{formula}' has a response of {y.shape[1]} columns, not of one number")
    n, p = x.shape
    if n <= p:
        raise StatisticsError(f"{n} complete rows are too few for {p} coefficients")
    if not np.isfinite(x).all() or not np.isfinite(y).all():
        hint = "a logarithm of zero? leave such rows out"
        raise StatisticsError("a variable of the formula is infinite", hint=hint)
    if np.linalg.matrix_rank(x) < p:
        raise StatisticsError("a predictor does not vary, or predictors are exact combinations of each other")
    rows = np.asarray(model.data.row_labels, dtype=np.int64)
    codes, groups = np.zeros(n, dtype=np.int64), 0
    if cluster is not None:
        codes, labels = pd.factorize(table.loc[rows, cluster], sort=True)
        groups = len(labels)
        if groups < 2:
            raise StatisticsError("one cluster says nothing about the spread between clusters")
    return Design(formula, y, x, tuple(model.exog_names), codes, groups, rows, len(data) - n)
