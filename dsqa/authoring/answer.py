"""Let reference code work ground truths out, in the sandbox; a truth that a person typed is never changed unasked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any, Literal

from dsqa.authoring.truths import decimals_asked
from dsqa.authoring.wording import is_code_file
from dsqa.bank.answer_format import MADE_UP, format_for
from dsqa.bank.convert import write_bank
from dsqa.bank.load import Item, examine_bank
from dsqa.bank.model import Question
from dsqa.errors import BankError
from dsqa.execution import ExecutionResult, Snippet, execute
from dsqa.metrics import compare_answer, read_answer, read_output
from dsqa.study.sections import ExecutionConfig
from dsqa.values import parse_number, plain

__all__ = ["Answered", "Outcome", "answer_bank"]

Outcome = Literal["filled in", "as it was", "overwritten", "differs", "failed", "no code", "left out"]

_UNSAID_DECIMALS = 2
_UNSAID_DIGITS = 3


@dataclass(frozen=True)
class Answered:
    """What became of one question: outcome, what the code gave and what the bank said, by part, and a remark."""

    question: str
    outcome: Outcome
    given: Mapping[str, str]
    typed: Mapping[str, str]
    remark: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return asdict(self) | {"given": dict(self.given), "typed": dict(self.typed)}


def answer_bank(
    path: Path,
    target: Path,
    *,
    data_dir: Path | None = None,
    overwrite: bool = False,
    force: bool = False,
    unsafe: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Answered, ...]:
    """Run every question's reference code and write the bank with the answers it gives.

    The code prints ``@name[value]`` for each answer; for a question of one answer its last value, or its last printed
    line, will do. A number is rounded to the decimals that the question asks for.

    Parameters
    ----------
    path, data_dir
        As for `dsqa.bank.load_bank`; a question with reference code may lack its answer.
    target
        The file to write, in any format. Nothing is written if code fails.
    overwrite
        Take the code's answer also where a person typed another one.
    force
        Replace a target that is there.
    unsafe
        Run the code even where this machine offers no sandbox.
    progress
        Called with (done, total), in questions with code.

    Returns
    -------
    tuple of Answered
        One per question; those that cannot be used, last.

    Raises
    ------
    BankError
        No question can be used or has code, or the target is there already.
    ExecutionRefusedError
        There is too little isolation to run code in.
    """
    if target.exists() and not force:
        raise BankError("is there already", path=target, hint="name another with --out, or --force replaces it")
    examined = examine_bank(path, data_dir, answers_needed=False)
    bank = examined.bank()
    items = [item for item in examined.items if item.usable]
    snippets = {}
    for item in items:
        question = item.question
        if question.reference_code:
            code = _code(question, path)
            file = bank.data_file(question)
            snippets[question.id] = Snippet(
                question.id, code, {} if file is None else {str(question.file_name): file}
            )
    if not snippets:
        raise BankError(
            "no question has reference code", path=path, hint="a column 'code', or a python block under the question"
        )
    results: dict[str, ExecutionResult] = {}
    for result in execute(iter(snippets.values()), ExecutionConfig(), unsafe=unsafe):
        results[result.snippet_id] = result
        if progress is not None:
            progress(len(results), len(snippets))
    answered, questions = [], []
    for item in items:
        one, question = _settle(item, results.get(item.question.id), overwrite)
        answered.append(one)
        questions.append(question)
    for finding in examined.errors:
        if finding.question not in bank.ids:
            answered.append(Answered(finding.question or f"line {finding.line}", "left out", {}, {}, finding.message))
    if not any(one.outcome == "failed" for one in answered):
        target.parent.mkdir(parents=True, exist_ok=True)
        write_bank(target, questions)
    return tuple(answered)


def _code(question: Question, path: Path) -> str:
    code = question.reference_code or ""
    if not is_code_file(code):
        return code
    file = path.parent / code.strip()
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "is not UTF-8 text"
        raise BankError(f"cannot be read: {reason}", path=file, field=f"reference_code of {question.id}") from None


def _settle(item: Item, result: ExecutionResult | None, overwrite: bool) -> tuple[Answered, Question]:
    question = item.question
    typed = {} if item.unanswered else question.answers
    if result is None:
        wrong = [f.message for f in item.source.findings if f.severity == "error"]
        return Answered(question.id, "no code", {}, typed, f"not marked: {wrong[0]}" if wrong else ""), question
    if result.outcome != "ran":
        detail = f"{result.outcome}: {result.detail}" if result.detail else result.outcome
        return Answered(question.id, "failed", {}, typed, detail), question
    given = _given(question, result)
    lacking = [name for name in question.answers if name not in given]
    if lacking:
        wanted = " ".join(f"@{name}[…]" for name in lacking)
        remark = f"it ran and gave no {', '.join(lacking)}; let it print {wanted}"
        return Answered(question.id, "failed", given, typed, remark), question
    remarks = []
    values = {}
    for name in question.answers:
        values[name], remark = _rounded(question, name, given[name])
        remarks.append(remark)
    said = "; ".join(dict.fromkeys(r for r in remarks if r))
    if not item.unanswered:
        text = "".join(f"@{name}[{value}]" for name, value in given.items())
        if compare_answer(read_answer(text, question), question).matched:
            return Answered(question.id, "as it was", values, typed), question
        if not overwrite:
            return Answered(question.id, "differs", values, typed), question
    updates: dict[str, Any] = {"common_answers": tuple(values.items())}
    if item.source.made_up.get("format") == MADE_UP:
        units = {name: question.setting("unit", name) or "" for name in values}
        updates["format"] = format_for(tuple(values), list(values.values()), units=units)
    outcome: Outcome = "filled in" if item.unanswered else "overwritten"
    return Answered(question.id, outcome, values, typed, said), question.model_copy(update=updates)


def _given(question: Question, result: ExecutionResult) -> dict[str, str]:
    """Return the answers that the code gave, by name, as they were printed."""
    reading = read_output(result.stdout, result.value, question)
    if reading.found or len(question.answers) > 1:
        return reading.values
    (name,) = question.answers
    lines = [line for line in result.stdout.splitlines() if line.strip()]
    # The bank has no truth yet whose form a lone value could be held against: its author's code is taken at its word.
    said = result.value if result.value not in (None, "None") else lines[-1] if lines else ""
    value = plain(said or "")
    return {name: value} if value else {}


def _rounded(question: Question, name: str, value: str) -> tuple[str, str]:
    """Round a float to what the question asks for; a whole number, a text or a list stays as it is."""
    number = parse_number(value)
    if number is None or not number.finite or number.exponent >= 0 or number.fraction or number.percent:
        return value, ""
    exact = number.value
    rounding, tolerance = question.setting("rounding", name), question.setting("tolerance", name)
    asked = decimals_asked(question, name)
    if rounding is not None and rounding.isdigit():
        decimals, why = int(rounding), ""
    elif asked is not None:
        decimals, why = asked, ""
    elif tolerance is not None or -number.exponent <= _UNSAID_DECIMALS or rounding is not None:
        return value, ""
    elif exact == exact.to_integral_value():
        return f"{exact:.0f}", ""
    else:
        small = max(_UNSAID_DECIMALS, _UNSAID_DIGITS - 1 - exact.adjusted()) if exact else _UNSAID_DECIMALS
        decimals = _UNSAID_DECIMALS if abs(exact) >= 1 else small
        why = f"rounded to {decimals} decimals, since the question does not say to how many"
    return f"{exact.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_EVEN):f}", why
