"""Runs of llm-stability (Comcast and B. Baldwin): a CSV file per run, a line per question.

Version 3 writes ``model, model_config, task, task_config, rubric, rubric_id, question, gt, prompt, run, response,
date``, with the configurations as JSON. Versions 1 and 2 write ``pred, gt, raw_response, raw_input``, and say in the
file's name which model, task and run it is: ``gpt-4o_mmlu_college_mathematics_3.csv``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dsqa.errors import SourceError
from dsqa.importing.files import bare_name
from dsqa.importing.runs import ImportReport, Metric, ReadOptions, SourceRun
from dsqa.importing.tables import Row, kind_of, rows_of
from dsqa.study.design import fingerprint

__all__ = ["READER"]

_NEW = frozenset({"model", "model_config", "task", "rubric_id", "gt", "run", "response"})
_OLD = frozenset({"pred", "gt", "raw_response", "raw_input"})
_OLD_NAME = re.compile(r"(?P<model>.+?)_(?P<task>(?:bbh|mmlu)_.+?)_(?P<run>\d+)\.csv", re.IGNORECASE)
_FAILED = "LLM Error"
"""What version 3 writes for a response that an endpoint refused to give."""


class _LlmStability:
    name = "llm-stability"
    title = "runs of llm-stability"

    def detect(self, path: Path) -> float:
        columns = _columns(path)
        if columns >= _NEW:
            return 0.95
        return 0.9 if columns >= _OLD else 0.0

    def read(self, paths: Sequence[Path], options: ReadOptions, report: ImportReport) -> Iterator[SourceRun]:
        report.first_run = 0
        for path in paths:
            columns = _columns(path)
            if columns >= _NEW:
                for name, meaning in _NEW_MEANING.items():
                    report.map(name, meaning)
                read = _new
            elif columns >= _OLD:
                for name, meaning in _OLD_MEANING.items():
                    report.map(name, meaning)
                read = _old
            else:
                # evaluate.py writes its summaries beside the runs.
                report.leave_out(str(path), "no runs: it lacks the columns of llm-stability")
                continue
            with report.passing_over(path):
                for row in rows_of(path, report):
                    with report.row(path, row.line):
                        yield read(path, row, options)


_NEW_MEANING = {
    "task, rubric_id": "question (task/rubric_id)",
    "question": "text of the question",
    "prompt": "messages",
    "gt": "ground truth",
    "model_config": "temperature and other parameters",
    "task_config": "other parameters",
    "response": "the response's text",
    "run": "run number",
}
_OLD_MEANING = {
    "(file name)": "model, task and run number",
    "raw_input": "messages",
    "raw_response": "the response's text",
    "gt": "ground truth",
    "pred": "metric of the source",
}


def _columns(path: Path) -> frozenset[str]:
    if kind_of(path) != "csv":
        return frozenset()
    try:
        first = next(iter(rows_of(path, ImportReport(skip_bad=True))), None)
    except SourceError:
        return frozenset()
    return frozenset() if first is None else frozenset(first.values)


def _new(path: Path, row: Row, options: ReadOptions) -> SourceRun:
    values = row.values
    asked = _object(values, "model_config")
    heat = asked.pop("temperature", options.temperature)
    task = _object(values, "task_config")
    prompt = values.get("prompt") or ""
    failed = values["response"] == _FAILED
    return SourceRun(
        question=f"{values['task']}/{values['rubric_id']}",
        model=options.model or values["model"],
        temperature=None if heat is None else float(heat),
        run=int(values["run"]),
        text="" if failed else values["response"],
        where=f"{path}:{row.line}",
        status="failed" if failed else None,
        error={"class": "BadRequestError", "message": "the source holds no response"} if failed else None,
        started_at=values.get("date") or None,
        messages=_messages(prompt),
        request=asked | {f"task_{name}": value for name, value in task.items()},
        # With examples before it, the text is the prompt's, and differs from condition to condition.
        question_text=(values.get("question") or None) if task.get("shots") in {None, 0, "0"} else None,
        category=values["task"],
        truth=values["gt"] or None,
        metrics={name: value for name, value in values.items() if name not in _KNOWN and name},
        row=values,
    )


_KNOWN = _NEW | {"task_config", "rubric", "question", "prompt", "date"}


def _old(path: Path, row: Row, options: ReadOptions) -> SourceRun:
    found = _OLD_NAME.fullmatch(bare_name(path))
    model = options.model or (found["model"] if found else None)
    if found is None or model is None:
        raise SourceError(
            "its name does not say which model, task and run it is, as gpt-4o_mmlu_college_mathematics_3.csv does",
            path=path,
            hint="rename it",
        )
    values = row.values
    metrics: dict[str, Metric] = {"pred": values["pred"] or None}
    # A row has no id; its text tells the question from the others, in every run.
    return SourceRun(
        question=f"{found['task']}/{fingerprint(values['raw_input'], 8)}",
        model=model,
        # The programs of these versions ask for temperature 0 and nothing else.
        temperature=0.0 if options.temperature is None else options.temperature,
        run=int(found["run"]),
        text=values["raw_response"],
        where=f"{path}:{row.line}",
        messages=[{"role": "user", "content": values["raw_input"]}],
        question_text=values["raw_input"],
        category=found["task"],
        truth=values["gt"] or None,
        metrics=metrics,
        row=values,
    )


def _object(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    try:
        given = json.loads(values.get(name) or "{}")
    except ValueError:
        raise ValueError(f"'{name}' is not valid JSON") from None
    if not isinstance(given, dict):
        raise ValueError(f"'{name}' is no {{…}} object")
    return given


def _messages(text: str) -> list[dict[str, Any]] | None:
    try:
        given = json.loads(text) if text.strip() else None
    except ValueError:
        return None
    return given if isinstance(given, list) and all(isinstance(m, dict) for m in given) and given else None


READER = _LlmStability()
