"""What the recorded runs took, and what the next ones will take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dsqa.prices import Prices
from dsqa.prices.cost import MAY_BE_BILLED
from dsqa.records import Record, usage_counts
from dsqa.sampling.plan import CellRequest
from dsqa.tokens import count_messages

__all__ = ["NOTHING", "History", "Need", "Tally", "output_bound"]

_OTHER_TOKENISER = 1.3
"""Other models' tokenisers make more tokens of a prompt than the one counted with; few make 30 % more."""
_CHARACTERS = 4
"""To a token, in English text and code."""
UNBOUNDED_OUTPUT = 4096
"""Set aside for an answer that the study sets no bound to, before any is recorded."""


class Need(NamedTuple):
    """What a request may take at most, or took."""

    requests: int = 0
    tokens: float = 0.0
    money: float = 0.0

    def plus(self, other: Need) -> Need:
        """Add up."""
        return Need(self.requests + other.requests, self.tokens + other.tokens, self.money + other.money)

    def minus(self, other: Need) -> Need:
        """Subtract."""
        return Need(self.requests - other.requests, self.tokens - other.tokens, self.money - other.money)


NOTHING = Need()


@dataclass
class Tally:
    """What some runs took.

    Parameters
    ----------
    runs, failed
        Recorded, and those of them without an answer.
    requests, retries
        Sent for these runs, and those of them that were sent again.
    tokens_in, tokens_cached, tokens_out, tokens_reasoning
        As the endpoints reported them, cached within in, reasoning within out; where an endpoint reports none,
        estimated here: the prompt counted, the answer taken at four characters a token.
    counted_here
        Requests whose tokens were estimated here.
    money
        By currency; the requests whose cost is unknown are left out.
    unpriced
        How many these are.
    """

    runs: int = 0
    failed: int = 0
    requests: int = 0
    retries: int = 0
    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_out: int = 0
    tokens_reasoning: int = 0
    counted_here: int = 0
    money: dict[str, float] = field(default_factory=dict)
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        """Read and written."""
        return self.tokens_in + self.tokens_out

    def add(self, other: Tally) -> None:
        """Add another tally to this one."""
        self.runs += other.runs
        self.failed += other.failed
        self.requests += other.requests
        self.retries += other.retries
        self.tokens_in += other.tokens_in
        self.tokens_cached += other.tokens_cached
        self.tokens_out += other.tokens_out
        self.tokens_reasoning += other.tokens_reasoning
        self.counted_here += other.counted_here
        self.unpriced += other.unpriced
        for currency, amount in other.money.items():
            self.money[currency] = self.money.get(currency, 0.0) + amount

    def to_dict(self) -> dict[str, Any]:
        """Return the tally as plain data; a cost that is unknown in part is ``money`` plus ``unpriced``."""
        row = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**row, "money": {currency: round(amount, 9) for currency, amount in self.money.items()}}


@dataclass
class _Outputs:
    answers: int = 0
    requests: int = 0
    tokens_in: int = 0
    tokens: int = 0
    most: int = 0


