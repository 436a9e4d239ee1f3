"""A fitted model in the shape of R's `summary`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.report.digits import decimals_for, fixed
from dsqa.report.frames import Field, data_table
from dsqa.report.markdown import Column, Markdown, code_span, escape, table
from dsqa.report.wording import count, p_text
from dsqa.stats.interval import level_text
from dsqa.stats.models import ClusteredFit
from dsqa.stats.regression import ErrorKind, LinearFit

__all__ = ["model_summary"]

_ERRORS: dict[ErrorKind, tuple[str, str]] = {
    "classical": ("Std. Error", "Errors: classical, for equal variances and independent runs."),
    "hc3": ("Std. Error (HC3)", "Errors: HC3, for unequal variances; runs are taken as independent."),
    "cluster": ("Std. Error (cluster)", "Errors: clustered with the factor G/(G − 1) · (n − 1)/(n − p)."),
    "cluster-hc3": ("Std. Error (cluster HC3)", "Errors: clustered HC3, close to the jackknife over clusters."),
}
_STARS = ((0.001, r"\*\*\*"), (0.01, r"\*\*"), (0.05, r"\*"), (0.1, r"\."))
_CODES = r"Significance: \*\*\* < 0.001, \*\* < 0.01, \* < 0.05, \. < 0.1."


@dataclass(frozen=True)
class _Parts:
    """What the two kinds of fit have in common: a row per term, the error's name, and the lines below."""

    rows: pd.DataFrame
    error: str
    degrees_of_freedom: float
    about: str
    notes: tuple[str, ...]
    residuals: Markdown | None = None


def model_summary(
    fit: LinearFit | ClusteredFit,
    *,
    label: str | None = None,
    caption: str = "",
    errors: ErrorKind | None = None,
    level: float = 0.95,
    stars: bool = False,
    odds_ratios: bool = False,
    terms: Mapping[str, str] | None = None,
) -> Markdown:
    """Return a fit as R's ``summary()`` prints one: formula, residuals, coefficients, and how well it fits.

    Parameters
    ----------
    fit
        From `dsqa.stats.regression.fit_line`, or from `dsqa.stats.models.glmm` or `gee`.
    label
        ``tbl-…``, of the table of coefficients.
    caption
        Markdown; by default what was fitted.
    errors
        Which standard errors of a linear fit; by default those that assume least. Tests, intervals and F use them.
    level
        Of the intervals.
    stars
        Mark coefficients with R's significance codes.
    odds_ratios
        Also exp(estimate) and its interval, for a logistic model.
    terms
        Term → what to call it, in Markdown.

    Raises
    ------
    StatisticsError
        The fit lacks this kind of errors, or has no odds ratios.
    """
    parts = _linear(fit, errors, level) if isinstance(fit, LinearFit) else _clustered(fit, errors, level)
    if odds_ratios and "odds_ratio" not in parts.rows:
        raise StatisticsError("a linear model has no odds ratios")
    called = terms or {}
    letter = "t" if math.isfinite(parts.degrees_of_freedom) else "z"
    rows = parts.rows.assign(
        shown=[called.get(term, escape(term)) for term in parts.rows["term"]],
        statistic=parts.rows["estimate"] / parts.rows["se"],
        df=parts.degrees_of_freedom,
        code=[next((code for bound, code in _STARS if p < bound), "\u00a0") for p in parts.rows["p"]],
    )
    fields = [
        Field("shown", "Term", "markdown", width=20),
        Field("estimate", "Estimate", se="se", width=11),
        Field("se", parts.error, se="se", width=13),
        Field("statistic", f"{letter} value", digits=2, width=9),
        *([Field("df", "df", digits=0, width=6)] if letter == "t" else []),
        Field("p", f"Pr(>\\|{letter}\\|)", "p", width=10),
        *([Field("code", "\u00a0", "markdown", width=5)] if stars else []),
        Field("estimate", _interval_title(level), se="se", low="low", high="high", interval_only=True, width=18),
    ]
    if odds_ratios:
        title = f"Odds ratio, {_interval_title(level)}"
        fields.append(Field("odds_ratio", title, low="odds_ratio_low", high="odds_ratio_high", width=22))
    coefficients = data_table(
        rows,
        fields,
        label=label,
        caption=caption or parts.about,
        notes=[*parts.notes, *([_CODES] if stars else [])],
        sortable=False,
        classes=("model",),
    )
    above = [f"**Formula:** {code_span(fit.formula)}", *([parts.residuals] if parts.residuals else [])]
    return Markdown("\n\n".join([*above, coefficients]))


