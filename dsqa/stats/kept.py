"""The cell table on disk, made again only when what it is made from has changed.

Its bootstrap is what a report waits for longest; ten notebooks open the same table.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from dsqa.errors import StudyError
from dsqa.outcomes.columns import COLUMNS
from dsqa.outcomes.table import save_table
from dsqa.stats.cells import summarise_cells
from dsqa.stats.columns import CELL_COLUMNS, typed
from dsqa.study.folder import hash_file

__all__ = ["DEFAULT_RESAMPLES", "cell_table", "table_is_kept"]

DEFAULT_RESAMPLES = 9999
"""Bootstrap resamples per cell, as `summarise_cells` has them."""

_KEY = b"dsqa made from"
_OTHERS = 4


def cell_table(
    outcomes: pd.DataFrame,
    outcomes_path: Path,
    cells_path: Path,
    *,
    seed: int,
    resamples: int = DEFAULT_RESAMPLES,
    sequential: bool = False,
    own_seed: int | None = None,
    must_keep: bool = False,
) -> pd.DataFrame:
    """Return `summarise_cells` of a study's outcomes, from disk where it is there.

    Parameters
    ----------
    outcomes, outcomes_path
        The outcome table, and the file it was read from, whose hash the table is kept under.
    cells_path
        The study's ``cells.parquet``. Tables with another seed or number of resamples than the study's own are
        kept in the folder ``.cells`` beside it, the last few of them.
    seed, resamples, sequential
        As for `summarise_cells`.
    own_seed
        The study's own seed; `seed` by default.
    must_keep
        A table that cannot be written is an error; otherwise it is made and not kept, since a study on a disk that
        may only be read can be analysed all the same.

    Raises
    ------
    StudyError
        With `must_keep`: the table cannot be written.

    Notes
    -----
    The file says what it was made from: the outcomes' hash, the settings, the code and the libraries. A table of
    anything else is never returned.
    """
    made_from = _made_from(outcomes_path, seed, resamples, sequential)
    own = (seed, resamples) == (seed if own_seed is None else own_seed, DEFAULT_RESAMPLES)
    path = cells_path if own else _other_path(cells_path, made_from)
    if _kept_key(path) == made_from:
        return typed(pd.read_parquet(path), CELL_COLUMNS)
    table = summarise_cells(outcomes, seed=seed, resamples=resamples, sequential=sequential)
    with contextlib.nullcontext() if must_keep else contextlib.suppress(StudyError):
        save_table(table, path, notes={_KEY.decode(): made_from})
        if not own:
            _keep_last(path.parent)
    return table


def table_is_kept(outcomes_path: Path, cells_path: Path, *, seed: int, sequential: bool) -> bool:
    """Tell whether ``cells.parquet`` is what `cell_table` would make with the default resamples."""
    return _kept_key(cells_path) == _made_from(outcomes_path, seed, DEFAULT_RESAMPLES, sequential)


def _made_from(outcomes_path: Path, seed: int, resamples: int, sequential: bool) -> str:
    settings: dict[str, Any] = {
        "outcomes": hash_file(outcomes_path),
        "seed": seed,
        "resamples": resamples,
        "sequential": sequential,
        "code": _code(),
    }
    return json.dumps(settings, sort_keys=True)


@cache
def _code() -> str:
    import numpy as np  # noqa: PLC0415 - for its version
    import scipy  # noqa: PLC0415

    digest = hashlib.sha256(f"{np.__version__} {scipy.__version__} {pd.__version__}".encode())
    digest.update(repr((COLUMNS, CELL_COLUMNS)).encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _kept_key(path: Path) -> str | None:
    try:
        notes = pq.read_schema(path).metadata or {}
    except (OSError, ValueError):  # pyarrow's errors are ValueErrors
        return None
    found = notes.get(_KEY)
    return found.decode() if found else None


def _other_path(cells_path: Path, made_from: str) -> Path:
    return cells_path.parent / ".cells" / f"{hashlib.sha256(made_from.encode()).hexdigest()[:16]}.parquet"


def _keep_last(folder: Path) -> None:
    tables = sorted(folder.glob("*.parquet"), key=lambda path: path.stat().st_mtime_ns)
    for path in tables[:-_OTHERS]:
        path.unlink(missing_ok=True)
