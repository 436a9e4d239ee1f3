"""Stored completions: objects ``chat.completion`` or ``response``, in a list or one a line, with what was asked.

What OpenAI's ``GET /v1/chat/completions`` lists, proxies log, and clients dump. The messages that were sent stand in
the object (``messages``, ``input_messages``, ``input``), or the line holds a request and its response.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dsqa.errors import SourceError
from dsqa.importing.files import first_object, head, json_lines, open_source
from dsqa.importing.readers.asked import Questions, asked_of
from dsqa.importing.readers.json_stream import json_members
from dsqa.importing.readers.openai_batch import run_of
from dsqa.importing.runs import ImportReport, ReadOptions, SourceRun

__all__ = ["READER", "StoredReader"]

_KINDS = {"chat.completion", "response"}
_LISTS = ((), ("data",))
_SENT = ("messages", "input_messages", "input")
_IDS = ("question_id", "question", "qid", "item_id", "item", "task_id", "custom_id", "id")
_RUNS = ("run", "repeat", "repetition", "epoch", "sample", "iteration", "round", "trial")
# Of a completion: what is the answer, or about its storage, and no parameter of the request.
_ANSWER = frozenset(
    {
        "id",
        "object",
        "created",
        "created_at",
        "choices",
        "usage",
        "system_fingerprint",
        "request_id",
        "error",
        "status",
        "output",
        "output_text",
        "incomplete_details",
        "completed_at",
        "metadata",
        "messages",
        "input_messages",
        "tool_usage",
        "billing",
        "_request_id",
    }
)


class StoredReader:
    """See `dsqa.importing.runs.Reader`."""

    name = "stored-completions"
    title = "stored completions (JSON Lines or a list of chat.completion objects)"

    def detect(self, path: Path) -> float:
        """Look at the first line, or at the beginning of a list."""
        row = first_object(path)
        if row is not None and "data" not in row:
            return 0.9 if _parts(row) else 0.0
        begins = head(path).lstrip()[:4096]
        is_list = begins.startswith(b"[") or (begins.startswith(b"{") and b'"data"' in begins[:200])
        return 0.85 if is_list and (b'"chat.completion"' in begins or b'"object":"response"' in begins) else 0.0

    def read(self, paths: Sequence[Path], options: ReadOptions, report: ImportReport) -> Iterator[SourceRun]:
        """Yield the completions of the files.

        Raises
        ------
        SourceError
            A file holds no completions, or is broken.
        """
        questions = Questions()
        names: dict[str, str] = {}
        several = False
        _say(report)
        for path in paths:
            for _, row in _rows(path, ImportReport(skip_bad=True)):
                if (parts := _parts(row)) is not None:
                    asked = asked_of(parts[0])
                    questions.see("", asked)
                    if (named := _word(parts[2], *_IDS)) is not None and asked.text:
                        names.setdefault(asked.text, named)  # of those that have the text and not the name
                    several |= len(parts[1].get("choices") or ()) > 1
        for path in paths:
            for where, row in _rows(path, report):
                if (parts := _parts(row)) is None:
                    report.skip(path, None, f"{where} is no completion: it has neither choices nor output")
                    continue
                with report.row(path, None):
                    yield from _runs(*parts, row, where, names, questions, several, options, report)


READER = StoredReader()


def _say(report: ImportReport) -> None:
    for name, to in (
        ("messages, input_messages, input", "messages; the user's are the question's text"),
        ("metadata.question_id and its kin", "question, where it is there; else questions are told by their texts"),
        ("metadata.run and its kin", "run"),
        ("metadata.truth, metadata.category, metadata.level", "the question's ground truth, category and level"),
        ("model, temperature, top_p, …", "model, temperature, request parameters of the condition"),
        ("choices, output, usage", "text, reasoning, refusal, finish reason, tokens"),
    ):
        report.map(name, to)


def _rows(path: Path, report: ImportReport) -> Iterator[tuple[str, dict[str, Any]]]:
    first = first_object(path)
    if first is not None and "data" not in first:
        for number, row in json_lines(path, report):
            yield f"{path}:{number}", row
        return
    lone: dict[str, Any] = {}
    number = 0
    try:
        with open_source(path) as stream:
            for place, value in json_members(stream, _LISTS):
                if place in _LISTS and isinstance(value, dict):
                    number += 1
                    yield f"{path}:{number}", value
                elif len(place) == 1:
                    lone[place[0]] = value
    except ValueError as error:
        raise SourceError(str(error), path=path) from None
    if _parts(lone) is not None:
        yield f"{path}:1", lone
    elif lone.get("has_more"):
        report.note("lists end with has_more: further pages of completions are not in the file")


def _parts(row: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]] | None:
    """Return request, response and metadata of a line; None where it is no completion."""
    request, response = row.get("request"), row.get("response")
    if isinstance(request, Mapping) and isinstance(response, Mapping):
        request, response = (held.get("body", held) for held in (request, response))
        if isinstance(request, Mapping) and isinstance(response, Mapping) and ("model" in request):
            held = {**(request.get("metadata") or {}), **(row.get("metadata") or {})}
            return dict(request), dict(response), held
        return None
    if row.get("object") not in _KINDS and not isinstance(row.get("choices"), list):
        return None
    if not isinstance(row.get("choices"), list) and not isinstance(row.get("output"), list):
        return None
    asked = {name: value for name, value in row.items() if name not in _ANSWER}
    sent = next((row[name] for name in _SENT if row.get(name)), None)
    if isinstance(sent, Mapping):
        sent = sent.get("data")
    asked["messages"] = [{"role": "user", "content": sent}] if isinstance(sent, str) else sent or []
    if row.get("instructions"):
        asked["messages"] = [{"role": "system", "content": row["instructions"]}, *asked["messages"]]
    return asked, dict(row), dict(row.get("metadata") or {})


def _runs(
    request: dict[str, Any],
    response: dict[str, Any],
    metadata: Mapping[str, Any],
    row: Mapping[str, Any],
    where: str,
    names: Mapping[str, str],
    questions: Questions,
    several: bool,
    options: ReadOptions,
    report: ImportReport,
) -> Iterator[SourceRun]:
    asked = asked_of(request)
    named = _word(metadata, *_IDS) or names.get(asked.text)
    if named is None and not asked.text:
        hint = "export the messages with the completions, or ask with metadata such as question_id"
        report.skip(Path(where.rpartition(":")[0]), None, f"{where}: nothing says what was asked", hint)
        return
    run = _word(metadata, *_RUNS)
    found = {
        "question": named or questions.name("", asked)[0],
        "run": int(run) if run is not None and run.isdigit() and not several else None,
        "where": where,
        "row": row,
        "endpoint": "openai",
        "truth": _word(metadata, "truth", "ground_truth", "answer", "expected", "target"),
        "category": _word(metadata, "category"),
        "level": _word(metadata, "level", "difficulty"),
    }
    yield from run_of(request, asked, response, None, questions.several_systems, options, report, found)


def _word(metadata: Mapping[str, Any], *names: str) -> str | None:
    return next((str(metadata[name]) for name in names if isinstance(metadata.get(name), str | int | float)), None)
