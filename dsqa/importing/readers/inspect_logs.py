"""Logs of Inspect (inspect_ai): a sample's epochs are the runs of its question."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsqa.importing.readers.chat import (
    as_number,
    as_text,
    asked_text,
    chat_messages,
    condition_parameters,
    json_text,
)
from dsqa.importing.readers.inspect_files import begins_like_a_log, read_header, read_samples, reads_with
from dsqa.importing.runs import ImportReport, Metric, ReadOptions, SourceRun

__all__ = ["READER", "InspectReader"]

# What Inspect itself takes its marks for when it averages them (`value_to_float`).
_MARKS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_LONG = 120
_MOST_OF_A_MESSAGE = 2000


@dataclass(frozen=True, slots=True)
class _Log:
    """What holds for every sample of a log."""

    endpoint: str | None
    model: str
    full_model: str
    temperature: float | None
    request: dict[str, Any]
    choices: int
    prefix: str
    scorer: str


class InspectReader:
    """See `dsqa.importing.runs.Reader`."""

    name = "inspect"
    title = "a log of Inspect (.eval, .json)"

    def detect(self, path: Path) -> float:
        """Look for a zip archive called ``.eval``, or for the log's first members."""
        return begins_like_a_log(path)

    def read(self, paths: Sequence[Path], options: ReadOptions, report: ImportReport) -> Iterator[SourceRun]:
        """Yield the samples of the logs.

        Raises
        ------
        SourceError
            A file is no log of Inspect, or a broken one.
        """
        report.first_run = 1
        headers = []
        for path in paths:
            with report.passing_over(path):
                headers.append((path, read_header(path)))
        several = len({header["eval"].get("task") for _, header in headers}) > 1
        for path, header in headers:
            _say(path, header, report)
            log = _log(header, several, options)
            seen = 0
            with report.passing_over(path):
                for where, sample in read_samples(path, report):
                    seen += 1
                    with report.row(path, None):
                        yield from _runs(sample, where, log, report)
            missing = _planned(header["eval"]) - seen
            if missing > 0:
                report.note("samples that a log's plan has are not in it", missing)


READER = InspectReader()


def _say(path: Path, header: Mapping[str, Any], report: ImportReport) -> None:
    inspect = reads_with(path)
    for name, to in (
        ("sample id", "question"),
        ("epoch", "run"),
        ("input, choices", "the question's text"),
        ("target", "ground truth"),
        ("metadata.category, metadata.level", "the question's category and level"),
        ("model", "endpoint and model"),
        ("plan.config, model_generate_config", "temperature and request parameters"),
        ("plan.steps", "solver, part of the condition, where there is more than generate()"),
        ("output", "text, reasoning, finish reason, tokens"),
        ("scores", "source metrics, under the scorers' names; C is 1, P 0.5, I and N 0"),
        ("the log", f"read with inspect_ai {inspect}" if inspect else "read by dsqa's own reader"),
    ):
        report.map(name, to)
    report.leave_out("events, store", "the transcript stays in the log", 0)
    status = header.get("status")
    if status != "success":
        report.note(f"logs ended with the status '{status}', so samples may be missing")
    if header.get("invalidated"):
        report.note("logs are marked as invalid by their owner")


def _log(header: Mapping[str, Any], several: bool, options: ReadOptions) -> _Log:
    spec, plan = header["eval"], header.get("plan") or {}
    generate = {**(spec.get("model_generate_config") or {}), **(plan.get("config") or {})}
    temperature, request = condition_parameters(generate)
    if generate.get("system_message"):
        request["system"] = generate["system_message"]
    if solver := _solver(plan.get("steps") or []):
        request["solver"] = solver
    provider, model = _split(spec["model"])
    scorer = ((header.get("results") or {}).get("scorer") or {}).get("name", "score")
    choices = generate.get("num_choices")
    return _Log(
        endpoint=provider,
        model=model,
        full_model=spec["model"],
        temperature=options.temperature if temperature is None else temperature,
        request=request,
        choices=choices if isinstance(choices, int) and choices > 1 else 1,
        prefix=f"{spec.get('task')}/" if several else "",
        scorer=str(scorer),
    )


def _split(name: str) -> tuple[str | None, str]:
    """Return the provider and the model as the provider calls it."""
    parts = name.split("/", 2)
    # Such a provider is itself named: openai-api/NAME/MODEL.
    leading = 2 if parts[0] == "openai-api" and len(parts) == 3 else 1
    return "/".join(parts[:leading]) if len(parts) > leading else None, name.split("/", leading)[-1]


