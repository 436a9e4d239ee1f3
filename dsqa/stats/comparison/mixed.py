"""Models compared by logistic regression with a random intercept per question: odds ratios within a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.columns import as_floats
from dsqa.stats.comparison.layout import labels_of, pairs
from dsqa.stats.interval import exponential
from dsqa.stats.models import ClusteredFit, FirthFit, SeparatedError, firth, glmm, likelihood_ratio

__all__ = ["mixed_rows"]

WITHIN_QUESTION = "odds ratio within a question"
_MOST_QUESTIONS = 150
"""Beyond so many coefficients a penalised fit with its profiles takes minutes."""


def mixed_rows(
    outcomes: pd.DataFrame, by: str, within: Sequence[str], labels: Sequence[str], level: float
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the pairs' odds ratios, and the test that there is no difference at all.

    accuracy ~ `by` + each column held equal + (1 | question), all as categories, on all runs of the questions
    compared. The test drops `by` and compares likelihoods. Where the fit is not possible (a model that is never
    right, one question) the rows say why.
    """
    names = {"label": by, **{f"held{i}": name for i, name in enumerate(within)}}
    runs = pd.DataFrame({new: labels_of(outcomes[old]) for new, old in names.items()})
    runs["question_id"] = labels_of(outcomes["question_id"]).to_numpy()
    runs["accuracy"] = as_floats(outcomes["accuracy"])
    # A row per cell and outcome: the likelihood needs no more, and a formula looks at every row.
    data = runs.dropna(subset="accuracy").value_counts(sort=False).rename("runs").reset_index()
    held = [name for name in names if name != "label" and data[name].nunique() > 1]
    rest = " + ".join(f"C({name})" for name in held) or "1"
    test = {"quantity": "mixed model", "questions": data["question_id"].nunique()}
    try:
        full = glmm(f"accuracy ~ C(label) + {rest}", data, runs="runs")
        reduced = glmm(f"accuracy ~ {rest}", data, runs="runs")
        chi2, df, p = likelihood_ratio(full, reduced)
    except SeparatedError as reason:
        lost = {"method": "not available", "note": reason.message}
        return _penalised(data, rest, labels, level, reason), [test | lost]
    except StatisticsError as reason:
        lost = {"method": "not available", "note": reason.message}
        rows = [{"quantity": WITHIN_QUESTION, "first": a, "second": b} | lost for a, b in pairs(labels)]
        return rows, [test | lost]
    note = f"chi-squared {chi2:.4g} on {df}; SD between questions {full.spread:.2f} on the log-odds scale"
    overall = test | {"p": p, "method": f"likelihood ratio, {full.method}", "note": note}
    return [_pair(full, first, second, level) for first, second in pairs(labels)], [overall]


def _penalised(
    data: pd.DataFrame, rest: str, labels: Sequence[str], level: float, reason: SeparatedError
) -> list[dict[str, Any]]:
    """Return the pairs' odds ratios by Firth's penalty, each question with an effect of its own."""
    questions = data["question_id"].nunique()
    why = reason.message
    if questions <= _MOST_QUESTIONS:
        try:
            fit = firth(f"accuracy ~ C(label) + {rest} + C(question_id)", data, runs="runs")
            rows = [_pair(fit, first, second, level) for first, second in pairs(labels)]
            note = "separated: a model (or another predictor) is always right or always wrong, so the estimate is a "
            note += "penalised one; for these very questions; where a model is hardly ever right, 95 % intervals of "
            note += "this kind hold about 92 %"
            return [row | {"questions": questions, "note": note} for row in rows]
        except StatisticsError as further:
            why = f"{why}; {further.message}"
    lost = {"method": "not available", "note": why}
    return [{"quantity": WITHIN_QUESTION, "first": a, "second": b} | lost for a, b in pairs(labels)]


def _pair(fit: ClusteredFit | FirthFit, first: str, second: str, level: float) -> dict[str, Any]:
    weights: dict[str, float] = {}
    for label, sign in ((first, 1.0), (second, -1.0)):
        # The reference label has no term: its effect is 0.
        term = f"C(label)[T.{label}]"
        if term in fit.coefficients:
            weights[term] = sign
    value, interval, p = fit.contrast(weights, level=level)
    return {
        "quantity": WITHIN_QUESTION,
        "first": first,
        "second": second,
        "estimate": exponential(value),
        "low": exponential(interval.low),
        "high": exponential(interval.high),
        "p": p,
        "questions": fit.clusters if isinstance(fit, ClusteredFit) else None,
        "method": interval.method,
        "note": "one effect for all questions; where models suit different questions, p holds for these very ones",
    }
