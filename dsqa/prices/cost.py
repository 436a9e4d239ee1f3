"""What a run came to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dsqa.prices.model import Money, Price, Prices
from dsqa.records import Record, usage_counts

__all__ = ["MAY_BE_BILLED", "cost_of", "total_cost", "usage_cost"]

MAY_BE_BILLED = frozenset({"timeout", "dropped", "malformed body", "too large"})
"""Failures after which the endpoint may have done the work, and charge for it."""


def cost_of(record: Record, prices: Prices) -> Money | None:
    """Return what a recorded run cost, or None where that is unknown.

    Tokens are those the endpoint reported, the cached ones at their own price, reasoning as output, all at the
    batch's where the run was asked in one. Of runs that
    shared one request (``choice``), the first has the whole cost and the others none, so that sums are right. A run
    that failed without an answer costs nothing, unless the endpoint may have done the work (a timeout, a broken
    connection): then its cost is unknown. Earlier tries of a run are not in it; ``sessions.jsonl`` counts them.

    Parameters
    ----------
    record
        The run.
    prices
        From `load_prices`.
    """
    price = prices.find(str(record.condition.get("model")), str(record.condition.get("base_url") or ""))
    if price is None:
        return None
    if record.choice is not None and record.choice.get("index"):
        return Money(0.0, price.currency)
    if record.usage is None and record.error is not None and record.error.get("class") not in MAY_BE_BILLED:
        return Money(0.0, price.currency)
    amount = usage_cost(record.usage, price.for_run(record.batch))
    return None if amount is None else Money(amount, price.currency)


def total_cost(records: Iterable[Record], prices: Prices) -> tuple[dict[str, float], int]:
    """Return what runs cost together, by currency, and how many have no known cost and are left out of it."""
    money: dict[str, float] = {}
    unknown = 0
    for record in records:
        cost = cost_of(record, prices)
        if cost is None:
            unknown += 1
        else:
            money[cost.currency] = money.get(cost.currency, 0.0) + cost.amount
    return money, unknown


def usage_cost(usage: Mapping[str, Any] | None, price: Price) -> float | None:
    """Return what a request with this ``usage`` costs, or None where it does not say how many tokens it took."""
    if price.is_free:
        return 0.0
    counts = usage_counts(usage)
    if counts.prompt is None or counts.completion is None:
        return None
    return price.cost(counts.prompt, counts.completion, counts.cached or 0)
