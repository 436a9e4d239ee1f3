"""The yes/no criteria of each task type, stored once for all questions of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from dsqa.bank.model import Question

__all__ = ["Criterion", "criteria_by_task_type", "criteria_for"]

_FILE = Path(__file__).parent / "builtin" / "criteria.yaml"
_AUTOMATIC = "accuracy"


@dataclass(frozen=True)
class Criterion:
    """One yes/no criterion.

    Parameters
    ----------
    id
        The same wherever the criterion is shared by task types; a question's own are numbered ``1``, ``2``, ….
    text
        What a "yes" says of a response.
    automatic
        Whether comparing the answer with the ground truth decides it, so that no judge is needed.
    """

    id: str
    text: str
    automatic: bool = False


@cache
def _stored() -> tuple[dict[str, tuple[Criterion, ...]], dict[str, str]]:
    stored = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    texts = stored["criteria"]
    by_type = {
        task_type: tuple(Criterion(i, texts[i], automatic=i == _AUTOMATIC) for i in ids)
        for task_type, ids in stored["task_types"].items()
    }
    return by_type, stored["like"]


def criteria_by_task_type() -> dict[str, tuple[Criterion, ...]]:
    """Return the five criteria of each of the nine task types."""
    return dict(_stored()[0])


def criteria_for(question: Question) -> tuple[Criterion, ...]:
    """Return the criteria that a response to a question is marked by.

    The question's own field ``criteria`` if it has one; else those of the task type that its extra field
    ``criteria_of`` names, or of its category. Empty for a category that has none.
    """
    if question.criteria:
        return tuple(Criterion(str(i), text) for i, text in enumerate(question.criteria, start=1))
    by_type, like = _stored()
    named = (question.model_extra or {}).get("criteria_of")
    task_type = named if isinstance(named, str) else question.category
    return by_type.get(like.get(task_type, task_type), ())
