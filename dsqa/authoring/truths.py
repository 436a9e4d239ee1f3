"""Whether ground truths have the form that the question asks for, and a right answer is read as one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dsqa.authoring import literal
from dsqa.bank.findings import Finding
from dsqa.bank.model import Question
from dsqa.metrics import compare_answer, read_answer
from dsqa.metrics.answers.question import about, unit_of
from dsqa.values import Value, canonical_string, parse_number, parse_truth

__all__ = ["check", "decimals_asked"]

_WHOLE = re.compile(r"\b(?:integer|int|whole number|count)\b(?! or\b)", re.IGNORECASE)
_NUMBER = re.compile(r"\b(?:number|numeric|float|floating|decimal|decimals|percentage)\b", re.IGNORECASE)
_NOT_ONE_NUMBER = re.compile(
    r"\b(?:list|vector|array|tuple|pair|triple|numbers|integers|values|names?|dictionary|separated|strings?|text)\b",
    re.IGNORECASE,
)
_DECIMALS = re.compile(
    r"\b(?:(\d{1,2})|(one|two|three|four|five|six))[- ](?:decimals?|decimal places?|d\.?p\.?)(?![\w])", re.IGNORECASE
)
_YES_NO = re.compile(r"""["'“`]?\byes["'”`]?\s*(?:/|,|or|and)\s*["'“`]?no\b""", re.IGNORECASE)
_TRUE_FALSE = re.compile(r"""["'“`]?\btrue["'”`]?\s*(?:/|,|or|and)\s*["'“`]?false\b|\bboolean\b""", re.IGNORECASE)
_CHOICES = re.compile(r"""["'“]([^"'”“]{1,40})["'”](?:\s*(?:,|or|/|, or)\s*["'“]([^"'”“]{1,40})["'”])+""")
_QUOTED = re.compile(r"""["'“]([^"'”“]{1,40})["'”]""")
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")
_EITHER = "mend the truth or the format"
_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


def check(question: Question) -> Iterator[Finding]:
    """Yield what is wrong with the ground truths, the settings that go with them, and the traps."""
    for name, text in question.common_answers:
        truth = parse_truth(text)
        yield from literal.check(question, name, text, truth)
        if question.choice(name) is not None:
            continue
        yield from _read_back(question, name, text)
        yield from _form(question, name, text, truth)
        yield from _settings(question, name, text, truth)
    yield from _names(question)
    yield from _traps(question)


def _read_back(question: Question, name: str, text: str) -> Iterator[Finding]:
    if not text.strip():
        return
    lone = question.model_copy(update={"common_answers": ((name, text),)})
    reading = read_answer(f"@{name}[{text}]", lone)
    part = compare_answer(reading, lone).parts[0]
    if part.matched:
        return
    if text.count("[") != text.count("]"):
        message = f"'{text}' of {name} has unbalanced brackets, so @{name}[{text}] cannot be read"
        yield Finding("common_answers", message, "close every [ with a ]")
    else:
        why = part.reason if part.answer is not None else "it is taken for the format's placeholder or for a blank"
        message = f"'{text}' of {name}, given as the answer, would not count as right: {why}"
        yield Finding("common_answers", message, "write the truth as a number, a short text or a list")


def _form(question: Question, name: str, text: str, truth: Value) -> Iterator[Finding]:
    said = about(question, name)
    number = truth.number
    wants_list = bool(_NOT_ONE_NUMBER.search(said)) or _asks_for_several(question, name, truth)
    if _WHOLE.search(said) and not _DECIMALS.search(said) and not wants_list:
        if number is None or not (number.finite and number.value == number.value.to_integral_value()):
            yield Finding(
                "common_answers", f"'{text}' of {name} is no whole number, which the format asks for", _EITHER
            )
    elif (
        _NUMBER.search(said)
        and not wants_list
        and number is None
        and truth.kind != "nothing"
        and not literal.has_unit(text)
    ):
        yield Finding("common_answers", f"'{text}' of {name} is no number, which the format asks for", _EITHER)
    wanted = None if _settled(question, name) else decimals_asked(question, name)
    if wanted is not None and number is not None and number.finite and not number.bound and not number.fraction:
        has = max(0, -number.exponent)
        if len(question.answers) > 1 and has in _decimals_anywhere(question.format):
            pass  # a format of several parts may say it of this one in words that are not taken apart here
        elif has > wanted:
            message = f"'{text}' of {name} has {has} decimals, and the format asks for {wanted}"
            hint = f"round the truth to {wanted} decimals, or a right answer with {wanted} will not match"
            yield Finding("common_answers", message, hint)
        elif has < wanted:
            message = f"'{text}' of {name} has {has} decimals, and the format asks for {wanted}"
            hint = f"write the truth with {wanted} decimals; answers are compared at the truth's own"
            if has == 0 and number.value != 0:
                hint += ", and a truth without decimals needs a whole number"
            yield Finding("common_answers", message, hint, severity="warning")
    if truth.kind != "boolean":
        pair = "yes nor no" if _YES_NO.search(said) else "true nor false" if _TRUE_FALSE.search(said) else None
        if pair and not wants_list:
            yield Finding(
                "common_answers", f"'{text}' of {name} is neither {pair}, which the format asks for", _EITHER
            )
            return
    if truth.kind == "vector" and _DECIMAL_COMMA.fullmatch(text.strip()) and not wants_list:
        message = f"'{text}' of {name} is read as a list of two numbers"
        hint = "write a decimal point; decimal_comma: yes lets answers have a comma"
        yield Finding("common_answers", message, hint, severity="warning")
    yield from _choice(name, text, said)


def _other(truth: Value, text: str) -> bool:
    """Whether a truth is something other than a number on purpose, or is said of elsewhere."""
    return truth.kind == "nothing" or literal.has_unit(text)


def _asks_for_several(question: Question, name: str, truth: Value) -> bool:
    """Whether the placeholder has as many items as the truth: ``@peak[month, year, price]``."""
    shown = re.search(rf"@{re.escape(name)}\[([^\[\]]*)\]", question.format)
    return truth.kind == "vector" and shown is not None and len(shown[1].split(",")) == len(truth.items)


def _decimals_anywhere(form: str) -> set[int]:
    found = {int(m[1]) if m[1] else _WORDS[m[2].casefold()] for m in _DECIMALS.finditer(form)}
    return found | {0} if _WHOLE.search(form) else found


def decimals_asked(question: Question, name: str) -> int | None:
    """Return to how many decimals the format wants a part, or None where it does not say."""
    asked = _DECIMALS.search(about(question, name))
    if asked is None:
        return None
    return int(asked[1]) if asked[1] else _WORDS[asked[2].casefold()]


def _choice(name: str, text: str, said: str) -> Iterator[Finding]:
    """Yield a finding if the format lists words to choose from and the truth is none of them."""
    listed = _CHOICES.search(said)
    if listed is None or parse_number(text) is not None:
        return
    words = _QUOTED.findall(listed[0])
    if (
        len(words) > 1
        and re.search(r"\bor\b|/", _QUOTED.sub("", listed[0]))
        and canonical_string(text) not in {canonical_string(word) for word in words}
    ):
        shown = ", ".join(words)
        message = f"'{text}' of {name} is none of the words that the format gives: {shown}"
        yield Finding("common_answers", message, _EITHER, severity="warning")


def _settled(question: Question, name: str) -> bool:
    return question.setting("tolerance", name) is not None or question.setting("rounding", name) is not None


def _settings(question: Question, name: str, text: str, truth: Value) -> Iterator[Finding]:
    tolerance, rounding = question.setting("tolerance", name), question.setting("rounding", name)
    numbers = [truth.number] if truth.number else [parse_number(t) for _, t in truth.items]
    for field, value in (("tolerance", tolerance), ("rounding", rounding)):
        if value is not None and not any(numbers):
            message = f"is {value}, and '{text}' of {name} is no number"
            yield Finding(field, message, f"leave the {field} of {name} out", severity="warning")
    if tolerance is not None and rounding is not None:
        hint = "keep one of them; the tolerance counts"
        yield Finding("rounding", f"{name} has a tolerance as well", hint, severity="warning")
    number = truth.number
    if number is None or not number.finite:
        return
    absolute = tolerance is not None and not tolerance.endswith("%") and number.value != 0
    if absolute and float(tolerance or 0) >= abs(float(number.value)):
        message = f"{tolerance} is as large as the truth itself ({text}), so that 0 would be right"
        yield Finding("tolerance", message, "write a smaller one, or a per cent of the truth such as 1%")
    if rounding is not None and rounding.isdigit() and 0 <= -number.exponent < int(rounding) and not number.fraction:
        message = f"to {rounding} decimals, and '{text}' of {name} has {max(0, -number.exponent)}"
        yield Finding("rounding", message, "write the truth with as many decimals", severity="warning")
    unit = unit_of(question, name)
    if unit == "proportion" and abs(number.value) > 1 and not number.percent:
        message = f"'{text}' of {name} is no proportion: it is beyond 1"
        yield Finding("common_answers", message, "write it as 0.2, or set unit to percent", severity="warning")


def _names(question: Question) -> Iterator[Finding]:
    for field in ("tolerance", "rounding", "unit"):
        value = getattr(question, field)
        if isinstance(value, dict):
            for name in value:
                if name not in question.answers:
                    hint = f"the answers are: {', '.join(question.answers)}"
                    yield Finding(field, f"is given for '{name}', which is no answer of the question", hint)


def _traps(question: Question) -> Iterator[Finding]:
    for convention, values in question.traps.items():
        for name in values:
            if name not in question.answers:
                hint = f"the answers are: {', '.join(question.answers)}"
                yield Finding("traps", f"'{convention}' gives '{name}', which is no answer of the question", hint)
                break
        else:
            given = "".join(f"@{name}[{value}]" for name, value in values.items())
            parts = compare_answer(read_answer(given, question), question).parts
            if values and all(part.matched for part in parts if part.name in values):
                message = f"'{convention}' gives what also counts as right, so it can never be told apart"
                yield Finding(
                    "traps", message, "give the truth more decimals, or leave the trap out", severity="warning"
                )
