"""A pandas table as plain data, and whatever else of a value is more than its text."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

from .values import clipped, number

__all__ = ["image_of", "table_of"]

_MAX_ROWS = 60
_MAX_COLUMNS = 40
_CELL_CAP = 200
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True).encode


def table_of(value: Any) -> tuple[bytes, dict[str, Any]] | None:
    """Return a DataFrame, Series or Styler as JSON and its facts in short; None for anything else."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return None
    if type(value).__name__ == "Styler" and hasattr(value, "data"):
        value = value.data
    if isinstance(value, pandas.Series):
        kind, table = "Series", value.to_frame()
    elif isinstance(value, pandas.DataFrame):
        kind, table = "DataFrame", value
    else:
        return None
    shown = table.iloc[:_MAX_ROWS, :_MAX_COLUMNS]
    columns = [shown.iloc[:, i] for i in range(shown.shape[1])]
    rows = [[_cell(column.iloc[i]) for column in columns] for i in range(len(shown))]
    names = [None if name is None else clipped(str(name), _CELL_CAP) for name in table.index.names]
    whole = {
        "type": kind,
        "shape": list(table.shape),
        "columns": [_label(name) for name in shown.columns],
        "dtypes": [str(column.dtype) for column in columns],
        "index_names": names,
        "index": [_label(name) for name in shown.index],
        "rows": rows,
    }
    return _encode(whole).encode(), {"type": kind, "shape": list(table.shape)}


def _label(name: Any) -> Any:
    return [_cell(part) for part in name] if isinstance(name, tuple) else _cell(name)


def _cell(value: Any) -> Any:
    if isinstance(value, bool) or type(value).__name__ in {"bool", "bool_"}:
        return bool(value)
    if isinstance(value, str):
        return clipped(value, _CELL_CAP)
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return None
    if isinstance(value, int | float) or hasattr(value, "dtype"):
        try:
            return number(value) if math.isfinite(value) else None
        except (TypeError, OverflowError):  # a date, a complex number, one too large
            return clipped(str(value), _CELL_CAP)
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return clipped(str(value), _CELL_CAP)


def image_of(value: Any) -> bytes | None:
    """Return the PNG that a notebook would show for a value (an image of Pillow, say), or None."""
    if type(value).__module__.startswith("matplotlib"):
        return None  # its figure is kept as one
    method = getattr(type(value), "_repr_png_", None)
    if method is None:
        return None
    try:
        content = method(value)
    except Exception:
        return None
    if isinstance(content, tuple):
        content = content[0]
    return bytes(content) if isinstance(content, bytes | bytearray) else None
