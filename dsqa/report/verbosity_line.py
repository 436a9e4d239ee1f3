"""Whether the line fits, and how it compares with the one in the paper: further tables of the page `verbosity`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dsqa.report.attempts import NotAvailable, sentence
from dsqa.report.markdown import Column, Markdown, escape, table
from dsqa.report.page import Page
from dsqa.report.tables import Field, data_table
from dsqa.report.verbosity import slope_term
from dsqa.report.wording import MISSING, number, p_text
from dsqa.stats import Interval, LinearFit, LineChecks
from dsqa.stats.interval import level_text

__all__ = ["verbosity_checks", "verbosity_levels", "verbosity_paper"]

_NORMAL = 0.0455
_MINUS = re.compile(r"(?<![^\s\[])-(?=\d)")
# Ni, Evkaya and de Carvalho (2026), over gpt-4o, gpt-4o-mini, gpt-4.1-mini and gpt-4.1-nano.
_PAPER = {
    "spearman": "0.953",
    "pearson": "0.956",
    "exponent": "1.01 [0.95, 1.07]",
    "raw": "−0.01 + 0.13 × word ratio",
    "beyond": "4.5 %",
}


@dataclass(frozen=True)
class _Line:
    """A row of the checks: what is checked, what was found, and what that means."""

    what: str
    found: str
    says: str


def verbosity_checks(
    page: Page, fit: LinearFit | NotAvailable, checks: LineChecks | NotAvailable, *, level: float = 0.95
) -> Markdown:
    """Return the checks of the log–log line, each with what it says.

    Parameters
    ----------
    page, fit, checks
        The study, the fit on log–log scale, and what `dsqa.stats.check_line` gave.
    level
        At which a test counts.
    """
    if isinstance(fit, NotAvailable):
        return sentence(fit.reason)
    if isinstance(checks, NotAvailable):
        return sentence(f"the line was not checked: {checks.reason}")
    alpha = 1 - level
    ends = checks.beyond_interval
    share = f"{100 * checks.beyond:.1f} %"
    if ends.available:
        share += f" \\[{100 * ends.low:.1f}, {100 * ends.high:.1f}\\]"
    lines = [
        _Line("Residual SD, logarithms", number(fit.sigma, 3), f"a factor of {math.exp(fit.sigma):.2f} either way"),
        _Line(
            "Residuals beyond ±2 SD",
            share,
            f"normal residuals would have {100 * _NORMAL:.2f} %{_compatible(ends)}",
        ),
        _Line(
            "Curvature (quadratic term)",
            f"{number(checks.quadratic, 3)}, $p$ {_p(checks.quadratic_p)}",
            _verdict(checks.quadratic_p, alpha, "the line bends", "no bend seen"),
        ),
        _Line(
            "Unequal variance (squared residuals on the predictor)",
            f"{number(checks.variance_slope, 4)}, $p$ {_p(checks.variance_p)}",
            _verdict(
                checks.variance_p, alpha, "variance changes along the line; robust errors needed", "no change seen"
            ),
        ),
        _Line(
            "Residuals of a cluster alike (intraclass correlation)",
            number(checks.residual_icc),
            "runs are not independent: clustered errors needed"
            if checks.residual_icc > 0.05
            else "clusters hardly matter beyond the line",
        ),
        _Line(
            "Skewness and excess kurtosis",
            f"{number(checks.skewness)}; {number(checks.kurtosis)}",
            "both 0 for normal residuals; the intervals do not need that with many clusters",
        ),
        _Line(
            "Slope without one cluster",
            f"{number(checks.slope_low, 3)} to {number(checks.slope_high, 3)}",
            f"extremes without {escape(checks.low_without)} and without {escape(checks.high_without)}",
        ),
    ]
    columns = [Column("Check", width=26), Column("Found", "right", 20), Column("Says", width=34)]
    caption = f"Checks of the log–log line; tests by clustered (HC3) errors, judged at {level_text(alpha)}."
    rows = [[line.what, line.found.replace("-", "−"), line.says] for line in lines]
    return table(columns, rows, label="tbl-verbosity-checks", caption=caption)


def _compatible(ends: Interval) -> str:
    return "" if not ends.available else "; compatible" if _NORMAL in ends else "; not compatible"


def _p(value: float) -> str:
    text = p_text(value)
    return text if text.startswith(("<", "–")) else f"= {text}"


def _verdict(p: float, alpha: float, yes: str, no: str) -> str:
    return "cannot be tested here" if math.isnan(p) else yes if p < alpha else no


def verbosity_levels(
    page: Page,
    overall: LinearFit | NotAvailable,
    fits: tuple[LinearFit | None, LinearFit | None] | NotAvailable,
    *,
    level: float = 0.95,
) -> Markdown:
    """Return the exponent over runs, within questions and between their means.

    Parameters
    ----------
    page, overall, fits
        The study, the fit over runs on log–log scale, and what `dsqa.stats.within_between` gave.
    level
        Of the intervals.
    """
    if isinstance(overall, NotAvailable):
        return sentence(overall.reason)
    if isinstance(fits, NotAvailable):
        return sentence(f"no exponent within and between questions: {fits.reason}")
    rows: list[dict[str, Any]] = []
    for name, fit in (("over runs", overall), ("within questions", fits[0]), ("between questions' means", fits[1])):
        if fit is None:
            rows.append({"name": name})
            continue
        term = slope_term(fit)
        ci = fit.interval(term, level=level)
        rows.append(
            {
                "name": name,
                "slope": fit.coefficients[term],
                "low": ci.low,
                "high": ci.high,
                "sigma": fit.sigma,
                "n": fit.n,
                "errors": "clustered, HC3" if fit.clusters else "HC3",
            }
        )
    frame = pd.DataFrame(rows).reindex(columns=["name", "slope", "low", "high", "sigma", "n", "errors"])
    fields = [
        Field("name", "Exponent", "text", width=22),
        Field("slope", f"Estimate, {level_text(level)} interval", digits=3, low="low", high="high", width=26),
        Field("sigma", "Residual SD", digits=3, width=10),
        Field("n", "Rows", "count", width=8),
        Field("errors", "Errors", "text", width=14),
    ]
    caption = "The exponent where each kind of variation is looked at alone; logarithms throughout."
    return data_table(
        frame, fields, label="tbl-verbosity-levels", caption=caption,
        missing="the word ratio does not vary there, or there are too few rows", sortable=False,
    )  # fmt: skip


def verbosity_paper(
    page: Page,
    correlations: pd.DataFrame | NotAvailable,
    log: LinearFit | NotAvailable,
    raw: LinearFit | NotAvailable,
    *,
    level: float = 0.95,
) -> Markdown:
    """Return this study's numbers beside those of the paper, which are other models'.

    Parameters
    ----------
    page
        The study.
    correlations
        Spearman's and Pearson's of the two ratios, as `dsqa.stats.correlation_table` gives them.
    log, raw
        The fits on both scales.
    level
        Of the intervals.
    """
    if isinstance(log, NotAvailable) or isinstance(raw, NotAvailable):
        return sentence(log.reason if isinstance(log, NotAvailable) else raw.reason)  # type: ignore[union-attr]
    exponent, ci = log.coefficients[slope_term(log)], log.interval(slope_term(log), level=level)
    slope, intercept = raw.coefficients[slope_term(raw)], raw.coefficients["Intercept"]
    steep = raw.interval(slope_term(raw), level=level)
    foot = raw.interval("Intercept", level=level)
    rows = [
        *(
            [f"{name} correlation of the ratios", _correlation(correlations, kind), _PAPER[kind]]
            for kind, name in (("spearman", "Spearman"), ("pearson", "Pearson"))
        ),
        [
            "Exponent, log–log",
            f"{number(exponent, 3)} {_ends(ci.low, ci.high, 3)}",
            _escaped("exponent"),
        ],
        [
            "Raw fit of the token ratio",
            f"{number(intercept, 3)} {_ends(foot.low, foot.high, 3)} + {number(slope, 3)} "
            f"{_ends(steep.low, steep.high, 3)} × word ratio",
            _escaped("raw"),
        ],
        ["Residuals beyond ±2 SD, log–log", f"{100 * log.beyond_two_sd:.1f} %", _escaped("beyond")],
    ]
    models = ", ".join(escape(name) for name in page.models[:4]) + (", …" if len(page.models) > 4 else "")
    columns = [
        Column("Quantity", width=24),
        Column(f"This study ({models})", "right", 34),
        Column("Paper", "right", 22),
    ]
    caption = (
        "This study beside the paper. The paper's numbers are of **other models** (gpt-4o, gpt-4o-mini, "
        "gpt-4.1-mini, gpt-4.1-nano), other prompts and 100 runs per cell: they are no target and no test. Intervals "
        f"in brackets are at {level_text(level)} here and 95 % there."
    )
    return table(
        columns, [[_MINUS.sub("−", cell) if i else cell for i, cell in enumerate(row)] for row in rows],
        label="tbl-verbosity-paper", caption=caption,
    )  # fmt: skip


def _escaped(name: str) -> str:
    return _PAPER[name].replace("[", "\\[").replace("]", "\\]")


def _ends(low: float, high: float, digits: int) -> str:
    if math.isnan(low) or math.isnan(high):
        return ""
    return f"\\[{number(low, digits)}, {number(high, digits)}\\]".replace("-", "−")


def _correlation(found: pd.DataFrame | NotAvailable, kind: str) -> str:
    if isinstance(found, NotAvailable):
        return MISSING
    row = found[found["kind"] == kind].iloc[0]
    return f"{number(row['r'], 3)} {_ends(float(row['low']), float(row['high']), 3)}".strip()
