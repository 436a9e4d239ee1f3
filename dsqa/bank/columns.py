"""Names of a question's fields as people write them in a header, a label or a key."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dsqa.bank.model import Question

__all__ = ["LABELS", "by_hand", "field_named", "fields_of"]

_ALIASES: dict[str, str] = {
    "id": "id nr no number key question_id question_no question_number qid item item_id",
    "question": "text question_text prompt task problem q wording exercise",
    "common_answers": "answer answers truth ground_truth groundtruth solution expected expected_answer correct "
    "correct_answer right_answer model_answer label labels target gold "
    "answer_key answerkey sample_answer sample_solution",
    "format": "answer_format output_format response_format answer_type",
    "file_name": "data file filename data_file datafile dataset data_set csv csv_file file_path "
    "data_file_name data_set_file dataset_file data_files",
    "level": "difficulty difficulty_level",
    "concepts": "concept topic topics tag tags skill skills",
    "category": "task_type question_type kind",
    "options": "option choices choice answer_options answer_choices possible_answers",
    "accepted": "also_accepted accepted_answers also_right other_answers synonyms",
    "constraints": "constraint instructions instruction",
    "tolerance": "tol margin accepted_error",
    "rounding": "round decimals decimal_places",
    "unit": "units",
    "ordered": "order_matters in_order",
    "decimal_comma": "",
    "n": "sample_size",
    "traps": "trap",
    "unmarked": "not_marked",
    "reference_text": "explanation model_text",
    "reference_code": "code solution_code python python_code",
    "reference_plot": "plot figure",
    "criteria": "criterion rubric",
    "notes": "note comment comments remark remarks",
}
_LONGEST = 80
_PARENTHESES = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_FIELD_OF = {alias: name for name, text in _ALIASES.items() for alias in [name, *text.split()]}

LABELS: dict[str, str] = {
    "common_answers": "answer", "file_name": "data", "reference_code": "code",
}  # fmt: skip
"""What a field is called where people read it, if not by its own name."""


def field_named(written: str) -> str | None:
    """Return the field that a header means, or None for an unknown one.

    Case, blanks, hyphens and marks do not count, nor does what stands in parentheses where the rest is known:
    *Data set (file)*, *Difficulty?*, *Model answer (2 decimals)*.
    """
    if written.strip() == "#":
        return "id"
    known = _FIELD_OF.get(_folded(written))
    if known is None and len(written) < _LONGEST and ("(" in written or "[" in written):
        known = _FIELD_OF.get(_folded(_PARENTHESES.sub(" ", written)))
    return known


def _folded(written: str) -> str:
    return re.sub(r"[\s\-/.]+", "_", written.strip().strip("*_:#?!").strip().casefold()).strip("_")


def by_hand(keys: Iterable[str]) -> bool:
    """Return whether a person wrote these keys: 'answer', where a program writes the paper's 'common_answers'."""
    names = list(keys)
    return "common_answers" not in names and any(field_named(name) == "common_answers" for name in names)


def fields_of(headers: Iterable[str]) -> dict[str, str]:
    """Return, for each header, the name under which its values are kept.

    A field's own name wins over another word for it; a header that is no field, or one for a field that is there
    already, keeps its own name.
    """
    names = list(headers)
    taken = {name.strip() for name in names if name.strip() in Question.model_fields}
    kept: dict[str, str] = {}
    for name in names:
        bare = name.strip()
        meant = field_named(name)
        if bare in Question.model_fields:
            kept[name] = bare
        elif meant is not None and meant not in taken:
            kept[name] = meant
            taken.add(meant)
        else:
            kept[name] = bare
    return kept
