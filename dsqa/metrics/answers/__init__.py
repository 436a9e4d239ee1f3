"""Answers: read from text and from executed output, and compared with the ground truth.

One module reads (`reading`), one compares (`comparing`), one says which answer is the run's (`choice`).
"""

from dsqa.metrics.answers.choice import Answer, choose_answer
from dsqa.metrics.answers.comparing import AnswerStatus, Comparison, Part, compare_answer
from dsqa.metrics.answers.readers import READERS, Reader
from dsqa.metrics.answers.reading import Found, Reading, read_answer, read_output
from dsqa.metrics.answers.visible import strip_reasoning

__all__ = [
    "READERS",
    "Answer",
    "AnswerStatus",
    "Comparison",
    "Found",
    "Part",
    "Reader",
    "Reading",
    "choose_answer",
    "compare_answer",
    "read_answer",
    "read_output",
    "strip_reasoning",
]
