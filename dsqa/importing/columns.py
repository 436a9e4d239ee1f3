"""Which column of a table is what: as a person says, or suggested from the columns' names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from dsqa.errors import SourceError

__all__ = ["FIELDS", "REQUEST_FIELDS", "choose_columns", "known_name", "read_map"]

_SYNONYMS: dict[str, str] = {
    "text": "response output answer completion reply generation generated_text model_response model_output "
    "raw_response response_text llm_response prediction result_text "
    "antwort antworttext modellantwort ausgabe",
    "run": "iteration iter epoch trial repeat repetition replicate attempt round sample_number run_number run_id "
    "run_no rep "
    "versuch durchlauf durchgang wiederholung lauf",
    "question": "question_id qid item_id task_id problem_id example_id doc_id sample_id question_no question_number "
    "question_nr prompt_id id "
    "frage_id fragennummer frage_nr aufgabe aufgabe_nr aufgabennummer nr",
    "question_text": "prompt input query instruction question_text prompt_text item problem task "
    "frage fragetext aufgabentext fragestellung",
    "model": "generator engine model_name model_id llm deployment modell sprachmodell",
    "temperature": "temp t temperatur",
    "truth": "target reference gold expected ground_truth groundtruth gt correct_answer right_answer expected_answer "
    "reference_answer label solution "
    "musterlösung lösung richtige_antwort referenz",
    "category": "task_type topic subject question_type thema kategorie",
    "level": "difficulty difficulty_level schwierigkeit schwierigkeitsgrad",
    "file_name": "data_file datafile data dataset datei datensatz",
    "status": "",
    "finish_reason": "stop_reason finish",
    "seconds": "runtime run_time latency duration elapsed latency_s duration_s time_s response_time dauer laufzeit",
    "milliseconds": "latency_ms duration_ms time_ms runtime_ms",
    "started_at": "timestamp created_at start_time date datetime time",
    "error": "error_message",
    "reasoning": "reasoning_content thinking chain_of_thought",
    "system": "system_prompt system_message",
    "prompt_tokens": "input_tokens tokens_in tokens_prompt",
    "completion_tokens": "output_tokens tokens_out tokens_completion",
}
"""Field → other names for it. The field's own name goes before all of them."""

REQUEST_FIELDS = (
    "max_tokens", "max_completion_tokens", "max_output_tokens", "top_p", "top_k", "min_p", "frequency_penalty",
    "presence_penalty", "reasoning_effort", "system",
)  # fmt: skip
"""Columns that are parameters of the condition."""

_EITHER = "question"
"""A column of this name holds ids or texts: its values say which."""

FIELDS = (*_SYNONYMS, *(name for name in REQUEST_FIELDS if name not in _SYNONYMS))
_NAMES = {alias: field for field, aliases in _SYNONYMS.items() for alias in [field, *aliases.split()]} | {
    name: name for name in REQUEST_FIELDS
}
_SAMPLED = 200
_FILE = re.compile(r"[/\\\\]|\.[A-Za-z][A-Za-z0-9]{1,7}$")