def _linear(fit: LinearFit, errors: ErrorKind | None, level: float) -> _Parts:
    kind = errors or fit.best_kind
    if kind not in fit.errors:
        raise StatisticsError(f"the fit has no {kind} errors", hint=f"it has: {', '.join(fit.errors)}")
    made = fit.table(level)
    free = fit.n - len(fit.coefficients)
    title, explained = _ERRORS[kind]
    worth = (
        f"Residual standard error: {_four(fit.sigma)} on {count(free, 'degree')} of freedom. "
        f"R²: {fixed(fit.r_squared, 4)}, adjusted R²: {fixed(fit.adjusted_r_squared, 4)}. AIC: {fixed(fit.aic, 1)}."
    )
    notes = (worth, _overall(fit, kind), _rows_used(fit), explained)
    about = f"Linear regression by least squares, {kind} errors."
    rows = made[made["errors"] == kind].reset_index(drop=True)
    return _Parts(rows, title, fit.degrees_of_freedom(kind), about, notes, _residuals(fit))


def _clustered(fit: ClusteredFit, errors: ErrorKind | None, level: float) -> _Parts:
    if errors is not None:
        raise StatisticsError("these models have one kind of errors only", hint="leave out 'errors'")
    about = f"{escape(fit.method[:1].upper() + fit.method[1:])}; estimates are log odds."
    if math.isnan(fit.log_likelihood):
        worth = f"Correlation of two runs of one cluster: {fixed(fit.spread, 3)}."
        return _Parts(fit.table(level), "Robust SE", fit.degrees_of_freedom, about, (worth, _rows_used(fit)))
    # The SD of the intercepts is a parameter too.
    aic = 2 * (len(fit.coefficients) + 1) - 2 * fit.log_likelihood
    worth = (
        f"SD of the clusters' intercepts: {fixed(fit.spread, 3)} (share of the latent variance: "
        f"{fixed(fit.latent_icc, 3)}). Log likelihood: {fixed(fit.log_likelihood, 2)}. AIC: {fixed(aic, 1)}."
    )
    return _Parts(fit.table(level), "Std. Error", fit.degrees_of_freedom, about, (worth, _rows_used(fit)))


def _residuals(fit: LinearFit) -> Markdown:
    names = ("Min", "1Q", "Median", "3Q", "Max")
    decimals = max(0, decimals_for(fit.sigma, 4) or 0)
    columns = [Column("Residuals", width=12), *(Column(name, "right", 10) for name in names)]
    values = [fixed(value, decimals) for value in np.quantile(fit.residuals, [0, 0.25, 0.5, 0.75, 1])]
    return table(columns, [["Quantiles", *values]], classes=("model",))


def _overall(fit: LinearFit, kind: ErrorKind) -> str:
    tested = [term for term in fit.coefficients if term != "Intercept"]
    if not tested:
        return "F: not available, there is no term but the intercept."
    try:
        f, first, second, p = fit.joint_test(tested, kind=kind)
    except StatisticsError as refusal:
        return f"F: not available, {escape(refusal.message)}."
    text = p_text(p)
    return (
        f"F statistic: {fixed(f, 2)} on {first} and {second:,} df, p {text if text.startswith('<') else f'= {text}'}."
    )


def _rows_used(fit: LinearFit | ClusteredFit) -> str:
    grouped = f" in {count(fit.clusters, 'cluster')}" if fit.clusters else ""
    left_out = f"; {count(fit.dropped, 'row')} left out for a missing value" if fit.dropped else ""
    return f"N: {count(fit.n, 'row')}{grouped}{left_out}."


def _four(value: float) -> str:
    """Return a positive number with four significant digits, as R prints it."""
    return fixed(value, max(0, decimals_for(value, 4) or 0))


def _interval_title(level: float) -> str:
    return f"{level_text(level)} CI"
