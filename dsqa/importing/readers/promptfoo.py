"""Results of promptfoo, JSON or JSON Lines: the same variables asked again (``--repeat``) are runs of a question."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dsqa.errors import SourceError
from dsqa.importing.files import head, json_lines, open_source
from dsqa.importing.readers.chat import as_number, chat_messages, json_text
from dsqa.importing.readers.json_stream import json_members
from dsqa.importing.readers.promptfoo_providers import Provider, Providers, plain_providers
from dsqa.importing.runs import ImportReport, Metric, ReadOptions, SourceRun

__all__ = ["READER", "PromptfooReader"]

_IDS = ("id", "question_id", "qid", "task_id", "sample_id")
_TEXTS = ("question", "prompt", "query", "input", "problem", "text", "message")
_TRUTHS = ("truth", "ground_truth", "answer", "expected", "expected_answer", "target", "reference", "solution")
_RESULTS = (("results", "results"), ("results",))
_ERROR = 2
_LONG = 80


@dataclass(slots=True)
class _Facts:
    """What must be known of all results before the first is handed on."""

    providers: Providers = field(default_factory=Providers)
    prompts: set[str] = field(default_factory=set)
    first: dict[str, int] = field(default_factory=dict)
    """Variables, as one text → the smallest number of a test with them."""
    described: dict[str, set[str]] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    results: int = 0

    def see(self, result: Mapping[str, Any]) -> None:
        self.results += 1
        self.providers.see(result)
        self.prompts.add(_prompt_name(result))
        key = _key(result)
        number = result.get("testIdx")
        self.first[key] = min(self.first.get(key, 1 << 60), number if isinstance(number, int) else len(self.first))
        if (described := _described(result)) is not None:
            self.described.setdefault(described, set()).add(key)

    def name_questions(self) -> None:
        """Number the questions in the order of the tests."""
        for number, key in enumerate(sorted(self.first, key=self.first.__getitem__), start=1):
            self.ids[key] = f"q{number}"


class PromptfooReader:
    """See `dsqa.importing.runs.Reader`."""

    name = "promptfoo"
    title = "results of promptfoo (JSON, JSON Lines)"

    def detect(self, path: Path) -> float:
        """Look for the members that promptfoo writes first; its configuration counts too, which is read beside."""
        begins = head(path)
        if path.suffix.lower() in {".yaml", ".yml"}:
            return 0.6 if b"providers:" in begins and b"prompts:" in begins else 0.0
        if b'"promptIdx"' in begins and b'"testIdx"' in begins:
            return 0.95
        if b'"evalId"' in begins[:400] or (b'"testPassCount"' in begins and b'"prompts"' in begins):
            return 0.95
        if b'"namedScores"' in begins and b'"latencyMs"' in begins:
            return 0.85
        # Versions 1 and 2 begin with the results themselves.
        old = b'"results"' in begins[:4096] and b'"vars"' in begins and b'"success"' in begins
        return 0.85 if old and (b'"display"' in begins or b'"raw"' in begins) else 0.0

    def read(self, paths: Sequence[Path], options: ReadOptions, report: ImportReport) -> Iterator[SourceRun]:
        """Yield the results of the files; a configuration among them says what the providers were asked with.

        Raises
        ------
        SourceError
            A file is no result of promptfoo, or a broken one.
        """
        configurations = [path for path in paths if path.suffix.lower() in {".yaml", ".yml"}]
        files = [path for path in paths if path not in configurations]
        beside = [provider for path in configurations for provider in plain_providers(path)]
        facts: list[_Facts] = []
        ids: dict[str, str] = {}
        for path in files:
            known = _facts(path, beside)
            known.name_questions()
            for key in known.ids:  # one number for the same variables in several files
                ids.setdefault(key, f"q{len(ids) + 1}")
            facts.append(known)
        if not files:
            raise SourceError("is a configuration without results", path=paths[0], hint="name the results as well")
        several = len({prompt for known in facts for prompt in known.prompts}) > 1
        _say(report)
        for path, known in zip(files, facts, strict=True):
            known.ids = ids
            for where, result in _results(path, report):
                with report.row(path, None):
                    yield _run(result, where, known, several, options, report)


READER = PromptfooReader()


def _say(report: ImportReport) -> None:
    for name, to in (
        ("vars", "question: its id, text and ground truth by their names"),
        ("provider", "endpoint and model, with temperature and parameters from the configuration"),
        ("prompt", "messages; which template, where there are several, is part of the condition"),
        ("response.output, response.error", "text, error"),
        ("tokenUsage, latencyMs", "tokens, seconds"),
        ("success, score, namedScores, cost", "source metrics"),
    ):
        report.map(name, to)


def _facts(path: Path, beside: Sequence[Provider]) -> _Facts:
    facts = _Facts()
    if _is_lines(path):
        for _, result in json_lines(path, ImportReport(skip_bad=True)):
            facts.see(result)
        facts.providers.settle(beside, [])
        return facts
    held: dict[str, Any] = {}
    try:
        with open_source(path) as stream:
            for place, value in json_members(stream, _RESULTS):
                if place in _RESULTS and isinstance(value, dict):
                    facts.see(value)
                elif place in {("config",), ("prompts",), ("results", "prompts")}:
                    held[place[-1]] = value
    except ValueError as error:
        raise SourceError(str(error), path=path) from None
    if not facts.results:
        raise SourceError("holds no results", path=path, hint="promptfoo eval -o results.json writes them")
    config = held.get("config")
    listed = config.get("providers") if isinstance(config, Mapping) else None
    facts.providers.settle([*Provider.list_of(listed), *beside], held.get("prompts") or [])
    return facts


def _is_lines(path: Path) -> bool:
    """Tell JSON Lines from one object, which promptfoo writes over many lines, or begins with its own members."""
    first, _, rest = head(path).partition(b"\n")
    return b'"testIdx"' in first.split(b'"results"')[0] or (bool(rest.strip()) and first.strip().endswith(b"}"))


def _results(path: Path, report: ImportReport) -> Iterator[tuple[str, dict[str, Any]]]:
    if _is_lines(path):
        for number, result in json_lines(path, report):
            if "vars" in result or "prompt" in result:
                yield f"{path}:{number}", result
            else:
                report.skip(path, number, "is no result of promptfoo: it has neither vars nor a prompt")
        return
    number = 0
    with open_source(path) as stream:
        for place, value in json_members(stream, _RESULTS):
            if place in _RESULTS and isinstance(value, dict):
                number += 1
                yield f"{path}:result {number}", value


def _run(
    result: Mapping[str, Any], where: str, facts: _Facts, several: bool, options: ReadOptions, report: ImportReport
) -> SourceRun:
    provider = facts.providers.of(result)
    request = dict(provider.request)
    if several:
        request["prompt"] = _short(_prompt_name(result))
    response: Mapping[str, Any] = result["response"] if isinstance(result.get("response"), Mapping) else {}
    variables = result.get("vars") or {}
    test = result.get("testCase") or {}
    metadata = {**(test.get("metadata") or {}), **(result.get("metadata") or {})}
    output = response.get("output")
    text = "" if output is None else json_text(output)
    if output is not None and not isinstance(output, str):
        report.note("outputs are no text but data, and are kept as JSON")
    cached = bool(response.get("cached"))
    if cached:
        report.note("results came from promptfoo's cache, so they say nothing new: repeat with --no-cache")
    milliseconds = as_number(response.get("latencyMs") if result.get("latencyMs") is None else result["latencyMs"])
    return SourceRun(
        question=_question_id(result, facts),
        endpoint=provider.endpoint,
        model=provider.model or options.model or "",
        temperature=options.temperature if provider.temperature is None else provider.temperature,
        request=request,
        where=where,
        text=text,
        refusal=text if response.get("isRefusal") else None,
        finish_reason=response.get("finishReason"),
        usage=_usage(response.get("tokenUsage") or result.get("tokenUsage")),
        seconds=None if cached or milliseconds is None else milliseconds / 1000,
        messages=_messages((result.get("prompt") or {}).get("raw"), report),
        question_text=_question_text(variables, result, several),
        category=_word(metadata, variables, "category"),
        level=_word(metadata, variables, "level", "difficulty"),
        truth=_truth(variables, test),
        metrics=_metrics(result),
        row=_row(result),
        **_outcome(result, response, text),
    )


def _outcome(result: Mapping[str, Any], response: Mapping[str, Any], text: str) -> dict[str, Any]:
    said = response.get("error")
    if said is None and (result.get("failureReason") == _ERROR or not response):
        said = result.get("error") or "no response"
    if said is None or text.strip():
        return {}
    http = (response.get("metadata") or {}).get("http") or {}
    status = http.get("status")
    return {"status": "failed", "error": {"class": "promptfoo", "message": json_text(said), "status": status}}


def _key(result: Mapping[str, Any]) -> str:
    variables = result.get("vars") or (result.get("prompt") or {}).get("raw")
    return hashlib.sha256(json.dumps(variables, sort_keys=True).encode()).hexdigest()[:24]


def _described(result: Mapping[str, Any]) -> str | None:
    variables = result.get("vars") or {}
    named = next((variables[name] for name in _IDS if isinstance(variables.get(name), str | int)), None)
    described = (result.get("testCase") or {}).get("description") if named is None else named
    return str(described).strip() if described not in {None, ""} else None


def _question_id(result: Mapping[str, Any], facts: _Facts) -> str:
    """Return the id among the variables, or the test's description, where it names one question; else a number."""
    described = _described(result)
    if described is not None and len(facts.described[described]) == 1:
        return described
    return facts.ids[_key(result)]


