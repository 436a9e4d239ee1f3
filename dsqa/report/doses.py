"""What temperature does to accuracy, score and instability; and the models' formula: for the page `models`."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from dsqa.report.attempts import NotAvailable, found, refusals, sentence
from dsqa.report.digits import fixed
from dsqa.report.markdown import Markdown
from dsqa.report.page import Page
from dsqa.report.tables import Field, data_table, model_summary
from dsqa.report.wording import count, is_missing, p_text
from dsqa.stats import ClusteredFit, DoseResponse
from dsqa.stats.interval import level_text

__all__ = ["accuracy_formula", "dose_answer", "dose_curves", "dose_slopes", "fit_summary"]

_NAMES = {"accuracy": "Accuracy", "instability": "Instability σ̄", "score": "Mean score"}


def dose_slopes(page: Page, doses: Mapping[str, DoseResponse | NotAvailable], level: float) -> Markdown:
    """Return the straight line's slope per measure, with the test that the response is straight."""
    rows = []
    for measure, dose in found(doses).items():
        fit = dose.linear
        kind, interval = fit.best_kind, fit.interval("temperature", level=level)
        error = fit.errors[kind]["temperature"]
        rows.append(
            {
                "measure": _NAMES[measure],
                "slope": fit.coefficients["temperature"],
                "se": error,
                "low": interval.low,
                "high": interval.high,
                "t": fit.coefficients["temperature"] / error if error > 0 else math.nan,
                "df": fit.degrees_of_freedom(kind),
                "p": fit.p_value("temperature") if error > 0 else math.nan,
                "straight": dose.nonlinearity_p,
                "cells": dose.cells,
            }
        )
    if not rows:
        return refusals(doses)
    several = any(dose.spline is not None for dose in found(doses).values())
    no_spread = "every question changes alike: there is no spread to test by"
    two = "needs three temperatures" if not several else "fewer questions than bends"
    fields = [
        Field("measure", "Measure", "text", width=16),
        Field("slope", "Slope per 1.0", "signed", se="se", width=12),
        Field("se", "Std. Error", se="se", width=10),
        Field("low", f"{level_text(level)} CI", "signed", se="se", low="low", high="high", interval_only=True,
              width=18),
        Field("t", "t value", digits=2, missing=no_spread, width=8),
        Field("df", "df", "count", width=6),
        Field("p", "$p$", "p", missing=no_spread, width=9),
        Field("straight", "$p$, straight", "p", missing=two, width=11),
        Field("cells", "Cells", "count", width=7),
    ]  # fmt: skip
    caption = (
        "Change of each measure when the temperature rises by 1.0, within question and model. Errors: clustered by "
        "question (HC3)."
    )
    notes = [
        f"{_NAMES[measure]}: {count(dose.left_out, 'cell')} left out (no temperature, one run, or asked at one "
        "temperature only)."
        for measure, dose in found(doses).items()
        if dose.left_out
    ]
    table = data_table(pd.DataFrame(rows), fields, label="tbl-models-slopes", caption=caption, notes=notes)
    return Markdown("\n\n".join(part for part in (table, refusals(doses)) if part))


def dose_curves(page: Page, doses: Mapping[str, DoseResponse | NotAvailable], level: float) -> Markdown | None:
    """Return the change from the lowest temperature at each temperature that was asked."""
    heats = sorted({float(t) for t in page.outcomes["temperature"].dropna()})
    rows = []
    for measure, dose in found(doses).items():
        curve = dose.curve
        for heat in heats:
            at = curve[np.isclose(curve["temperature"], heat)]
            if heat == heats[0] or at.empty:
                continue
            row = at.iloc[0]
            rows.append(
                {
                    "measure": f"{_NAMES[measure]}, {'spline' if dose.spline is not None else 'straight line'}",
                    "temperature": f"{heat:g}",
                    **row[["change", "low", "high"]].to_dict(),
                }
            )
    if not rows:
        return None
    fields = [
        Field("temperature", "Temperature", "text", width=14),
        Field("change", f"Change, {level_text(level)} interval", "signed", low="low", high="high", width=30),
    ]
    caption = f"Fitted change against temperature {heats[0]:g}, with pointwise intervals."
    return data_table(
        pd.DataFrame(rows), fields, label="tbl-models-curve", caption=caption, group="measure", classes=("whole",)
    )


def dose_answer(page: Page, doses: Mapping[str, DoseResponse | NotAvailable], level: float) -> Markdown | None:
    """Return in sentences what temperature does."""
    lines = []
    for measure, dose in found(doses).items():
        interval = dose.linear.interval("temperature", level=level)
        slope = dose.linear.coefficients["temperature"]
        what = f"- **{_NAMES[measure]}** changes by {fixed(slope, 3, sign=True)} per 1.0"
        if interval.low < interval.high:
            low, high = (fixed(end, 3, sign=True) for end in (interval.low, interval.high))
            what += f" ({level_text(level)} interval {low} to {high})"
        if not is_missing(dose.nonlinearity_p):
            bent = dose.nonlinearity_p < 1 - level
            p = p_text(dose.nonlinearity_p)
            what += (
                f"; the response is {'not ' if bent else ''}compatible with a straight line ($p$ "
                f"{p if p.startswith('<') else f'= {p}'}{'' if not bent else ': read the curve, not the slope'})"
            )
        lines.append(what + ".")
    return Markdown("\n".join(lines)) if lines else None


def accuracy_formula(page: Page) -> str:
    """Return the mixed model's formula: accuracy by whatever varies, as categories."""
    terms = [f"C({name})" for name in ("model", "temperature") if page.outcomes[name].dropna().nunique() > 1]
    return f"accuracy ~ {' + '.join(terms) or '1'}"


def fit_summary(fit: ClusteredFit | NotAvailable, *, label: str, level: float) -> Markdown:
    """Return a mixed model as R's ``summary()`` prints one, or why there is none."""
    if isinstance(fit, NotAvailable):
        return sentence(f"no mixed model: {fit.reason}")
    return model_summary(fit, label=label, level=level, odds_ratios=True)
