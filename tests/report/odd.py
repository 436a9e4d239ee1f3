"""Odd studies: whatever was asked of whom, and whatever came of it, without a model or a sandbox."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from dsqa.bank import Bank, Question
from dsqa.outcomes.columns import COLUMNS
from dsqa.records import Record, RecordStore
from dsqa.study import StudyFolder, conditions_of
from dsqa.study.folder import CellPlan, StudyDescription
from dsqa.study.parse import parse_study


@dataclass(frozen=True)
class Run:
    """What came of a run: the answer (None: none could be read), how it ended, and whether there was code."""

    answer: str | None
    status: str = "answered"
    code: int = 0


Outcome = Callable[[int, int, int, np.random.Generator], Run | None]
"""(question, condition, run, random numbers) → what came of it; None: it was not asked."""


@dataclass(frozen=True)
class Odd:
    """A study: how many questions, models and temperatures, how many runs at most, and what came of each."""

    outcome: Outcome
    questions: int = 6
    models: tuple[str, ...] = ("alpha", "beta")
    temperatures: tuple[float, ...] = (0.5,)
    runs: int = 6
    truths: bool = True

    def write(self, root: Path, seed: int = 1) -> StudyFolder:
        """Write it as a marked study. The right answer to question i is ``10 + i``."""
        rng = np.random.default_rng(seed)
        listed = ", ".join(f"'{name}'" for name in self.models)
        heats = ", ".join(f"{value}" for value in self.temperatures)
        config = parse_study(f"name: odd\nmodels: [{listed}]\ntemperatures: [{heats}]\nruns: {self.runs}\nseed: 3\n")
        conditions = conditions_of(config)
        bank = Bank(tuple(self._question(q) for q in range(self.questions)), root)
        folder = StudyFolder(root)
        cells = tuple(CellPlan(q.id, c.id, "0" * 16) for q in bank for c in conditions)
        folder.write(
            StudyDescription(
                name="odd", runs=self.runs, seed=3, conditions=conditions, cells=cells,
                settings=json.loads(config.model_dump_json()), template={"name": "t", "text": "x", "sha256": "0"},
                bank_hash=bank.hash, data_hashes={}, versions={},
            ),
            bank,
        )  # fmt: skip
        rows, records = [], []
        for q, question in enumerate(bank):
            for c, condition in enumerate(conditions):
                for run in range(self.runs):
                    came = self.outcome(q, c, run, rng)
                    if came is None:
                        continue
                    rows.append(self._row(question, condition, run, q, came))
                    records.append(
                        Record(
                            question_id=question.id, condition_id=condition.id, run=run, prompt_hash="0" * 16,
                            condition=condition.to_dict(), request={}, status=came.status,  # type: ignore[arg-type]
                            text="" if came.status == "failed" else f"So it is {came.answer or 'unknown'}.",
                            started_at=f"2026-11-30T08:{run % 60:02d}:00+00:00",
                        )
                    )  # fmt: skip
        table = pd.DataFrame(rows).reindex(columns=[c.name for c in COLUMNS])
        table.astype({c.name: c.dtype for c in COLUMNS}).to_parquet(folder.outcomes_path)
        with RecordStore.open(folder.records_path) as store:
            for record in records:
                store.append(record)
        return folder

    def _question(self, number: int) -> Question:
        return Question(
            id=f"item-{chr(97 + number % 26)}{chr(97 + number // 26)}",
            question="What is it?",
            concepts=("Data Summary",),
            format="@x[value]",
            unmarked=() if self.truths else ("x",),
            level=("easy", "hard")[number % 2],
            common_answers=(("x", str(10 + number)),) if self.truths else (),
        )

    def _row(self, question: Question, condition: object, run: int, number: int, came: Run) -> Mapping[str, object]:
        right = int(came.answer == str(10 + number)) if self.truths else None
        completion = int(came.status == "answered")
        code = 2 if came.code and right else came.code
        status = "unmarked" if right is None else "unparsed" if came.answer is None else "mismatched"
        return {
            "study": "odd", "question_id": question.id, "category": "Data Summary", "level": question.level,
            "condition_id": condition.id, "endpoint": "default", "model": condition.model,  # type: ignore[attr-defined]
            "temperature": condition.temperature, "run": run, "prompt_hash": "0" * 16,  # type: ignore[attr-defined]
            "status": came.status, "retries": 0, "words_in": 10, "tokens_in": 20, "words_out": 9, "tokens_out": 12,
            "tokens_total": 12, "jaccard_first": 0.5, "jaccard_mean": 0.5, "seconds": 1.0, "completion": completion,
            "accuracy": right, "executability": code, "executability_repository": code,
            "score": None if right is None else completion + right + code / 2,
            "execution": "ran, wrong" if code else "no code", "answer_status": "matched" if right else status,
            "answer": None if came.answer is None or right is None else json.dumps({"x": came.answer}),
            "answer_key": None if came.answer is None or right is None else f"x={came.answer}",
            "answer_conflict": False,
        }  # fmt: skip


def _share(*right: float) -> Outcome:
    """Each condition right with its own probability, else one of three wrong answers."""
    return lambda q, c, _run, rng: Run(str(10 + q) if rng.random() < right[c % len(right)] else str(rng.integers(3)))


def _mixed(q: int, c: int, run: int, rng: np.random.Generator) -> Run:
    if q == 0:
        return Run(str(10 + q), code=1)
    if q == 1:
        return Run("4")
    if q == 2:
        return Run(None, "truncated" if run % 2 else "answered", code=run % 2)
    status = str(rng.choice(["answered", "failed", "refused", "truncated"], p=[0.7, 0.1, 0.1, 0.1]))
    answer = str(10 + q) if rng.random() < 0.6 - 0.2 * c else "4"
    return Run(answer if status == "answered" else None, status, int(rng.integers(2)))


def _only(keep: Callable[[int, int, int], bool], outcome: Outcome) -> Outcome:
    return lambda q, c, run, rng: outcome(q, c, run, rng) if keep(q, c, run) else None


ODD: dict[str, Odd] = {
    "usual": Odd(_mixed, runs=10),
    "each model has questions of its own": Odd(
        _only(lambda q, c, run: q < 20 if c == 0 else q >= 10, _share(0.9, 0.2)), questions=30, runs=4
    ),
    "no question in common": Odd(_only(lambda q, c, run: q % 2 == c, _share(0.9, 0.3)), runs=5),
    "nothing read": Odd(lambda q, c, run, rng: Run(None)),
    "hardly anything read": Odd(lambda q, c, run, rng: Run("10" if (q, c, run) == (0, 0, 0) else None), runs=8),
    "one condition not read": Odd(lambda q, c, run, rng: Run(None if c else str(10 + q))),
    "a third not read": Odd(lambda q, c, run, rng: Run(str(10 + q) if run % 3 else None), runs=9),
    "all failed": Odd(lambda q, c, run, rng: Run(None, "failed")),
    "failed in one condition": Odd(lambda q, c, run, rng: Run(None, "failed") if c else Run(str(10 + q))),
    "one reply": Odd(lambda q, c, run, rng: Run("3") if (q, c, run) == (1, 1, 1) else Run(None, "failed")),
    "one question": Odd(_share(0.5, 0.9), questions=1, runs=7),
    "one question, one condition": Odd(_share(0.8), questions=1, models=("alpha",), runs=9),
    "one run": Odd(_share(0.5), runs=1),
    "one run, one question, one condition": Odd(_share(1.0), questions=1, models=("alpha",), runs=1),
    "two runs": Odd(_share(0.5), runs=2),
    "no truths": Odd(_share(0.5), truths=False),
    "always right": Odd(_share(1.0), runs=30),
    "always wrong, alike": Odd(lambda q, c, run, rng: Run("3"), runs=30),
    "always wrong, each time otherwise": Odd(lambda q, c, run, rng: Run(str(100 + run)), runs=8),
    "a tie": Odd(lambda q, c, run, rng: Run(str(10 + q) if run % 2 else "3")),
    "one condition": Odd(_share(0.6), models=("alpha",), questions=12),
    "unequal runs": Odd(_only(lambda q, c, run: run < 2 + 3 * c + q % 3, _mixed), runs=10),
    "three temperatures": Odd(_share(0.9, 0.5, 0.2), models=("alpha",), temperatures=(0.2, 0.7, 1.2), runs=8),
    "temperatures with questions of their own": Odd(
        _only(lambda q, c, run: q >= 2 if c == 0 else q < 5, _share(0.9, 0.3)), models=("alpha",), runs=5,
        temperatures=(0.1, 1.3), questions=7,
    ),
    "six conditions": Odd(_share(0.9, 0.5, 0.2), temperatures=(0.1, 0.6, 1.1), runs=4, questions=30),
    "refusals": Odd(lambda q, c, run, rng: Run(None, "refused") if run % 2 else Run("3"), runs=8),
}  # fmt: skip
"""By what is odd about them."""
