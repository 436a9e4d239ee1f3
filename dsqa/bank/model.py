"""What a question and a bank are: frozen, validated data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from dsqa.errors import BankError

__all__ = ["Bank", "Level", "Question"]

Level = Literal["easy", "medium", "hard"]


def _id_as_text(value: Any) -> Any:
    # The paper writes ids as numbers (0, 16.1); a spreadsheet gives either.
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _answer_as_text(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(
            tuple(str(part) if isinstance(part, int | float) else part for part in pair)
            if isinstance(pair, list | tuple)
            else pair
            for pair in value
        )
    return value


class Question(BaseModel):
    """One item of a bank, in the fields the paper prints.

    Parameters
    ----------
    id
        Unique within the bank. Numbers are read as text.
    question
        The text that is asked.
    concepts
        What the question is about; the first is its category unless `category` says otherwise.
    format
        The answer format, with one `@name[value]` placeholder per answer.
    file_name
        The data file the question is about, relative to the bank's data folder, or None.
    level
        ``easy``, ``medium`` or ``hard`` by the paper's definitions.
    common_answers
        The ground truth: one ``(name, value)`` pair per placeholder.
    category
        The task type. Defaults to the first concept.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    id: Annotated[str, BeforeValidator(_id_as_text), Field(min_length=1)]
    question: Annotated[str, Field(min_length=1)]
    concepts: tuple[str, ...] = ()
    format: str
    file_name: str | None = None
    level: Level
    common_answers: Annotated[tuple[tuple[str, str], ...], BeforeValidator(_answer_as_text), Field(min_length=1)]
    category: str = ""

    def model_post_init(self, _context: Any) -> None:  # noqa: D102
        if not self.category:
            object.__setattr__(self, "category", self.concepts[0] if self.concepts else "Uncategorised")

    @property
    def answers(self) -> dict[str, str]:
        """The ground truth as a mapping from name to value."""
        return dict(self.common_answers)


@dataclass(frozen=True)
class Bank:
    """Questions in file order, and the folder that holds their data files."""

    questions: tuple[Question, ...]
    data_dir: Path
    path: Path | None = None

    def __len__(self) -> int:
        return len(self.questions)

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    def __getitem__(self, question_id: str) -> Question:
        for question in self.questions:
            if question.id == question_id:
                return question
        known = ", ".join(q.id for q in self.questions[:8]) + (" …" if len(self.questions) > 8 else "")
        message = f"no question has the id '{question_id}'"
        raise BankError(message, path=self.path, hint=f"the bank has: {known}")

    def select(self, question_ids: Sequence[str]) -> Bank:
        """Return the bank of just these questions, in the order given."""
        return Bank(tuple(self[i] for i in question_ids), self.data_dir, self.path)

    def data_file(self, question: Question) -> Path | None:
        """Return the path of a question's data file, or None where it has none."""
        return None if question.file_name is None else self.data_dir / question.file_name

    @property
    def hash(self) -> str:
        """SHA-256 of the questions' content (not of the file's whitespace), as hex."""
        rows = [q.model_dump(mode="json") for q in self.questions]
        text = json.dumps(rows, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()
