"""What the metrics of other tools mean: their names, and the words that stand for right and wrong."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["MARK_WORDS", "as_mark", "columns_meant", "is_judged"]

MARK_WORDS = {
    "c": 1.0, "correct": 1.0, "true": 1.0, "yes": 1.0, "pass": 1.0, "passed": 1.0, "right": 1.0,
    "p": 0.5, "partial": 0.5,
    "i": 0.0, "n": 0.0, "incorrect": 0.0, "false": 0.0, "no": 0.0, "fail": 0.0, "failed": 0.0, "wrong": 0.0,
}  # fmt: skip
"""Words that a mark is written in, and the number that each is."""

# Name in the source, spelled in small letters with single underscores → our columns, the likeliest first.
_MEANINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"(.*_)?(accuracy|acc|correct|is_correct|exact_match|em|ra|response_accuracy)(_norm)?", ("accuracy",)),
    (r"match|includes|pattern|answer|choice|pass|passed|success|f1", ("accuracy",)),
    (r"score|total_score|final_score", ("score", "accuracy")),
    (r"cr|completion|completion_ratio|complete_ratio|complete|completed", ("completion",)),
    (r"ce|code_execute|code_executability|executability|executable", ("executability_repository", "executability")),
    (r"words|n_words|word_count|output_words|words_out", ("words_out",)),
    (
        r"tokens|n_tokens|token_count|output_tokens|completion_tokens|tokens_out|tokens_total",
        ("tokens_total", "tokens_out"),
    ),
    (r"input_words|words_in|prompt_words", ("words_in",)),
    (r"(input|prompt)_tokens(_.*)?|tokens_in", ("tokens_in",)),
    (r"(.*_)?jaccard(_.*)?|text_similarity|similarity", ("jaccard_first", "jaccard_mean", "jaccard_truth")),
    (r"verbosity_ratio_words|word_verbosity_ratio|word_ratio", ("word_ratio",)),
    (r"verbosity_ratio_tokens|token_verbosity_ratio|token_ratio", ("token_ratio",)),
    (r"runtime|run_time|seconds|duration|latency|elapsed|total_time|working_time|time", ("seconds",)),
)  # fmt: skip
_JUDGED = re.compile(
    r"model_graded|judge|rubric|llm_rubric|g_eval|preference|win_?rate|elo|bleu|rouge|bertscore|chrf|pass_at|pass@"
    r"|verify|humaneval|mbpp|unit_?test|tests?_passed|code_exec",
    re.IGNORECASE,
)


def columns_meant(metric: str) -> tuple[str, ...]:
    """Return the columns of the outcome table that a metric's name may mean, the likeliest first; () for none.

    Examples
    --------
    >>> columns_meant("exact_match,strict-match"), columns_meant("CR"), columns_meant("colour")
    (('accuracy',), ('completion',), ())
    """
    # lm-evaluation-harness names the filter behind a comma.
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", metric.partition(",")[0])
    name = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    return next((columns for pattern, columns in _MEANINGS if re.fullmatch(pattern, name)), ())


def as_mark(value: Any) -> float | None:
    """Return a metric's value as the number that it is or stands for: a word such as ``correct`` is 1."""
    if isinstance(value, list | tuple):
        return next((mark for part in value if (mark := as_mark(part)) is not None), None)
    if isinstance(value, bool | int | float):
        return float(value) if abs(value) < 1e300 else None
    return MARK_WORDS.get(value.strip().casefold()) if isinstance(value, str) else None


def is_judged(metric: str) -> bool:
    """Return whether a metric is given by a model, by tests that are run, or by likeness: not by one right answer."""
    return _JUDGED.search(metric) is not None
