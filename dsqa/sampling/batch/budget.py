"""What runs in batches may take, so that a study's budget holds for them too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dsqa.records import RunKey
from dsqa.sampling.caps import price_address
from dsqa.sampling.history import NOTHING, History, Need
from dsqa.sampling.plan import CellRequest
from dsqa.study.sections import EndpointConfig

__all__ = ["batch_need", "waiting_need"]


def batch_need(history: History, cell: CellRequest, endpoints: Mapping[str, EndpointConfig]) -> Need:
    """Return the most that a run may take in a batch, at the batch's price."""
    address = price_address(cell.endpoint, endpoints[cell.endpoint])
    need = history.at_most(cell, address)
    price = history.prices.find(cell.condition["model"], address)
    return need._replace(money=need.money * price.batch) if price else need


def waiting_need(
    history: History,
    cells: Iterable[CellRequest],
    endpoints: Mapping[str, EndpointConfig],
    waiting: Iterable[RunKey],
) -> Need:
    """Return the most that the runs which wait in batches may take; runs of no cell of the design are left out."""
    by_id = {cell.id: batch_need(history, cell, endpoints) for cell in cells}
    total = NOTHING
    for key in waiting:
        total = total.plus(by_id.get((key.question_id, key.condition_id, key.prompt_hash), NOTHING))
    return total
