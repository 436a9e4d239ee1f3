"""The format that a question asks its answer in, where its author did not say one: told from the truths' own form."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dsqa.bank.fields import check_unit
from dsqa.values import parse_boolean, parse_number, parse_truth

__all__ = ["ALL_RIGHT", "MADE_UP", "format_for"]

ALL_RIGHT = "the letters of all right options, separated by commas"
"""What is asked of a question to which several options may be right."""

_WITH_UNIT = re.compile(r"([-+−]?\d[\d.,]*)\s?([^\d\s,.;:()\[\]][^\d\n]{0,20})")
_ONE_RIGHT = "the letter of the right option"

MADE_UP = "made up from the answer"
"""What is said of a format that the author did not give."""


def format_for(
    names: tuple[str, ...],
    truths: list[str],
    said: str = "",
    units: Mapping[str, str] | None = None,
    chosen: Mapping[str, int] | None = None,
) -> str:
    """Return a format for answers of these names, from what the author said of it or from the truths' own form.

    `units` holds the field ``unit`` by name: whoever is asked must be told in which unit the answer counts. `chosen`
    holds, for each part that is a choice, how many options are right.
    """
    units, chosen = units or {}, chosen or {}

    def described(name: str, truth: str) -> str:
        if name in chosen:
            return _ONE_RIGHT if chosen[name] == 1 else ALL_RIGHT
        return _described(truth, units.get(name, ""))

    if len(names) == 1:
        form = f"@{names[0]}[value]"
        about = said.strip() or described(names[0], truths[0])
        return f'{form} where "value" is {about}' if about else form
    form = ", ".join(f"@{name}[{name}_value]" for name in names)
    if said.strip():
        return f"{form}, where: {said.strip()}"
    parts = [(name, described(name, truth)) for name, truth in zip(names, truths, strict=True)]
    all_described = "; ".join(f'"{name}_value" is {about}' for name, about in parts if about)
    return f"{form} where {all_described}" if all_described else form


def _unit_said(unit: str) -> str:
    try:
        known = check_unit(unit)
    except ValueError:  # said where the field itself is looked at
        return ""
    return ", in per cent" if known == "percent" else ", as a proportion between 0 and 1"


def _described(truth: str, unit: str = "") -> str:
    """Say what form an answer has, without giving it away."""
    value = parse_truth(truth)
    if value.kind == "number" and value.number is not None:
        number = value.number
        percent = _unit_said("%" if number.percent else str(unit))
        if number.bound or not number.finite or number.fraction:
            return "a number"
        decimals = -number.exponent
        if number.whole or decimals <= 0:
            return f"a whole number{percent}"
        return f"a number rounded to {decimals} decimal{'s' if decimals > 1 else ''}{percent}"
    if parse_boolean(truth) is not None:
        return '"yes" or "no"' if truth.strip().casefold() in {"yes", "no"} else '"True" or "False"'
    with_unit = _WITH_UNIT.fullmatch(truth.strip())
    if with_unit and parse_number(with_unit[1]) is not None:
        decimals = len(with_unit[1].partition(".")[2])
        number_said = (
            f"a number rounded to {decimals} decimal{'s' if decimals > 1 else ''}" if decimals else "a number"
        )
        return f"{number_said}, in {with_unit[2].strip()}"
    kinds = {
        "vector": "a list, separated by commas",
        "mapping": "a list of name: value, separated by commas",
        "moment": "a date as YYYY-MM-DD" if "-" in truth else "a date or time",
        "range": "a range",
        "string": "a short text",
    }
    return kinds.get(value.kind, "")
