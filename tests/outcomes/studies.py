"""Small recorded studies made by hand."""

from __future__ import annotations

from pathlib import Path

from dsqa.bank import Bank, Question
from dsqa.records import Record, RecordStore
from dsqa.study import Cell, Condition, StudyFolder
from dsqa.study.folder import CellPlan, StudyDescription, hash_file

MESSAGES = ({"role": "user", "content": "What is the mean of x?"},)
CONDITION = Condition("default", "model-a", 0.7)
RIGHT_CODE = (
    "import csv\nrows = [float(r['x']) for r in csv.DictReader(open('a.csv'))]\nprint(f'@mean[{sum(rows) / 3}]')"
)


def question(**extra) -> Question:
    return Question(
        id="q1",
        question="What is the mean of x?",
        concepts=("Data Summary",),
        format="@mean[mean_value] with two decimals",
        file_name="a.csv",
        level="easy",
        common_answers=(("mean", "2.33"),),
        **extra,
    )


def record(run: int, text: str, status: str = "answered", *, messages=MESSAGES, question_id="q1", **fields) -> Record:
    cell = Cell(question_id, CONDITION, messages)
    return Record(
        question_id=question_id,
        condition_id=CONDITION.id,
        run=run,
        prompt_hash=cell.prompt_hash,
        condition=CONDITION.to_dict(),
        request={"messages": list(messages)},
        status=status,
        text=text,
        **fields,
    )


def make_study(
    root: Path, records: list[Record], *, runs: int = 4, extra: dict | None = None, execution: dict | None = None
) -> StudyFolder:
    source = root / "source"
    source.mkdir()
    (source / "a.csv").write_text("x\n1\n2\n4\n")
    bank = Bank((question(**(extra or {})),), source)
    folder = StudyFolder(root / "study")
    cell = Cell("q1", CONDITION, MESSAGES)
    folder.write(
        StudyDescription(
            name="by-hand",
            runs=runs,
            seed=1,
            conditions=(CONDITION,),
            cells=(CellPlan("q1", CONDITION.id, cell.prompt_hash),),
            settings={"execution": execution or {}},
            template={"name": "t", "text": "x", "sha256": "0"},
            bank_hash=bank.hash,
            data_hashes={"a.csv": hash_file(source / "a.csv")},
        ),
        bank,
    )
    with RecordStore.open(folder.records_path) as store:
        for row in records:
            store.append(row)
    return folder
