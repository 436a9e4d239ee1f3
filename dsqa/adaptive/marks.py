"""The marks of a study's runs as they come in: every run is marked once, however often one looks."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from dsqa.outcomes import ExecutionCache, score_records
from dsqa.outcomes.score import Execute, checked_hashes, limits_of
from dsqa.records import FileLock, Record, RunKey, read_records
from dsqa.study import StudyFolder

__all__ = ["Marks"]

_COLUMNS = ["question_id", "condition_id", "prompt_hash", "run", "accuracy", "score"]


class Marks:
    """Accuracy and score of every recorded run of a study's design.

    Neither depends on the other runs of the cell, so a run that is marked stays marked; what its code gave is kept in
    `executions.jsonl`, for `dsqa score` and for the next session.

    Parameters
    ----------
    folder
        The study.
    unsafe, workers, executor
        As for `dsqa.outcomes.score_study`.

    Raises
    ------
    StudyError
        A data file has changed since the study was made.
    """

    def __init__(
        self,
        folder: StudyFolder,
        *,
        unsafe: bool = False,
        workers: int | None = None,
        executor: Execute | None = None,
    ) -> None:
        description = folder.describe()
        self._folder = folder
        self._cells = {(c.question_id, c.condition_id, c.prompt_hash) for c in description.cells}
        self._runs = description.runs
        self._bank = folder.bank()
        self._hashes = checked_hashes(description, self._bank, folder.description_path)
        self._limits = limits_of(folder, description.settings)
        self._unsafe, self._workers, self._executor = unsafe, workers, executor
        self._known: set[RunKey] = set()
        self._coming: set[RunKey] = set()
        self._table = pd.DataFrame({name: pd.Series(dtype="object") for name in _COLUMNS})

    def update(self) -> pd.DataFrame:
        """Mark the runs recorded since the last call.

        Returns
        -------
        pandas.DataFrame
            question_id, condition_id, prompt_hash, run, accuracy, score of all recorded runs of the design.

        Raises
        ------
        StudyLockedError
            Another process is scoring the study.
        ExecutionRefusedError
            There is code to run and too little isolation to run it in.
        """
        with FileLock(self._folder.root / "scoring.lock"), ExecutionCache(self._folder.executions_path) as cache:
            new = score_records(
                self._new(),
                self._bank,
                limits=self._limits,
                data_hashes=self._hashes,
                cache=cache,
                unsafe=self._unsafe,
                workers=self._workers,
                executor=self._executor,
            )
        self._known |= self._coming
        if not new.empty:
            parts = [self._table, new[_COLUMNS]] if len(self._table) else [new[_COLUMNS]]
            self._table = pd.concat(parts, ignore_index=True)
        return self._table

    def _new(self) -> Iterator[Record]:
        self._coming = set()
        for record in read_records(self._folder.records_path):
            key = record.key
            if key in self._known or record.run >= self._runs:
                continue
            if (key.question_id, key.condition_id, key.prompt_hash) in self._cells:
                self._coming.add(key)
                yield record
