r"""The few ways, besides ``@name[value]``, in which a one-part answer may be stated outright."""

from __future__ import annotations

import re

from dsqa.values import (
    canonical_string,
    closing_positions,
    parse_boolean,
    parse_moment,
    parse_nothing,
    parse_number,
    parse_range,
    parse_truth,
    plain,
    split_items,
)

__all__ = ["boxed", "only_value", "stated"]

_REACH = 300
_LAST = 100
_WORDS_OF_A_TEXT = 5
_BOXED = re.compile(r"\\boxed\s{0,2}\{")
_STATED = re.compile(
    r"""
    (?:^|(?<=[\s*_>#(]))                      # a word of its own
    (?:(?:the|my|our)\s+)?
    (?:(?:final|correct|right)\s+)?
    answer
    [*_]{0,2}
    (?:\s+(?:is|would\s+be)\s*:?|\s*[:=])
    [*_\s]{0,4}
    (?=(?P<value>[^\n]{1,300}))               # not consumed: a second statement may stand in the same line
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Where a sentence may go on after the value: 'The answer is 32, because …'.
_GOES_ON = re.compile(r"[,;.](?=\s)|\s(?=\()|\s(?=(?:because|since|as|which|so|for)\s)")
# In a text a comma or 'with' may belong to the value; these do not.
_TEXT_GOES_ON = re.compile(
    r",?\s(?=(?:because|since|as|which)\b|\()|\.(?=\s)|,\s(?=(?:not|with|followed|where|having)\b)", re.IGNORECASE
)
_CONDITION = re.compile(
    r"\b(?:(?:if|whether|suppose|assuming|unless|until|says?|said|claims?|claimed|thinks?)\s+(?:that\s+)?"
    r"|(?:wrong|incorrect|false|naive|expected|possible|example|sample|initial|previous)\s+"
    r"|(?:(?:can|could|would)\s?not\s+be|can['’]t\s+be|is(?:\s+not|n['’]t))\s+)$",
    re.IGNORECASE,
)
# '### Final answer' and '**Answer**', the value on the next line.
_HEADED = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*[*_]{0,2}|[*_]{2})(?:(?:the|my|our)[ \t]+)?(?:(?:final|correct)[ \t]+)?"
    r"answer[:.]?[*_]{0,2}[:.]?[ \t]*\n\s{0,10}(?P<value>[^\n]{1,300})"
    r"|<answer>\s{0,10}(?P<tagged>[^\n<]{1,300}?)\s{0,10}</answer>",
    re.IGNORECASE | re.MULTILINE,
)
_FORMAT = re.compile(r"[@＠]\s{0,3}[^\s\[]+\s{0,3}\[")
_NO_VALUE = re.compile(r"[?!:]$|\.{3}$|…$")


def boxed(text: str, truth: str) -> list[tuple[int, str]]:
    r"""Return ``(position, value)`` of the last hundred ``\boxed{value}`` whose value has the truth's form."""
    hits = list(_BOXED.finditer(text))[-_LAST:]
    closing = closing_positions(text, {hit.end() - 1 for hit in hits}, ("{", "}"))
    values = [
        (hit.start(), text[hit.end() : closing[hit.end() - 1]].strip()) for hit in hits if hit.end() - 1 in closing
    ]
    return [(position, value) for position, value in values if _has_form(value, truth)]


def stated(text: str, truth: str) -> list[tuple[int, str]]:
    """Return ``(position, value)`` of every statement of the answer (of the last hundred, if there are more).

    They are "The answer is X", "The final (correct, right) answer is X", "My answer is X", "Answer: X", "Final
    answer: X", X under a heading "Answer", ``<answer>X</answer>``; not after "if" or "she says". X ends with the
    line or, before that, where the sentence does; it must then be a value of the truth's form as a whole, so that
    "The answer is not 32", "… is between 30 and 40" state nothing.
    """
    values = []
    for hit in list(_STATED.finditer(text))[-_LAST:]:
        if _CONDITION.search(text, max(0, hit.start() - 40), hit.start()):
            continue  # 'if the answer is 32', 'she says the answer is 32'
        value = _value_at_start(hit["value"], truth)
        if value is not None:
            values.append((hit.start("value"), value))
    for hit in list(_HEADED.finditer(text))[-_LAST:]:
        group = "value" if hit["value"] else "tagged"
        value = _value_at_start(hit[group], truth)
        if value is not None:
            values.append((hit.start(group), value))
    return sorted(dict.fromkeys(values))


def only_value(text: str, truth: str) -> list[tuple[int, str]]:
    """Return the text as ``(0, value)`` if it is one line, and that a value of the truth's form, without a label."""
    bare = text.strip()
    if not bare or "\n" in bare or len(bare) > _REACH or not _has_form(bare, truth):
        return []
    number = parse_number(bare)
    return [] if number is not None and number.label else [(0, bare)]


def _value_at_start(rest: str, truth: str) -> str | None:
    rest = rest.strip()
    text = parse_truth(truth).kind == "string" and canonical_string(truth) != canonical_string(rest)
    first = [rest[: cut.start()] for cut in _TEXT_GOES_ON.finditer(rest)] if text else []
    candidates = [*first, rest, *(rest[: cut.start()] for cut in _GOES_ON.finditer(rest))]
    for candidate in candidates[:12]:
        value = _unpaired_off(_unpaired_off(candidate.strip()).rstrip(".").rstrip())
        if value and _has_form(value, truth):
            return value
    return None


def _unpaired_off(value: str) -> str:
    """Take off the end of emphasis that began before the value: ``**The answer is 32.**``."""
    bare = value.rstrip("*_`")
    return value if value[:1] in "*_`" else bare.rstrip()


def _has_form(value: str, truth: str) -> bool:
    """Whether a value is of the kind the truth is; a text must be of a few words, and no number."""
    bare = plain(value)
    if not bare or len(bare) > _REACH:
        return False
    expected = parse_truth(truth)
    if expected.kind == "number":
        if parse_number(bare) is not None:
            return True
        items, keyed, _ = split_items(bare) if bare[0] in "[(" else ((), False, False)
        return len(items) == 1 and not keyed and parse_number(items[0][1]) is not None
    if expected.kind == "boolean":
        return parse_boolean(bare) is not None
    if expected.kind == "moment":
        return parse_moment(bare) is not None
    if expected.kind == "range":
        return parse_range(bare) is not None
    if expected.kind in {"vector", "mapping"}:
        items, keyed, _ = split_items(bare)
        return (len(items) > 1 or bare[0] in "[({") and keyed == (expected.kind == "mapping")
    if expected.kind in {"blank", "nothing"}:
        return bare in {"[]", "()", "{}", "set()"} or parse_nothing(bare) is not None
    if canonical_string(bare) == canonical_string(truth):
        return True
    words = bare.split()
    if _FORMAT.search(bare):
        return False
    return len(words) <= _WORDS_OF_A_TEXT and parse_number(bare) is None and not _NO_VALUE.search(bare)
