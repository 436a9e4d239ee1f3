"""OpenAI's Batch API: files of requests and of results, joined by their custom ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dsqa.endpoints import Reply
from dsqa.endpoints.dialect import DIALECTS
from dsqa.endpoints.reply import MalformedReplyError
from dsqa.errors import RecordError, SourceError
from dsqa.importing.files import first_object
from dsqa.importing.readers.asked import Asked, Questions, asked_of, said_run
from dsqa.importing.readers.chat import as_number, chat_messages, json_text
from dsqa.importing.runs import ImportReport, ReadOptions, SourceRun

if TYPE_CHECKING:
    from dsqa.sampling.batch.lines import BatchResult, RequestFile

__all__ = ["READER", "BatchReader", "run_of"]

_HTTP_OK = 200


class BatchReader:
    """See `dsqa.importing.runs.Reader`."""

    name = "openai-batch"
    title = "requests and results of OpenAI's Batch API (JSON Lines)"

    def detect(self, path: Path) -> float:
        """Look at the first line: a request has a body, a result a response or an error, and each a custom id."""
        return 0.95 if _kind(path) else 0.0

    def read(self, paths: Sequence[Path], options: ReadOptions, report: ImportReport) -> Iterator[SourceRun]:
        """Yield the results; the files of requests say what was asked.

        Raises
        ------
        SourceError
            A file is neither, or there are no results.
        """
        kinds = {path: _kind(path) for path in paths}
        odd = [path for path, kind in kinds.items() if kind is None]
        if odd:
            raise SourceError("has neither requests nor results of a batch", path=odd[0])
        asked = [path for path, kind in kinds.items() if kind == "requests"]
        answered = [path for path, kind in kinds.items() if kind == "results"]
        if not answered:
            hint = "name the output file as well, which the batch's output_file_id names"
            raise SourceError("holds requests without results", path=asked[0], hint=hint)
        _say(report)
        try:
            with ExitStack() as stack:
                from dsqa.sampling.batch.lines import RequestFile, read_results  # noqa: PLC0415  (brings the client)

                requests = _Requests([stack.enter_context(RequestFile(path)) for path in asked], asked)
                alone = _Alone(answered, requests)
                seen: set[str] = set()
                for path in answered:
                    for result in read_results(path, partial(_pass_over, report)):
                        seen.add(result.custom_id)
                        with report.row(path, None):
                            yield from _runs(result, requests, alone, path, options, report)
        except RecordError as error:
            raise SourceError(error.message, path=error.path, line=error.line) from None
        if missing := requests.count - len(seen & requests.names):
            report.note("requests have no result", missing)


READER = BatchReader()


class _Requests:
    """The requests of all files, by their custom ids."""

    def __init__(self, files: Sequence[RequestFile], paths: Sequence[Path]) -> None:
        self._files = files
        self.questions = Questions()
        self.names: set[str] = set()
        self.several_choices = False
        for path, file in zip(paths, files, strict=True):
            lines = 0
            from dsqa.sampling.batch.lines import read_requests  # noqa: PLC0415

            for lines, request in enumerate(read_requests(path), start=1):  # noqa: B007  (it is counted)
                self.questions.see(request.custom_id, asked_of(request.body))
                self.several_choices |= (request.body.get("n") or 1) != 1
                if request.custom_id in self.names and self.body(request.custom_id) != request.body:
                    hint = "import the files of each batch by themselves"
                    raise SourceError(
                        f"custom_id '{request.custom_id}' stands for two different requests", path=path, hint=hint
                    )
                self.names.add(request.custom_id)
            if lines > len(file):
                raise SourceError("holds several requests under one custom_id", path=path)
        self.count = len(self.names)

    def body(self, custom_id: str) -> dict[str, Any] | None:
        return next((file.body(custom_id) for file in self._files if custom_id in file), None)


class _Alone:
    """The results whose requests are in none of the files.

    Each is of a question of its own, for nothing says that two of them asked the same; but where ids say themselves
    that they number runs (``mean-run-3``) and all with one stem had prompts of the same length, they are its runs.
    """

    def __init__(self, paths: Sequence[Path], requests: _Requests) -> None:
        self._lengths: dict[str, set[int | None]] = {}
        for path in paths:
            from dsqa.sampling.batch.lines import read_results  # noqa: PLC0415

            for result in read_results(path, lambda _: None):
                stem, _ = said_run(result.custom_id)
                if stem is not None and result.custom_id not in requests.names:
                    self._lengths.setdefault(stem, set()).add(_prompt_length(result.body))

    def name(self, custom_id: str) -> tuple[str, int | None]:
        """Return question and run of a result."""
        stem, run = said_run(custom_id)
        lengths = self._lengths.get(stem or "", set()) - {None}
        return (stem, run) if stem is not None and len(lengths) == 1 else (custom_id, None)


def _prompt_length(body: Any) -> int | None:
    usage = body.get("usage") if isinstance(body, Mapping) else None
    found = [usage.get(name) for name in ("prompt_tokens", "input_tokens")] if isinstance(usage, Mapping) else []
    return next((value for value in found if isinstance(value, int)), None)


def _kind(path: Path) -> str | None:
    row = first_object(path)
    if row is None or not isinstance(row.get("custom_id"), str):
        return None
    if isinstance(row.get("body"), dict):
        return "requests"
    return "results" if isinstance(row.get("response"), dict) or isinstance(row.get("error"), dict) else None


def _pass_over(report: ImportReport, bad: RecordError) -> None:
    report.skip(bad.path or Path(), bad.line, bad.message)


def _say(report: ImportReport) -> None:
    for name, to in (
        ("custom_id", "question and run, where it says them"),
        ("body.messages, body.input", "messages; the user's are the question's text"),
        ("body.model, body.temperature", "model and temperature"),
        ("body", "request parameters of the condition"),
        ("response.body", "text, reasoning, refusal, finish reason, tokens"),
    ):
        report.map(name, to)
    report.leave_out("seconds", "a batch does not say how long an answer took", 0)


def _runs(
    result: BatchResult, requests: _Requests, alone: _Alone, path: Path, options: ReadOptions, report: ImportReport
) -> Iterator[SourceRun]:
    if result.status is None:
        code = (result.error or {}).get("code") or "not executed"
        report.leave_out(f"requests that were not executed ({code})", "they are no runs: nothing was asked")
        return
    body = requests.body(result.custom_id)
    if body is None:
        report.note("results have no request in the files, so what was asked is not known (name the input file)")
    asked = asked_of(body or {})
    questions = requests.questions
    if body is None:
        question, run = alone.name(result.custom_id)
    else:
        question, run = questions.name(result.custom_id, asked)
    found = {
        "question": question,
        "run": None if requests.several_choices else run,
        "where": f"{path}:{result.custom_id}",
        "row": {"custom_id": result.custom_id, "status": result.status, "response": result.body},
        "endpoint": "openai",
    }
    yield from run_of(
        body or {}, asked, result.body, result.status, questions.several_systems, options, report, found
    )


def run_of(
    body: Mapping[str, Any],
    asked: Asked,
    response: Any,
    status: int | None,
    with_system: bool,
    options: ReadOptions,
    report: ImportReport,
    found: Mapping[str, Any],
) -> Iterator[SourceRun]:
    """Yield the runs of a request: one, or one for each of its choices.

    Parameters
    ----------
    body, asked
        The request, empty where it is not known.
    response
        The response's body, of either API.
    status
        HTTP status.
    with_system
        Whether the system message is part of the condition.
    options, report
        As a reader has them.
    found
        Fields of the run that are known already.
    """
    said = response if isinstance(response, Mapping) else {}
    temperature = as_number(body.get("temperature"))
    model = str(body.get("model") or said.get("model") or options.model or "")
    request = {**asked.request, "system": asked.system} if with_system and asked.system else asked.request
    common = {
        "model": model,
        "temperature": options.temperature if temperature is None else temperature,
        "request": request,
        "messages": chat_messages(asked.messages, report) or None,
        "question_text": asked.text or None,
        "started_at": _moment(said.get("created") or said.get("created_at")),
        **found,
    }
    outcome = _replies(response, status)
    if isinstance(outcome, str):
        error = {"class": "http" if status not in {None, _HTTP_OK} else "response", "message": outcome}
        yield SourceRun(text="", status="failed", error={**error, "status": status}, **common)
        return
    for reply in outcome:
        yield SourceRun(
            text=reply.text,
            status=reply.status,
            finish_reason=reply.finish_reason,
            usage=reply.usage,
            reasoning=reply.reasoning,
            refusal=reply.refusal,
            response_id=reply.response_id,
            response_model=reply.response_model,
            **common,
        )


def _replies(response: Any, status: int | None) -> tuple[Reply, ...] | str:
    """Return the answers, or why there is none."""
    error = response.get("error") if isinstance(response, Mapping) else None
    if status not in {None, _HTTP_OK} or error:
        message = error.get("message") if isinstance(error, Mapping) else error
        return json_text(message or response or f"HTTP status {status}")
    api = "responses" if isinstance(response, Mapping) and "output" in response else "chat"
    try:
        return DIALECTS[api].read(response, 0.0, {})
    except MalformedReplyError as malformed:
        return str(malformed)


def _moment(seconds: Any) -> str | None:
    number = as_number(seconds)
    if number is None or not 0 < number < 1e11:
        return None
    return datetime.fromtimestamp(number, UTC).isoformat(timespec="milliseconds")