def _prompt_name(result: Mapping[str, Any]) -> str:
    prompt = result.get("prompt") or {}
    told = re.sub(r"^\[[^\]\s]+:[^\]\s]+\] ", "", str(prompt.get("display") or ""))
    return str(prompt.get("label") or result.get("promptId") or told)


def _short(text: str) -> str:
    if len(text) <= _LONG:
        return text
    return f"{text[: _LONG // 2]}… #{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}"


def _messages(raw: Any, report: ImportReport) -> list[dict[str, Any]] | None:
    """Return what was sent: a prompt is a text, or a list of messages as JSON."""
    if not isinstance(raw, str):
        return chat_messages(raw, report) if isinstance(raw, list) else None
    if raw.lstrip().startswith("["):
        try:
            given = json.loads(raw)
        except ValueError:
            given = None
        if isinstance(given, list) and given and all(isinstance(m, dict) and "role" in m for m in given):
            return chat_messages(given, report)
    return [{"role": "user", "content": raw}]


def _question_text(variables: Mapping[str, Any], result: Mapping[str, Any], several: bool) -> str | None:
    texts = [name for name in _TEXTS if isinstance(variables.get(name), str)]
    if texts:
        return str(variables[texts[0]])
    raw = (result.get("prompt") or {}).get("raw")
    if isinstance(raw, str) and not several:
        return raw
    return "\n".join(f"{name}: {json_text(value)}" for name, value in variables.items()) or None


