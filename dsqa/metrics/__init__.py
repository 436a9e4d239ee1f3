"""Metrics of a run: general properties, answers read and compared, coarse-grained metrics."""

from dsqa.metrics.answers import (
    READERS,
    Answer,
    Comparison,
    Reader,
    Reading,
    choose_answer,
    compare_answer,
    read_answer,
    read_output,
    strip_reasoning,
)
from dsqa.metrics.coarse import Coarse, coarse_metrics, executability, final_execution, score
from dsqa.metrics.similarity import cell_similarity, jaccard, word_set
from dsqa.metrics.verbosity import TokenCounts, count_bpe, count_tokens, ratio, words

__all__ = [
    "READERS",
    "Answer",
    "Coarse",
    "Comparison",
    "Reader",
    "Reading",
    "TokenCounts",
    "cell_similarity",
    "choose_answer",
    "coarse_metrics",
    "compare_answer",
    "count_bpe",
    "count_tokens",
    "executability",
    "final_execution",
    "jaccard",
    "ratio",
    "read_answer",
    "read_output",
    "score",
    "strip_reasoning",
    "word_set",
    "words",
]