class History:
    """Learns from records as they come; its work for a record does not depend on how many came before.

    Parameters
    ----------
    prices
        What tokens cost.
    """

    def __init__(self, prices: Prices) -> None:
        self.prices = prices
        self.total = Tally()
        self._inputs: dict[str, int] = {}
        self._outputs: dict[str, _Outputs] = {}
        self._by_model: dict[str, _Outputs] = {}
        self._counted: dict[str, int] = {}

    def see(self, record: Record, *also: Tally) -> Need:
        """Add a recorded run to the total and to other tallies; return what it took."""
        shared = bool(record.choice and record.choice.get("index"))
        row = Tally(runs=1, failed=int(record.status == "failed"))
        if not shared:
            row.requests, row.retries = 1 + record.retries, record.retries
            self._count(record, row)
        for tally in (self.total, *also):
            tally.add(row)
        return Need(0 if shared else 1, row.tokens, sum(row.money.values()))

    def _count(self, record: Record, row: Tally) -> None:
        usage = record.usage
        counts = usage_counts(usage)
        unsure = record.error is not None and record.error.get("class") in MAY_BE_BILLED
        if counts.prompt is not None and counts.completion is not None:
            self._learn(record, counts.prompt, counts.completion)
        elif record.error is None:
            counts = counts._replace(prompt=self._own_count(record), completion=_about(record.text))
            row.counted_here = 1
        row.tokens_in, row.tokens_out = counts.prompt or 0, counts.completion or 0
        row.tokens_cached, row.tokens_reasoning = counts.cached or 0, counts.reasoning or 0
        price = self.prices.find(str(record.condition.get("model")), str(record.condition.get("base_url") or ""))
        if price is not None and (price.is_free or not (unsure and usage is None)):
            paid = price.for_run(record.batch)
            row.money[price.currency] = paid.cost(row.tokens_in, row.tokens_out, row.tokens_cached)
        elif record.error is None or unsure:
            row.unpriced = 1

    def _learn(self, record: Record, tokens_in: int, tokens_out: int) -> None:
        self._inputs[record.condition_id + record.prompt_hash] = tokens_in
        choices = (record.choice or {}).get("of") or 1
        for seen in (
            self._outputs.setdefault(record.condition_id, _Outputs()),
            self._by_model.setdefault(str(record.condition.get("model")), _Outputs()),
        ):
            seen.answers += choices
            seen.requests += 1
            seen.tokens_in += tokens_in
            seen.tokens += tokens_out
            seen.most = max(seen.most, -(-tokens_out // choices))

    def _own_count(self, record: Record) -> int:
        if record.prompt_hash not in self._counted:
            self._counted[record.prompt_hash] = count_messages(record.messages)
        return self._counted[record.prompt_hash]

    def tokens_in(self, cell: CellRequest) -> int:
        """Return how many tokens a cell's prompt has, as far as is known: reported, or counted here."""
        return self._inputs.get(cell.condition_id + cell.prompt_hash) or self._prompt(cell)

    def _prompt(self, cell: CellRequest) -> int:
        if cell.prompt_hash not in self._counted:
            self._counted[cell.prompt_hash] = count_messages(cell.request["messages"])
        return self._counted[cell.prompt_hash]

    def knows_prompt(self, cell: CellRequest) -> bool:
        """Whether an endpoint has reported how many tokens a cell's prompt has."""
        return cell.condition_id + cell.prompt_hash in self._inputs

    def mean_out(self, cell: CellRequest) -> float | None:
        """Return the mean tokens of recorded answers under a cell's condition, else of its model, else None."""
        seen = self._outputs.get(cell.condition_id) or self._by_model.get(cell.condition["model"])
        return seen.tokens / seen.answers if seen else None

    def typical(self, condition_id: str) -> float:
        """Return the tokens that a request of a condition takes on average, as far as is known; at least 1."""
        seen = self._outputs.get(condition_id)
        return max(1.0, (seen.tokens_in + seen.tokens) / seen.requests) if seen else 1.0

    def at_most(self, cell: CellRequest, base_url: str, choices: int = 1) -> Need:
        """Return the most that a request of a cell may take.

        Where the study sets no bound to an answer's tokens, it is twice the longest one recorded, or 4,096.
        """
        known = self._inputs.get(cell.condition_id + cell.prompt_hash)
        tokens_in = known if known is not None else int(self._prompt(cell) * _OTHER_TOKENISER)
        bound = output_bound(cell.request)
        if bound is None:
            longest = self._outputs.get(cell.condition_id)
            bound = max(2 * longest.most, 256) if longest else UNBOUNDED_OUTPUT
        price = self.prices.find(cell.condition["model"], base_url)
        money = price.cost(tokens_in, bound * choices) if price else 0.0
        return Need(1, tokens_in + bound * choices, money)


def output_bound(request: Mapping[str, Any]) -> int | None:
    """Return the most tokens that an answer may have, reasoning included, or None where the study sets no bound."""
    for name in ("max_completion_tokens", "max_tokens", "max_output_tokens"):
        value = request.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def _about(text: str) -> int:
    """Return about how many tokens an answer has: counting them in 100,000 answers would take minutes."""
    return -(-len(text) // _CHARACTERS)