def _word(metadata: Mapping[str, Any], variables: Mapping[str, Any], *names: str) -> str | None:
    found = (place[name] for name in names for place in (metadata, variables) if name in place)
    return next((str(value) for value in found if isinstance(value, str | int)), None)


def _truth(variables: Mapping[str, Any], test: Mapping[str, Any]) -> str | None:
    for name in _TRUTHS:
        if isinstance(variables.get(name), str | int | float) and not isinstance(variables[name], bool):
            return str(variables[name])
    for check in test.get("assert") or ():
        if isinstance(check, Mapping) and check.get("type") == "equals" and isinstance(check.get("value"), str):
            return None if "{{" in check["value"] else str(check["value"])
    return None


def _usage(given: Any) -> dict[str, Any] | None:
    if not isinstance(given, Mapping) or not given.get("total"):
        return None
    usage: dict[str, Any] = {"total_tokens": given["total"]}
    if given.get("prompt") or given.get("completion"):
        usage |= {"prompt_tokens": given.get("prompt") or 0, "completion_tokens": given.get("completion") or 0}
    details = given.get("completionDetails") or {}
    if details.get("cacheReadInputTokens") is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": details["cacheReadInputTokens"]}
    if details.get("reasoning") is not None:
        usage["completion_tokens_details"] = {"reasoning_tokens": details["reasoning"]}
    return usage


def _metrics(result: Mapping[str, Any]) -> dict[str, Metric]:
    if result.get("failureReason") == _ERROR:
        return {}  # its marks say only that no answer came
    found: dict[str, Metric] = {}
    if isinstance(result.get("success"), bool):
        found["success"] = result["success"]
    if result.get("score") is not None:
        found["score"] = as_number(result["score"])
    for name, value in (result.get("namedScores") or {}).items():
        found[f"namedScores.{name}" if name in {"success", "score", "cost"} else name] = as_number(value)
    if result.get("cost") is not None:
        found["cost"] = as_number(result["cost"])
    return found


def _row(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result without what stands in it twice and the headers of the answer."""
    row = {
        name: value for name, value in result.items() if name not in {"vars", "metadata"} or "testCase" not in result
    }
    if isinstance(row.get("response"), Mapping):
        row["response"] = {name: value for name, value in row["response"].items() if name != "metadata"}
    return row
