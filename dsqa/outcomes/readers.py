"""The same runs, read by other readers: one row per run and reader. The outcome table itself is not touched."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd

from dsqa.execution import ExecutionResult, extract
from dsqa.metrics import READERS, choose_answer, executability, final_execution, score, strip_reasoning
from dsqa.outcomes.cache import ExecutionCache
from dsqa.outcomes.columns import Column
from dsqa.outcomes.table import save_table
from dsqa.records import Record, read_records
from dsqa.study import StudyFolder

__all__ = ["READER_COLUMNS", "read_again", "read_with"]

_KEY = ["question_id", "condition_id", "prompt_hash", "run"]

READER_COLUMNS: tuple[Column, ...] = (
    Column("study", "string", "the study's name"),
    Column("question_id", "string", "the question"),
    Column("condition_id", "string", "the condition"),
    Column("prompt_hash", "string", "fingerprint of the messages sent"),
    Column("run", "Int64", "run number within the cell, from 0"),
    Column("reader", "string", "standard, strict or last-number"),
    Column("answer", "string", "the answer read, as JSON {name: value}; missing where none was read"),
    Column("answer_status", "string", "matched, mismatched, partial, unparsed or unmarked"),
    Column("answer_key", "string", "the answer in canonical form"),
    Column("accuracy", "Int64", "RA, as this reader has it"),
    Column("score", "Float64", "CR + RA + CE/2, as this reader has it"),
)


def read_with(folder: StudyFolder, outcomes: pd.DataFrame, readers: Sequence[str]) -> pd.DataFrame:
    """Read every marked run of a study with each of the readers and write `readers.parquet`.

    Parameters
    ----------
    folder
        The recorded study.
    outcomes
        Its outcome table; nothing is executed again, what running gave is taken from `executions.jsonl`.
    readers
        Names in `READERS`.

    Returns
    -------
    pandas.DataFrame
        One row per run and reader, with the columns of `READER_COLUMNS`, in the order of the outcome table.
    """
    rows = [said for _, said in read_again(folder, outcomes, readers)]
    table = pd.DataFrame({c.name: pd.array([row[c.name] for row in rows], dtype=c.dtype) for c in READER_COLUMNS})  # type: ignore[call-overload]
    save_table(table, folder.readers_path)
    return table


def read_again(
    folder: StudyFolder, outcomes: pd.DataFrame, readers: Sequence[str]
) -> list[tuple[Record, dict[str, Any]]]:
    """Return each run of `outcomes`, in its order, with what each reader makes of it (see `READER_COLUMNS`)."""
    questions = {question.id: question for question in folder.bank()}
    marked = {tuple(row[name] for name in _KEY): row for row in outcomes.to_dict("records")}
    place = {key: i for i, key in enumerate(marked)}
    rows: list[tuple[int, Record, dict[str, Any]]] = []
    with ExecutionCache(folder.executions_path) as cache:
        for record in read_records(folder.records_path):
            key = (record.question_id, record.condition_id, record.prompt_hash, record.run)
            row = marked.get(key)
            if row is None:
                continue
            visible, unclosed = strip_reasoning(record.text)
            text = record.text if unclosed else extract(visible).prose
            code = row["execution_key"]
            result = cache[code] if isinstance(code, str) and code in cache else None
            for name in readers:
                said = _said(name, text, result, questions[record.question_id], row)
                rows.append((place[key], record, said))
    rows.sort(key=lambda row: row[0])
    return [(record, said) for _, record, said in rows]


def _said(name: str, text: str, result: ExecutionResult | None, question: Any, row: dict[Any, Any]) -> dict[str, Any]:
    reader = READERS[name]
    output = None
    if result is not None and result.outcome == "ran":
        output = reader.read_output(result.stdout, result.value, question)
    answer = choose_answer(question, reader.read_text(text, question), output)
    values = answer.reading.values
    accuracy = None if answer.comparison.status == "unmarked" else int(answer.comparison.matched)
    outcome = "ran" if str(row["execution"]).startswith("ran,") else str(row["execution"])
    executed = executability(final_execution(outcome, solved=answer.solved))
    return {
        "study": row["study"],
        **{key: row[key] for key in _KEY},
        "reader": name,
        "answer": json.dumps(values, ensure_ascii=False) if values else None,
        "answer_status": answer.comparison.status,
        "answer_key": answer.comparison.key,
        "accuracy": accuracy,
        "score": score(int(row["completion"]), accuracy, executed),
    }
