"""`dsqa show`: one run from its response to what its code gave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dsqa.cli.studies import open_recorded, shown
from dsqa.errors import StudyError
from dsqa.foreign import visible

if TYPE_CHECKING:
    from dsqa.execution import ExecutionResult
    from dsqa.records import Record
    from dsqa.study.folder import StudyFolder

__all__ = ["show"]

_MANY = 12


@click.command()
@click.argument("study", type=click.Path(path_type=Path))
@click.option("--question", "-q", help="The question's id. [default: the first]")
@click.option("--condition", "-c", help="The condition's id, or a part of it. [default: the first that has the run]")
@click.option("--run", "-r", "run_number", type=click.IntRange(0), default=0, show_default=True, help="The run.")
@click.option("--json", "as_json", is_flag=True, help="Print it as one JSON object.")
def show(study: Path, question: str | None, condition: str | None, run_number: int, as_json: bool) -> None:
    """Show one run of STUDY (a folder under runs/, or its study.yaml).

    The response; which of its code was run, what was left out and why; how running it ended; what it printed,
    showed, drew and wrote, with the files' paths.
    """
    folder = open_recorded(study)
    record = _find(folder, question, condition, run_number)
    data = _collect(folder, record)
    click.echo(json.dumps(data) if as_json else visible(_text(data).replace("\r\n", "\n")))


def _find(folder: StudyFolder, question: str | None, condition: str | None, run: int) -> Record:
    from dsqa.records import read_records

    questions: dict[str, None] = {}
    conditions: dict[str, None] = {}
    found: Record | None = None
    for record in read_records(folder.records_path):
        questions.setdefault(record.question_id)
        if question is not None and record.question_id != question:
            continue
        conditions.setdefault(record.condition_id)
        wanted = record.run == run and (condition is None or condition in record.condition_id)
        if wanted and found is None:
            found = record
    if found is not None:
        return found
    if question is not None and question not in questions:
        raise StudyError(f"no run of the question '{question}'", path=folder.records_path, hint=_some(questions))
    if condition is not None and not any(condition in known for known in conditions):
        raise StudyError(
            f"no run under the condition '{condition}'", path=folder.records_path, hint=_some(conditions)
        )
    raise StudyError(f"no run {run} of that", path=folder.records_path, hint="runs count from 0")


def _some(names: dict[str, None]) -> str:
    listed = list(names)[:_MANY]
    more = f", and {len(names) - _MANY} more" if len(names) > _MANY else ""
    return f"there are: {', '.join(listed)}{more}" if listed else "nothing has been recorded yet"


def _collect(folder: StudyFolder, record: Record) -> dict[str, Any]:
    from dsqa.execution import extract
    from dsqa.metrics import strip_reasoning

    extraction = extract(strip_reasoning(record.text)[0])
    data: dict[str, Any] = {
        "question": record.question_id,
        "condition": record.condition_id,
        "model": record.condition.get("model"),
        "temperature": record.condition.get("temperature"),
        "run": record.run,
        "status": record.status,
        "response": record.text,
        "blocks": [
            {"lines": [b.first_line, b.first_line + b.text.count("\n")], "tag": b.tag, "taken": b.taken, "why": b.why}
            for b in extraction.blocks
        ],
        "notes": list(extraction.notes),
        "language": extraction.language,
        "code": extraction.code,
    }
    if record.error:
        data["error"] = record.error
    if folder.outcomes_path.is_file():
        data |= _outcome(folder, record)
    return data


def _outcome(folder: StudyFolder, record: Record) -> dict[str, Any]:
    import pandas as pd

    from dsqa.outcomes import ExecutionCache, load_outcomes

    table = load_outcomes(folder.outcomes_path)
    same = table["question_id"].eq(record.question_id) & table["condition_id"].eq(record.condition_id)
    rows = table[same & table["run"].eq(record.run) & table["prompt_hash"].eq(record.prompt_hash)]
    if rows.empty:
        return {}
    row = rows.iloc[0]
    marks = {}
    for name in ("completion", "accuracy", "executability", "score", "execution", "execution_detail", "isolation",
                 "answer", "answer_source", "answer_status"):  # fmt: skip
        value = row[name]
        marks[name] = None if pd.isna(value) else value.item() if hasattr(value, "item") else value
    cache = ExecutionCache(folder.executions_path, read_only=True)
    key = row["execution_key"]
    found = None if pd.isna(key) or key not in cache else cache[str(key)]
    return {"marks": marks, **({} if found is None else _execution(found, cache))}


def _execution(result: ExecutionResult, cache: Any) -> dict[str, Any]:
    artefacts = []
    for artefact in result.artefacts:
        paths = {part.media: cache.artefacts.path(part) for part in artefact.parts}
        files = {media: shown(path) for media, path in paths.items() if path is not None}
        artefacts.append({"kind": artefact.kind, "name": artefact.name, "facts": artefact.facts, "files": files})
    return {
        "stdout": result.stdout,
        "stderr": result.stderr,
        "value": result.value,
        "cpu_seconds": result.cpu_seconds,
        "truncated": result.truncated,
        "near_limit": result.near_limit,
        "artefacts": artefacts,
        "artefact_notes": list(result.artefact_notes),
    }


def _text(data: dict[str, Any]) -> str:
    model = f"{data['model']}, temperature {data['temperature']}"
    parts = [f"{data['question']}, run {data['run']}: {model} ({data['condition']}); {data['status']}"]
    if "error" in data:
        parts.append(_section("Error", f"{data['error'].get('class')}: {data['error'].get('message')}"))
    parts.append(_section("Response", data["response"] or "(none)"))
    parts.append(_section("Code", _blocks(data)))
    if data["code"]:
        parts.append(_section("What was run", data["code"]))
    if "marks" not in data:
        parts.append(_section("Outcome", "not marked yet: dsqa score"))
        return "\n\n".join(parts)
    parts.append(_section("Outcome", _marks(data)))
    for name, title in (("stdout", "Printed"), ("stderr", "Standard error"), ("value", "Last value")):
        if data.get(name):
            parts.append(_section(title, data[name]))
    if data.get("artefacts") or data.get("artefact_notes"):
        parts.append(_section("Drawn, shown, written", _artefacts(data)))
    return "\n\n".join(parts)


def _section(title: str, body: str) -> str:
    return f"── {title} " + "─" * max(0, 76 - len(title)) + "\n" + body.rstrip("\n")


def _blocks(data: dict[str, Any]) -> str:
    lines = []
    for block in data["blocks"]:
        first, last = block["lines"]
        tag = f" ({block['tag']})" if block["tag"] else ""
        # Why it was left out says so itself.
        lines.append(f"lines {first}-{last}{tag}: {'taken: ' if block['taken'] else ''}{block['why']}")
    said = {f"line {block['lines'][0]}: {block['why']}" for block in data["blocks"]}
    lines += [note for note in data["notes"] if note not in said]
    return "\n".join(lines) or "none in the response"


def _marks(data: dict[str, Any]) -> str:
    marks = data["marks"]
    detail = f": {marks['execution_detail']}" if marks["execution_detail"] else ""
    lines = [f"{marks['execution']}{detail}"]
    if "cpu_seconds" in data:
        near = "; near a limit" if data["near_limit"] else ""
        lines.append(f"{data['cpu_seconds']:.2f} CPU seconds{near}; isolation: {marks['isolation']}")
    lines.append(
        f"CR {marks['completion']}, RA {marks['accuracy']}, CE {marks['executability']}, score {marks['score']:g}; "
        f"answer {marks['answer'] or 'none'} ({marks['answer_status']})"
    )
    return "\n".join(lines)


def _artefacts(data: dict[str, Any]) -> str:
    lines = []
    for artefact in data["artefacts"]:
        facts = artefact["facts"]
        about = {
            "figure": lambda f: ", ".join(filter(None, [f.get("title"), f"{f.get('axes')} axes"])),
            "table": lambda f: f"{f.get('type')} {' × '.join(map(str, f.get('shape') or []))}",
            "file": lambda f: f"{f.get('size')} bytes" + (", a data file changed" if f.get("changed") else ""),
            "image": lambda f: str(f.get("source")),
        }[artefact["kind"]](facts)
        kind = "file " if artefact["kind"] == "file" else ""
        lines.append(f"{kind}{artefact['name']} ({about})")
        lines += [f"  {path}" for path in artefact["files"].values()] or ["  not kept"]
    return "\n".join([*lines, *data["artefact_notes"]])
