"""A run's row: what is known from its record, from its code's execution, and from the other runs of its cell."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dsqa.bank import Question
from dsqa.execution import ExecutionResult, asked_version, extract
from dsqa.metrics import (
    Answer,
    Reading,
    cell_similarity,
    choose_answer,
    coarse_metrics,
    count_bpe,
    count_tokens,
    final_execution,
    jaccard,
    ratio,
    read_answer,
    read_output,
    strip_reasoning,
    word_set,
    words,
)
from dsqa.outcomes.cache import ExecutionCache
from dsqa.outcomes.reruns import agreement
from dsqa.records import Record
from dsqa.study.design import fingerprint

__all__ = ["Marked", "mark", "rows_of"]

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")


@dataclass(frozen=True, slots=True)
class Marked:
    """A record, read as far as it can be before its code has run.

    `prose` is the response's text part: no code, no reasoning. `code` and `key` are None where there is nothing
    to run; `outcome` then says why. `extraction` is what was taken and what was left out, as JSON.
    """

    record: Record
    question: Question
    prose: str
    reading: Reading
    code: str | None
    key: str | None
    outcome: str
    extraction: str
    prompt_words: int | None
    prompt_tokens: int | None

    @property
    def cell(self) -> tuple[str, str, str]:
        """What makes a cell."""
        return self.record.question_id, self.record.condition_id, self.record.prompt_hash


def mark(
    record: Record,
    question: Question,
    key_for: Callable[[str, Question], str],
) -> Marked:
    """Split a response into text and code, and read the answer in the text; `key_for` gives the code's key."""
    visible, unclosed = strip_reasoning(record.text)
    extraction = extract(visible)
    code, outcome = extraction.code, "ran"
    if code is None or not code.strip():
        code = None
        outcome = "no code" if extraction.language is None else "other language"
    prompt = _prompt_text(record)
    prompt_words, prompt_tokens = (None, None) if prompt is None else _prompt_counts(prompt)
    return Marked(
        record=record,
        question=question,
        prose=extraction.prose,
        # JSON stands in a code block, so a lenient reading sees these as well.
        reading=read_answer(record.text if unclosed or question.reading else extraction.prose, question),
        code=code,
        key=None if code is None else key_for(code, question),
        outcome=outcome,
        extraction=json.dumps(extraction.summary(), ensure_ascii=False, separators=(",", ":")),
        prompt_words=prompt_words,
        prompt_tokens=prompt_tokens,
    )


def rows_of(cell: Sequence[Marked], cache: ExecutionCache, study: str) -> list[dict[str, Any]]:
    """Return the rows of one cell's runs, in the order given."""
    sets = [None if run.record.status == "failed" else word_set(run.prose) for run in cell]
    first = next((i for i, run in enumerate(cell) if run.record.run == 0), None)
    similarity = cell_similarity(sets, first)
    rows = []
    for i, run in enumerate(cell):
        results = {} if run.key is None else cache.reruns(run.key)
        rows.append(
            {
                **_identity(run, study),
                **_general(run),
                "jaccard_first": float(similarity.first[i]),
                "jaccard_mean": float(similarity.mean[i]),
                "jaccard_truth": _to_reference(run.question, sets[i]),
                **_marks(run, results),
            }
        )
    return rows


def _identity(run: Marked, study: str) -> dict[str, Any]:
    record, question = run.record, run.question
    temperature = record.temperature
    return {
        "study": study,
        "question_id": record.question_id,
        "category": question.category,
        "level": question.level,
        "condition_id": record.condition_id,
        "endpoint": record.condition.get("endpoint"),
        "model": record.condition.get("model"),
        "temperature": None if temperature is None else float(temperature),
        "run": record.run,
        "prompt_hash": record.prompt_hash,
        "status": record.status,
        "finish_reason": record.finish_reason,
        "error_class": (record.error or {}).get("class"),
        "retries": record.retries,
    }


