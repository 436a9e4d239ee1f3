"""A simulated study folder: what the rooms before the report would have written."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from dsqa.bank import Bank, Question
from dsqa.records import Record, RecordStore
from dsqa.study import Condition, StudyFolder, conditions_of
from dsqa.study.folder import CellPlan, StudyDescription, hash_file
from dsqa.study.parse import parse_study
from tests.support.synthetic import synthetic_outcomes

WORDS = [
    "the",
    "mean",
    "of",
    "the",
    "column",
    "is",
    "computed",
    "after",
    "dropping",
    "missing",
    "rows",
    "and",
    "then",
    "we",
    "print",
    "it",
    "so",
    "the",
    "answer",
    "follows",
    "from",
    "a",
    "simple",
    "call",
    "to",
    "pandas",
    "which",
    "reads",
    "the",
    "file",
    "groups",
    "by",
    "species",
    "and",
    "rounds",
    "to",
    "two",
    "decimals",
]


def make_study(
    root: Path,
    *,
    questions: int = 6,
    models: tuple[str, ...] = ("model-a",),
    temperatures: tuple[float, ...] = (0.2, 1.0),
    runs: int = 10,
    texts: dict[int, str] | None = None,
    question_text: str | None = None,
    seed: int = 1,
) -> StudyFolder:
    """Write a study whose outcomes are `synthetic_outcomes`; `texts` replaces the responses to a question."""
    outcomes = synthetic_outcomes(seed, questions, models, temperatures, runs)
    listed = ", ".join(f"'{model}'" for model in models)
    heats = ", ".join(str(t) for t in temperatures)
    config = parse_study(f"name: synthetic\nmodels: [{listed}]\ntemperatures: [{heats}]\nruns: {runs}\nseed: 11\n")
    conditions = conditions_of(config)
    ids = {(c.model, c.temperature): c.id for c in conditions}
    outcomes["condition_id"] = pd.array(
        [ids[(m, float(t))] for m, t in zip(outcomes["model"], outcomes["temperature"], strict=True)], dtype="string"
    )
    data = root.parent / "made-data"
    data.mkdir(parents=True, exist_ok=True)
    (data / "penguins.csv").write_text("species,mass\nAdelie,3700\nGentoo,5000\n")
    bank = Bank(tuple(_question(q, question_text) for q in range(1, questions + 1)), data)
    folder = StudyFolder(root)
    folder.write(
        StudyDescription(
            name="synthetic",
            runs=runs,
            seed=11,
            conditions=conditions,
            cells=tuple(CellPlan(q.id, c.id, "0" * 16) for q in bank for c in conditions),
            settings=json.loads(config.model_dump_json()),
            template={"name": "question-v1", "text": "Answer this:\n{{ question }}\n", "sha256": "ab" * 32},
            bank_hash=bank.hash,
            data_hashes={"penguins.csv": hash_file(data / "penguins.csv")},
            versions={"dsqa": "0.1.0", "python": "3.11.2"},
        ),
        bank,
    )
    outcomes.to_parquet(folder.outcomes_path)
    _write_records(folder, outcomes, {c.id: c for c in conditions}, texts or {}, seed)
    return folder


def _question(number: int, text: str | None) -> Question:
    return Question(
        id=f"q{number:02d}",
        question=text or f"What is the mean body mass of the penguins of species number {number}, in grams?",
        concepts=(("Data Summary", "Linear Regression")[number % 2],),
        format="@x[value]",
        file_name="penguins.csv",
        level=("easy", "medium", "hard")[number % 3],
        common_answers=(("x", "42"),),
    )


def _write_records(
    folder: StudyFolder, outcomes: pd.DataFrame, conditions: dict[str, Condition], texts: dict[int, str], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    with RecordStore.open(folder.records_path) as store:
        for i, row in enumerate(outcomes.itertuples()):
            number = int(row.question_id[1:])
            words = " ".join(rng.choice(WORDS, 40))
            text = texts.get(number, f"{words}.\n\n```python\nprint(df['mass'].mean())\n```\n\n@x[{i % 50}]")
            failed = row.status == "failed"
            store.append(
                Record(
                    question_id=row.question_id,
                    condition_id=row.condition_id,
                    run=int(row.run),
                    prompt_hash=row.prompt_hash,
                    condition=conditions[row.condition_id].to_dict(),
                    request={"messages": [{"role": "user", "content": "…"}]},
                    status=row.status,
                    text="" if failed else text,
                    seconds=None if failed else float(row.seconds),
                    started_at=f"2026-11-30T08:{i // 60 % 60:02d}:{i % 60:02d}.000000+00:00",
                    response_model=None if failed else row.model,
                    versions={"dsqa": "0.1.0", "openai": "2.0.0"},
                )
            )
