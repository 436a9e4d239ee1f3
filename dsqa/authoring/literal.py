"""Ground truths that are compared word for word, dates that can be read in two ways, and choices among options."""

from __future__ import annotations

import re
from calendar import month_name
from collections import Counter
from collections.abc import Iterator

from dsqa.bank.findings import Finding
from dsqa.bank.model import Question
from dsqa.bank.options import letters_of, options_in
from dsqa.metrics.answers.question import about
from dsqa.values import Value, canonical_string, parse_number

__all__ = ["check", "has_unit"]

_NUMBER_AND_WORDS = re.compile(r"[€$£¥]?\s?([-+−]?[\d.,]*\d(?:[eE][+-]?\d+)?)\s*((?:[^\W\d]|[€$£¥%°‰])[^\n]{0,40})")
_TWO_WAYS = re.compile(r"(\d{1,2})([/-])(\d{1,2})\2(\d{4}|\d{2})")
_DAY_FIRST = re.compile(r"\bd{1,2}[/.-]m{1,2}|\bm{1,2}[/.-]d{1,2}|\bday[/, ]+month|\bmonth[/, ]+day", re.IGNORECASE)
_DATE_FORM = re.compile(r"(?<![A-Za-z])(?:Y{4}|y{4})(?:[-/.](?:MM?|mm?)(?:[-/.](?:DD?|dd?))?)?(?![A-Za-z])")
_ISO = re.compile(r"\d{4}(?:[-/.]\d{1,2}(?:[-/.]\d{1,2})?)?")
_FEW_WORDS = 2


def check(question: Question, name: str, text: str, truth: Value) -> Iterator[Finding]:
    """Yield what should be known of a truth that is a text, a date or a choice."""
    if question.options:
        yield from _choice(question, name)
        if question.choice(name) is not None:
            return
    elif letters_of(text, options_in(question.asked)) is not None:
        message = (
            f"'{text}' of {name} names one of the options in the question's text, and only the letter would count"
        )
        hint = 'give the field options: {"A": "…", "B": "…"}'
        yield Finding("options", message, hint, severity="warning")
        return
    yield from _date(question, name, text)
    if truth.kind == "string" and not _TWO_WAYS.fullmatch(text.strip()):
        yield from _text(question, name, text)


def _choice(question: Question, name: str) -> Iterator[Finding]:
    if name != next(iter(question.answers)):
        return
    twice = [
        option for option, times in Counter(map(canonical_string, question.options.values())).items() if times > 1
    ]
    if twice:
        message = f"has the option '{twice[0]}' twice"
        yield Finding("options", message, "leave one of them out", severity="warning")


def _date(question: Question, name: str, text: str) -> Iterator[Finding]:
    said = about(question, name)
    two_ways = _TWO_WAYS.fullmatch(text.strip())
    if two_ways:
        first, second = int(two_ways[1]), int(two_ways[3])
        if 0 < first <= 12 and 0 < second <= 12 and first != second and not _DAY_FIRST.search(said):
            year = two_ways[4] if len(two_ways[4]) == 4 else "YYYY"
            readings = f"{first} {month_name[second]} or {second} {month_name[first]}"
            hint = f"write {year}-{second:02d}-{first:02d} or {year}-{first:02d}-{second:02d}"
            yield Finding("common_answers", f"'{text}' of {name} is {readings}", hint, severity="warning")
    asked = {len(re.split(r"[-/.]", m[0])) for m in _DATE_FORM.finditer(said)}
    given = _ISO.fullmatch(text.strip())
    if len(asked) == 1 and given and len(re.split(r"[-/.]", text.strip())) not in asked:
        shown = next(m[0] for m in _DATE_FORM.finditer(said))
        message = f"'{text}' of {name} is not in the form {shown}, which the format asks for"
        yield Finding("common_answers", message, "mend the truth or the format")


def has_unit(text: str) -> bool:
    """Return whether a text is a number and words after it."""
    found = _NUMBER_AND_WORDS.fullmatch(text.strip())
    return found is not None and parse_number(found[1]) is not None


def _text(question: Question, name: str, text: str) -> Iterator[Finding]:
    sent = canonical_string(f"{question.asked}\n{question.format}")
    if not text.strip() or canonical_string(text) in sent:
        return  # one of the words that are offered
    others = " or one of its 'accepted' values" if question.accepted.get(name) else ""
    found = _NUMBER_AND_WORDS.fullmatch(text.strip())
    if found and has_unit(text):
        message = f"'{text}' of {name} is taken as text: an answer counts only word for word"
        hint = f"write {found[1]} alone, and '{found[2].strip()}' in the question"
        yield Finding("common_answers", message, hint, severity="warning")
    elif len(text.split()) > _FEW_WORDS:
        shown = text if len(text) < 60 else f"{text[:57]}…"
        message = f"'{shown}' of {name} is free text: only these very words{others} count"
        hint = "offer options, or write 'open' and put this into 'explanation', to be read by people or a judge"
        yield Finding("common_answers", message, hint, severity="warning")
