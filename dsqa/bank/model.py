"""What a question and a bank are: frozen, validated data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

from dsqa.bank.fields import (
    accepted_by_part,
    answers_as_text,
    check_rounding,
    check_tolerance,
    check_unit,
    options_by_letter,
    per_part,
    stripped,
    traps_by_part,
)
from dsqa.bank.findings import Finding
from dsqa.bank.options import letters_of, options_in, options_text
from dsqa.errors import BankError

__all__ = ["NO_ANSWER", "OPTIONAL", "Bank", "Level", "Question"]

Level = Literal["easy", "medium", "hard"]

NO_ANSWER = "no_answer"
"""Type of the validation error of a question that has no ground truth and is not marked as having none."""


_Name = Annotated[str, BeforeValidator(stripped)]
_Label = Annotated[str, AfterValidator(str.strip)]
_Tolerance = Annotated[str, AfterValidator(check_tolerance)]
_Rounding = Annotated[str, AfterValidator(check_rounding)]
_Unit = Annotated[str, AfterValidator(check_unit)]


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
        The ground truth: one ``(name, value)`` pair per placeholder. Only an open question, all parts of which are
        `unmarked`, has none; its runs are neither right nor wrong.
    category
        The task type. Defaults to the first concept.
    options
        What an answer is chosen from, by letter and in order: ``{"A": "the mean", "B": "the median"}``. A list of
        texts is lettered from A on. The truth names one option, or several (``"A, C"``); see `choice`. Sent with the
        question.
    accepted
        Other values that are right as well, by part: ``{"city": ["NYC"]}``.
    constraints
        What the question further asks to be done or left undone; sent with the question.
    tolerance
        How far a number may lie from the truth: ``"0.01"``, or ``"1%"`` of the truth. Takes the place of rounding.
    rounding
        Decimals (``"2"``) or significant digits (``"3 significant"``) to which answer and truth are rounded before
        they are compared; by default the truth's own decimals.
    unit
        ``percent`` or ``proportion``: what a ground truth like 20 or 0.2 is. By default as the wording says.
    ordered
        Whether the order of a vector counts. By default as the wording says, else yes.
    decimal_comma
        Whether ``34,65`` in an answer is the number 34.65.
    n
        Number of observations behind the truth; lets a divisor n for n - 1 be named as the cause of a mismatch.
    traps
        By convention, the values that the answer has under it: ``{"ddof=0": {"sd": "1.23"}}``. An answer that equals
        one does not match, and the convention is named as the cause.
    unmarked
        Names that the format asks for and for which there is no ground truth, on purpose; they are not marked.
    reading
        ``lenient``: the runs were asked elsewhere, without the format, so that their answers are looked for where
        answers usually stand (see `dsqa.metrics.answers.lenient`). By default only what is stated counts.
    reference_text, reference_code, reference_plot
        A model answer in words; Python that works the ground truth out (the code, or the name of a ``.py`` file
        beside the bank); the name of a picture beside the bank.
    criteria
        The yes/no criteria that a judge marks.
    notes
        For people who keep the bank; never sent.

    Notes
    -----
    `tolerance`, `rounding` and `unit` are one setting for all parts, or a mapping from part name to setting. Further
    fields are kept as they are.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    id: Annotated[_Name, Field(min_length=1)]
    question: Annotated[str, Field(min_length=1)]
    concepts: tuple[_Label, ...] = ()
    format: str
    file_name: str | None = None
    level: Level
    common_answers: Annotated[tuple[tuple[str, str], ...], BeforeValidator(answers_as_text)]
    category: _Label = ""
    options: Annotated[dict[str, str], BeforeValidator(options_by_letter)] = Field(default_factory=dict)
    accepted: Annotated[dict[str, tuple[str, ...]], BeforeValidator(accepted_by_part)] = Field(default_factory=dict)
    constraints: str | None = None
    tolerance: Annotated[_Tolerance | dict[str, _Tolerance] | None, BeforeValidator(per_part)] = None
    rounding: Annotated[_Rounding | dict[str, _Rounding] | None, BeforeValidator(per_part)] = None
    unit: Annotated[_Unit | dict[str, _Unit] | None, BeforeValidator(per_part)] = None
    ordered: bool | None = None
    decimal_comma: bool | None = None
    n: Annotated[int, Field(ge=1)] | None = None
    traps: Annotated[dict[str, dict[str, str]], BeforeValidator(traps_by_part)] = Field(default_factory=dict)
    unmarked: Annotated[tuple[str, ...], Field(validate_default=True)] = ()
    reading: Literal["lenient"] | None = None
    reference_text: str | None = None
    reference_code: str | None = None
    reference_plot: str | None = None
    criteria: tuple[str, ...] = ()
    notes: str | None = None

    @field_validator("unmarked")
    @classmethod
    def _says_what_has_no_answer(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if not value and info.data.get("common_answers") == ():
            raise PydanticCustomError(NO_ANSWER, "has no answer, and does not say so")
        return value

    def __hash__(self) -> int:
        return hash((self.id, self.question, self.common_answers))

    def model_post_init(self, _context: Any) -> None:  # noqa: D102
        if not self.category:
            object.__setattr__(self, "category", self.concepts[0] if self.concepts else "Uncategorised")
        if self.options:
            # "b)", "the median": one way to say which option is right.
            pairs = tuple((n, ", ".join(letters_of(t, self.options) or (t,))) for n, t in self.common_answers)
            object.__setattr__(self, "common_answers", pairs)

    @property
    def answers(self) -> dict[str, str]:
        """The ground truth as a mapping from name to value."""
        return dict(self.common_answers)

    @property
    def marked(self) -> bool:
        """Whether there is a ground truth: without one, a run's accuracy and score are missing, not 0."""
        return bool(self.common_answers)

    @property
    def asked(self) -> str:
        """The text that is asked: the question, its options unless they stand in it, and its constraints."""
        further = [] if not self.options or self._holds_its_options() else [options_text(self.options)]
        further += [self.constraints.strip()] if self.constraints else []
        return "\n\n".join([self.question.strip(), *further]) if further else self.question

    def _holds_its_options(self) -> bool:
        listed = options_in(self.question)
        return [k.casefold() for k in listed] == [k.casefold() for k in self.options] and all(
            letters_of(text, self.options) is not None for text in listed.values()
        )

    def choice(self, name: str) -> tuple[str, ...] | None:
        """Return the letters of the options that are right for a part, or None where its answer is no choice.

        Several letters: all of them, in any order, are the answer.
        """
        return letters_of(self.answers[name], self.options) if self.options else None

    def setting(self, field: Literal["tolerance", "rounding", "unit"], name: str) -> str | None:
        """Return a part's setting, whether it was given for all parts or for this one."""
        value: str | dict[str, str] | None = getattr(self, field)
        return value.get(name) if isinstance(value, dict) else value

    def to_dict(self) -> dict[str, Any]:
        """Return the question as plain JSON data; optional fields that say nothing are left out."""
        row = self.model_dump(mode="json")
        return {k: v for k, v in row.items() if k not in OPTIONAL or v not in (None, [], {})}