def known_name(column: str) -> str | None:
    """Return the field that a column's name means, up to case, blanks and marks; None for one that is unknown.

    Examples
    --------
    >>> known_name("Model Response"), known_name("Temp."), known_name("colour")
    ('text', 'temperature', None)
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column.strip())
    for written in (column.strip(), spaced):
        found = _NAMES.get(re.sub(r"[\W_]+", "_", written).strip("_").casefold())
        if found is not None:
            return found
    return None


def read_map(path: Path) -> dict[str, str]:
    """Read a YAML file of ``field: column`` lines; a field without a column has none in the table.

    Raises
    ------
    SourceError
        It is no such file.
    """
    try:
        given = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror or error}", path=path) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = None if mark is None else mark.line + 1
        raise SourceError("is not valid YAML", path=path, line=line, hint="one 'field: column' to a line") from None
    if not isinstance(given, dict) or any(isinstance(value, dict | list) for value in given.values()):
        raise SourceError("is no list of 'field: column'", path=path, hint=f"fields: {', '.join(FIELDS)}")
    return {str(field): "" if column is None else str(column) for field, column in given.items()}


def choose_columns(
    names: Sequence[str], said: Mapping[str, str], sample: Sequence[Mapping[str, Any]], path: Path
) -> dict[str, str]:
    """Return field → column.

    Parameters
    ----------
    names
        The table's columns.
    said
        Field → column as a person says; a blank one says that there is none.
    sample
        Some of the rows, by column.
    path
        The table, for messages.

    Raises
    ------
    SourceError
        A person names what is not there; or several columns could be one field; or no column holds the responses, or
        none says which question it is.
    """
    chosen = _as_said(names, said, path)
    free = [name for name in names if name not in chosen.values()]
    candidates: dict[str, list[str]] = {}
    for name in free:
        field = known_name(name)
        if field == "file_name" and field not in chosen and not _are_files(name, sample):
            field = "category" if "category" not in chosen else None  # a data set's name, not a file's
        if field == "question" and field in chosen and _are_texts(name, sample):
            field = "question_text"  # where an id was named, what is called "question" is its text
        if field is not None and field not in chosen:
            candidates.setdefault(field, []).append(name)
    _settle_questions(candidates, chosen, sample)
    if len(named := candidates.get("category", [])) > 1:
        candidates["category"] = [name for name in named if known_name(name) == "category"] or named[:1]
    for field, columns in candidates.items():
        if field in chosen:
            continue
        own = [c for c in columns if re.sub(r"[\W_]+", "_", c).strip("_").casefold() == field]
        if len(columns) > 1 and len(own) != 1:
            quoted = ", ".join(f"'{column}'" for column in columns)
            raise SourceError(
                f"{len(columns)} columns could be the {_called(field)}: {quoted}",
                path=path,
                hint=f"say which: --column {field}='{columns[0]}'; the others are kept as metrics",
            )
        chosen[field] = (own or columns)[0]
    chosen = {field: column for field, column in chosen.items() if column}
    has = ", ".join(f"'{name}'" for name in names[:12]) + (", …" if len(names) > 12 else "")
    if "text" not in chosen:
        hint = "say which: --column text=COLUMN"
        raise SourceError(f"has no column that holds the responses (it has: {has})", path=path, hint=hint)
    if "question" not in chosen and "question_text" not in chosen:
        hint = "say which: --column question=COLUMN for ids, --column question_text=COLUMN for texts"
        raise SourceError(f"has no column that says which question it is (it has: {has})", path=path, hint=hint)
    return chosen


def _as_said(names: Sequence[str], said: Mapping[str, str], path: Path) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for given, wanted in said.items():
        column = wanted
        field = given if given in FIELDS else known_name(given)
        if field is None:
            raise SourceError(f"'{given}' is no field of a run", path=path, hint=f"fields: {', '.join(FIELDS)}")
        if column and column not in names:
            folded = [name for name in names if name.strip().casefold() == column.strip().casefold()]
            if len(folded) != 1:
                has = ", ".join(f"'{name}'" for name in names[:12])
                raise SourceError(f"has no column '{column}' (it has: {has})", path=path)
            column = folded[0]
        chosen[field] = column
    return chosen


def _settle_questions(
    candidates: dict[str, list[str]], chosen: Mapping[str, str], sample: Sequence[Mapping[str, Any]]
) -> None:
    """Tell ids from texts where names do not: 'question' may be either, and 'id' may number the rows."""
    ids, texts = candidates.pop("question", []), candidates.pop("question_text", [])
    for name in [*ids, *texts]:
        folded = re.sub(r"[\W_]+", "_", name).strip("_").casefold()
        if folded in {_EITHER, "item", "task", "problem", "frage", "aufgabe"}:
            right = "question_text" if _are_texts(name, sample) else "question"
            wrong = ids if right == "question_text" else texts
            if name in wrong:
                wrong.remove(name)
                (texts if right == "question_text" else ids).append(name)
    text = chosen.get("question_text") or (texts[0] if texts else None)
    # A column 'id' that differs where the question is the same numbers rows, not questions.
    ids = [
        name for name in ids if name.strip().casefold() != "id" or text is None or not _rows_apart(name, text, sample)
    ]
    if len(ids) > 1:
        ids = [name for name in ids if name.strip().casefold() != "id"] or ids
    if ids:
        candidates["question"] = ids
    if texts:
        candidates["question_text"] = texts


def _values(name: str, sample: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    return (str(row[name]).strip() for row in sample[:_SAMPLED] if row.get(name) not in (None, ""))


def _are_texts(name: str, sample: Sequence[Mapping[str, Any]]) -> bool:
    values = list(_values(name, sample))
    return bool(values) and sum(len(value.split()) > 2 for value in values) > len(values) / 2


def _are_files(name: str, sample: Sequence[Mapping[str, Any]]) -> bool:
    values = list(_values(name, sample))
    return not values or any(_FILE.search(value) for value in values)


def _rows_apart(name: str, text: str, sample: Sequence[Mapping[str, Any]]) -> bool:
    pairs = {(str(row.get(text)), str(row.get(name))) for row in sample}
    return len(pairs) > len({question for question, _ in pairs})


def _called(field: str) -> str:
    return {
        "text": "response's text",
        "run": "run number",
        "question": "question's id",
        "question_text": "question's text",
        "truth": "ground truth",
    }.get(field, field.replace("_", " "))
