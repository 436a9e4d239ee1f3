"""What pydantic finds wrong with a setting, in words for people who do not program."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["closest", "in_plain_words"]

_WORDS = {
    "missing": "is missing",
    "greater_than": "must be more than {gt:g}",
    "greater_than_equal": "must be {ge:g} or more",
    "less_than": "must be less than {lt:g}",
    "less_than_equal": "must be {le:g} or less",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "is too large a number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be text (in quotes where it looks like a number)",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "must be three capital letters, such as EUR",
    "date_from_datetime_parsing": "must be a date, such as 2026-01-31",
    "date_type": "must be a date, such as 2026-01-31",
    "too_short": "must name at least one",
    "tuple_type": "must be a list, such as [a, b]",
    "list_type": "must be a list, such as [a, b]",
    "dict_type": "must have settings under it, each as  name: value",
    "model_type": "must have settings under it, each as  name: value",
    "literal_error": "must be {expected}",
}


def in_plain_words(error: Mapping[str, Any]) -> str:
    """Return what is wrong; the value itself is never quoted, since it may be a key in the wrong place."""
    words = _WORDS.get(error["type"])
    if words is not None:
        return words.format(**error.get("ctx", {}))
    return re.sub(r"^(Value error|Assertion failed), ", "", error["msg"])


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that was probably meant, if there is one."""
    return next(iter(difflib.get_close_matches(name.lower().replace("-", "_"), list(known), 1, 0.7)), None)