def _general(run: Marked) -> dict[str, Any]:
    record = run.record
    row: dict[str, Any] = {"words_in": run.prompt_words, "seconds": record.seconds}
    if record.status == "failed":
        counted = {"tokens_in": run.prompt_tokens, "tokens_source": None if run.prompt_tokens is None else "bpe"}
        nothing = dict.fromkeys(("words_out", "tokens_out", "tokens_total", "word_ratio", "token_ratio"))
        return row | counted | nothing
    spoken = len(words(run.prose))
    tokens = count_tokens(
        # Of a request for several runs the endpoint counts the tokens of all together.
        None if (record.choice or {}).get("of", 1) > 1 else record.usage,
        prompt=run.prompt_tokens,
        response=record.text,
        text_part=run.prose,
        reasoning=record.reasoning or "",
    )
    return row | {
        "tokens_in": tokens.prompt,
        "words_out": spoken,
        "tokens_out": tokens.text,
        "tokens_total": tokens.total,
        "tokens_source": tokens.source,
        "word_ratio": ratio(run.prompt_words, spoken),
        "token_ratio": ratio(tokens.prompt, tokens.text),
    }


def _marks(run: Marked, results: Mapping[int, ExecutionResult]) -> dict[str, Any]:
    result = results.get(0)
    outcome = run.outcome if result is None else result.outcome
    answer = _answer_of(run, result)
    key = None if result is None else _result_key(result, answer)
    keys = {i: key if i == 0 else _result_key(each, _answer_of(run, each)) for i, each in results.items()}
    coarse = coarse_metrics(run.record.status, outcome, answer)
    return {
        "completion": coarse.completion,
        "accuracy": coarse.accuracy,
        "executability": coarse.executability,
        "executability_repository": coarse.executability_repository,
        "score": coarse.score,
        "execution": final_execution(outcome, solved=answer.solved),
        "execution_detail": None if result is None else asked_version(result.detail, run.record.text) or None,
        "isolation": None if result is None else result.isolation,
        "near_limit": None if result is None else result.near_limit,
        "environment": None if result is None else result.environment or None,
        **agreement(results, keys),
        "extraction": run.extraction,
        "execution_key": run.key,
        **_artefacts(result),
        **_answer(answer),
        "text_hash": None if run.record.status == "failed" else fingerprint(run.record.text),
        "result_key": key,
    }


def _answer_of(run: Marked, result: ExecutionResult | None) -> Answer:
    output = None
    if result is not None and result.outcome == "ran":
        output = read_output(result.stdout, result.value, run.question)
    return choose_answer(run.question, run.reading, output)


def _result_key(result: ExecutionResult, answer: Answer) -> str:
    """Return what tells executed results apart: the answer in the output, else the output, else how it failed."""
    if answer.source == "execution" and answer.comparison.key is not None:
        return answer.comparison.key
    if result.outcome == "ran":
        # Where an object lies in memory is no part of what the code gave.
        texts = [_ADDRESS.sub("0x", text) for text in (result.stdout.strip(), result.value or "")]
        return f"output {fingerprint(texts)}"
    return f"{result.outcome}: {result.exception or ''}".removesuffix(": ")


def _artefacts(result: ExecutionResult | None) -> dict[str, Any]:
    if result is None:
        return {"figures": None, "artefacts": None}
    kept: dict[str, list[str]] = {}
    for artefact in result.artefacts:
        if artefact.parts:
            kept.setdefault(artefact.kind, []).append(artefact.parts[0].sha256[:16])
    return {
        "figures": sum(artefact.kind == "figure" for artefact in result.artefacts),
        "artefacts": json.dumps(kept, separators=(",", ":")) if kept else None,
    }


def _answer(answer: Answer) -> dict[str, Any]:
    values = answer.reading.values
    return {
        "answer": json.dumps(values, ensure_ascii=False) if values else None,
        "answer_source": answer.source,
        "answer_status": answer.comparison.status,
        "answer_share": answer.comparison.share,
        "answer_convention": answer.comparison.convention,
        "answer_conflict": answer.conflict,
        "answer_key": answer.comparison.key,
    }


def _to_reference(question: Question, text: frozenset[str] | None) -> float | None:
    if text is None or not question.reference_text or not question.reference_text.strip():
        return None
    return jaccard(text, _reference_set(question.reference_text))


@lru_cache(maxsize=512)
def _reference_set(reference: str) -> frozenset[str]:
    return word_set(reference)


def _prompt_text(record: Record) -> str | None:
    """Return the text of all messages sent, or None where the record has none."""
    messages = record.messages
    if not messages:
        return None
    pieces = []
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str):
            pieces.append(content)
        elif isinstance(content, list):
            pieces.extend(str(part["text"]) for part in content if isinstance(part, dict) and "text" in part)
    return "\n".join(pieces)


@lru_cache(maxsize=256)
def _prompt_counts(prompt: str) -> tuple[int, int]:
    return len(words(prompt)), count_bpe(prompt)
