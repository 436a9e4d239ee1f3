"""What a study costs, as a person reads it: before it is sampled, and after."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dsqa.prices import format_money

if TYPE_CHECKING:
    from dsqa.sampling import Estimate, ModelEstimate, SamplingSummary
    from dsqa.study.sections import BudgetConfig

__all__ = ["budget_text", "estimate_text", "money_text", "spent_text"]

_HEAD = (
    ("", "", "", "", "tokens", "tokens out", "tokens out", "money", "money", "money"),
    ("model", "runs", "recorded", "requests", "in", "likely", "at most", "at least", "likely", "at most"),
)


def money_text(money: Mapping[str, float], unpriced: int) -> str:
    """Return amounts by currency, and how many requests have no known cost; never 0 for what is unknown."""
    known = ", ".join(format_money(amount, currency) for currency, amount in money.items() if amount)
    if not unpriced:
        return known or ("0" if money else "nothing")
    unknown = f"cost of {_count(unpriced, 'request')} unknown"
    return f"{known}, {unknown}" if known else unknown


def spent_text(summary: SamplingSummary) -> str:
    """Return what a session and the study so far have cost."""
    all_in = money_text(summary.money_all or {}, summary.unpriced)
    new = money_text(summary.money or {}, 0)
    return f"{new} in this session, {all_in} in all" if summary.new and not summary.unpriced else all_in


def estimate_text(estimate: Estimate, root: Path) -> str:
    """Return the estimate as a table and what is to be said of it."""
    rows = [*_HEAD, *(_row(model) for model in estimate.models)]
    if len(estimate.models) > 1:
        rows.append(_total(estimate.models))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD[0]))]
    lines = [
        "  ".join(text.ljust(width) if n == 0 else text.rjust(width) for n, (text, width) in enumerate(pairs))
        for pairs in (list(zip(row, widths, strict=True)) for row in rows)
    ]
    return "\n".join([*(line.rstrip() for line in lines), "", *_remarks(estimate, root)])


def budget_text(caps: BudgetConfig, estimate: Estimate) -> str | None:
    """Return what the budget does to an estimate, which is made without it; None where nothing is capped."""
    parts = []
    if caps.money is not None:
        unknown = sorted({model.model for model in estimate.models if model.price is None})
        if unknown:
            return (
                f"The budget caps money, and no price is known for {', '.join(unknown)}: as it is, 'dsqa sample' "
                "would send nothing."
            )
        parts.append(format_money(caps.money, estimate.currency))
    if caps.tokens is not None:
        parts.append(_count(caps.tokens, "token"))
    if caps.requests is not None:
        parts.append(_count(caps.requests, "request"))
    if not parts:
        return None
    return f"The budget ends it before the study has taken more than {', '.join(parts)}, all its sessions together."


def _row(model: ModelEstimate) -> tuple[str, ...]:
    name = model.model if model.endpoint == "default" else f"{model.model} ({model.endpoint})"
    return (
        name,
        f"{model.runs:,}",
        f"{model.recorded:,}",
        f"{model.requests:,}",
        f"{model.tokens_in:,}",
        _tokens(model.tokens_out, "unknown"),
        _tokens(model.tokens_out_most, "no bound"),
        *_money(model),
    )


def _money(model: ModelEstimate) -> tuple[str, str, str]:
    if model.price is None:
        return "unknown", "unknown", "unknown"
    if model.price.is_free:
        return "free", "free", "free"
    currency = model.price.currency
    return (
        "unknown" if model.low is None else format_money(model.low, currency),
        "unknown" if model.likely is None else format_money(model.likely, currency),
        "no bound" if model.high is None else format_money(model.high, currency),
    )


def _tokens(number: float | None, otherwise: str) -> str:
    return otherwise if number is None else f"{number:,.0f}"


def _total(models: tuple[ModelEstimate, ...]) -> tuple[str, ...]:
    currencies = {m.price.currency for m in models if m.price is not None and not m.price.is_free}
    priced = all(m.price is not None for m in models) and len(currencies) <= 1
    currency = next(iter(currencies), "USD")

    def money(amounts: list[float | None], otherwise: str) -> str:
        if not priced:
            return "unknown"
        if None in amounts:
            return otherwise
        return format_money(sum(amount or 0.0 for amount in amounts), currency)

    def tokens(numbers: list[float | None], otherwise: str) -> str:
        return otherwise if None in numbers else f"{sum(number or 0.0 for number in numbers):,.0f}"

    return (
        "in all",
        f"{sum(m.runs for m in models):,}",
        f"{sum(m.recorded for m in models):,}",
        f"{sum(m.requests for m in models):,}",
        f"{sum(m.tokens_in for m in models):,}",
        tokens([m.tokens_out for m in models], "unknown"),
        tokens([None if m.tokens_out_most is None else float(m.tokens_out_most) for m in models], "no bound"),
        money([m.low for m in models], "unknown"),
        money([m.likely for m in models], "unknown"),
        money([m.high for m in models], "no bound"),
    )


def _remarks(estimate: Estimate, root: Path) -> list[str]:
    models = estimate.models
    lines = ["Nothing was sent. At least: the prompts alone; likely: answers as long as the recorded ones."]
    if estimate.stops:
        lines.append("The study stops by itself (stop:): these are the most runs that it may ask.")
    if estimate.waiting:
        lines.append(f"{_count(estimate.waiting, 'run')} in batches left out (dsqa batch collect, or cancel).")
    if estimate.counted_here:
        lines.append(
            "Tokens in are counted with o200k_base where no run is recorded; other models' differ by some %."
        )
    if any(m.tokens_out is None for m in models):
        lines.append(
            "No run is recorded yet for a model: --limit 20 records a few, and the next estimate is a good one."
        )
    if any(m.tokens_out_most is None for m in models):
        lines.append("A model has no bound on its answers: set max_tokens under 'request' in the study.")
    unknown = sorted({m.model for m in models if m.price is None})
    if unknown:
        lines.append(f"No price is known for {', '.join(unknown)}: put it into prices.yaml beside the study file.")
    for price in sorted({(m.price.origin, m.price.date or "no date") for m in models if m.price and m.price.input}):
        lines.append(f"Prices: {price[0]}, of {price[1]}; check them, providers change them.")
    if estimate.spent.requests:
        sure = estimate.spent.money - estimate.unsure.money
        spent = money_text({estimate.currency: sure}, estimate.unpriced)
        if estimate.unsure.money:
            spent += (
                f" (and up to {format_money(estimate.unsure.money, estimate.currency)} for requests that broke off)"
            )
        lines.append(
            f"So far: {_count(estimate.spent.requests, 'request')}, {estimate.spent.tokens:,.0f} tokens, {spent}; "
            f"{root / 'sessions.jsonl'} has it session by session."
        )
    return lines


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
