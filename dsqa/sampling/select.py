"""A part of a study: only some questions, models, temperatures or conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from dsqa.errors import StudyError
from dsqa.sampling.plan import CellRequest

__all__ = ["Selection"]

_NO_TEMPERATURE = "null"


@dataclass(frozen=True)
class Selection:
    """What to ask of a study; a field left empty restricts nothing.

    Parameters
    ----------
    question, model, temperature, condition
        Names as the study has them; a temperature as it is written, ``null`` for none. A cell is asked if it
        fits every field that is not empty.
    """

    question: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    temperature: tuple[str, ...] = ()
    condition: tuple[str, ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Self:
        """Read ``question=q1,q2``, ``model=gpt-4o``, …; of a field named twice both lists count.

        Raises
        ------
        StudyError
            A text names no field, or nothing in it.
        """
        chosen: dict[str, tuple[str, ...]] = {}
        for text in texts:
            name, _, values = text.partition("=")
            name = name.strip().removesuffix("s")
            wanted = tuple(part.strip() for part in values.split(",") if part.strip())
            if name not in cls.__dataclass_fields__ or not wanted:
                raise StudyError(
                    f"'{text}' restricts nothing",
                    field="--only",
                    hint=f"write NAME=VALUE,VALUE with a NAME of {', '.join(cls.__dataclass_fields__)}",
                )
            chosen[name] = chosen.get(name, ()) + wanted
        return cls(**chosen)

    def to_dict(self) -> dict[str, list[str]]:
        """Return what is restricted, as plain data."""
        return {name: list(getattr(self, name)) for name in self.__dataclass_fields__ if getattr(self, name)}

    def apply(self, cells: Sequence[CellRequest]) -> tuple[CellRequest, ...]:
        """Return the cells that fit, in their order.

        Raises
        ------
        StudyError
            A name is none of the study's, or no cell fits all of them.
        """
        fits: list[CellRequest] = list(cells)
        for name in self.__dataclass_fields__:
            wanted = {_plain(name, value) for value in getattr(self, name)}
            if not wanted:
                continue
            known = dict.fromkeys(_name_of(name, cell) for cell in cells)
            for value in sorted(wanted - known.keys()):
                raise StudyError(
                    f"the study has no {name} '{value}'", field="--only", hint=f"it has: {_listed(tuple(known))}"
                )
            fits = [cell for cell in fits if _name_of(name, cell) in wanted]
        if not fits:
            raise StudyError(
                "no cell of the study fits all that is named", field="--only", hint="name less, or name others"
            )
        return tuple(fits)


def _name_of(field: str, cell: CellRequest) -> str:
    if field == "question":
        return cell.question_id
    if field == "condition":
        return cell.condition_id
    condition: Mapping[str, Any] = cell.condition
    return _number(condition["temperature"]) if field == "temperature" else str(condition["model"])


def _plain(field: str, value: str) -> str:
    if field != "temperature":
        return value
    if value.lower() in {_NO_TEMPERATURE, "none", "default"}:
        return _NO_TEMPERATURE
    try:
        return _number(float(value))
    except ValueError:
        return value


def _number(value: float | None) -> str:
    return _NO_TEMPERATURE if value is None else f"{value:g}"


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names if len(names) <= 20 else (*names[:20], f"… {len(names) - 20} more"))
