"""Samples of lm-evaluation-harness (``--log_samples``): the repeats of a document's request are its runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dsqa.errors import SourceError
from dsqa.importing.files import bare_name, head, json_lines, open_source, parse_json
from dsqa.importing.readers.chat import as_number, as_text, chat_messages, condition_parameters, json_text
from dsqa.importing.runs import ImportReport, Metric, ReadOptions, SourceRun

__all__ = ["READER", "LmEvalReader"]

_NAME = re.compile(r"samples_(?P<task>.+?)(?:_(?P<date>\d{4}-\d\d-\d\dT[\d.\-]+))?\.jsonl?")
_IDS = ("id", "question_id", "qid", "task_id", "sample_id", "uid")
_TEXTS = ("question", "problem", "prompt", "input", "query", "text")
_LONG = 200


@dataclass(slots=True)
class _About:
    """What a results file says of the samples beside it."""

    model: str | None = None
    endpoint: str | None = None
    tasks: Mapping[str, Any] = field(default_factory=dict)
    prompted: str | None = None


@dataclass(slots=True)
class _Filters:
    """What the lines of a document say under all filters: each filter has a line of its own, far apart."""

    names: list[str] = field(default_factory=list)
    marks: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    """Document and filter, but the first filter → its metrics, and what it made of the responses."""


class LmEvalReader:
    """See `dsqa.importing.runs.Reader`."""

    name = "lm-eval"
    title = "samples of lm-evaluation-harness (--log_samples)"

    def detect(self, path: Path) -> float:
        """Look for what every sample has; the results file beside it counts too."""
        begins = head(path, 1 << 18)
        if all(name in begins for name in (b'"doc_id"', b'"resps"', b'"arguments"')):
            return 0.95
        return 0.9 if _is_results(path) else 0.0

    def read(self, paths: Sequence[Path], options: ReadOptions, report: ImportReport) -> Iterator[SourceRun]:
        """Yield the responses of the samples files.

        Raises
        ------
        SourceError
            A file holds no samples, or nothing says which model was asked.
        """
        results = [path for path in paths if _is_results(path)]
        samples = [path for path in paths if path not in results]
        if not samples:
            hint = "name the samples_*.jsonl beside it, which --log_samples writes"
            raise SourceError("holds results without responses", path=results[0], hint=hint)
        several = len({_task(path) for path in samples}) > 1
        _say(report)
        for path in samples:
            with report.passing_over(path):
                yield from _samples(path, results, several, options, report)


def _samples(
    path: Path, results: Sequence[Path], several: bool, options: ReadOptions, report: ImportReport
) -> Iterator[SourceRun]:
    about = _about(path, results)
    model = about.model or options.model
    if not model:
        hint = "name the results_*.json that was written beside it, or say it: --model NAME"
        raise SourceError("does not say which model was asked", path=path, hint=hint)
    filters = _filters(path)
    prefix = f"{_task(path)}/" if several else ""
    for number, row in json_lines(path, report):
        filtered = str(row.get("filter", "none"))
        if not isinstance(row.get("resps"), list) or "doc_id" not in row:
            report.skip(path, number, "is no sample of lm-evaluation-harness: it has no doc_id or no resps")
        elif filtered == filters.names[0]:
            with report.row(path, number):
                yield from _runs(row, f"{path}:{number}", prefix, model, about, filters, options, report)


READER = LmEvalReader()


def _say(report: ImportReport) -> None:
    for name, to in (
        ("doc_id, or the document's own id", "question"),
        ("resps", "text; the repeats are numbered in their order"),
        ("arguments", "messages, temperature and request parameters"),
        ("target", "ground truth"),
        ("model_args of the results file", "model"),
        ("metrics", "source metrics, as metric,filter"),
    ):
        report.map(name, to)
    report.leave_out("tokens, seconds, finish reason", "lm-evaluation-harness does not record them", 0)


def _is_results(path: Path) -> bool:
    begins = head(path)
    # promptfoo calls its results so as well.
    named = begins.lstrip()[:1] == b"{" and bare_name(path).startswith("results")
    return named and b'"results"' in begins and b'"vars"' not in begins


def _task(path: Path) -> str:
    match = _NAME.fullmatch(bare_name(path))
    return match["task"] if match else path.stem


def _about(path: Path, results: Sequence[Path]) -> _About:
    """Return what the results file of the same run says: the one with the same date, in the same folder at best."""
    match = _NAME.fullmatch(bare_name(path))
    date = match["date"] if match else None
    beside = path.parent / f"results_{date}.json"
    same = [found for found in results if date is not None and bare_name(found) == beside.name]
    chosen = beside if date is not None and beside.is_file() else same[0] if same else None
    if chosen is None and len(results) == 1:
        chosen = results[0]
    if chosen is None:
        return _About()
    try:
        with open_source(chosen) as stream:
            said = parse_json(stream.read())
    except ValueError as error:
        raise SourceError(str(error), path=chosen) from None
    config = said.get("config") or {}
    arguments = config.get("model_args")
    if isinstance(arguments, str):
        arguments = dict(part.split("=", 1) for part in arguments.split(",") if "=" in part)
    named = (arguments or {}).get("model") or (arguments or {}).get("pretrained") or said.get("model_name")
    return _About(
        model=str(named) if named else None,
        endpoint=str(config["model"]) if config.get("model") else None,
        tasks=said.get("configs") or {},
        prompted=str(said["system_instruction"]) if said.get("system_instruction") else None,
    )


def _filters(path: Path) -> _Filters:
    found = _Filters()
    for _, row in json_lines(path, ImportReport(skip_bad=True)):
        name = str(row.get("filter", "none"))
        if name not in found.names:
            found.names.append(name)
        if name != found.names[0]:
            found.marks[str(row.get("doc_id")), name] = _marks(row)
    if not found.names:
        raise SourceError("holds no samples", path=path)
    return found


def _marks(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line's metrics, and what its filter made of the responses if that is short: it may be all of them."""
    marks = {metric: row.get(metric) for metric in row.get("metrics") or () if isinstance(metric, str)}
    filtered = row.get("filtered_resps")
    return {"metrics": marks, "filtered": filtered if len(json.dumps(filtered)) <= _LONG * 10 else None}


