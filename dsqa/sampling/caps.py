"""From a study's caps to the budget of a session: what is spent already, and whether money can be counted at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dsqa.endpoints import address_of
from dsqa.errors import StudyError
from dsqa.prices import Prices
from dsqa.sampling.budget import Budget
from dsqa.sampling.history import NOTHING, History, Need
from dsqa.sampling.ledger import Ledger
from dsqa.sampling.plan import CellRequest
from dsqa.study.sections import BudgetConfig, EndpointConfig

__all__ = ["open_budget", "price_address", "spent_before"]


def price_address(name: str, config: EndpointConfig) -> str:
    """Return the address that an endpoint's prices go by, before anything is opened."""
    return address_of(name, config) if config.kind == "openai" else f"{config.kind}:"


def spent_before(history: History, ledger: Ledger, currency: str) -> Need:
    """Return what all earlier sessions took, requests included that left no record and may have been billed."""
    unsure = unsure_before(ledger)
    return Need(
        # Both are lower bounds: the account misses a killed session's last moments, records the unanswered requests.
        requests=max(sum(entry.requests for entry in ledger.before), history.total.requests),
        tokens=history.total.tokens + unsure.tokens,
        money=history.total.money.get(currency, 0.0) + unsure.money,
    )


def unsure_before(ledger: Ledger) -> Need:
    """Return what requests that broke off in earlier sessions may have taken."""
    unsure = NOTHING
    for entry in ledger.before:
        unsure = unsure.plus(entry.unsure)
    return unsure


def open_budget(
    caps: BudgetConfig,
    cells: Iterable[CellRequest],
    endpoints: Mapping[str, EndpointConfig],
    history: History,
    ledger: Ledger,
) -> Budget | None:
    """Return the budget of a session, or None where nothing is capped.

    Raises
    ------
    StudyError
        Money is capped, and the price of a model is unknown or in another currency.
    """
    if caps.money is None and caps.tokens is None and caps.requests is None:
        return None
    currency = caps.currency or history.prices.currency
    if caps.money is not None:
        for model, name in sorted({(cell.condition["model"], cell.endpoint) for cell in cells}):
            _check_price(history.prices, model, price_address(name, endpoints[name]), currency)
    return Budget(caps, currency, spent_before(history, ledger, currency), unsure_before(ledger))


def _check_price(prices: Prices, model: str, address: str, currency: str) -> None:
    price = prices.find(model, address)
    if price is None:
        raise StudyError(
            f"caps money, and the price of '{model}' at {address} is unknown",
            field="budget",
            hint=(
                "put its price into prices.yaml beside the study file: "
                f"prices: [{{models: [{model}], input: …, output: …}}], per million tokens; or cap tokens or requests"
            ),
        )
    if not price.is_free and price.currency != currency:
        raise StudyError(
            f"is in {currency}, and the price of '{model}' in {price.currency}",
            field="budget",
            hint="state both in one currency: 'currency' under 'budget', and in your prices.yaml",
        )
