"""Prices and money."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Annotated, Any, NamedTuple, Self
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, model_validator

from dsqa.study.sections.base import Section

__all__ = ["FREE", "Money", "Price", "PriceEntry", "PriceFile", "Prices", "format_money"]

_PER = 1_000_000
_FREE_ADDRESSES = ("embedded", "replay")


class Money(NamedTuple):
    """An amount of a currency."""

    amount: float
    currency: str


def format_money(amount: float, currency: str) -> str:
    """Return money as a person reads it: two decimals, or as many as show two digits of a small amount."""
    if 0 < amount < 1e-6:
        return f"under 0.000001 {currency}"
    decimals = 2
    while 0 < abs(amount) < 10.0 ** (1 - decimals) and decimals < 6:
        decimals += 1
    return f"{amount:.{decimals}f} {currency}"


Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$")]


def _one_is_a_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class PriceEntry(Section):
    """What some models cost somewhere, per million tokens."""

    models: Annotated[tuple[str, ...], BeforeValidator(_one_is_a_list), Field(min_length=1)]
    endpoint: str | None = None
    input: Amount
    cached_input: Amount | None = None
    output: Amount
    batch: Amount | None = None
    currency: _Currency | None = None
    date: datetime.date | None = None
    source: str | None = None

    def names(self, model: str) -> bool:
        """Whether it is about a model."""
        return any(fnmatchcase(model, pattern) for pattern in self.models)

    def fits(self, model: str, base_url: str) -> bool:
        """Whether this is the price of a model at an address."""
        if self.endpoint is not None and self.endpoint.lower() not in {urlsplit(base_url).hostname, base_url.lower()}:
            return False
        return self.names(model)


class PriceFile(Section):
    """A file of prices."""

    currency: _Currency = "USD"
    batch: Amount = 1.0
    prices: tuple[PriceEntry, ...] = ()

    @model_validator(mode="after")
    def _all_have_what_the_file_says(self) -> Self:
        entries = tuple(
            entry.model_copy(
                update={
                    "currency": entry.currency or self.currency,
                    "batch": self.batch if entry.batch is None else entry.batch,
                }
            )
            for entry in self.prices
        )
        object.__setattr__(self, "prices", entries)
        return self


@dataclass(frozen=True)
class Price:
    """What one model costs at one address.

    Parameters
    ----------
    input, cached_input, output
        Per million tokens read, read from the provider's cache, and written (reasoning included).
    currency
        ISO 4217.
    batch
        The part of it that is paid for a request in a batch.
    date, source
        When and with what the price was last compared, where the file says so.
    origin
        The file it is from, or why it is 0.
    """

    input: float
    cached_input: float
    output: float
    currency: str
    batch: float = 1.0
    date: str | None = None
    source: str | None = None
    origin: str = ""

    @property
    def is_free(self) -> bool:
        """Whether it is 0, whatever is asked."""
        return self.input == self.cached_input == self.output == 0

    def cost(self, tokens_in: float, tokens_out: float, cached: float = 0) -> float:
        """Return what a request costs; `cached` tokens are part of `tokens_in`."""
        cached = min(cached, tokens_in)
        return ((tokens_in - cached) * self.input + cached * self.cached_input + tokens_out * self.output) / _PER

    def for_run(self, batch: str | None) -> Price:
        """Return the price of a run: less, where it was asked in a batch (`Record.batch`)."""
        if batch is None:
            return self
        part = self.batch
        return replace(
            self, input=self.input * part, cached_input=self.cached_input * part, output=self.output * part
        )


FREE = Price(0.0, 0.0, 0.0, "USD", origin="costs nothing by its nature")


@dataclass(frozen=True)
class Prices:
    """Prices of several files; an earlier file's entries come first.

    Parameters
    ----------
    files
        (what to call the file, its content), in the order they are searched.
    """

    files: tuple[tuple[str, PriceFile], ...] = ()
    _found: dict[tuple[str, str], Price | None] = field(default_factory=dict, compare=False, repr=False)

    @property
    def currency(self) -> str:
        """The first file's currency: what a budget without one means."""
        return self.files[0][1].currency if self.files else "USD"

    def find(self, model: str, base_url: str) -> Price | None:
        """Return the price of a model at an address, or None where it is unknown.

        An embedded model and a replayed study cost nothing.
        """
        key = model, base_url
        if key not in self._found:
            self._found[key] = self._search(model, base_url)
        return self._found[key]

    def _search(self, model: str, base_url: str) -> Price | None:
        if base_url.partition(":")[0] in _FREE_ADDRESSES:
            return FREE
        for name, file in self.files:
            for entry in file.prices:
                if entry.fits(model, base_url):
                    return Price(
                        input=entry.input,
                        cached_input=entry.input if entry.cached_input is None else entry.cached_input,
                        output=entry.output,
                        currency=entry.currency or file.currency,
                        batch=file.batch if entry.batch is None else entry.batch,
                        date=None if entry.date is None else entry.date.isoformat(),
                        source=entry.source,
                        origin=name,
                    )
        return None
