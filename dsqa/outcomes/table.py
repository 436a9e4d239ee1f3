"""The outcome table itself: rows to columns of the agreed types, to disk and back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dsqa.errors import StudyError
from dsqa.outcomes.columns import COLUMNS

__all__ = ["load_outcomes", "outcome_table", "save_table"]

_AGAIN = "'dsqa score' writes it anew from the recorded runs"


def outcome_table(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return rows as a table with exactly the columns and types of `COLUMNS`; None and NaN become missing."""
    return pd.DataFrame(
        {c.name: pd.array([_cell(row[c.name]) for row in rows], dtype=c.dtype) for c in COLUMNS}  # type: ignore[call-overload]
    )


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        # A lone surrogate has no UTF-8 form, and Parquet is UTF-8.
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, float) and math.isnan(value):
        return None
    return value


def save_table(table: pd.DataFrame, path: Path, *, notes: Mapping[str, str] | None = None) -> None:
    """Write the table as Parquet, whole or not at all; `notes` go into the file's metadata.

    Raises
    ------
    StudyError
        The file cannot be written.
    """
    beside = path.with_suffix(path.suffix + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # What was noted of a table while it was made is not of the file; its keys need not even be text.
        bare = table.copy(deep=False)
        bare.attrs = {}
        columns = pa.Table.from_pandas(bare, preserve_index=False)
        pq.write_table(columns.replace_schema_metadata({**(columns.schema.metadata or {}), **(notes or {})}), beside)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise StudyError(f"cannot be written: {error.strerror or error}", path=path) from None


def load_outcomes(path: str | Path) -> pd.DataFrame:
    """Read an outcome table.

    Parameters
    ----------
    path
        `outcomes.parquet`, or the study folder it is in.

    Raises
    ------
    StudyError
        There is none, it cannot be read, or it lacks columns.
    """
    path = Path(path)
    if path.is_dir():
        path = path / "outcomes.parquet"
    if not path.is_file():
        raise StudyError("there are no outcomes yet", path=path, hint=_AGAIN)
    try:
        table = pd.read_parquet(path)
    except (OSError, ValueError) as error:  # pyarrow's errors are ValueErrors
        raise StudyError(f"cannot be read: {str(error).splitlines()[0]}", path=path, hint=_AGAIN) from None
    missing = [c.name for c in COLUMNS if c.name not in table.columns]
    if missing:
        raise StudyError(f"has no column '{missing[0]}'", path=path, hint=_AGAIN)
    return table[[c.name for c in COLUMNS]].astype({c.name: c.dtype for c in COLUMNS})
