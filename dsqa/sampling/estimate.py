"""What a study will cost, before anything is sent: requests, tokens and money per model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dsqa.prices import Price, find_prices
from dsqa.records import RunIndex, RunKey, read_records
from dsqa.sampling.caps import price_address, spent_before, unsure_before
from dsqa.sampling.history import NOTHING, History, Need, output_bound
from dsqa.sampling.ledger import Ledger
from dsqa.sampling.plan import CellRequest
from dsqa.sampling.prepare import design_cells, study_folder
from dsqa.sampling.select import Selection
from dsqa.sampling.wish import Wish
from dsqa.study.config import StudyConfig
from dsqa.study.folder import StudyFolder

__all__ = ["Estimate", "ModelEstimate", "estimate_study"]


@dataclass
class ModelEstimate:
    """What is still to be asked of one model at one endpoint.

    Parameters
    ----------
    model, endpoint
        Its name, and its endpoint's in the study.
    runs, recorded
        In the design, and those of them that are recorded.
    requests
        To be sent now; fewer than the missing runs where a request has several choices.
    tokens_in
        Of these requests' prompts: as the endpoint reported them for recorded runs of the same cell, else counted.
    tokens_out
        Of these requests' answers, if they are as long as the recorded ones; None where none is recorded.
    tokens_out_most
        If every answer is as long as the study lets it be; None where it sets no bound.
    low, likely, high
        Money for the prompts alone; with answers as long as recorded ones; with answers as long as allowed. None
        where that is unknown.
    price
        What tokens cost; None where it is unknown.
    """

    model: str
    endpoint: str
    runs: int = 0
    recorded: int = 0
    asked: int = 0
    requests: int = 0
    tokens_in: int = 0
    tokens_out: float | None = 0.0
    tokens_out_most: int | None = 0
    low: float | None = None
    likely: float | None = None
    high: float | None = None
    price: Price | None = None

    def set_price(self, price: Price | None) -> None:
        """Work the money out."""
        self.price = price
        if price is None:
            return
        self.low = price.cost(self.tokens_in, 0)
        self.likely = None if self.tokens_out is None else price.cost(self.tokens_in, self.tokens_out)
        self.high = None if self.tokens_out_most is None else price.cost(self.tokens_in, self.tokens_out_most)
        if price.is_free:
            self.likely = self.high = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as plain data."""
        row = asdict(self)
        row["tokens_out"] = None if self.tokens_out is None else round(self.tokens_out)
        row["currency"] = None if self.price is None else self.price.currency
        return row


@dataclass(frozen=True)
class Estimate:
    """What a study will cost.

    Parameters
    ----------
    models
        One by one, in the study's order.
    spent
        What its sessions so far took, or may have taken.
    unsure
        The part of it that requests which broke off may have taken.
    unpriced
        Requests so far whose cost is unknown.
    currency
        Of `spent.money`.
    counted_here
        Whether prompts were counted here, not by the endpoint.
    stops
        Whether the study stops by itself: then these are the most runs that it may ask.
    waiting
        Runs that wait in batches, which are left to them.
    """

    models: tuple[ModelEstimate, ...]
    spent: Need = NOTHING
    unsure: Need = NOTHING
    unpriced: int = 0
    currency: str = "USD"
    counted_here: bool = False
    stops: bool = False
    waiting: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as plain data."""
        return {
            "models": [model.to_dict() for model in self.models],
            "spent": {**self.spent._asdict(), "currency": self.currency, "unpriced": self.unpriced},
            "unsure": self.unsure._asdict(),
            "stops": self.stops,
            "waiting": self.waiting,
        }


def estimate_study(
    config: StudyConfig,
    study_path: Path | None,
    root: Path,
    *,
    limit: int | None = None,
    only: Selection | None = None,
) -> Estimate:
    """Work out what sampling a study would send and cost. Nothing is sent or written, and no key is needed.

    Parameters
    ----------
    config, study_path, root
        As `prepare_study` takes them.
    limit, only
        As `sample_study` takes them.

    Raises
    ------
    BankError, StudyError
        The study cannot be sampled as it is, or `only` names what it does not have.
    RecordError
        A recorded line is damaged.
    """
    cells = design_cells(config, study_path)
    prices = find_prices(config.prices, study_folder(study_path))
    wish = Wish.of(
        cells,
        runs=config.most_runs,
        seed=config.seed,
        choices=config.sampling.choices_per_request,
        limit=limit,
        only=only,
        targets=None,
    )
    folder = StudyFolder(root)
    history, recorded = History(prices), RunIndex()
    for record in read_records(folder.records_path):
        recorded.add(record.key, record.status)
        history.see(record)
    waiting = _in_batches(folder)
    rows = _rows(wish, cells, recorded, history, waiting)
    for row in rows.values():
        row.set_price(prices.find(row.model, price_address(row.endpoint, config.endpoints[row.endpoint])))
    ledger = Ledger(root)
    currency = config.budget.currency or prices.currency
    return Estimate(
        models=tuple(rows.values()),
        spent=spent_before(history, ledger, currency),
        unsure=unsure_before(ledger),
        unpriced=history.total.unpriced,
        currency=currency,
        counted_here=any(not history.knows_prompt(cell) for cell in cells),
        stops=config.stop is not None,
        waiting=len(waiting),
    )


def _in_batches(folder: StudyFolder) -> list[RunKey]:
    # The batches are built on what this module is built on.
    from dsqa.sampling.batch.state import BatchFolder  # noqa: PLC0415

    return list(BatchFolder(folder.batch_path).pending())


def _rows(
    wish: Wish, cells: Iterable[CellRequest], recorded: RunIndex, history: History, waiting: Iterable[RunKey]
) -> dict[tuple[str, str], ModelEstimate]:
    rows: dict[tuple[str, str], ModelEstimate] = {}
    for cell in cells:
        row = rows.setdefault(_place(cell), ModelEstimate(cell.condition["model"], cell.endpoint))
        runs = wish.runs_of(cell)
        row.runs += runs
        row.recorded += sum(cell.key(run) in recorded for run in range(runs))
    taken = recorded.copy()
    for key in waiting:
        taken.add(key, "waiting")
    for planned in wish.plan(taken):
        row, cell = rows[_place(planned.cell)], planned.cell
        count = len(planned.runs)
        row.asked += count
        row.requests += 1
        row.tokens_in += history.tokens_in(cell)
        mean, bound = history.mean_out(cell), output_bound(cell.request)
        row.tokens_out = None if mean is None or row.tokens_out is None else row.tokens_out + count * mean
        most = row.tokens_out_most
        row.tokens_out_most = None if bound is None or most is None else most + count * bound
    return rows


def _place(cell: CellRequest) -> tuple[str, str]:
    return cell.condition["model"], cell.endpoint
