"""Marks that people and judges gave to recorded runs, beside the study: `marks.csv`.

```
question_id,condition_id,run,rater,criterion,mark
mean-mass,model-a_t0.2_04fe7bfe,0,anna,correct,1
mean-mass,model-a_t0.2_04fe7bfe,0,judge-1,correct,0
```

One row per mark; commas, semicolons or tabs between the cells. `condition_id` may be left out in a study of one
condition. A mark is a number, yes or no (true, false, right, wrong), or a category in words; an empty one says that
the rater gave none. A criterion of the name of a mark of dsqa's own (accuracy, completion, executability, score) can
be held against that.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pandas as pd

from dsqa.errors import RecordError
from dsqa.outcomes.columns import Column

__all__ = ["MARK_COLUMNS", "OWN_MARKS", "read_marks"]

MARK_COLUMNS: tuple[Column, ...] = (
    Column("question_id", "string", "the question"),
    Column("condition_id", "string", "the condition"),
    Column("run", "Int64", "run number within the cell, from 0"),
    Column("rater", "string", "the person or the judge"),
    Column("criterion", "string", "what is marked"),
    Column("mark", "Float64", "the mark as a number, yes 1 and no 0; missing where it is a category in words"),
    Column("text", "string", "the mark as written"),
)

OWN_MARKS = ("accuracy", "completion", "executability", "score")
"""Criteria that dsqa marks too, by the names of their columns in the outcome table."""

_NEEDED = ("question_id", "condition_id", "run", "rater", "criterion", "mark")
_WORDS = {"yes": 1.0, "true": 1.0, "right": 1.0, "no": 0.0, "false": 0.0, "wrong": 0.0}
_KEY = ("question_id", "condition_id", "run")


def read_marks(path: Path, outcomes: pd.DataFrame) -> pd.DataFrame:
    """Read the marks of a study.

    Parameters
    ----------
    path
        The file.
    outcomes
        The study's outcome table: marks are for its runs.

    Returns
    -------
    pandas.DataFrame
        The columns of `MARK_COLUMNS`, a row per mark that was given.

    Raises
    ------
    RecordError
        It cannot be read, lacks a column, marks a run that is not recorded, or has a mark twice; with the line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise RecordError("is not UTF-8", path=path, hint="save it as 'CSV UTF-8'") from None
    except OSError as error:
        raise RecordError(f"cannot be read: {error.strerror or error}", path=path) from None
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    names = {name.strip().lower(): name for name in reader.fieldnames or []}
    conditions = outcomes["condition_id"].astype(str).unique()
    needed = [name for name in _NEEDED if name != "condition_id" or len(conditions) > 1]
    missing = [name for name in needed if name not in names]
    if missing:
        raise RecordError(
            f"lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}", path=path, line=1,
            hint=f"its first line names the columns: {', '.join(_NEEDED)}",
        )  # fmt: skip
    keys = zip(
        outcomes["question_id"].astype(str), outcomes["condition_id"].astype(str), outcomes["run"], strict=True
    )
    recorded = {(question, condition, int(run)) for question, condition, run in keys}
    rows: list[dict[str, Any]] = []
    seen: dict[tuple[Any, ...], int] = {}
    for cells in reader:
        line = reader.line_num
        row = {name: (cells.get(names[name]) or "").strip() if name in names else "" for name in _NEEDED}
        if not any(row.values()):
            continue
        if "condition_id" not in names:
            row["condition_id"] = str(conditions[0])
        row = _checked(row, recorded, path, line)
        if not row["text"]:
            continue
        key = tuple(row[name] for name in (*_KEY, "rater", "criterion"))
        if key in seen:
            raise RecordError(
                f"{row['rater']} marks run {row['run']} of '{row['question_id']}' on '{row['criterion']}' twice",
                path=path, line=line, hint=f"the first is on line {seen[key]}; keep one of them",
            )  # fmt: skip
        seen[key] = line
        rows.append(row)
    table = pd.DataFrame(rows, columns=[column.name for column in MARK_COLUMNS])
    return table.astype({column.name: column.dtype for column in MARK_COLUMNS})


def _checked(row: dict[str, Any], recorded: set[tuple[str, str, int]], path: Path, line: int) -> dict[str, Any]:
    for name in ("rater", "criterion"):
        if not row[name]:
            raise RecordError("is empty", path=path, line=line, field=name)
    try:
        run = int(row["run"])
    except ValueError:
        raise RecordError(
            f"'{row['run']}' is no number of a run", path=path, line=line, field="run", hint="runs count from 0"
        ) from None
    if (row["question_id"], row["condition_id"], run) not in recorded:
        raise RecordError(
            f"run {run} of '{row['question_id']}' under '{row['condition_id']}' is not recorded",
            path=path, line=line,
            hint="outcomes.parquet has the ids of all runs; runs count from 0",
        )  # fmt: skip
    text = str(row.pop("mark"))
    number = _WORDS.get(text.lower())
    if number is None and text:
        try:
            number = float(text.replace(",", "."))
        except ValueError:
            number = None
    finite = number if number is not None and abs(number) < float("inf") else None
    return {**row, "run": run, "mark": finite, "text": text}