OPTIONAL = frozenset(Question.model_fields) - {
    "id", "question", "concepts", "format", "file_name", "level", "common_answers", "category",
}  # fmt: skip
"""Fields beyond the paper's: a bank that has none of them has the hash it had before they came."""


@dataclass(frozen=True)
class Bank:
    """Questions in file order, and the folder that holds their data files.

    Parameters
    ----------
    questions, data_dir, path
        The questions, the folder of their data files, the bank's file.
    problems
        What was wrong in the file, in its order: the questions concerned are not marked, or left out.
    """

    questions: tuple[Question, ...]
    data_dir: Path
    path: Path | None = None
    problems: tuple[Finding, ...] = ()

    @property
    def ids(self) -> frozenset[str]:
        """The questions' ids."""
        return frozenset(question.id for question in self.questions)

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
        return Bank(tuple(self[i] for i in question_ids), self.data_dir, self.path, self.problems)

    def data_file(self, question: Question) -> Path | None:
        """Return the path of a question's data file, or None where it has none."""
        return None if question.file_name is None else self.data_dir / question.file_name

    def reference_plot(self, question: Question) -> Path | None:
        """Return the picture beside the bank that a question names, or None where there is none."""
        if question.reference_plot is None or self.path is None:
            return None
        path = self.path.parent / question.reference_plot.strip()
        return path if path.is_file() else None

    @property
    def hash(self) -> str:
        """SHA-256 of the questions' content (not of the file's whitespace), as hex."""
        rows = [q.to_dict() for q in self.questions]
        text = json.dumps(rows, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()
