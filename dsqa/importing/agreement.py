"""How the answers of imported runs are read, and how far dsqa's marks agree with those of their source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dsqa.bank import Bank, Question
from dsqa.importing.meanings import as_mark, columns_meant, is_judged
from dsqa.metrics.answers import compare_answer, read_answer
from dsqa.metrics.answers.lenient import letters_asked
from dsqa.values import parse_truth

__all__ = ["LOOKED_AT", "Beside", "beside"]

LOOKED_AT = 500
"""Of more runs, so many are looked at, evenly spaced."""

_FEW, _HARDLY, _MOST = 10, 0.02, 0.5
_SHOWN = 60
_NAMES = {
    "format": "@name[…]", "json": "JSON", "named": "by name, in JSON or lines", "last letter": "choice letter",
    "boxed": r"\boxed{…}", "statement": "a statement",
    "whole reply": "whole reply", "mark": "after a mark", "other name": "@another_name[…]",
    "letter": "choice letter", "last number": "last number", "last word": "last yes or no", "last line": "last line",
}  # fmt: skip


@dataclass(slots=True)
class Beside:
    """What was seen.

    Parameters
    ----------
    runs, total
        Runs looked at, of how many.
    marked
        Those with a ground truth; `read` and `right` of these, `unread`, and by `how` they were read.
    metric
        The source's mark that is set beside ours, or None; `both` runs have both, of which `equal` are the same.
    theirs
        Of `both`, how many are right by the source.
    reasons
        Why they differ → runs.
    examples
        Answers that are not right beside the truths, the first few.
    """

    runs: int = 0
    total: int = 0
    marked: int = 0
    read: int = 0
    right: int = 0
    how: Counter[str] = field(default_factory=Counter)
    metric: str | None = None
    both: int = 0
    equal: int = 0
    theirs: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    examples: list[tuple[str, str]] = field(default_factory=list)

    @property
    def hardly_right(self) -> bool:
        """Whether answers are read in most runs and next to none is right: the marking may not fit."""
        return (
            self.marked >= _FEW
            and self.read >= _MOST * self.marked
            and self.right < _HARDLY * self.marked
            and not (self.both and self.theirs < 5 * _HARDLY * self.both)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "looked_at": self.runs, "marked": self.marked, "read": self.read, "right": self.right,
            "how_read": dict(self.how.most_common()), "source_mark": self.metric, "both_marked": self.both,
            "equal": self.equal, "right_by_source": self.theirs, "why_not": dict(self.reasons.most_common()),
            "hardly_right": self.hardly_right,
        }  # fmt: skip

    def line(self) -> str:
        """Say it in one line."""
        start = f"{self.total:,} runs"
        if self.runs < self.total:
            start += f" ({self.runs:,} of them looked at)"
        if not self.marked:
            own = f"the source's '{self.metric}' is kept" if self.metric else "the source has no marks of its own"
            return f"{start}: none has a ground truth that dsqa marks by; {own}"
        told = [f"{_NAMES.get(how, how)} {times:,}" for how, times in self.how.most_common()]
        start += f": answer read in {self.read:,} of {self.marked:,}" + (f" ({', '.join(told)})" if told else "")
        if self.marked < self.runs:
            start += f", {self.runs - self.marked:,} unmarked"
        if not self.both:
            return f"{start}; the source has no mark to set beside dsqa's"
        share = f"{100 * self.equal / self.both:.0f} %"
        if self.equal < self.both and share == "100 %":
            share = "over 99 %"
        why = ""
        if self.reasons:
            reason, times = self.reasons.most_common(1)[0]
            why = f"; where not, mostly: {reason} ({times:,})"
        equal = f"{self.equal:,} of {self.both:,} ({share})"
        return f"{start}; dsqa's marks equal the source's '{self.metric}' in {equal}{why}"

    def warning(self) -> str | None:
        """Return a warning where next to no answer is right, or None."""
        if not self.hardly_right:
            return None
        shown = "; ".join(f"{answer!r}, truth {truth!r}" for answer, truth in self.examples[:2])
        return (
            f"{self.right:,} of {self.marked:,} answers are right though {self.read:,} were read ({shown}): "
            "look whether the ground truths are written as the answers are, before you trust an accuracy near 0"
        )


def beside(runs: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]], bank: Bank, total: int) -> Beside:
    """Read and mark some runs, and set the source's marks beside ours.

    Parameters
    ----------
    runs
        Of each run its record and the source's metrics, as they are written. Code is not run, so only what the text
        says counts.
    bank
        The questions.
    total
        How many runs there are.
    """
    questions = {question.id: question for question in bank}
    found = Beside(total=total)
    seen: list[tuple[bool | None, str, dict[str, float]]] = []
    names: Counter[str] = Counter()
    for record, given in runs:
        found.runs += 1
        marks = {name: mark for name, value in given.items() if (mark := _mark(name, value)) is not None}
        names.update(marks)
        question = questions[record["question_id"]]
        if not question.marked:
            seen.append((None, "", marks))
            continue
        found.marked += 1
        reading = read_answer(record["text"], question)
        matched = compare_answer(reading, question).matched
        found.read += reading.status != "unparsed"
        found.right += matched
        for each in list(reading.found.values())[:1]:
            found.how[each.how] += 1
            if not matched and len(found.examples) < 3:
                truth = next(iter(question.answers.values()))
                found.examples.append((each.value[:_SHOWN], truth[:_SHOWN]))
        seen.append((matched, "" if matched else _why(question, reading.status), marks))
    # A name that means right or wrong and nothing else goes before "score"; a rule's mark before a judge's.
    sure = {name: columns_meant(name)[:1] == ("accuracy",) for name in names}
    found.metric = next(iter(sorted(names, key=lambda name: (is_judged(name), not sure[name], -names[name]))), None)
    for ours, why, marks in seen:
        theirs = marks.get(found.metric or "")
        if ours is None or theirs is None:
            continue
        found.both += 1
        found.theirs += theirs == 1
        found.equal += (theirs == 1) == ours
        if (theirs == 1) != ours:
            found.reasons[why or "dsqa marks right what the source does not"] += 1
    return found


def _mark(name: str, value: Any) -> float | None:
    """Return a metric that says right or wrong, or None for any other."""
    if "accuracy" not in columns_meant(name) and not is_judged(name):
        return None
    mark = as_mark(value)
    return mark if mark in {0.0, 1.0} else None


def _why(question: Question, status: str) -> str:
    if status == "unparsed":
        return "no answer could be read"
    name, truth = next(iter(question.answers.items()))
    if letters_asked(question, name):
        return "another option of the choice was read"
    return {
        "number": "another number was read", "string": "free text is compared word for word",
    }.get(parse_truth(truth).kind, "another answer was read")  # fmt: skip