def _runs(
    row: Mapping[str, Any],
    where: str,
    prefix: str,
    model: str,
    about: _About,
    filters: _Filters,
    options: ReadOptions,
    report: ImportReport,
) -> Iterator[SourceRun]:
    texts = row["resps"][0] if row["resps"] and isinstance(row["resps"][0], list) else row["resps"]
    if not texts or not all(isinstance(text, str) for text in texts):
        hint = "only tasks that generate text have responses whose reliability can be measured"
        raise SourceError(
            "holds log-likelihoods of given answers, not responses", path=where.rpartition(":")[0], hint=hint
        )
    doc = row["doc"] if isinstance(row.get("doc"), Mapping) else {}
    prompt, given = _arguments(row.get("arguments"))
    temperature, request = condition_parameters(given)
    if temperature is None:
        # Greedy decoding, which the harness asks for as temperature 0.
        temperature = 0.0 if given.get("do_sample") is False else options.temperature
    if about.prompted:
        request["system"] = about.prompted
    messages = _messages(prompt, report)
    own = next((str(doc[name]) for name in _IDS if isinstance(doc.get(name), str | int)), str(row["doc_id"]))
    marks = {filters.names[0]: _marks(row)}
    marks |= {name: filters.marks.get((str(row["doc_id"]), name), {}) for name in filters.names[1:]}
    task = about.tasks.get(row.get("task") or _task(Path(where.rpartition(":")[0]))) or {}
    per_run, whole = _metrics(marks, len(texts), _first_only(task))
    for name in whole:
        report.leave_out(name, "one value for all runs of a question; it stays in the original rows")
    target = row.get("target")
    for number, text in enumerate(texts):
        yield SourceRun(
            question=f"{prefix}{own}",
            endpoint=about.endpoint,
            model=model,
            temperature=temperature,
            request=request,
            run=number,
            where=where,
            text=text,
            messages=messages,
            question_text=_question_text(doc, messages),
            category=_word(doc, "category"),
            level=_word(doc, "level", "difficulty"),
            truth=json_text(target) if target not in (None, "", []) else None,
            metrics=per_run[number],
            row=_row(row, number, text, marks),
        )
    report.first_run = 0


