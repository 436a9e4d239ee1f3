"""The answer a response or an executed program gives, and how it was found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from dsqa.bank import Question
from dsqa.bank.options import letters_of
from dsqa.metrics.answers.choices import last_letter
from dsqa.metrics.answers.lenient import letters_asked, looked_for, only_letter
from dsqa.metrics.answers.named import named_values
from dsqa.metrics.answers.question import is_placeholder, name_of, pattern_for, rule_of
from dsqa.metrics.answers.statements import boxed, only_value, stated
from dsqa.metrics.answers.visible import strip_reasoning, without_code
from dsqa.values import canonical_string, closing_positions, parse_number, plain

__all__ = ["Found", "How", "Reading", "formatted_answer", "read_answer", "read_output"]

How = Literal[
    "format", "named", "boxed", "statement", "whole reply", "last letter", "last value", "last line", "last number",
    "json", "other name", "mark", "letter", "last word",
]  # fmt: skip

_LINE_REACH = 300
_ECHO = 40
# '(0, 1]', '[0, 1[' and '\left[0, 1\right)' before the bracket that ends the value.
_INTERVAL = re.compile(
    r"\s{0,3}(?:\\left)?[\[\](]\s{0,3}[^\[\]()\n\\]{1,40}[,;][^\[\]()\n\\]{1,40}(?:\\right)?[\[\])]\s{0,3}\]"
)


@dataclass(frozen=True)
class Found:
    """A value that was read: as written, without its decoration, how it was found, and where (characters)."""

    raw: str
    value: str
    how: How
    position: int


@dataclass(frozen=True)
class Reading:
    """What was read for each part of a question.

    Parameters
    ----------
    found
        By part name, in the order of the ground truth; parts that were not found are absent.
    missing
        The names of those.
    conflicts
        By part name, the differing values that were given for it before the one that counts.
    notes
        What was seen and does not count: a placeholder repeated, a bracket or ``<think>`` never closed.
    """

    found: Mapping[str, Found]
    missing: tuple[str, ...] = ()
    conflicts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def status(self) -> Literal["read", "partial", "unparsed"]:
        """read: every part was found; partial: some; unparsed: none."""
        return "unparsed" if not self.found else "partial" if self.missing else "read"

    @property
    def values(self) -> dict[str, str]:
        """Value by part name."""
        return {name: found.value for name, found in self.found.items()}


def read_answer(text: str, question: Question) -> Reading:
    r"""Read the answer that a response's text gives.

    Parameters
    ----------
    text
        The response, or its text part. ``<think>`` blocks and fenced code blocks in it are passed over (a fence
        that holds nothing but ``@name[value]`` lines is read).
    question
        Names the parts, and the form their values have.

    Notes
    -----
    Only these count, the first kind that is there:

    1. ``@name[value]`` with the names of the question's parts, in any order and up to case. Where a name comes
       more than once, **the last one wins** (a model that corrects itself does so later), placeholders and
       blanks apart; earlier ones that differ are recorded as conflicts.

    2. the parts by name in another notation: a JSON object, ``@name: value``, last lines ``name = value``
       (see `named.named_values`).

    For a question of one part also:

    3. ``\boxed{value}`` or a statement, "The answer is X.", "Final answer: X", "Answer: X" (see
       `statements.stated`): whichever comes last;
    4. a reply that consists of the value and nothing else;
    5. where an option is chosen, the last ``(X)`` of the text.

    In 2–4 the value must have the form of the ground truth (a number where that is a number …). A value that
    stands anywhere else in the text is only mentioned, and is not the answer.

    A question whose `reading` is ``lenient`` (its runs were asked elsewhere, without the format) is then looked for
    where answers usually stand; see `lenient`.
    """
    visible, unclosed = strip_reasoning(text)
    if unclosed:
        return _reading({}, {}, ["reasoning was never closed"], question)
    prose = without_code(visible)
    found, conflicts, notes = _formatted(prose, question)
    if not found and prose.strip():
        _read_otherwise(prose, question, found, conflicts)
    if question.reading == "lenient":
        _leniently(visible, question, found)
    return _reading(found, conflicts, notes, question)


def _read_otherwise(
    text: str, question: Question, found: dict[str, Found], conflicts: dict[str, tuple[str, ...]]
) -> None:
    """Read a text without ``@name[value]``; what is read goes into `found` and `conflicts`."""
    name = _only_name(question)
    if name is not None and _read_one(text, question, name, found, conflicts):
        return
    for part, (position, raw) in named_values(text, question).items():
        if not is_placeholder(question, part, raw):
            found[part] = Found(raw, plain(raw), "named", position)
    if found or name is None:
        return
    choice = rule_of(question, name).choice
    if choice is not None:
        for position, raw in last_letter(text, choice):
            found[name] = Found(raw, plain(raw), "last letter", position)


def _read_one(
    text: str,
    question: Question,
    name: str,
    found: dict[str, Found],
    conflicts: dict[str, tuple[str, ...]],
    *,
    whole: bool = True,
) -> bool:
    truth, choice = question.answers[name], rule_of(question, name).choice
    said: list[tuple[int, str, How]] = [(at, raw, "boxed") for at, raw in boxed(text, truth, choice)]
    said += [(at, raw, "statement") for at, raw in stated(text, truth, choice)]
    if not said and whole:
        said = [(at, raw, "whole reply") for at, raw in only_value(text, truth, choice)]
    # What is said later counts, whichever way it is said.
    said = sorted((hit for hit in said if not is_placeholder(question, name, hit[1])), key=lambda hit: hit[0])
    if not said:
        return False
    position, raw, how = said[-1]
    found[name] = Found(raw, plain(raw), how, position)
    differing = _differing([raw for _, raw, _ in said])
    if differing:
        conflicts[name] = differing
    return True


def _leniently(text: str, question: Question, found: dict[str, Found]) -> None:
    """Look for what was not found; of what names an option by letter and text, take the letter."""
    for part, each in list(found.items()):
        # A reply of some words is no option of a choice, and ``{"Answer": "B"}`` is one value in another dress.
        named = only_letter(each.value, question, part) or letters_of(each.value, question.options)
        strange = bool(letters_asked(question, part)) and not named
        if strange or (each.how == "whole reply" and any(hit[0] == part for hit in looked_for(text, question))):
            del found[part]
    if not found:
        for part, raw, how, position in looked_for(text, question):
            if not is_placeholder(question, part, raw):
                found[part] = Found(raw, plain(raw), how, position)  # type: ignore[arg-type]
    for part, each in found.items():
        if letters_asked(question, part) and (letter := only_letter(each.value, question, part)) is not None:
            found[part] = replace(each, value=letter)


def read_output(stdout: str, value: str | None, question: Question) -> Reading:
    """Read the answer that an executed program gives.

    Parameters
    ----------
    stdout
        What it printed.
    value
        The value (as `repr` gives it) of its last expression, or None.
    question
        See `read_answer`.

    Notes
    -----
    ``@name[value]`` in what was printed, or in the last value; else, for a question of one part, a last value
    that is exactly one value of the truth's form; else a last printed line that is; else what is read in a text too:
    a statement, parts by name. A text counts as a last line only where it is all that was printed: "Done." is no
    answer.
    """
    shown = f"{stdout}\n{value}" if value else stdout
    found, conflicts, notes = _formatted(shown, question)
    name = _only_name(question)
    if not found and name is not None:
        truth, choice = question.answers[name], rule_of(question, name).choice
        candidates: list[tuple[How, str]] = []
        if value is not None and only_value(value, truth, choice):
            candidates.append(("last value", value.strip()))
        lines = [line for line in stdout[-10_000:].split("\n") if line.strip()]
        if lines and only_value(lines[-1], truth, choice):
            textual = parse_number(lines[-1]) is None
            if not textual or len(lines) == 1 or choice is not None:
                candidates.append(("last line", lines[-1].strip()))
        candidates = [(how, raw) for how, raw in candidates if not is_placeholder(question, name, raw)]
        if candidates:
            how, raw = candidates[0]
            found[name] = Found(raw, plain(raw), how, max(0, len(shown) - len(raw)))
            differing = _differing([raw for _, raw in reversed(candidates)])
            if differing:
                conflicts[name] = differing
        else:
            _read_one(shown[-10_000:], question, name, found, conflicts, whole=False)
    if not found:
        for part, (position, raw) in named_values(shown, question).items():
            if not is_placeholder(question, part, raw):
                found[part] = Found(raw, plain(raw), "named", position)
    return _reading(found, conflicts, notes, question)


def formatted_answer(text: str, question: Question) -> Reading:
    """Read what a text says as ``@name[value]``, and nothing else; see `read_answer`."""
    return _reading(*_formatted(text, question), question)


def _only_name(question: Question) -> str | None:
    names = list(question.answers)
    return names[0] if len(names) == 1 else None


def _reading(
    found: Mapping[str, Found], conflicts: Mapping[str, tuple[str, ...]], notes: list[str], question: Question
) -> Reading:
    names = list(question.answers)
    return Reading(
        found={n: found[n] for n in names if n in found},
        missing=tuple(n for n in names if n not in found),
        conflicts=dict(conflicts),
        notes=tuple(dict.fromkeys(notes)),
    )


def _formatted(text: str, question: Question) -> tuple[dict[str, Found], dict[str, tuple[str, ...]], list[str]]:
    """Read every ``@name[value]`` of the question in the text."""
    given: dict[str, list[Found]] = {}
    notes: list[str] = []
    if "[" not in text:
        return {}, {}, notes
    if len(question.format) >= _ECHO and question.format in text:
        # The format repeated word for word, an example in it included, answers nothing.
        text = text.replace(question.format, " " * len(question.format))
    hits = list(pattern_for(question).finditer(text))
    if not hits:
        return {}, {}, notes
    closing = closing_positions(text, {hit.end() - 1 for hit in hits})
    for hit, following in zip(hits, [*hits[1:], None], strict=True):
        name = name_of(question, hit[1])
        if name is None:
            continue
        end = closing.get(hit.end() - 1)
        end = _interval_end(text, hit.end(), end)
        if end is None:
            notes.append(f"@{name}[ is never closed")
            continue
        if following is not None and following.start() < end:
            continue  # '@outer[@name[5]]': the inner one is read by itself
        raw = text[hit.end() : end]
        if is_placeholder(question, name, raw):
            notes.append(f"@{name}[…] repeats the format or is blank")
            continue
        given.setdefault(name, []).append(Found(raw, plain(raw), "format", hit.start()))
    conflicts = {}
    for name, values in given.items():
        differing = _differing([v.value for v in values])
        if differing:
            conflicts[name] = differing
    return {name: values[-1] for name, values in given.items()}, conflicts, notes


# The interval's own bracket, what it is wrapped in, the value's bracket: '(0, 1]$]'.
_WRAPPED_END = re.compile(r"\](?:\$\$?|\\\)|\*{1,3}|`{1,3}|['\"])?\]")


def _interval_end(text: str, start: int, end: int | None) -> int | None:
    """Mend the end of a value that is a half-open interval: ``@range[(0, 1]]`` and ``@range[[0, 1)]``."""
    interval = _INTERVAL.match(text, start)
    if interval is not None:
        return interval.end() - 1
    if end is None:
        line = text[start : start + _LINE_REACH].split("\n", 1)[0].split("@", 1)[0]
        last = line.rfind(")]")
        return start + last + 1 if last >= 0 and line.lstrip().startswith("[") else None
    inside = text[start : min(end, start + _LINE_REACH)]
    closing = _WRAPPED_END.match(text, end)
    if closing is not None and inside.count("(") > inside.count(")") and "[" not in inside:
        return closing.end() - 1
    return end


def _differing(values: list[str]) -> tuple[str, ...]:
    """Return the earlier values that are not the last one in another dress."""
    if len(values) < 2:
        return ()
    last = _dress(values[-1])
    return tuple(dict.fromkeys(plain(v) for v in values[:-1] if _dress(v) != last))


def _dress(value: str) -> str:
    number = parse_number(value)
    if number is None or not number.finite:
        return canonical_string(re.sub(r"\s+", " ", value))
    return f"{number.bound}{number.value.normalize()}{'%' if number.percent else ''}"
