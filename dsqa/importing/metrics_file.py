"""`source_metrics.parquet`: what the source measured and marked, one row per run and metric."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["MetricsFile"]

_SCHEMA = pa.schema(
    [
        ("question_id", pa.string()),
        ("condition_id", pa.string()),
        ("run", pa.int64()),
        ("metric", pa.string()),
        ("value", pa.float64()),
        ("text", pa.string()),
    ]
)
_BATCH = 50_000
_LARGEST = 1.7e308


class MetricsFile:
    """The file, written in pieces; a context manager.

    A number, and true or false as 1 or 0, stands in `value`; a word in `text`, a mark that is a word and counts
    as a number in both; both are missing where the source has the metric and no value for it.
    """

    def __init__(self, path: Path) -> None:
        self._writer = pq.ParquetWriter(path, _SCHEMA, compression="zstd")
        self._columns: dict[str, list[Any]] = {name: [] for name in _SCHEMA.names}
        self.names: dict[str, int] = {}
        """Metric → runs that have a value for it."""

    def add(self, question_id: str, condition_id: str, run: int, metrics: Mapping[str, Any]) -> None:
        """Add the metrics of a run."""
        for name, given in metrics.items():
            value, text = _parts(given)
            self.names[name] = self.names.get(name, 0) + (value is not None or text is not None)
            row = (question_id, condition_id, run, name, value, text)
            for column, cell in zip(self._columns.values(), row, strict=True):
                column.append(cell)
        if len(self._columns["run"]) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        self._writer.write_table(pa.table(self._columns, schema=_SCHEMA))
        for column in self._columns.values():
            column.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._flush()
        self._writer.close()


def _parts(given: Any) -> tuple[float | None, str | None]:
    if given is None:
        return None, None
    if isinstance(given, tuple | list):
        return _parts(given[0])[0], _parts(given[1])[1]
    if isinstance(given, int | float):
        # A whole number beyond what a float holds is no measurement.
        return (float(given), None) if abs(given) < _LARGEST else (None, None)
    # A lone surrogate has no UTF-8 form.
    return None, str(given).encode("utf-8", "replace").decode("utf-8")
