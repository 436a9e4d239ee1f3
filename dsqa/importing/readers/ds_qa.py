"""The run files of the DS-QA authors: JSON Lines, a line per round, model and temperature in the file's name.

``evals_gpt_4o_1.jsonl`` holds gpt-4o at temperature 1, ``duke_gpt_4_1_mini_0_2.jsonl`` gpt-4.1-mini at 0.2; what
follows (``_no_CodeInterp``) is one more parameter of the condition.

All of their numbers are kept as they are. In the programs that they published ``input_words`` is the question's
length in characters. ``accuracy`` is often null: that is no mark, and not a wrong answer.
"""

from __future__ import annotations

import ast
import contextlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dsqa.bank.fields import as_text
from dsqa.errors import SourceError
from dsqa.importing.files import bare_name, first_object, json_lines
from dsqa.importing.readers.data_sets import DataSets
from dsqa.importing.runs import ImportReport, Metric, ReadOptions, SourceRun, Truth
from dsqa.records import Status

__all__ = ["READER", "Named", "named", "truth_in"]

_MODELS = (
    "gpt_4_1_mini", "gpt_4_1_nano", "gpt_4_1", "gpt_4o_mini", "gpt_4o", "gpt_4_turbo", "gpt_4", "gpt_3_5_turbo",
    "gpt_5_mini", "gpt_5_nano", "gpt_5", "o1_mini", "o1", "o3_mini", "o3", "o4_mini",
)  # fmt: skip
_AS_CALLED = {"gpt_4_1": "gpt-4.1", "gpt_3_5": "gpt-3.5"}
_FILE_NAME = re.compile(
    rf"(?:(?P<data>.+?)[_-])??(?P<model>{'|'.join(m.replace('_', '[_.-]') for m in _MODELS)})"
    r"[_-](?P<heat>[0-2](?:[_.]\d{1,2})?)(?:[_-](?P<rest>[A-Za-z].*))?",
    re.IGNORECASE,
)
# Not `outcome`, which is what the model came to.
_TRUTHS = ("common_answers", "GT")
_FAILED = {"failed", "expired", "cancelled", "cancelling", "queued", "in_progress", "requires_action"}
_MAPPED = {
    "id": "question",
    "round": "run number",
    "reasoning": "the response's text",
    "status": "status of the run",
    "runtime": "seconds, and a metric of the source",
    "thread_id": "id of the response",
    "file_name": "data file of the question",
    "concepts": "concepts of the question",
    "level": "level of the question",
}
_NOT_METRICS = frozenset(
    {"id", "round", "thread_id", "reasoning", "file_name", "concepts", "level", "common_answers", "GT"}
)


class Named(NamedTuple):
    """What a file's name says."""

    model: str
    temperature: float
    request: dict[str, Any]


def named(path: Path) -> Named | None:
    """Return the model, temperature and other parameters that a file's name says, or None where it says none."""
    found = _FILE_NAME.fullmatch(bare_name(path).rpartition(".")[0])
    if found is None:
        return None
    written = re.sub(r"[.-]", "_", found["model"].lower())
    for start, called in _AS_CALLED.items():
        if written.startswith(start):
            written = called + written.removeprefix(start)
    rest = found["rest"]
    request: dict[str, Any] = {}
    if rest is not None:
        request = {"code_interpreter": False} if rest.lower() == "no_codeinterp" else {"variant": rest}
    return Named(written.replace("_", "-"), float(found["heat"].replace("_", ".")), request)


def truth_in(value: Any) -> Truth | None:
    """Return a ground truth however it is written: pairs, nested or not, a mapping, these in a text, or one value.

    Examples
    --------
    >>> truth_in('[["mean", 4.5]]'), truth_in({"mean": 4.5}), truth_in(12), truth_in([])
    ([('mean', '4.5')], [('mean', '4.5')], '12', None)
    >>> truth_in([[["mean", 4.5]]]), truth_in("[('mean', 4.5)]")
    ([('mean', '4.5')], [('mean', '4.5')])
    """
    if isinstance(value, str):
        text = value.strip()
        if text[:1] in {"[", "{", "("}:
            for read in (json.loads, ast.literal_eval):
                with contextlib.suppress(ValueError, SyntaxError, RecursionError, MemoryError):
                    return truth_in(read(text))
            return text
        return text or None
    if isinstance(value, Mapping):
        return [(str(name), _value(each)) for name, each in value.items()] or None
    if isinstance(value, list | tuple):
        # Some files have one list more around the same pairs, others one less.
        while len(value) == 1 and isinstance(value[0], list | tuple) and not _is_pair(value[0]):
            value = value[0]
        if value and all(_is_pair(pair) for pair in value):
            return [(name, _value(each)) for name, each in value]
        if value and all(isinstance(each, Mapping) for each in value):
            return [(str(name), _value(each)) for part in value for name, each in part.items()] or None
        return None if not value else _value(value[0] if len(value) == 1 else value)
    return None if value is None else _value(value)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and isinstance(value[0], str)


def _value(value: Any) -> str:
    text = as_text(value)
    return text if isinstance(text, str) else json.dumps(value, ensure_ascii=False)


