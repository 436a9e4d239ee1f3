"""When a request may go out: the study's limits for an endpoint, what the endpoint itself asks for, the budget."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from dsqa.sampling.allowance import allowances
from dsqa.sampling.bucket import Bucket
from dsqa.sampling.budget import Budget
from dsqa.sampling.history import History, Need
from dsqa.sampling.pacing import LONGEST_WAIT, Pacer, duration
from dsqa.sampling.plan import PlannedRequest
from dsqa.study.sections import EndpointLimits

__all__ = ["Gate"]


class Gate:
    """The way to one endpoint.

    Parameters
    ----------
    limits
        Requests and tokens that the study sends it in a minute.
    base_url
        Where it is, for prices.
    history
        What a request will take.
    budget
        What the study may take; None for as much as it takes.
    """

    def __init__(self, limits: EndpointLimits, base_url: str, history: History, budget: Budget | None) -> None:
        per_minute = limits.requests_per_minute
        self._requests = None if per_minute is None else Bucket(per_minute)
        per_minute = limits.tokens_per_minute
        self._tokens = None if per_minute is None else Bucket(per_minute)
        self._base_url = base_url
        self._history = history
        self._budget = budget
        # Endpoints limit each model by itself: one that is full does not hold the others up.
        self._pacers: dict[str, Pacer] = {}
        self._closed: dict[str, str] = {}
        self.closed: str | None = None
        """Why nothing more may go out for longer than anybody waits: set when a request was not let through."""

    async def enter(self, planned: PlannedRequest, stop: asyncio.Event) -> Need | None:
        """Return what is set aside for a request when it may go out.

        Returns None if `stop` is set, if the budget does not hold it (`Budget.used_up` is then set), or if the
        endpoint said that it takes no more for hours (`closed` is then set).
        """
        self.closed = self._closed.get(planned.cell.condition["model"])
        if self.closed is not None:
            return None
        need = self._need(planned)
        if self._budget is not None and not await self._budget.take(need, stop):
            return None
        pacer = self._pacer(planned)
        await pacer.turn(stop)
        if self._requests is not None:
            await self._requests.take(1, stop)
        if self._tokens is not None:
            await self._tokens.take(need.tokens, stop)
        # While this one stood in line the endpoint may have asked for a pause.
        await pacer.turn(stop)
        if stop.is_set():
            self.leave(need, Need())
            return None
        return need

    def leave(self, held: Need, took: Need, *, unsure: bool = False) -> None:
        """A request is done with: correct what was set aside for it by what it took (`unsure`: may have taken)."""
        if self._budget is not None:
            self._budget.settle(held, took, unsure=unsure)
        if self._tokens is not None:
            self._tokens.give_back(held.tokens - took.tokens)

    def pause(self, planned: PlannedRequest, seconds: float) -> None:
        """Send nothing to a request's model for so many seconds."""
        self._pacer(planned).pause(seconds)

    def learn(self, planned: PlannedRequest, headers: Mapping[str, str]) -> None:
        """Wait before the endpoint has to refuse: its headers say what is left, and when there will be more."""
        for allowance in allowances(headers):
            units = self._history.typical(planned.cell.condition_id) if allowance.unit == "tokens" else 1.0
            wait = allowance.wait_for(units)
            if wait > LONGEST_WAIT:
                # A daily quota that is used up: an answer that came with it counts, a request more is refused.
                model = planned.cell.condition["model"]
                self._closed[model] = f"takes no more {allowance.unit} of '{model}' for {duration(wait)}"
            elif wait > 0:
                self.pause(planned, wait)

    def _need(self, planned: PlannedRequest) -> Need:
        if self._budget is None and self._tokens is None:
            return Need(1)
        return self._history.at_most(planned.cell, self._base_url, len(planned.runs))

    def _pacer(self, planned: PlannedRequest) -> Pacer:
        model = planned.cell.condition["model"]
        if model not in self._pacers:
            self._pacers[model] = Pacer()
        return self._pacers[model]
