"""What a sampling session came to."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from dsqa.sampling.ledger import SessionEntry
from dsqa.sampling.progress import SamplingState

__all__ = ["SamplingSummary", "Stopped"]

Stopped = Literal["interrupted", "budget"]


@dataclass(frozen=True)
class SamplingSummary:
    """What a sampling session came to.

    Parameters
    ----------
    new, failed, retried
        In this session: runs recorded, those of them that failed, requests sent again.
    recorded, total
        Runs of the design that are recorded now, and that it has.
    tokens, tokens_in, tokens_cached, tokens_reasoning
        In this session, as the endpoints report them: written, read, read from a cache, written as reasoning.
    requests
        Sent in this session, those without an answer included.
    seconds
        How long the session took, loading an embedded model included.
    interrupted
        It was told to stop (Ctrl-C) before it was through.
    stopped
        Why it ended before it was through: ``interrupted``, ``budget``, or None.
    why
        Which cap of the budget ended it, for a person.
    money, money_all
        Spent in this session and in all of them, by currency, as far as prices are known.
    unpriced
        Requests of all sessions whose cost is unknown.
    """

    new: int
    failed: int
    retried: int
    recorded: int
    total: int
    tokens: int
    seconds: float
    interrupted: bool
    stopped: Stopped | None = None
    why: str | None = None
    requests: int = 0
    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_reasoning: int = 0
    money: dict[str, float] | None = None
    money_all: dict[str, float] | None = None
    unpriced: int = 0

    @property
    def tokens_per_second(self) -> float:
        """Tokens written per second, over the session."""
        return self.tokens / self.seconds if self.seconds > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain data."""
        return {**asdict(self), "tokens_per_second": self.tokens_per_second}

    @classmethod
    def of(
        cls, state: SamplingState, entry: SessionEntry, seconds: float, *, stopped: Stopped | None, why: str | None
    ) -> SamplingSummary:
        """Sum a session up."""
        return cls(
            new=state.new,
            failed=state.failed,
            retried=state.retried,
            recorded=state.done,
            total=state.total,
            tokens=entry.tally.tokens_out,
            seconds=seconds,
            interrupted=stopped == "interrupted",
            stopped=stopped,
            why=why,
            requests=entry.requests,
            tokens_in=entry.tally.tokens_in,
            tokens_cached=entry.tally.tokens_cached,
            tokens_reasoning=entry.tally.tokens_reasoning,
            money=dict(state.money_new),
            money_all=dict(state.money),
            unpriced=state.unpriced,
        )