class _DsQa:
    name = "ds-qa"
    title = "run files of the DS-QA authors"

    def detect(self, path: Path) -> float:
        row = first_object(path)
        if row is None or not {"id", "round"} <= row.keys():
            return 0.0
        return (
            0.95 if len({"reasoning", "thread_id", "runtime", "words", "tokens", "status"} & row.keys()) > 2 else 0.0
        )

    def read(self, paths: Sequence[Path], options: ReadOptions, report: ImportReport) -> Iterator[SourceRun]:
        for field, meaning in _MAPPED.items():
            report.map(field, meaning)
        report.map("(file name)", "model, temperature and, after these, another parameter")
        sets = _data_sets(paths, options, report)
        for path in paths:
            with report.passing_over(path):
                yield from self._runs(path, sets, options, report)

    def _runs(self, path: Path, sets: DataSets, options: ReadOptions, report: ImportReport) -> Iterator[SourceRun]:
        said = named(path)
        model = options.model or (said.model if said else None)
        if model is None:
            raise SourceError(
                "its name does not say which model and temperature it is of, as evals_gpt_4o_0_2.jsonl does",
                path=path,
                hint="say so: --model NAME --temperature T, or rename it",
            )
        heat = options.temperature if options.temperature is not None else said.temperature if said else None
        read = Named(model, heat or 0.0, said.request if said else {})
        prefix = sets.prefix(_label(path))
        for line, row in json_lines(path, report):
            if "id" not in row or not ({"reasoning", "status"} & row.keys()):
                report.skip(path, line, "has no 'id', or neither 'reasoning' nor 'status'")
                continue
            with report.row(path, line):
                yield self._run(f"{path}:{line}", row, f"{prefix}{row['id']}", read, heat, options, report)

    def _run(
        self,
        where: str,
        row: dict[str, Any],
        question: str,
        said: Named,
        heat: float | None,
        options: ReadOptions,
        report: ImportReport,
    ) -> SourceRun:
        field, truth = _truth(row, options)
        if field is not None:
            report.map(field, "ground truth of the question")
        concepts = row.get("concepts")
        listed = concepts if isinstance(concepts, list) else [concepts]
        status, error = _status(row.get("status"))
        return SourceRun(
            question=question,
            model=said.model,
            temperature=heat,
            run=row.get("round"),
            text=_text(row.get("reasoning")),
            where=where,
            status=status,
            error=error,
            seconds=_seconds(row.get("runtime")),
            response_id=row["thread_id"] if isinstance(row.get("thread_id"), str) else None,
            request=said.request,
            level=row["level"] if isinstance(row.get("level"), str) else None,
            truth=truth,
            concepts=tuple(str(c) for c in listed if c),
            file_name=row["file_name"] if isinstance(row.get("file_name"), str) else None,
            metrics=_metrics(row, options, report),
            row=row,
        )


def _label(path: Path) -> str:
    """Return what a file's name calls its data set: what stands before the model, or all of it."""
    name = bare_name(path).rpartition(".")[0]
    found = _FILE_NAME.fullmatch(name)
    return name if found is None else found["data"] or ""


def _data_sets(paths: Sequence[Path], options: ReadOptions, report: ImportReport) -> DataSets:
    """Return which files number the same questions; read beforehand only where there are several data sets."""
    sets = DataSets(named=True)
    if len({_label(path) for path in paths}) < 2:
        return sets
    for path in paths:
        with contextlib.suppress(SourceError):
            for _, row in json_lines(path, ImportReport(skip_bad=True)):
                if "id" in row and {"reasoning", "status"} & row.keys():
                    facts = {"truth": _truth(row, options)[1], "file": row.get("file_name")}
                    sets.see(_label(path), str(row["id"]), facts)
    sets.settle(report)
    return sets


def _truth(row: Mapping[str, Any], options: ReadOptions) -> tuple[str | None, Truth | None]:
    for field in (options.columns["truth"],) if options.columns.get("truth") else _TRUTHS:
        if (truth := truth_in(row.get(field))) is not None:
            return field, truth
    return None, None


def _text(value: Any) -> str:
    # Some files have the response in pieces.
    if isinstance(value, list):
        return "\n".join(_text(piece) for piece in value)
    if isinstance(value, Mapping):
        return _text(value.get("value") or value.get("text"))
    return "" if value is None else str(value)


def _seconds(value: Any) -> float | None:
    is_time = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
    return float(value) if is_time else None


def _status(said: Any) -> tuple[Status | None, dict[str, Any] | None]:
    word = str(said).strip().lower() if said is not None else ""
    if word in _FAILED:
        return "failed", {"class": "RunNotCompleted", "message": f"the source's status is '{word}'"}
    return ("truncated" if word == "incomplete" else None), None


def _metrics(row: dict[str, Any], options: ReadOptions, report: ImportReport) -> dict[str, Metric]:
    metrics: dict[str, Metric] = {}
    for name, value in row.items():
        if name in _NOT_METRICS:
            continue
        if isinstance(value, str | int | float) or value is None:
            metrics[name] = None if value == "" else value
            if name not in _MAPPED:
                report.map(name, "metric of the source")
        else:
            report.leave_out(name, "neither a number nor a word; it stays in the original row")
    if metrics.get("accuracy") is None:
        if options.unfilled_accuracy == "wrong":
            metrics["accuracy"] = 0
            report.note("runs with no mark in 'accuracy' count as wrong, as was asked for")
        elif "accuracy" in metrics:
            report.note("runs have no mark in 'accuracy': missing, not wrong")
    return metrics


READER = _DsQa()
