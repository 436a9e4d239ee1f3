"""Stop before a cap is crossed, counting what is in flight."""

from __future__ import annotations

import asyncio

from dsqa.errors import StudyError
from dsqa.prices import format_money
from dsqa.sampling.history import NOTHING, Need
from dsqa.study.sections import BudgetConfig

__all__ = ["Budget", "parse_budget"]


class Budget:
    """What may still be taken.

    Each request sets aside the most that it may take before it is sent, and gives back what it did not take. Where
    that does not fit any more, the sender waits for what others give back; where nobody is left to give anything
    back, the budget is used up.

    Parameters
    ----------
    caps
        The study's budget.
    currency
        What its money is in.
    spent
        Taken in all sessions before.
    unsure
        The part of it that was set aside for requests which broke off: they may or may not have been billed.
    """

    def __init__(self, caps: BudgetConfig, currency: str, spent: Need, unsure: Need = NOTHING) -> None:
        self.caps = caps
        self.currency = currency
        self.spent = spent
        self.unsure = unsure
        self.held = Need()
        self.used_up: str | None = None
        """Which cap ended it, as a person reads it, or None."""
        self._in_flight = 0
        self._given_back = asyncio.Event()

    async def take(self, need: Need, stop: asyncio.Event) -> bool:
        """Set aside what a request may take; False where the budget does not hold it, or `stop` is set."""
        while (cap := self._too_little(need)) is not None:
            if stop.is_set():
                return False
            if not self._in_flight:
                self.used_up = cap
                self._wake()
                return False
            given_back = self._given_back
            await _either(given_back, stop)
            if self.used_up:
                return False
        self.held = self.held.plus(need)
        self._in_flight += 1
        return True

    def commit(self, need: Need) -> bool:
        """Count a request of a batch as if it took all that it may; False where the budget does not hold it."""
        self.used_up = self._too_little(need)
        if self.used_up is None:
            self.spent = self.spent.plus(need)
        return self.used_up is None

    def settle(self, held: Need, took: Need, *, unsure: bool = False) -> None:
        """Give back what was set aside, and take what the request took."""
        self._in_flight -= 1
        self.held = self.held.minus(held) if self._in_flight else Need()
        self.spent = self.spent.plus(took)
        if unsure:
            self.unsure = self.unsure.plus(took)
        self._wake()

    def money_left(self) -> float | None:
        """Return the money that is neither spent nor set aside; None without a cap."""
        return None if self.caps.money is None else max(0.0, self.caps.money - self.spent.money - self.held.money)

    def _wake(self) -> None:
        self._given_back.set()
        self._given_back = asyncio.Event()

    def _too_little(self, need: Need) -> str | None:
        after = self.spent.plus(self.held).plus(need)
        if self.caps.requests is not None and after.requests > self.caps.requests:
            return f"{self.spent.requests:,} of {self.caps.requests:,} requests are made"
        if self.caps.tokens is not None and after.tokens > self.caps.tokens:
            broke_off = f"{self.unsure.tokens:,.0f}" if self.unsure.tokens else ""
            return f"{self.spent.tokens:,.0f} of {self.caps.tokens:,} tokens are used{_perhaps(broke_off)}"
        if self.caps.money is not None and after.money > self.caps.money * (1 + 1e-12):
            spent = format_money(self.spent.money, self.currency)
            broke_off = format_money(self.unsure.money, self.currency) if self.unsure.money else ""
            return f"{spent} of {format_money(self.caps.money, self.currency)} is spent{_perhaps(broke_off)}"
        return None


def _perhaps(amount: str) -> str:
    return f" ({amount} of it perhaps not, on requests that broke off)" if amount else ""


async def _either(one: asyncio.Event, other: asyncio.Event) -> None:
    waits = [asyncio.create_task(event.wait()) for event in (one, other)]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


def parse_budget(texts: tuple[str, ...], study: BudgetConfig) -> BudgetConfig:
    """Return the study's budget with what ``--budget`` says in place of it.

    Parameters
    ----------
    texts
        ``money=5``, ``tokens=2000000``, ``requests=500``, several with commas; a number alone is money.
    study
        The study's own.

    Raises
    ------
    StudyError
        A text is none of these.
    """
    caps = study.model_dump()
    set_here: set[str] = set()
    for text, part in ((whole, part.strip()) for whole in texts for part in whole.split(",")):
        name, equals, number = part.partition("=")
        name, number = (name.strip(), number.strip()) if equals else ("money", name)
        try:
            value = float(number)
        except ValueError:
            value = 0.0
        # A number alone in a list is no money: in money=2,50 and tokens=2,500 someone meant the comma otherwise.
        known = name in {"money", "tokens", "requests"} and name not in set_here and (equals or "," not in text)
        if not known or not (0 if name == "money" else 1) <= value < float("inf") or not value:
            raise StudyError(
                f"'{text}' is no budget",
                field="--budget",
                hint=(
                    "write money=2.5, tokens=2000000 or requests=500, each once, with a point and no commas in "
                    "numbers; a number alone is money"
                ),
            )
        set_here.add(name)
        caps[name] = value if name == "money" else int(value)
    return BudgetConfig.model_validate(caps)
