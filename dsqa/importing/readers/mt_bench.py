"""Answers of MT-Bench (FastChat): a line per question and model, its choices are the runs, its turns questions.

``{"question_id": 81, "model_id": "gpt-4", "choices": [{"index": 0, "turns": ["…", "…"]}], "tstamp": 1686286924.8}``;
the questions stand in a file of their own, ``{"question_id": 81, "category": "writing", "turns": ["…", "…"]}``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dsqa.errors import SourceError
from dsqa.importing.files import first_object, json_lines
from dsqa.importing.runs import ImportReport, ReadOptions, SourceRun

__all__ = ["READER"]


class _MtBench:
    name = "mt-bench"
    title = "answers of MT-Bench"

    def detect(self, path: Path) -> float:
        row = first_object(path)
        return 0.95 if row is not None and (_is_answer(row) or _is_question(row)) else 0.0

    def read(self, paths: Sequence[Path], options: ReadOptions, report: ImportReport) -> Iterator[SourceRun]:
        kinds = {path: first_object(path) or {} for path in paths}
        questions: dict[str, Mapping[str, Any]] = {}
        answers = [path for path, row in kinds.items() if not _is_question(row)]
        for path in paths:
            if path not in answers:
                with report.passing_over(path):
                    questions.update((str(row.get("question_id")), row) for _, row in json_lines(path, report))
        if not answers:
            raise SourceError("holds questions without answers", path=paths[0], hint="name the answers as well")
        for name, to in (
            ("question_id, turns", "question, with the number of the turn behind a slash"),
            ("choices", "runs"),
            ("model_id", "model"),
            ("tstamp", "time"),
        ):
            report.map(name, to)
        for path in answers:
            with report.passing_over(path):
                for line, row in json_lines(path, report):
                    if not _is_answer(row):
                        report.skip(path, line, "is no answer of MT-Bench: no question_id, or no choices of turns")
                        continue
                    with report.row(path, line):
                        yield from _runs(row, f"{path}:{line}", questions, options, report)


READER = _MtBench()


def _is_answer(row: Mapping[str, Any]) -> bool:
    choices = row.get("choices")
    return "question_id" in row and bool(choices) and isinstance(choices, list) and _turns(choices[0]) is not None


def _is_question(row: Mapping[str, Any]) -> bool:
    return "question_id" in row and "choices" not in row and _turns(row) is not None


def _turns(given: Any) -> list[str] | None:
    turns = given.get("turns") if isinstance(given, Mapping) else None
    return turns if isinstance(turns, list) and turns and all(isinstance(turn, str) for turn in turns) else None


def _runs(
    row: Mapping[str, Any],
    where: str,
    questions: Mapping[str, Mapping[str, Any]],
    options: ReadOptions,
    report: ImportReport,
) -> Iterator[SourceRun]:
    question = str(row["question_id"])
    known = questions.get(question, {})
    asked = _turns(known) or []
    choices = row["choices"]
    for place, choice in enumerate(choices):
        turns = _turns(choice)
        if turns is None:
            raise ValueError(f"choice {place} has no turns")
        for number, text in enumerate(turns, start=1):
            if number > 1:
                report.note("answers are a conversation's later turns: they answer their own run's earlier ones too")
            yield SourceRun(
                question=f"{question}/{number}" if len(turns) > 1 else question,
                model=str(row.get("model_id") or options.model or ""),
                temperature=options.temperature,
                # One answer a file and model has no number: further files are further runs.
                run=place if len(choices) > 1 else None,
                text=text,
                where=where,
                started_at=row.get("tstamp"),
                response_id=str(row["answer_id"]) if row.get("answer_id") else None,
                question_text=asked[number - 1] if number <= len(asked) else None,
                category=str(known["category"]) if known.get("category") else None,
                row=row if number == 1 else {"question_id": row["question_id"], "turn": number},
            )
