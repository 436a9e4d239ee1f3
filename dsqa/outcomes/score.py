"""Scoring: recorded runs in, one row of metrics per run out."""

from __future__ import annotations

import functools
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
from pydantic import ValidationError

from dsqa.bank import Bank, Question
from dsqa.errors import StudyError
from dsqa.execution import ExecutionResult, Snippet, changed_packages, environment_of, execute
from dsqa.outcomes.cache import ExecutionCache, snippet_key
from dsqa.outcomes.rows import Marked, mark, rows_of
from dsqa.outcomes.table import outcome_table, save_table
from dsqa.records import FileLock, Record, read_records
from dsqa.study import ExecutionConfig, StudyFolder
from dsqa.study.folder import StudyDescription, hash_file

__all__ = ["Execute", "Progress", "checked_hashes", "limits_of", "score_records", "score_study"]

_log = logging.getLogger("dsqa.outcomes")

Progress = Callable[[int, int], None]
"""Called with (done, total), both in runs; a run is done once its code, if it has any, has been executed."""


class Execute(Protocol):
    """What runs code: `dsqa.execution.execute`, or something that stands in for it, such as a cluster."""

    def __call__(
        self,
        snippets: Iterable[Snippet],
        limits: ExecutionConfig,
        *,
        unsafe: bool = False,
        workers: int | None = None,
    ) -> Iterator[ExecutionResult]:
        """Run every snippet once; yield each result, in any order."""
        ...


def score_study(
    folder: StudyFolder,
    *,
    unsafe: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    executor: Execute | None = None,
    reruns: int = 1,
) -> pd.DataFrame:
    """Score every recorded run of a study's current design and write `outcomes.parquet`.

    Parameters
    ----------
    folder
        The recorded study. Runs with another prompt than the design's, or beyond its number of runs, are left out.
    unsafe
        Run generated code even where the machine offers too little isolation.
    workers
        How many pieces of code to run at a time.
    progress
        Called as the work goes on.
    executor
        What runs the code; this machine's sandbox by default.
    reruns
        How often each distinct piece of code is to have been run; the first result is what is scored.

    Returns
    -------
    pandas.DataFrame
        One row per run, in the design's order, with the columns of `COLUMNS`. ``attrs["ledger"]`` counts the runs:
        ``planned``, ``scored``, ``missing`` (planned, not recorded), ``left_out`` (recorded, not of this design).

    Raises
    ------
    StudyError
        There is no recorded run of the design, or a data file has changed since the study was made.
    StudyLockedError
        Another process is scoring the study.
    ExecutionRefusedError
        There is code to run and too little isolation to run it in.
    """
    description = folder.describe()
    bank = folder.bank()
    hashes = checked_hashes(description, bank, folder.description_path)
    place = {(c.question_id, c.condition_id, c.prompt_hash): i for i, c in enumerate(description.cells)}
    left_out = 0

    def of_the_design() -> Iterator[Record]:
        nonlocal left_out
        for record in read_records(folder.records_path):
            if (
                record.question_id,
                record.condition_id,
                record.prompt_hash,
            ) in place and record.run < description.runs:
                yield record
            else:
                left_out += 1

    planned = len(place) * description.runs
    limits = limits_of(folder, description.settings)
    _record_environment(folder, limits)
    with FileLock(folder.root / "scoring.lock"), ExecutionCache(folder.executions_path) as cache:
        table = score_records(
            of_the_design(),
            bank,
            study=description.name,
            limits=limits,
            data_hashes=hashes,
            cache=cache,
            unsafe=unsafe,
            workers=workers,
            progress=progress,
            executor=executor,
            reruns=reruns,
            expected=planned,
            order=lambda run: (place[run.cell], run.record.run),
        )
    if table.empty:
        raise StudyError(
            "holds no recorded run of the study's design",
            path=folder.records_path,
            hint="'dsqa sample' asks the questions"
            + (f"; {left_out} runs there were asked with other prompts or conditions" if left_out else ""),
        )
    save_table(table, folder.outcomes_path)
    table.attrs["ledger"] = {
        "planned": planned,
        "scored": len(table),
        "missing": planned - len(table),
        "left_out": left_out,
    }
    return table


