"""Tokens against words: the tables of the page `verbosity`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.report.attempts import NO_REPLY, NotAvailable, attempt, no_reply, sentence
from dsqa.report.labels import by_text, group_names, in_order
from dsqa.report.markdown import Markdown, escape
from dsqa.report.page import Page
from dsqa.report.tables import Field, data_table
from dsqa.report.wording import count, coverage_notes, listing, number, p_text, percent
from dsqa.stats import BootstrappedLine, LinearFit, bootstrap_line, fit_line, verbosity_table
from dsqa.stats.interval import level_text
from dsqa.stats.verbosity import FORMULAS, verbosity_data

__all__ = ["slope_term", "verbosity_by", "verbosity_lead", "verbosity_rows", "verbosity_runs", "verbosity_slopes"]

_LABELS = ("question_id", "condition_id", "run", "category", "level", "model", "temperature")
_ERRORS = {
    "classical": "independent runs, equal variances",
    "hc3": "independent runs (HC3)",
    "cluster": "clustered",
    "cluster-hc3": "clustered (HC3)",
    "jackknife": "jackknife over clusters",
}
_SOURCES = {
    "usage": "the endpoint's own count",
    "usage-apportioned": "the endpoint's own count, shared out between text and code",
    "bpe": "a bundled tokeniser (not the model's own)",
}


def slope_term(fit: LinearFit) -> str:
    """Return the name of a straight line's predictor."""
    return next(name for name in fit.coefficients if name != "Intercept")


def verbosity_rows(page: Page) -> pd.DataFrame:
    """Return a row per run: both ratios as numbers (missing without output), labels, and `cell`."""
    rows = verbosity_data(page.outcomes, None).join(page.outcomes[list(_LABELS)])
    return rows.assign(cell=rows["question_id"].astype(str) + " · " + rows["condition_id"].astype(str))


def verbosity_runs(page: Page, rows: pd.DataFrame) -> Markdown:
    """Return how many runs have both ratios, why others lack them, and where token counts come from."""
    has = rows[["word_ratio", "token_ratio"]].notna().all(axis=1)
    text = [f"{int(has.sum()):,} of {count(len(rows), 'run')} have both ratios."]
    lacking = page.outcomes[~has]
    if len(lacking):
        why = lacking["status"].astype(str).value_counts().sort_index()
        text.append(
            f"Without text outside of code, and so without a ratio: "
            f"{listing(f'{int(n):,} {escape(name)}' for name, n in why.items())}."
        )
    sources = page.outcomes.loc[has, "tokens_source"].dropna().astype(str).value_counts().sort_index()
    if len(sources):
        said = listing(
            f"{_SOURCES.get(str(name), escape(name))} ({count(int(n), 'run')})" for name, n in sources.items()
        )
        text.append(f"Tokens: {said}.")
    if "bpe" in sources and len(sources) > 1:
        text.append("Two sources of token counts are mixed: compare them before reading the fit.")
    return Markdown(" ".join(text))


def verbosity_lead(page: Page, fit: LinearFit | NotAvailable, *, level: float = 0.95) -> Markdown:
    """Return the exponent in a sentence, and whether it is compatible with proportionality.

    Parameters
    ----------
    page
        The study.
    fit
        On log–log scale.
    level
        Of the interval.
    """
    if isinstance(fit, NotAvailable):
        return sentence(fit.reason)
    term = slope_term(fit)
    ci, p = fit.interval(term, level=level), fit.p_value(term, equals=1)
    if math.isnan(ci.low) or ci.width < 1e-9:
        return Markdown(f"All runs lie on one line of exponent {number(fit.coefficients[term], 3)}.")
    one = "is compatible with" if 1 in ci else "differs from"
    how = f"{count(fit.clusters, 'cluster')}" if fit.clusters else "runs taken as independent"
    text = (
        f"The token ratio goes as the word ratio to the power **{number(fit.coefficients[term], 3)}** "
        f"({level_text(level)} interval {number(ci.low, 3)} to {number(ci.high, 3)}; {how}), which {one} "
        f"proportionality, exponent 1 ($p$ {_equals(p)}). The line explains {percent(fit.r_squared)} of the variance "
        f"of the logarithm over {count(fit.n, 'run')}; a run's token ratio is typically within "
        f"{percent(math.expm1(fit.sigma))} of it (one residual SD)."
    )
    return Markdown(text.replace("-", "−"))


def _equals(p: float) -> str:
    text = p_text(p)
    return text if text.startswith("<") else f"= {text}"


