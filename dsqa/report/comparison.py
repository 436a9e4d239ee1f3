"""Which model, which temperature is best, and how strong the evidence is."""

from __future__ import annotations

from dsqa.errors import StatisticsError
from dsqa.report.digits import fixed
from dsqa.report.markdown import Column, Markdown, escape, table
from dsqa.report.page import Page
from dsqa.report.wording import is_missing, p_text
from dsqa.stats import ModelComparison, compare_models

__all__ = ["models_compared"]

_RESAMPLES = 1999


def models_compared(page: Page) -> Markdown:
    """Return the comparison of models, and of temperatures, in accuracy and in instability."""
    parts: list[str] = []
    for by, number in (("model", len(page.models)), ("temperature", page.outcomes["temperature"].nunique())):
        if number > 1:
            parts.append(f"### By {by} {{#sec-compared-{by}}}\n")
            parts += [_compared(page, by, measure) for measure in ("accuracy", "instability")]
    if not parts:
        return Markdown("One model at one temperature was asked: there is nothing to compare.")
    parts.append(
        "Questions are paired, and every question counts once. The intervals are for other questions of the kind; "
        "$p$ values permute the two within questions and are adjusted by Holm."
    )
    return Markdown("\n\n".join(parts))


def _compared(page: Page, by: str, measure: str) -> str:
    try:
        result = compare_models(
            page.outcomes,
            by=by,
            measure="instability" if measure == "instability" else "accuracy",
            seed=page.seed,
            resamples=min(page.resamples, _RESAMPLES),
        )
    except StatisticsError as refusal:
        return f"{measure.capitalize()} cannot be compared: {escape(refusal.message)}."
    return f"**{measure.capitalize()}.** {escape(result.answer)}\n\n{_differences(result, by, measure)}"


def _differences(result: ModelComparison, by: str, measure: str) -> Markdown:
    rows = []
    for row in result.rows("difference").to_dict("records"):
        known = not is_missing(row["low"])
        low, high = (fixed(row[end], 3, sign=True) for end in ("low", "high"))
        rows.append(
            [
                escape(row["first"]),
                escape(row["second"]),
                fixed(row["estimate"], 3, sign=True),
                f"{low} to {high}" if known else "not available",
                p_text(row["p_adjusted"]),
                f"{row['questions']:.0f}",
            ]
        )
    columns = [
        Column("First", width=18),
        Column("Second", width=18),
        Column("Difference", "right", 11),
        Column("95 % interval", "right", 18),
        Column("$p$, adjusted", "right", 11),
        Column("Questions", "right", 10),
    ]
    caption = f"Differences in {measure} between {by}s, first minus second, means over questions."
    return table(columns, rows, label=f"tbl-compared-{by}-{measure}", caption=caption, classes=("stack",))
