"""What a report is about: the study's tables, opened once and asked for by every section."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from dsqa.bank import Bank, Question
from dsqa.errors import ReportError
from dsqa.figures import StudyTables
from dsqa.figures.common import condition_labels
from dsqa.outcomes import load_outcomes
from dsqa.report.markdown import Markdown, anchor, escape
from dsqa.report.wording import is_missing
from dsqa.stats.kept import DEFAULT_RESAMPLES, cell_table
from dsqa.stats.sequential import stopping_table
from dsqa.study import StudyFolder
from dsqa.study.folder import StudyDescription, stop_of
from dsqa.study.sections import StopConfig

__all__ = ["Page", "answer_text", "open_page", "shorten"]


@dataclass(frozen=True)
class Page:
    """A study's tables.

    Parameters
    ----------
    folder, description, bank
        The recorded study, its `study.json`, and its copy of the bank.
    outcomes
        A row per run (see `dsqa.outcomes.columns`).
    cells
        A row per cell, as `dsqa.stats.summarise_cells` makes it, in the order of `questions` × `conditions`.
    questions
        The questions that have runs, in the bank's order.
    conditions
        Condition id → label, in the order they are shown.
    seed, resamples
        Of the bootstrap behind `cells`.
    stop, stopping
        Where the study stops by itself: when, and what came of it (see `dsqa.stats.sequential.stopping_table`).
    """

    folder: StudyFolder
    description: StudyDescription
    bank: Bank
    outcomes: pd.DataFrame
    cells: pd.DataFrame
    questions: tuple[Question, ...]
    conditions: dict[str, str]
    seed: int
    resamples: int
    stop: StopConfig | None = None
    stopping: pd.DataFrame | None = None

    def cell(self, question_id: str, condition_id: str) -> pd.Series | None:
        """Return a cell's row, or None where no run of it is recorded."""
        return self._cell_rows.get((question_id, condition_id))

    @cached_property
    def _cell_rows(self) -> dict[tuple[str, str], pd.Series]:
        keys = zip(self.cells["question_id"].astype(str), self.cells["condition_id"].astype(str), strict=True)
        return {key: row for key, (_, row) in zip(keys, self.cells.astype(object).iterrows(), strict=True)}

    @cached_property
    def tables(self) -> StudyTables:
        """The study as figures see it."""
        return StudyTables(self.outcomes, self.cells, self.bank, self.folder, self.seed)

    def link(self, question_id: str) -> str:
        """Return Markdown that leads to a question's card."""
        return f"[{escape(question_id)}](#{anchor('q', question_id)})"

    @property
    def runs_text(self) -> str:
        """Runs per cell: ``10``, or ``8 to 10`` where cells differ."""
        low, high = int(self.cells["runs"].min()), int(self.cells["runs"].max())
        return f"{low:,}" if low == high else f"{low:,} to {high:,}"

    @property
    def models(self) -> tuple[str, ...]:
        """The models, in order of appearance."""
        return tuple(dict.fromkeys(str(name) for name in self.outcomes["model"]))


def open_page(study: str | Path, *, seed: int | None = None, resamples: int = DEFAULT_RESAMPLES) -> Page:
    """Open a recorded and marked study.

    Parameters
    ----------
    study
        The study's folder.
    seed
        Of the bootstrap; the study's own by default.
    resamples
        Bootstrap resamples per cell.

    Raises
    ------
    StudyError
        There is no recorded study.
    ReportError
        It has not been marked, or has no run.
    """
    folder = StudyFolder.open(Path(study))
    description = folder.describe()
    bank = folder.bank()
    if not folder.outcomes_path.is_file():
        raise ReportError("has not been marked yet", path=folder.root, hint=f"run: dsqa score {folder.root}")
    outcomes = load_outcomes(folder.outcomes_path)
    if outcomes.empty:
        raise ReportError("has no run to report", path=folder.outcomes_path, hint="ask first: dsqa sample study.yaml")
    asked = set(outcomes["question_id"].astype(str))
    unknown = sorted(asked - {question.id for question in bank})
    if unknown:
        raise ReportError(
            f"has runs of a question that the study's bank lacks: {unknown[0]}",
            path=folder.outcomes_path,
            hint="mark the study again with 'dsqa score'",
        )
    questions = tuple(question for question in bank if question.id in asked)
    # Kept together where a line breaks.
    conditions = {key: label.replace(" = ", "\u00a0=\u00a0") for key, label in condition_labels(outcomes).items()}
    used_seed = description.seed if seed is None else seed
    stop = stop_of(description)
    stopping = None if stop is None else stopping_table(outcomes, stop, description.runs)
    cells = cell_table(
        outcomes,
        folder.outcomes_path,
        folder.cells_path,
        seed=used_seed,
        resamples=resamples,
        sequential=stop is not None,
        own_seed=description.seed,
    )
    order = {question.id: i for i, question in enumerate(questions)}
    ranks = {condition: i for i, condition in enumerate(conditions)}
    cells = (
        cells.assign(_q=cells["question_id"].map(order), _c=cells["condition_id"].map(ranks))
        .sort_values(["_q", "_c"], kind="stable")
        .drop(columns=["_q", "_c"])
        .reset_index(drop=True)
    )
    return Page(
        folder, description, bank, outcomes, cells, questions, conditions, used_seed, resamples, stop, stopping
    )


def shorten(text: str, length: int) -> str:
    """Return `text` on one line, cut at a word where it is longer than `length` characters."""
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    head = line[: length - 1]
    at_word = head.rsplit(" ", 1)[0]
    return (at_word if len(at_word) > length // 2 else head) + "…"


def answer_text(answer: Any, length: int = 60) -> Markdown:
    """Return an answer (JSON of name → value, a mapping, or missing) as Markdown on one line."""
    if is_missing(answer):
        return Markdown("*none read*")
    values = answer
    if isinstance(answer, str):
        try:
            values = json.loads(answer)
        except json.JSONDecodeError:
            values = answer
    if isinstance(values, dict):
        pairs = [(str(name), _value(value)) for name, value in values.items()]
        text = pairs[0][1] if len(pairs) == 1 else ", ".join(f"{name} = {value}" for name, value in pairs)
    else:
        text = _value(values)
    return Markdown(escape(shorten(text, length)) or "*empty*")


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(part) for part in value) + "]"
    return "none" if value is None else str(value)
