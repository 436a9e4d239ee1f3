"""A fitted model as R prints one, or the reason why there is none; and what runs may be clustered by."""

from __future__ import annotations

import re

from dsqa.report.attempts import NO_REPLY, NotAvailable, sentence
from dsqa.report.labels import by_text
from dsqa.report.markdown import Markdown, escape
from dsqa.report.page import Page
from dsqa.report.tables import model_summary
from dsqa.stats import ClusteredFit, LinearFit

__all__ = ["cluster_of", "regression_summary"]

_CATEGORY = re.compile(r"C\((?P<name>\w+)\)\[T\.(?P<value>.*)\]")


def regression_summary(
    page: Page,
    fit: LinearFit | ClusteredFit | NotAvailable,
    *,
    label: str,
    caption: str = "",
    level: float = 0.95,
    odds_ratios: bool = False,
) -> Markdown:
    """Return a fit as R's ``summary()`` prints one, or a sentence on why there is none.

    Parameters
    ----------
    page, fit
        The study, and what `attempt` gave.
    label, caption, level, odds_ratios
        As `model_summary`.
    """
    if isinstance(fit, NotAvailable):
        return sentence(fit.reason if fit.reason == NO_REPLY else f"no regression: {fit.reason}")
    return model_summary(
        fit, label=label, caption=caption, level=level, odds_ratios=odds_ratios, terms=_terms(page, fit)
    )


def _terms(page: Page, fit: LinearFit | ClusteredFit) -> dict[str, str]:
    """Return plain names for the categories of a formula, conditions by their labels."""
    names = {}
    for term in fit.coefficients:
        found = _CATEGORY.fullmatch(term)
        if found:
            value = found["value"]
            shown = page.conditions.get(value, value) if found["name"] == "condition_id" else value
            names[term] = f"{by_text(found['name'])}: {escape(shown)}"
    return names


def cluster_of(page: Page, cluster: str | None) -> str | None:
    """Return the column to cluster by, or None where it has one value only: errors then take runs as independent."""
    return cluster if cluster and page.outcomes[cluster].dropna().nunique() > 1 else None
