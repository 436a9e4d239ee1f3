"""What a request of a study took on average."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dsqa.prices.cost import cost_of
from dsqa.prices.model import Prices, format_money
from dsqa.records import Record, usage_counts

__all__ = ["AverageCost", "average_cost"]

_KNOWN_SHARE = 0.9
"""Share of the runs whose cost must be known for an average of money to be worth saying."""


@dataclass(frozen=True)
class AverageCost:
    """Tokens (in and out) and money of a request, a mean over all conditions; None where unknown."""

    tokens: float | None
    money: float | None
    currency: str

    def of(self, requests: int) -> dict[str, Any]:
        """Return what so many requests take: requests, tokens and money."""
        money = None if self.money is None else round(requests * self.money, 6)
        tokens = None if self.tokens is None else round(requests * self.tokens)
        return {"requests": requests, "tokens": tokens, "money": money}

    def text(self, requests: int) -> str:
        """Return the same in words."""
        money = "price unknown" if self.money is None else format_money(requests * self.money, self.currency)
        tokens = "tokens unknown" if self.tokens is None else f"{requests * self.tokens:,.0f} tokens"
        return f"{requests:,} requests, {tokens}, {money}"


def average_cost(records: Iterable[Record], prices: Prices) -> AverageCost:
    """Return the average over recorded runs; money only where nearly all runs have a known cost in one currency."""
    tokens, money, runs, counted, priced = 0, 0.0, 0, 0, 0
    currencies = set()
    for record in records:
        counts = usage_counts(record.usage)
        if counts.prompt is not None and counts.completion is not None:
            tokens, counted = tokens + counts.prompt + counts.completion, counted + 1
        cost = cost_of(record, prices)
        if cost is not None:
            money, priced = money + cost.amount, priced + 1
            currencies.add(cost.currency)
        runs += 1
    known = runs > 0 and priced >= _KNOWN_SHARE * runs and len(currencies) == 1
    return AverageCost(
        tokens / counted if counted else None,
        money / priced if known else None,
        currencies.pop() if known else prices.currency,
    )
