"""Readers beside the standard one, which tell how much of what is measured is the reader's.

``standard``
    What `reading` does; the one that every metric uses.
``strict``
    ``@name[value]`` and nothing else.
``last-number``
    The last number of the text, whatever is said of it; for a question of k numbers the last k, in its order. What is
    no number is not read.

They read the same text and the same output, and what they read is compared in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dsqa.bank import Question
from dsqa.metrics.answers.lenient import NUMBER
from dsqa.metrics.answers.reading import Found, Reading, formatted_answer, read_answer, read_output
from dsqa.metrics.answers.visible import strip_reasoning, without_code
from dsqa.values import parse_truth

__all__ = ["READERS", "Reader"]

_REACH = 20_000


@dataclass(frozen=True)
class Reader:
    """How an answer is read from a response's text, and from what an executed program gave."""

    name: str
    read_text: Callable[[str, Question], Reading]
    read_output: Callable[[str, str | None, Question], Reading]


def _strict_output(stdout: str, value: str | None, question: Question) -> Reading:
    return formatted_answer(f"{stdout}\n{value}" if value else stdout, question)


def _strict_text(text: str, question: Question) -> Reading:
    visible, unclosed = strip_reasoning(text)
    return formatted_answer("" if unclosed else without_code(visible), question)


def _last_numbers(text: str, question: Question) -> Reading:
    names = [name for name, truth in question.answers.items() if parse_truth(truth).kind == "number"]
    start = max(0, len(text) - _REACH)
    hits = list(NUMBER.finditer(text, start))[-len(names) :] if names else []
    found: Mapping[str, Found] = {}
    if names and len(hits) == len(names):
        found = {
            name: Found(hit[0], hit[0].strip(), "last number", hit.start())
            for name, hit in zip(names, hits, strict=True)
        }
    return Reading(found, tuple(name for name in question.answers if name not in found))


def _last_in_text(text: str, question: Question) -> Reading:
    visible, unclosed = strip_reasoning(text)
    return _last_numbers("" if unclosed else without_code(visible), question)


def _last_in_output(stdout: str, value: str | None, question: Question) -> Reading:
    return _last_numbers(f"{stdout}\n{value}" if value else stdout, question)


READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader("standard", read_answer, read_output),
        Reader("strict", _strict_text, _strict_output),
        Reader("last-number", _last_in_text, _last_in_output),
    )
}
"""By name; the standard one first."""
