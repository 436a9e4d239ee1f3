"""What can be compared in a study, and what has to be held equal for it: for the page `models`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from dsqa.report.attempts import NotAvailable, attempt
from dsqa.report.markdown import Markdown
from dsqa.report.page import Page
from dsqa.report.wording import count
from dsqa.stats import ModelComparison, compare_models
from dsqa.stats.comparison import Measure

__all__ = ["by_condition", "compared_lead", "comparison_rows", "held_equal"]


def comparison_rows(page: Page) -> pd.DataFrame:
    """Return the outcome table with two more columns, for `dsqa.stats.compare_models`.

    ``condition`` is the condition's label; ``request`` what a request holds beside model and temperature (system
    message and parameters), as one text.
    """
    requests = {c.id: json.dumps([c.system, c.request], sort_keys=True) for c in page.description.conditions}
    ids = page.outcomes["condition_id"].astype(str)
    return page.outcomes.assign(
        condition=ids.map(page.conditions).astype("string"), request=ids.map(requests).fillna("").astype("string")
    )


def held_equal(page: Page, by: str) -> tuple[str, ...]:
    """Return the columns that a comparison by "model", "temperature" or "condition" holds equal.

    The temperature for models, the model for temperatures; also the rest of the request where the same model was
    asked at the same temperature in several ways. Nothing for conditions: they are compared as they are.
    """
    if by == "condition":
        return ()
    other = ("temperature",) if by == "model" else ("model",)
    return (*other, "request") if _several_requests(page) else other


def by_condition(
    page: Page, runs: pd.DataFrame, *, measures: Sequence[Measure], margins: Mapping[str, float], **settings: Any
) -> dict[str, ModelComparison | NotAvailable]:
    """Compare conditions as they are, where model and temperature do not tell all of them apart.

    Parameters
    ----------
    page, runs
        The study, and its runs as `comparison_rows` returns them.
    measures, margins
        What to compare, and the largest difference of each that would not matter.
    **settings
        Of `dsqa.stats.compare_models`.
    """
    if not _several_requests(page):
        reason = NotAvailable("Model and temperature tell all conditions apart, so there is nothing more to compare")
        return dict.fromkeys(measures, reason)
    return {
        measure: attempt(
            page, compare_models, runs, by="condition", within=(), measure=measure, margin=margins.get(measure),
            **settings,
        )
        for measure in measures
    }  # fmt: skip


def _several_requests(page: Page) -> bool:
    own = page.outcomes[["model", "temperature", "condition_id"]].drop_duplicates()
    return bool(own.duplicated(["model", "temperature"]).any())


def compared_lead(page: Page) -> Markdown:
    """Return what was asked of whom, and what therefore can be compared."""
    heats = int(page.outcomes["temperature"].nunique(dropna=False))
    text = (
        f"{count(len(page.models), 'model')} at {count(heats, 'temperature')} answered "
        f"{count(len(page.questions), 'question')}, {page.runs_text} "
        f"{'run' if page.runs_text == '1' else 'runs'} per question and condition, "
        f"{count(len(page.outcomes), 'run')} in all."
    )
    missing = len(page.questions) * len(page.conditions) - len(page.cells)
    if missing > 0:
        text += (
            f" {count(missing, 'cell')} of the full design {'has' if missing == 1 else 'have'} no run; compared are "
            "questions (at a temperature) that every model answered, so that all numbers rest on the same ground."
        )
    if _several_requests(page):
        text += (
            " The same model was asked at the same temperature in several ways (another system message or other "
            "parameters): see [By condition](#sec-models-condition)."
        )
    if len(page.questions) < 10:
        text += (
            f" With {count(len(page.questions), 'question')} the intervals for other questions are too narrow; read "
            "those for these very questions."
        )
    return Markdown(text)