def _solver(steps: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the solvers with what they were given, on one line; None where the model was simply asked."""
    told = []
    for step in steps:
        given = step.get("params_passed", step.get("params")) or {}
        inside = ", ".join(f"{name}={_short(json.dumps(value, ensure_ascii=False))}" for name, value in given.items())
        told.append(f"{step.get('solver')}({inside})" if inside else str(step.get("solver")))
    return None if told in ([], ["generate"]) else " > ".join(told)


def _short(text: str) -> str:
    if len(text) <= _LONG:
        return text
    return f"{text[: _LONG // 2]}… #{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}"


def _planned(spec: Mapping[str, Any]) -> int:
    ids = (spec.get("dataset") or {}).get("sample_ids")
    epochs = (spec.get("config") or {}).get("epochs") or 1
    return len(ids) * epochs if isinstance(ids, list) and isinstance(epochs, int) else 0


def _runs(sample: Mapping[str, Any], where: str, log: _Log, report: ImportReport) -> Iterator[SourceRun]:
    sample = _with_attachments(sample)
    output = sample.get("output") or {}
    choices = output.get("choices") or [{}]
    epoch = sample.get("epoch")
    if not isinstance(epoch, int) or sample.get("id") is None:
        report.skip(Path(where.rpartition(":")[0]), None, f"{where}: a sample without id and epoch")
        return
    messages, turns = _sent(sample.get("messages") or [])
    sent = chat_messages(messages, report)
    metadata = sample.get("metadata") or {}
    if turns > 1:
        report.note("samples took several turns: text, tokens and seconds are the last one's")
    if sample.get("invalidation"):
        report.note("samples are marked as invalid by the log's owner")
    for number, choice in enumerate(choices):
        first = number == 0
        message = choice.get("message") or {}
        text = (
            str(output.get("completion") or as_text(message.get("content"))) if first else as_text(message["content"])
        )
        yield SourceRun(
            question=f"{log.prefix}{sample['id']}",
            endpoint=log.endpoint,
            model=log.model,
            temperature=log.temperature,
            request=log.request,
            run=(epoch - 1) * log.choices + number + 1,
            where=where if len(choices) == 1 else f"{where} choice {number + 1}",
            text=text,
            reasoning=_reasoning(message),
            refusal=text if _refused(message) else None,
            finish_reason=choice.get("stop_reason"),
            usage=_usage(sample, log) if first else None,
            seconds=as_number(output.get("time")),
            started_at=sample.get("started_at"),
            response_id=output.get("response_id"),
            response_model=output.get("model"),
            messages=sent or None,
            question_text=_question_text(sample),
            category=_word(metadata, "category"),
            level=_word(metadata, "level", "difficulty"),
            truth=_truth(sample.get("target"), report),
            metrics=_metrics(sample, log) if first else {},
            row=_row(sample, turns) if first else {"id": sample["id"], "epoch": epoch, "choice": choice},
            **_outcome(sample, output, text, report),
        )
    if len(choices) > 1:
        report.note("samples asked for several choices: each is a run, the scores are the first one's")


def _outcome(sample: Mapping[str, Any], output: Mapping[str, Any], text: str, report: ImportReport) -> dict[str, Any]:
    """Return status and error, where the text and the finish reason do not say them."""
    error, limit = sample.get("error"), sample.get("limit")
    if text.strip():
        if error:
            report.note("samples ended with an error after the answer had come: kept as answered, without scores")
        return {"status": "truncated"} if limit else {}
    if error:
        said = str(error.get("message") if isinstance(error, Mapping) else error).strip()
        return {
            "status": "failed",
            "error": {"class": said.split("(", 1)[0][:80], "message": said[:_MOST_OF_A_MESSAGE], "status": None},
        }
    if limit:
        said = f"the sample's {limit.get('type')} limit of {limit.get('limit')} was reached"
        return {"status": "failed", "error": {"class": "limit", "message": said, "status": None}}
    if output.get("error"):
        message = str(output["error"])[:_MOST_OF_A_MESSAGE]
        return {"status": "filtered", "error": {"class": "moderation", "message": message, "status": None}}
    return {}


def _with_attachments(sample: Mapping[str, Any]) -> Mapping[str, Any]:
    """Put back what the log keeps apart because it is long or stands in it twice."""
    held = sample.get("attachments")
    if not held:
        return sample

    def back(value: Any) -> Any:
        if isinstance(value, str) and value.startswith("attachment://"):
            return held.get(value.removeprefix("attachment://"), value)
        if isinstance(value, list):
            return [back(item) for item in value]
        return {name: back(item) for name, item in value.items()} if isinstance(value, dict) else value

    return {name: back(value) for name, value in sample.items() if name != "attachments"}


def _sent(messages: Sequence[Mapping[str, Any]]) -> tuple[Sequence[Mapping[str, Any]], int]:
    """Return what the last answer answers, and how many answers the model gave."""
    answers = [at for at, message in enumerate(messages) if message.get("role") == "assistant"]
    turns = sum(1 for at in answers if messages[at].get("source") in {"generate", None})
    return messages[: answers[-1]] if answers else messages, turns


def _reasoning(message: Mapping[str, Any]) -> str | None:
    content = message.get("content")
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    found = [
        (part.get("summary") or "") if part.get("redacted") else part.get("reasoning")
        for part in parts
        if part.get("type") == "reasoning"
    ]
    return "\n\n".join(text for text in found if text) or message.get("reasoning") or None


def _refused(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(isinstance(part, Mapping) and part.get("refusal") for part in content)


def _usage(sample: Mapping[str, Any], log: _Log) -> dict[str, Any] | None:
    """Return the tokens under the names of chat completions; Inspect counts what came from the cache apart."""
    # The model's total may have a judge's tokens in it, and is of all turns.
    given = (sample.get("output") or {}).get("usage") or (sample.get("model_usage") or {}).get(log.full_model)
    if not isinstance(given, Mapping):
        return None
    written, total = given.get("output_tokens") or 0, given.get("total_tokens") or 0
    cached, stored = given.get("input_tokens_cache_read"), given.get("input_tokens_cache_write")
    read = total - written if total > written else (given.get("input_tokens") or 0) + (cached or 0) + (stored or 0)
    usage: dict[str, Any] = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    if cached is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": cached}
    if given.get("reasoning_tokens") is not None:
        usage["completion_tokens_details"] = {"reasoning_tokens": given["reasoning_tokens"]}
    if given.get("total_cost") is not None:
        usage["cost"] = given["total_cost"]
    return usage


def _question_text(sample: Mapping[str, Any]) -> str | None:
    given = sample.get("input")
    text = given if isinstance(given, str) else asked_text(given or [])
    choices = sample.get("choices") or []
    listed = [f"{chr(ord('A') + at)}) {choice}" for at, choice in enumerate(choices)]
    return "\n".join([text, *listed]) if text or listed else None


def _word(metadata: Mapping[str, Any], *names: str) -> str | None:
    return next((str(metadata[name]) for name in names if isinstance(metadata.get(name), str | int)), None)


def _truth(target: Any, report: ImportReport) -> str | None:
    if isinstance(target, list):
        if len(set(target)) > 1:
            report.leave_out("target", "several answers are right there; dsqa has one (--bank FILE gives it)")
            return None
        target = target[0] if target else None
    return str(target) if target not in {None, ""} else None


def _metrics(sample: Mapping[str, Any], log: _Log) -> dict[str, Metric]:
    scores = sample.get("scores")
    if scores is None and isinstance(sample.get("score"), Mapping):
        scores = {log.scorer: sample["score"]}  # logs of 2024
    found: dict[str, Metric] = {}
    for name, score in (scores or {}).items():
        if not isinstance(score, Mapping):
            continue
        for part, value in _parts(name, score.get("value")):
            found[part] = value
        answer = score.get("answer")
        if isinstance(answer, str) and len(answer) <= _LONG:  # some scorers take the whole response for the answer
            found[f"{name}.answer"] = answer
    return found


def _parts(name: str, value: Any) -> Iterator[tuple[str, Metric]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _parts(f"{name}.{key}", inner)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _parts(f"{name}[{at}]", inner)
    elif isinstance(value, str):
        mark = _MARKS.get(value, _MARKS.get(value.lower()))
        yield name, (as_number(value) if mark is None else mark, value)
    else:
        yield name, value if isinstance(value, bool) else as_number(value)


_NOT_IN_ROWS = frozenset({"attachments", "events", "events_data", "store", "timelines", "messages"})


def _row(sample: Mapping[str, Any], turns: int) -> dict[str, Any]:
    """Return the sample without its transcript, and without the messages where the record has them all."""
    left_out = _NOT_IN_ROWS - ({"messages"} if turns > 1 else set())
    row = {name: value for name, value in sample.items() if name not in left_out and value not in (None, [], {})}
    if isinstance(row.get("error"), Mapping):
        row["error"] = json_text(row["error"].get("message"))[:_MOST_OF_A_MESSAGE]
    if "error_retries" in row:
        row["error_retries"] = len(row["error_retries"])
    return row