def verbosity_slopes(
    page: Page, rows: pd.DataFrame, *, cluster: str | None, level: float = 0.95, resamples: int = 9999
) -> Markdown:
    """Return the slope on log and raw scale by every method and kind of error.

    Parameters
    ----------
    page, rows
        The study, and what `verbosity_rows` gave.
    cluster
        What makes runs alike; None where there is nothing.
    level, resamples
        Of the intervals; Theil–Sen takes a tenth of the resamples.
    """
    frame = attempt(page, _slopes, page, rows, cluster, level, resamples)
    if isinstance(frame, NotAvailable):
        return sentence(frame.reason)
    fields = [
        Field("method", "Line", "text", width=14),
        Field("errors", "Errors", "text", width=30),
        Field("slope", "Slope", digits=3, missing_from="note", width=9),
        Field("se", "Std. Error", se="se", missing="percentiles only", width=10),
        Field("slope", f"{level_text(level)} interval", digits=3, low="low", high="high", interval_only=True,
              missing_from="note", width=18),
        Field("p", "$p$", "p", note="of exponent 1 on the log scale, of slope 0 on the raw scale",
              missing="not tested", width=9),
    ]  # fmt: skip
    caption = (
        "Slope of the token ratio on the word ratio. Log scale: the exponent. OLS: least squares; median: quantile "
        "regression at ½; Theil–Sen: median of pairwise slopes. *Clustered* errors, the bootstraps and the "
        "jackknife let runs of one question, or cell, be alike; the others do not, and are shown to see what "
        "that costs."
    )
    notes = coverage_notes(frame, "low", "note")
    return data_table(
        frame, fields, label="tbl-verbosity-slopes", caption=caption, group="scale", notes=notes, sortable=False
    )


def _slopes(page: Page, rows: pd.DataFrame, cluster: str | None, level: float, resamples: int) -> pd.DataFrame:
    parts = []
    if cluster is None:
        for scale, formula in FORMULAS.items():
            fit = fit_line(formula, rows)
            own = fit.table(level)
            own = own[own["term"] != "Intercept"].rename(columns={"estimate": "slope"})
            own["p"] = [
                fit.p_value(slope_term(fit), equals=float(scale == "log"), kind=kind) for kind in own["errors"]
            ]
            parts.append(own.assign(scale=scale, method="OLS"))
    else:
        parts.append(
            verbosity_table(rows, seed=page.seed, cluster=cluster, level=level, resamples=max(resamples // 10, 199))
        )
    found = pd.concat(parts, ignore_index=True)
    found = found.assign(errors=found["errors"].map(_ERRORS), note=found.get("note"))
    extra = []
    for scale, formula in FORMULAS.items():
        for unit in dict.fromkeys(name for name in (cluster, "cell") if name is not None):
            line = attempt(
                page, bootstrap_line, formula, rows, cluster=unit, seed=page.seed, level=level, resamples=resamples
            )
            if not isinstance(line, NotAvailable):
                extra.append(_bootstrapped(scale, unit, line))
    found = pd.concat([found, pd.DataFrame(extra)], ignore_index=True)
    names = {"log": "Log–log scale", "raw": "Raw scale"}
    order = found["scale"].map(list(names).index)
    return found.assign(scale=found["scale"].map(names), _o=order).sort_values("_o", kind="stable", ignore_index=True)


def _bootstrapped(scale: str, unit: str, line: BootstrappedLine) -> dict[str, object]:
    what = "cells" if unit == "cell" else f"{by_text(unit).lower()}s"
    return {
        "scale": scale,
        "method": "OLS",
        "errors": f"{count(line.clusters, what[:-1], what)} drawn again; interval: left out in turn",
        "slope": line.slope,
        "se": line.slope_error,
        "low": line.slope_interval.low,
        "high": line.slope_interval.high,
        "p": math.nan,
    }


def verbosity_by(
    page: Page, rows: pd.DataFrame, by: Sequence[str], *, cluster: str | None, level: float = 0.95
) -> Markdown:
    """Return the exponent per group.

    Parameters
    ----------
    page, rows
        The study, and what `verbosity_rows` gave.
    by
        Columns to group by.
    cluster, level
        Of the intervals.
    """
    if no_reply(page):
        return sentence(NO_REPLY)
    made = []
    for key, group in rows.groupby(list(by), sort=True, dropna=False):
        row: dict[str, object] = dict(zip(by, key, strict=True))
        try:
            fit = fit_line(FORMULAS["log"], group, cluster=cluster)
        except StatisticsError as refusal:
            made.append(row | {"runs": len(group), "why": refusal.message})
            continue
        term = slope_term(fit)
        ci = fit.interval(term, level=level)
        row |= {"runs": fit.n, "slope": fit.coefficients[term], "low": ci.low, "high": ci.high, "sigma": fit.sigma}
        made.append(row | {"r_squared": fit.r_squared, "clusters": fit.clusters or pd.NA})
    names = [*by, "runs", "clusters", "slope", "low", "high", "sigma", "r_squared", "why"]
    frame = in_order(page, pd.DataFrame(made).reindex(columns=names), by)
    if frame["slope"].isna().all():
        return sentence(f"no exponent by {listing(by_text(name).lower() for name in by)}: {frame['why'].iloc[0]}")
    fields = [
        *(Field(name, by_text(name), "text", width=18) for name in by),
        Field("runs", "Runs", "count", width=8),
        Field("clusters", "Clusters", "count", missing="runs taken as independent", width=8),
        Field("slope", f"Exponent, {level_text(level)} interval", digits=3, low="low", high="high",
              missing_from="why", width=24),
        Field("sigma", "Residual SD", digits=3, missing_from="why", width=10),
        Field("r_squared", "R²", digits=3, missing_from="why", width=8),
    ]  # fmt: skip
    label = f"tbl-verbosity-by-{'-'.join(name.replace('_', '-') for name in by)}"
    caption = f"Exponent by {listing(by_text(name).lower() for name in by)}, each group fitted by itself."
    return data_table(group_names(page, frame, by), fields, label=label, caption=caption, classes=("stack",))
