"""Which answer is the run's: the one rule, in one place.

If the code ran and its output holds a readable answer (one part of it is enough), that answer is the run's
answer: it is what the model's work comes to, while the text was written before any of it was run. Otherwise the
answer in the text, outside code blocks, is. If both are there and differ in a part that both give, that is
recorded as a conflict and changes nothing else. If the output lacks parts that the text gives, and the two agree in
every part that both give, the text's fill the gap; whether the code solves the question goes by its output alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from dsqa.bank import Question
from dsqa.metrics.answers.comparing import Comparison, compare_answer
from dsqa.metrics.answers.reading import Reading

__all__ = ["Answer", "choose_answer"]


@dataclass(frozen=True)
class Answer:
    """The run's answer: what was read, where, how it compares, and whether the other place says otherwise.

    `solved` tells whether the executed code's own answer matches the ground truth; None where there is none.
    """

    reading: Reading
    comparison: Comparison
    source: Literal["execution", "text"] | None
    conflict: bool
    solved: bool | None


def choose_answer(question: Question, text: Reading, output: Reading | None) -> Answer:
    """Choose between the answer in the text and the one in the output.

    Parameters
    ----------
    question
        The question.
    text
        From `read_answer`.
    output
        From `read_output`, or None where no code ran to its end.
    """
    in_text = compare_answer(text, question)
    if not question.marked:
        return Answer(text, in_text, None, conflict=False, solved=None)
    if output is None or output.status == "unparsed":
        return Answer(text, in_text, None if text.status == "unparsed" else "text", conflict=False, solved=False)
    in_output = compare_answer(output, question)
    conflict = any(
        said.answer is not None and printed.answer is not None and said.key != printed.key
        for said, printed in zip(in_text.parts, in_output.parts, strict=True)
    )
    solved = in_output.matched
    further = [name for name in output.missing if name in text.found]
    if further and not conflict:
        found = {
            name: output.found.get(name) or text.found[name]
            for name in question.answers
            if name in output.found or name in further
        }
        missing = tuple(name for name in output.missing if name not in further)
        output = replace(output, found=found, missing=missing)
        in_output = compare_answer(output, question)
    return Answer(output, in_output, "execution", conflict, solved=solved)
