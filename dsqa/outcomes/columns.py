"""The outcome table's columns: one row per run, this order, these types, this meaning.

The table is what everything downstream reads, whoever made the runs. It is saved as Parquet.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["COLUMNS", "Column"]


@dataclass(frozen=True)
class Column:
    """A column: name, pandas dtype, and what it holds."""

    name: str
    dtype: str
    meaning: str


COLUMNS: tuple[Column, ...] = (
    # identity
    Column("study", "string", "the study's name"),
    Column("question_id", "string", "the question"),
    Column("category", "string", "the question's task type"),
    Column("level", "string", "easy, medium or hard"),
    Column("condition_id", "string", "the condition"),
    Column("endpoint", "string", "the endpoint's name in the study"),
    Column("model", "string", "the model asked for"),
    Column("temperature", "Float64", "the temperature sent; missing where none was, also where the model refused it"),
    Column("run", "Int64", "run number within the cell, from 0"),
    Column("prompt_hash", "string", "fingerprint of the messages sent"),
    # ledger
    Column("status", "string", "answered, truncated, refused, empty, filtered or failed"),
    Column("finish_reason", "string", "as the endpoint gave it"),
    Column("error_class", "string", "class of the error of a failed run"),
    Column("retries", "Int64", "requests that failed for a passing reason before the one that counted"),
    # general properties
    Column("words_in", "Int64", "words of the prompt"),
    Column("tokens_in", "Int64", "tokens of the prompt"),
    Column("words_out", "Int64", "verbosity in words: the response's text, code left out"),
    Column("tokens_out", "Int64", "verbosity in tokens: the response's text, code left out"),
    Column("tokens_total", "Int64", "tokens of the whole response, code and reasoning included"),
    Column("tokens_source", "string", "usage, usage-apportioned or bpe: where the token counts come from"),
    Column("word_ratio", "Float64", "verbosity ratio in words, input ÷ output; missing where the output is empty"),
    Column("token_ratio", "Float64", "verbosity ratio in tokens, input ÷ output; missing where the output is empty"),
    Column("jaccard_first", "Float64", "Jaccard index of the text with the first run of the cell"),
    Column("jaccard_mean", "Float64", "mean Jaccard index of the text with every other run of the cell"),
    Column("jaccard_truth", "Float64", "Jaccard index with the ground-truth text, where the question has one"),
    Column("seconds", "Float64", "run time of the response"),
    # coarse-grained metrics
    Column("completion", "Int64", "CR: 1 if the run finished with an acceptable outcome, right or wrong; else 0"),
    Column("accuracy", "Int64", "RA: 1 if the reported result matches the ground truth, else 0; missing without one"),
    Column("executability", "Int64", "CE: 0, 1 or 2 by the paper's reading"),
    Column("executability_repository", "Int64", "CE: 0, 1 or 2 by the reading of the authors' repository"),
    Column("score", "Float64", "CR + RA + CE/2, in [0, 3]; missing without a ground truth"),
    # behind the numbers
    Column("execution", "string", "the finer outcome of running the code"),
    Column("execution_detail", "string", "exception type and line, or the limit that was hit"),
    Column("isolation", "string", "what the code ran under"),
    Column("near_limit", "boolean", "the code used half of a limit or more: elsewhere it might have ended otherwise"),
    Column("environment", "string", "fingerprint of the Python and packages the code saw; see environments.json"),
    Column("reruns", "Int64", "how often the code was run; missing where nothing was run"),
    Column("rerun_agreement", "Int64", "how many of these gave the first one's outcome and answer, itself included"),
    Column("flaky", "string", "of code run more than once: no, code (it varies by itself) or machine (limits)"),
    Column("extraction", "string", "JSON: which blocks of the response were run, which left out and why"),
    Column("execution_key", "string", "key of the run's line in executions.jsonl; missing where nothing was run"),
    Column("figures", "Int64", "figures that the code drew and that are kept; missing where nothing was run"),
    Column("artefacts", "string", "JSON: kind → hashes (16 digits) of the figures, tables, images and files kept"),
    Column("answer", "string", "the answer read, as JSON {name: value}; missing where none was read"),
    Column("answer_source", "string", "execution or text: where the answer was read"),
    Column("answer_status", "string", "matched, mismatched, partial or unparsed; unmarked without a ground truth"),
    Column("answer_share", "Float64", "share of the question's parts that match"),
    Column("answer_convention", "string", "the convention under which a wrong answer is right, if one is known"),
    Column("answer_conflict", "boolean", "the text and the executed code gave different answers"),
    Column("answer_key", "string", "the answer in canonical form: equal answers have equal keys"),
    Column("text_hash", "string", "fingerprint of the raw response, code included; missing where the run failed"),
    Column("result_key", "string", "what running the code gave: the answer in it, else its output or error, hashed"),
)
