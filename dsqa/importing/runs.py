"""What a reader hands on: one run as another tool recorded it, and a report of what was read and what was not."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from dsqa.errors import DsqaError, SourceError
from dsqa.records import Status

__all__ = ["ImportReport", "Metric", "Planning", "ReadOptions", "Reader", "SourceRun", "Truth"]

Metric = float | str | bool | tuple[float | None, str] | None
"""A value that the source holds for a run: a number, a word, a word with the number that the source takes it for (a
mark ``C``, which is 1), or None where its field is there and not filled in."""

Truth = str | list[tuple[str, str]]
"""A ground truth: the answer, or several by name."""

_PLACES_KEPT = 20
_MOST_TOLD = 300
_ROW_FAULTS = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRun:
    """One run, as its source has it.

    Parameters
    ----------
    question
        The question's id; a reader makes one where the source has only texts.
    model, temperature
        `temperature` None: the source does not say, or none was sent.
    run
        Its number within the cell as the source counts (from 0 or from 1: see `ImportReport.first_run`). None: the
        runs of the cell are numbered in the order in which they come.
    text
        The response's text; "" where none came.
    where
        ``file:line``, or what says as well where the run stands.
    status, finish_reason, usage, seconds, started_at, error, reasoning, refusal, response_id, response_model
        As in `dsqa.records.Record`; `started_at` in any notation that `dsqa.values.parse_time` reads. A
        `status` of None is worked out from the finish reason, the error and the text.
    messages
        What was sent, system message included; None where the source does not say.
    request
        The other parameters that make the condition: ``max_tokens``, ``top_p``, …; not what differs from question
        to question.
    endpoint
        Where it was sent, if the source says; else its format's name.
    question_text, category, level, truth, concepts, file_name, answer_format
        What the source says of the question.
    metrics
        What the source measured or marked, under its own names.
    row
        The original row, JSON-able, kept beside the study.
    """

    question: str
    model: str
    text: str
    where: str
    temperature: float | None = None
    run: int | None = None
    status: Status | None = None
    finish_reason: str | None = None
    usage: dict[str, Any] | None = None
    seconds: float | None = None
    started_at: Any = None
    error: dict[str, Any] | None = None
    reasoning: str | None = None
    refusal: str | None = None
    response_id: str | None = None
    response_model: str | None = None
    messages: list[dict[str, Any]] | None = None
    request: dict[str, Any] = field(default_factory=dict)
    endpoint: str | None = None
    question_text: str | None = None
    category: str | None = None
    level: str | None = None
    truth: Truth | None = None
    concepts: tuple[str, ...] = ()
    file_name: str | None = None
    answer_format: str | None = None
    metrics: dict[str, Metric] = field(default_factory=dict)
    row: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """What the person who imports has to say.

    Parameters
    ----------
    columns
        Of a plain table: field of `SourceRun` → name of the column.
    model, temperature
        Used for runs whose source does not say.
    skip_bad
        Pass over a row or file that cannot be read, and tell it; else it is an error.
    unfilled_accuracy
        What an empty mark means: nothing is known (``missing``), or the run was marked wrong (``wrong``).
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    model: str | None = None
    temperature: float | None = None
    skip_bad: bool = True
    unfilled_accuracy: Literal["missing", "wrong"] = "missing"


@dataclass(slots=True)
class ImportReport:
    """What was mapped to what, what was left out and why; filled by a reader as it goes.

    Parameters
    ----------
    skip_bad
        As in `ReadOptions`.
    mapped
        Name in the source → what became of it.
    left_out
        What was left out → why; and how often.
    notes
        Whatever else a person must be told → how often it happened.
    bad
        Places of rows that could not be read and were passed over, the first few of them.
    first_run
        The number of a cell's first run in the source where it is known (0 or 1); None: taken from the numbers.
    """

    skip_bad: bool = False
    mapped: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    left_out_counts: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)
    bad_count: int = 0
    first_bad: SourceError | None = None
    first_run: int | None = None

    def map(self, name: str, to: str) -> None:
        """Say what became of a field of the source; said again, it changes nothing."""
        self.mapped.setdefault(name, to)

    def leave_out(self, name: str, why: str, times: int = 1) -> None:
        """Say that something of the source is not in the study."""
        self.left_out.setdefault(name, why)
        self.left_out_counts[name] += times

    def note(self, text: str, times: int = 1) -> None:
        """Tell the person something; told again, it is counted. Write it so that it reads well after a number."""
        self.notes[text] += times

    def skip(self, path: Path, line: int | None, message: str, hint: str | None = None) -> None:
        """Pass over a row (or, without a line, a file) that cannot be read, and keep why.

        Raises
        ------
        SourceError
            Bad rows were not to be passed over.
        """
        if not self.skip_bad:
            go_on = "mend it, or leave out --strict, which then passes over it"
            raise SourceError(message, path=path, line=line, hint=f"{hint}; {go_on}" if hint else go_on)
        self.first_bad = self.first_bad or SourceError(message, path=path, line=line, hint=hint)
        self.bad_count += 1
        if len(self.bad) < _PLACES_KEPT:
            self.bad.append(f"{path}:{line}: {message}" if line is not None else f"{path}: {message}")

    @contextlib.contextmanager
    def passing_over(self, path: Path) -> Iterator[None]:
        """Pass over the rest of a file in which something is found that it cannot be read with.

        Raises
        ------
        DsqaError
            Bad files were not to be passed over.
        """
        try:
            yield
        except DsqaError as error:
            if not self.skip_bad:
                raise
            self.skip(error.path or path, error.line, error.message, error.hint)

    @contextlib.contextmanager
    def row(self, path: Path, line: int | None) -> Iterator[None]:
        """Pass over a row in which something is of another kind than its format says: a text for a number, a list.

        Raises
        ------
        SourceError
            Bad rows were not to be passed over.
        """
        try:
            yield
        except DsqaError as error:
            self.skip(error.path or path, error.line or line, error.message, error.hint)
        except _ROW_FAULTS as error:
            told = str(error).partition("\n")[0] if isinstance(error, ValueError) else _told(error)
            self.skip(path, line, told[:_MOST_TOLD])


def _told(error: Exception) -> str:
    if isinstance(error, OverflowError):
        return "holds a number that is too large"
    if isinstance(error, KeyError):
        return f"has no field {error}"
    return f"has a field of the wrong kind ({error})"


class Reader(Protocol):
    """Reads one format. A reader's module holds one as `READER`, and is listed in `dsqa.importing.readers`."""

    @property
    def name(self) -> str:
        """What `--format` calls it."""
        ...

    @property
    def title(self) -> str:
        """What it reads, in a few words for a person."""
        ...

    def detect(self, path: Path) -> float:
        """Return how sure it is, from 0 to 1, that a file is of its format, by a look at the file's beginning."""
        ...

    def read(self, paths: Sequence[Path], options: ReadOptions, report: ImportReport) -> Iterator[SourceRun]:
        """Yield the runs of the files one by one, never holding a whole file.

        Raises
        ------
        SourceError
            A file cannot be read as this format.
        """
        ...


@runtime_checkable
class Planning(Protocol):
    """A reader that has something to say before it reads: which column it takes for what."""

    def plan(self, paths: Sequence[Path], options: ReadOptions) -> list[str]:
        """Return lines for a person."""
        ...
