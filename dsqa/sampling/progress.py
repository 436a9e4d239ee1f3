"""How far sampling is: as data, and on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from tqdm import tqdm

from dsqa.prices import format_money

__all__ = ["Progress", "SamplingState", "terminal_progress"]

PLAIN_SECONDS = 30.0
WORTH_SAYING = 20.0
"""Seconds after which a person wonders what an answer is waiting for."""
_STOPPING = "stopping: waiting up to 2 s for the answers that are on their way"


@dataclass(frozen=True, slots=True)
class SamplingState:
    """A moment of a sampling session.

    Parameters
    ----------
    done, total
        Runs recorded, and runs in the design.
    goal
        What `done` will be at the end of this session.
    new, failed, retried
        In this session: runs recorded, those of them that failed, requests sent again.
    tokens_out
        Tokens that the endpoints report to have written in this session.
    seconds
        Since the session's first request could be sent.
    money, money_new
        Spent by currency, in all sessions and in this one, as far as prices are known.
    unpriced
        Requests, in all sessions, whose cost is unknown.
    money_left
        Of the budget; None where there is none.
    stopping
        Nothing is sent any more; what is on its way is waited for.
    in_flight, longest_wait
        Requests that are waited for, and the seconds since the first of them was sent.
    tokens_under_way
        Of answers that are streamed and not whole yet, about the tokens that have come; 0 where none is streamed.
    """

    done: int
    total: int
    goal: int
    new: int
    failed: int
    retried: int
    tokens_out: int
    seconds: float
    money: Mapping[str, float] = field(default_factory=dict)
    money_new: Mapping[str, float] = field(default_factory=dict)
    unpriced: int = 0
    money_left: float | None = None
    stopping: bool = False
    in_flight: int = 0
    longest_wait: float = 0.0
    tokens_under_way: int = 0

    @property
    def tokens_per_second(self) -> float:
        """Tokens written per second, over the session."""
        return self.tokens_out / self.seconds if self.seconds > 0 else 0.0

    @property
    def eta_seconds(self) -> float | None:
        """Seconds to the end at the session's pace; None before the first run."""
        return (self.goal - self.done) * self.seconds / self.new if self.new else None

    @property
    def money_to_come(self) -> dict[str, float]:
        """What the rest of the session will cost if it goes on like this; empty before the first run."""
        if not self.new:
            return {}
        return {name: (self.goal - self.done) * amount / self.new for name, amount in self.money_new.items()}


class Progress(Protocol):
    """Whoever wants to follow; called in the sampling thread, a few times a second at most."""

    def update(self, state: SamplingState) -> None:
        """Take note of a new state."""
        ...


@contextmanager
def terminal_progress(what: str = "sampling") -> Iterator[Progress]:
    """Show a bar on stderr, or a plain line now and then where stderr is no terminal.

    Parameters
    ----------
    what
        Written before the bar.
    """
    shown = _Bar(what) if sys.stderr.isatty() else _Lines(what)
    try:
        yield shown
    finally:
        shown.close()


class _Bar:
    def __init__(self, what: str) -> None:
        self._what = what
        self._bar: tqdm[Any] | None = None
        self._stopping = False

    def update(self, state: SamplingState) -> None:
        if self._bar is None:
            self._bar = tqdm(
                total=state.total,
                initial=state.done,
                desc=self._what,
                unit=" runs",
                file=sys.stderr,
                dynamic_ncols=True,
                bar_format="{desc} {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} runs{postfix}",
            )
        self._bar.set_postfix_str(_details(state), refresh=False)
        self._bar.update(state.done - self._bar.n)
        self._bar.refresh()
        if state.stopping and not self._stopping:
            self._stopping = True
            self._bar.write(_STOPPING, file=sys.stderr)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


class _Lines:
    def __init__(self, what: str) -> None:
        self._what = what
        self._said_at = time.monotonic()
        self._last: SamplingState | None = None
        self._said: SamplingState | None = None
        self._stopping = False

    def update(self, state: SamplingState) -> None:
        self._last = state
        if state.stopping and not self._stopping:
            self._stopping = True
            sys.stderr.write(_STOPPING + "\n")
            sys.stderr.flush()
        elif time.monotonic() - self._said_at >= PLAIN_SECONDS:
            self._say(state)

    def close(self) -> None:
        if self._last is not None and self._last.new and self._last is not self._said:
            self._say(self._last)

    def _say(self, state: SamplingState) -> None:
        self._said, self._said_at = state, time.monotonic()
        sys.stderr.write(f"{self._what}: {state.done}/{state.total} runs, {_details(state)}\n")
        sys.stderr.flush()


def _details(state: SamplingState) -> str:
    parts = []
    # First what people look for: a narrow terminal cuts the line at its end.
    if state.eta_seconds is not None and state.goal > state.done:
        parts.append(f"{_clock(state.eta_seconds)} left")
    if state.failed:
        parts.append(f"{state.failed} failed")
    if state.in_flight and state.longest_wait >= WORTH_SAYING:
        waited = f"waiting for {state.in_flight}, the first for {state.longest_wait:.0f} s"
        parts.append(waited + (f", {state.tokens_under_way} tokens so far" if state.tokens_under_way else ""))
    parts.extend(_money(state))
    parts.append(f"{state.tokens_per_second:.0f} tokens/s")
    if state.retried:
        parts.append(f"{state.retried} retried")
    return ", ".join(parts)


def _money(state: SamplingState) -> Iterator[str]:
    to_come = state.money_to_come
    for currency, spent in state.money.items():
        if not spent and not to_come.get(currency):
            continue
        text = f"{format_money(spent, currency)} spent"
        if state.goal > state.done and to_come.get(currency):
            text += f", about {format_money(to_come[currency], currency)} to go"
        if state.money_left is not None:
            text += f", {format_money(state.money_left, currency)} of the budget left"
        yield text
    if state.unpriced:
        yield f"cost of {state.unpriced} requests unknown"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