def _arguments(given: Any) -> tuple[Any, Mapping[str, Any]]:
    """Return the prompt and the generation arguments, in the layouts of several versions."""
    if isinstance(given, Mapping) and given:
        given = list(next(iter(given.values())).values())
    elif isinstance(given, list) and given and isinstance(given[0], list):
        given = given[0]
    if not isinstance(given, list) or not given:
        return None, {}
    prompt = given[0][0] if isinstance(given[0], list) and given[0] else given[0]
    found = next((value for value in given[1:] if isinstance(value, Mapping)), {})
    return prompt, found


def _messages(prompt: Any, report: ImportReport) -> list[dict[str, Any]] | None:
    if not isinstance(prompt, str):
        return None
    if prompt.lstrip().startswith("["):
        try:
            given = json.loads(prompt)
        except ValueError:
            given = None
        if isinstance(given, list) and given and all(isinstance(m, dict) and "role" in m for m in given):
            return chat_messages([{k: v for k, v in m.items() if k != "type"} for m in given], report)
    return [{"role": "user", "content": prompt}]


def _question_text(doc: Mapping[str, Any], messages: Sequence[Mapping[str, Any]] | None) -> str | None:
    text = next((doc[name] for name in _TEXTS if isinstance(doc.get(name), str) and doc[name].strip()), None)
    if text is not None or not messages:
        return text
    # Examples may come before it as messages of their own.
    return as_text(messages[-1].get("content")) or None


def _word(doc: Mapping[str, Any], *names: str) -> str | None:
    return next((str(doc[name]) for name in names if isinstance(doc.get(name), str | int)), None)


def _first_only(task: Mapping[str, Any]) -> set[str]:
    """Return the filters that keep the first response and pass over the others."""
    found = set() if task.get("filter_list") else {"none"}
    for each in task.get("filter_list") or ():
        functions = [step.get("function") for step in each.get("filter") or ()]
        if "take_first" in functions and "majority_vote" not in functions:
            found.add(str(each.get("name")))
    return found


def _metrics(
    marks: Mapping[str, Mapping[str, Any]], count: int, first_only: set[str]
) -> tuple[list[dict[str, Metric]], list[str]]:
    """Return the metrics of each run, and the names of those that are of all runs together."""
    each: list[dict[str, Metric]] = [{} for _ in range(count)]
    whole: list[str] = []
    for name, found in marks.items():
        tail = "" if name == "none" and len(marks) == 1 else f",{name}"
        for metric, value in (found.get("metrics") or {}).items():
            mark: Metric = value if isinstance(value, bool) else as_number(value)
            if count == 1 or name in first_only:
                each[0][f"{metric}{tail}"] = mark if mark is not None or value is None else json_text(value)
            else:
                whole.append(f"{metric}{tail}")
        for number, text in enumerate(_by_run(found.get("filtered"), count, name in first_only)):
            if isinstance(text, str) and len(text) <= _LONG:
                each[number][f"filtered{tail}"] = text
    return each, whole


def _by_run(filtered: Any, count: int, first_only: bool) -> list[Any]:
    """Return what a filter took out of each run's response, where it did so run by run."""
    if not isinstance(filtered, list) or not filtered:
        return []
    inside = filtered[0] if isinstance(filtered[0], list) else filtered
    return inside if len(inside) == count or (first_only and len(inside) == 1) else []


def _row(row: Mapping[str, Any], number: int, text: str, marks: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sample with this run's response alone, and the marks of all filters."""
    left_out = {"resps", "filtered_resps", "filter", "metrics", *(row.get("metrics") or ())}
    kept = {name: value for name, value in row.items() if name not in left_out}
    return {**kept, "repeat": number, "resps": [[text]], "filters": marks}
