"""What kind of thing an answer is: a number, a truth value, a date, a range, a vector, a mapping, a text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from dsqa.values.moments import parse_moment
from dsqa.values.notation import canonical_string, plain, undressed
from dsqa.values.numbers import Number, parse_number
from dsqa.values.tables import flattened

__all__ = [
    "Interval",
    "Kind",
    "Value",
    "parse_boolean",
    "parse_interval",
    "parse_moment",
    "parse_nothing",
    "parse_range",
    "parse_truth",
    "split_items",
]

Kind = Literal["blank", "nothing", "boolean", "number", "moment", "range", "vector", "mapping", "string"]


@dataclass(frozen=True)
class Value:
    """A ground truth that was read.

    `items` holds ``(key, text)`` pairs of a vector (keys "") or mapping; `unordered` is set for ``{…}`` vectors.
    """

    kind: Kind
    text: str
    number: Number | None = None
    boolean: bool | None = None
    items: tuple[tuple[str, str], ...] = ()
    unordered: bool = False


_TRUE = frozenset({"true", "yes", "y", "t"})
_FALSE = frozenset({"false", "no", "n", "f"})
# What says it too, where a truth value is asked for.
_TRUE_TOO = frozenset(
    [
        "yep",
        "yeah",
        "ja",
        "oui",
        "sí",
        "si",
        "sì",
        "sim",
        "vrai",
        "wahr",
        "verdadero",
        "correct",
        "right",
        "affirmative",
        "✓",
        "✔",
        "✅",
        "☑",
        "是",
    ]
)
_FALSE_TOO = frozenset("nope nah nein non não nao faux falsch falso incorrect wrong ✗ ✘ ❌ ✖ 否".split())  # noqa: SIM905
_NOTHING = dict.fromkeys(("none", "null", "nil", "nonetype"), "none") | dict.fromkeys(
    ("nan", "na", "n/a", "<na>", "nat", "np.nan", "float('nan')"), "nan"
)
_LEADING = re.compile(
    r"(true|yes|false|no|ja|nein|oui|non|s[ií]|correct|incorrect)(?:\s*[,;:.!(–—-]|\s+(?:because|since|as|it|they|there|the)\b)",
    re.IGNORECASE,
)
_CALL = re.compile(
    r"^(?:np\.|pd\.|numpy\.|pandas\.|torch\.|jnp\.)?(?:array|asarray|ndarray|matrix|tensor|Index|Series|list|tuple|set|frozenset|c|vector|dict)\((.*)\)$",
    re.DOTALL | re.IGNORECASE,
)
_TYPE_ARGUMENT = re.compile(r"(?:,\s*(?:dtype|name|length|freq)\s*=\s*[^,\[\]]*)+$")
_SCALAR_CALL = re.compile(r"(?:np|numpy)\.(?:float|int|uint|str|bool)_?\d*\(([^()]*)\)")
_OPEN, _CLOSE = "[({", "])}"
_KEYED = re.compile(r"""^\s*(["']?)([^"'=:]{1,80})\1\s*(?:=|:(?=\s)|:(?=["'\-.\d]))\s*(.+)$""", re.DOTALL)
_RANGE = re.compile(
    r"^[\[(]?\s*(?:from\s+|between\s+)?([+-]?\d[\d.,]*%?)\s*(?:-|–|—|−|\bto\b|\band\b)\s*([+-]?\d[\d.,]*%?)\s*[\])]?$",
    re.IGNORECASE,
)


def parse_boolean(text: str, *, leading: bool = False) -> bool | None:
    """Read a truth value in words; with `leading`, also ``No, it is not`` (the word, then punctuation)."""
    word = canonical_string(text)
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    if leading:
        if word in _TRUE_TOO or word in _FALSE_TOO:
            return word in _TRUE_TOO
        match = _LEADING.match(plain(text).lstrip("*_ "))
        if match:
            said = match[1].casefold() in _TRUE | _TRUE_TOO
            # 'No, wait: yes' is neither; 'Yes, no outliers' is a yes.
            return None if not said and re.search(r"\byes\b", match.string[match.end() :].casefold()) else said
    return None


def parse_nothing(text: str) -> str | None:
    """Return ``none`` or ``nan`` where the text says that there is no value."""
    return _NOTHING.get(undressed(text).casefold())


def parse_range(text: str) -> tuple[Number, Number] | None:
    """Read ``0-1``, ``0 to 1``, ``[0, 1]`` as a lower and an upper end."""
    text = plain(text)
    if len(text) > 80:
        return None
    match = _RANGE.match(text)
    if match:
        ends = parse_number(match[1]), parse_number(match[2])
    else:
        items, keyed, _ = split_items(text)
        if len(items) != 2 or keyed or text[:1] not in _OPEN:
            return None
        ends = parse_number(items[0][1]), parse_number(items[1][1])
    low, high = ends
    return None if low is None or high is None else (low, high)


@dataclass(frozen=True)
class Interval:
    """A range with what its ends say: True closed, False open, None where nothing is said."""

    low: Number
    high: Number
    closed: tuple[bool | None, bool | None]

    @property
    def half_open(self) -> bool:
        """Whether one end belongs to it and the other does not."""
        return None not in self.closed and self.closed[0] != self.closed[1]


_ENDS = re.compile(r"^([\[(\]])\s*(.{1,40}?)\s*[,;]\s*(.{1,40}?)\s*([\])\[])$")
_BETWEEN = re.compile(r"^(.{1,30}?)\s*(<=|≤|<)\s*\w{1,30}\s*(<=|≤|<)\s*(.{1,30})$")
_CLOSED = re.compile(r"^(?:pd\.)?Interval\((.{1,40}?),\s*(.{1,40}?),\s*closed\s*=\s*'(left|right|both|neither)'\)$")


_WRAPPED = re.compile(
    r"^(?:\$\$?|\\\(|\\\[|\*{1,3}|`{1,3}|['\"])\s*([\[\](].{1,80}[\])\[(])\s*(?:\$\$?|\\\)|\\\]|\*{1,3}|`{1,3}|['\"])\.?$"
)


def parse_interval(text: str) -> Interval | None:
    """Read ``[1, 2)``, ``]1, 2]``, ``1 ≤ x < 2``, ``Interval(1, 2, closed='left')`` with what its ends say."""
    wrapped = _WRAPPED.match(text.strip()) if len(text) < 100 else None
    text = plain(wrapped[1] if wrapped else text).rstrip(".")
    if len(text) > 80:
        return None
    closed: tuple[bool | None, bool | None]
    if match := _ENDS.match(text):
        closed = (match[1] == "[", match[4] == "]")
        low, high = parse_number(match[2]), parse_number(match[3])
    elif match := _BETWEEN.match(text):
        closed = (match[2] != "<", match[3] != "<")
        low, high = parse_number(match[1]), parse_number(match[4])
    elif match := _CLOSED.match(text):
        closed = (match[3] in {"left", "both"}, match[3] in {"right", "both"})
        low, high = parse_number(match[1]), parse_number(match[2])
    else:
        ends = parse_range(text)
        return None if ends is None else Interval(*ends, (None, None))
    return None if low is None or high is None else Interval(low, high, closed)


def parse_truth(text: str) -> Value:
    """Read a ground truth; what is nothing else is a string."""
    return _parse_truth(text)


@lru_cache(maxsize=2048)
def _parse_truth(text: str) -> Value:
    bare = plain(text)
    if not bare:
        return Value("blank", bare)
    boolean = parse_boolean(bare)
    if boolean is not None and len(bare) > 1:
        return Value("boolean", bare, boolean=boolean)
    if parse_nothing(bare):
        return Value("nothing", bare)
    interval = parse_interval(bare)
    if interval is not None and interval.half_open:
        return Value("range", bare)
    if bare[0] == "(" and bare[-1] == ")" and not any(c in bare[1:-1] for c in "(),;"):
        inside = _parse_truth(bare[1:-1])  # '(B)', '(3)'
        return Value("string", bare) if inside.kind == "string" else inside
    bracketed = bare[0] in _OPEN + "]" and bare[-1] in _CLOSE + "["
    number = None if bracketed else parse_number(bare, known_units_only=True)
    if number is not None:
        return Value("number", bare, number=number)
    if parse_moment(bare):
        return Value("moment", bare)
    if not bracketed and parse_range(bare):
        return Value("range", bare)
    items, keyed, unordered = split_items(bare)
    # A sentence with a comma in it is not a vector; '[a, b]' and '1, 2' are.
    if items and (bracketed or keyed or all(parse_number(i[1]) for i in items)) and (bracketed or len(items) > 1):
        return Value("mapping" if keyed else "vector", bare, items=items, unordered=unordered)
    if len(items) > 1 and all(len(i[1].split()) <= 3 for i in items) and not bare.endswith("."):
        return Value("vector", bare, items=items)
    return Value("string", bare)


def split_items(text: str, *, spaced: bool = False) -> tuple[tuple[tuple[str, str], ...], bool, bool]:
    """Split a list into ``(key, text)`` items; say whether it is keyed and whether it is a set.

    Parameters
    ----------
    text
        ``[1, 2]``, ``(1, 2)``, ``{1, 2}``, ``{a: 1}``, ``a=1, b=2``, ``1; 2``, ``array([1., 2.])``, ``c(1, 2)`` or
        numpy's ``[1. 2.]``.
    spaced
        Split only at commas with a space after them, so that ``1,234, 5,678`` has two items.
    """
    text = flattened(plain(text))
    for _ in range(3):
        call = _CALL.match(text)
        if not call:
            break
        text = _TYPE_ARGUMENT.sub("", call[1].strip()).strip()
    if "np." in text or "numpy." in text:
        text = _SCALAR_CALL.sub(r"\1", text)
    braces = text[:1] == "{" and text[-1:] == "}"
    bracketed = bool(text) and text[0] in _OPEN and text[-1] in _CLOSE and _closes_at_end(text)
    inner = text[1:-1].strip() if bracketed else text
    parts = _split_top(inner, spaced=spaced)
    if len(parts) == 1 and bracketed and "," not in inner:
        words = inner.split()
        if len(words) > 1 and all(parse_number(w) for w in words):
            parts = words
    parts = [p.strip() for p in parts]
    if parts and not parts[-1]:
        parts.pop()
    keyed = [_KEYED.match(p) for p in parts]
    if parts and all(m is not None and (braces or not m[2].strip()[0].isdigit()) for m in keyed):
        items = tuple((canonical_string(m[2]), plain(m[3])) for m in keyed if m is not None)
        return items, True, True
    return tuple(("", plain(p)) for p in parts), False, braces


def _closes_at_end(text: str) -> bool:
    depth = 0
    for position, char in enumerate(text):
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
            if depth == 0:
                return position == len(text) - 1
    return False


def _split_top(text: str, *, spaced: bool) -> list[str]:
    """Split at commas (semicolons or newlines, where there are any) outside brackets and double quotes."""
    separators = ";" if ";" in text else "," if "," in text else "\n"
    parts: list[str] = []
    depth, start, quoted = 0, 0, False
    for position, char in enumerate(text):
        if char == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
        elif (
            char == separators
            and depth <= 0
            and not (spaced and text[position + 1 : position + 2] not in {" ", "\n"})
        ):
            parts.append(text[start:position])
            start = position + 1
    parts.append(text[start:])
    return parts