def score_records(
    records: Iterable[Record],
    bank: Bank,
    *,
    study: str = "",
    limits: ExecutionConfig | None = None,
    data_hashes: dict[str, str] | None = None,
    cache: ExecutionCache | None = None,
    unsafe: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    executor: Execute | None = None,
    reruns: int = 1,
    expected: int | None = None,
    order: Callable[[Marked], tuple[int, int]] | None = None,
) -> pd.DataFrame:
    """Score runs wherever they come from: sampled, imported, or typed in.

    Parameters
    ----------
    records
        The runs. Those with equal question, condition and prompt hash make a cell; in it, run 0 is the first.
    bank
        The questions they answer, and the folder with their data files.
    study
        The study's name, for the table.
    limits
        For generated code; the default limits if None.
    data_hashes
        SHA-256 of the data files by name, where they are known already.
    cache
        Results of executions from before; new ones are added.
    unsafe, workers, progress, executor, reruns
        As for `score_study`.
    expected
        How many records there will be, for `progress`.
    order
        Sort key of the rows; by default cells as they first appear, then run numbers.

    Returns
    -------
    pandas.DataFrame
        One row per record, with the columns of `COLUMNS`. ``attrs["answered_by"]`` counts the runs by the model that
        was asked and the one that answered.

    Raises
    ------
    BankError
        A record answers a question that the bank does not have, or its data file is missing.
    ExecutionRefusedError
        There is code to run and too little isolation to run it in, or the environment is not what `limits` declare.
    """
    limits = limits or ExecutionConfig()
    cache = cache if cache is not None else ExecutionCache()
    questions = {question.id: question for question in bank}
    files = _DataFiles(bank, dict(data_hashes or {}))
    environment = functools.cache(lambda: environment_of(limits).fingerprint)

    def key_for(code: str, question: Question) -> str:
        return snippet_key(code, files.hashes_for(question), limits, environment())

    runs: list[Marked] = []
    waiting: dict[tuple[str, int], Snippet] = {}
    lacking: Counter[str] = Counter()
    sharing: Counter[str] = Counter()
    for record in records:
        question = questions.get(record.question_id) or bank[record.question_id]
        run = mark(record, question, key_for)
        runs.append(run)
        code, key = run.code, run.key
        if code is not None and key is not None:
            if key not in sharing:
                for number in sorted(set(range(reruns)) - cache.reruns(key).keys()):
                    waiting[key, number] = Snippet(f"{key}.{number}", code, files.paths_for(question))
                    lacking[key] += 1
            if lacking[key]:
                sharing[key] += 1
        if progress is not None:
            progress(len(runs) - sharing.total(), max(expected or 0, len(runs)))
    done = len(runs) - sharing.total()
    if waiting:
        run_code: Execute = executor or execute
        # Number by number: the second run of a piece of code comes some time after its first.
        queue = [waiting[place] for place in sorted(waiting, key=lambda place: place[1])]
        for result in run_code(iter(queue), limits, unsafe=unsafe, workers=workers):
            finished, _, rerun = result.snippet_id.rpartition(".")
            cache.add(finished, result, int(rerun))
            lacking[finished] -= 1
            done += 0 if lacking[finished] else sharing[finished]
            if progress is not None:
                progress(done, len(runs))
    if progress is not None:
        progress(done, len(runs))
    cells: dict[tuple[str, str, str], list[Marked]] = {}
    for run in runs:
        cells.setdefault(run.cell, []).append(run)
    place = {cell: i for i, cell in enumerate(cells)}
    rows = [row for members in cells.values() for row in rows_of(members, cache, study)]
    ordered = [run for members in cells.values() for run in members]
    sort_key = order or (lambda run: (place[run.cell], run.record.run))
    positions = sorted(range(len(rows)), key=lambda i: sort_key(ordered[i]))
    table = outcome_table([rows[i] for i in positions])
    answered = Counter(
        (str(run.record.condition.get("model")), run.record.response_model)
        for run in runs
        if run.record.response_model is not None
    )
    table.attrs["answered_by"] = dict(answered)
    return table


def _record_environment(folder: StudyFolder, limits: ExecutionConfig) -> None:
    """Keep what the code is going to see, and say so where that is not what it saw before."""
    environment = environment_of(limits)
    before = folder.environments()
    if before and environment.fingerprint not in before:
        changes = changed_packages(list(before.values())[-1], environment.to_dict())
        _log.warning("generated code sees another environment than before (%s): it is run again", changes)
    folder.record_environment(environment.fingerprint, environment.to_dict())


class _DataFiles:
    """A bank's data files, each hashed once."""

    def __init__(self, bank: Bank, hashes: dict[str, str]) -> None:
        self._bank = bank
        self._hashes = hashes

    def paths_for(self, question: Question) -> dict[str, Path]:
        path = self._bank.data_file(question)
        return {} if path is None or question.file_name is None else {question.file_name: path}

    def hashes_for(self, question: Question) -> dict[str, str]:
        found = {}
        for name, path in self.paths_for(question).items():
            if name not in self._hashes:
                if not path.is_file():
                    raise StudyError("no such data file", path=path, hint="the bank names it; put it there")
                self._hashes[name] = hash_file(path)
            found[name] = self._hashes[name]
        return found


def checked_hashes(description: StudyDescription, bank: Bank, where: Path) -> dict[str, str]:
    """Return the data files' hashes once they are seen to be those the study was made with."""
    found = {}
    for name, expected in description.data_hashes.items():
        path = bank.data_dir / name
        if not path.is_file():
            raise StudyError("the study's copy of a data file is gone", path=path, hint=f"{where.name} names it")
        found[name] = hash_file(path)
        if found[name] != expected:
            raise StudyError(
                "has changed since the runs were asked about it, so they cannot be scored with it",
                path=path,
                hint="put the original back, or make a new study with the changed file",
            )
    return found


def limits_of(folder: StudyFolder, settings: dict[str, Any]) -> ExecutionConfig:
    """Return the limits for generated code that a study is recorded with."""
    try:
        return ExecutionConfig.model_validate(settings.get("execution") or {})
    except ValidationError as invalid:
        first = invalid.errors(include_url=False)[0]
        raise StudyError(
            first["msg"],
            path=folder.description_path,
            field=".".join(("settings", "execution", *map(str, first["loc"]))),
            hint="'dsqa sample study.yaml' writes the file anew; recorded runs are kept",
        ) from None
