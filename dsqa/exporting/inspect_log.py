"""Inspect's log format, JSON, schema 2: a log per condition, questions as samples, runs as epochs.

Fields as in `inspect_ai.log.EvalLog`, https://inspect.aisi.org.uk/reference/inspect_ai.log.html. A log is written
run by run, so a study of any size takes little memory.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

import pandas as pd

from dsqa.bank import Bank, Question
from dsqa.exporting.inspect_sample import ABOUT, SCORERS, inspect_sample, inspect_usage, later
from dsqa.records import Record, RunKey, read_records
from dsqa.study.design import Condition, fingerprint
from dsqa.study.folder import StudyDescription, StudyFolder
from dsqa.values import parse_time

__all__ = ["write_inspect_logs"]

SCHEMA = 2

_CONFIG = {
    "max_tokens": "max_tokens", "max_completion_tokens": "max_tokens", "max_output_tokens": "max_tokens",
    "top_p": "top_p", "top_k": "top_k", "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
    "logprobs": "logprobs", "top_logprobs": "top_logprobs", "reasoning_effort": "reasoning_effort",
    "parallel_tool_calls": "parallel_tool_calls",
}  # fmt: skip


def write_inspect_logs(folder: StudyFolder, outcomes: pd.DataFrame | None, out: Path) -> list[Path]:
    """Write a log for each condition that has runs.

    Parameters
    ----------
    folder
        The study.
    outcomes
        Its outcome table; None where it is not marked, and then the logs have no scores.
    out
        An empty folder.

    Returns
    -------
    list of Path
        ``<time>_<study>_<condition>.json``, as Inspect names its own.
    """
    description, bank = folder.describe(), folder.bank()
    questions = {question.id: question for question in bank}
    marks = _marks(outcomes)
    seen = _survey(folder)
    writers = {
        condition.id: _Log(folder, description, bank, condition, seen[condition.id], marks, out)
        for condition in description.conditions
        if condition.id in seen
    }
    try:
        for record in read_records(folder.records_path):
            if record.condition_id in writers:
                log = writers[record.condition_id]
                log.add(record, questions.get(record.question_id), marks.get(record.key, {}))
    finally:
        for log in writers.values():
            log.close()
    return sorted(log.path for log in writers.values())


def _marks(outcomes: pd.DataFrame | None) -> dict[RunKey, dict[str, Any]]:
    if outcomes is None:
        return {}
    wanted = [*SCORERS, *ABOUT, "answer", "execution_detail"]
    keys = outcomes[["question_id", "condition_id", "run", "prompt_hash"]].astype(object).itertuples(index=False)
    table = outcomes[wanted].astype(object)
    rows = table.where(table.notna(), None).to_dict("records")
    return {
        RunKey(str(q), str(c), int(r), str(h)): {str(name): value for name, value in row.items()}
        for (q, c, r, h), row in zip(keys, rows, strict=True)
    }


class _Survey:
    """What a log's head says of all its runs; the runs are read once for it, and again to be written."""

    def __init__(self) -> None:
        self.keys: list[RunKey] = []
        self.failed = 0
        self.times: list[tuple[datetime, float]] = []
        self.usage = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
        self.packages: dict[str, str] = {}

    def add(self, record: Record) -> None:
        self.keys.append(record.key)
        self.failed += record.status == "failed"
        if began := parse_time(record.started_at):
            self.times.append((began, record.seconds or 0.0))
        for name, value in (inspect_usage(record) or {}).items():
            self.usage[name] = self.usage.get(name, 0) + value
        self.packages.update(record.versions)

    @property
    def began(self) -> str | None:
        return min(start for start, _ in self.times).isoformat() if self.times else None

    @property
    def ended(self) -> str | None:
        return max((later(start, seconds) for start, seconds in self.times), default=None)


def _survey(folder: StudyFolder) -> dict[str, _Survey]:
    seen: dict[str, _Survey] = defaultdict(_Survey)
    for record in read_records(folder.records_path):
        seen[record.condition_id].add(record)
    return seen


class _Log:
    """One log being written."""

    def __init__(
        self,
        folder: StudyFolder,
        description: StudyDescription,
        bank: Bank,
        condition: Condition,
        seen: _Survey,
        marks: Mapping[RunKey, Mapping[str, Any]],
        out: Path,
    ) -> None:
        self._condition = condition
        # A source without times: when its runs were recorded here.
        recorded = datetime.fromtimestamp(folder.records_path.stat().st_mtime, UTC).isoformat(timespec="seconds")
        created = seen.began or recorded
        stamp = re.sub(r"[:.]", "-", created[:19])
        study = re.sub(r"[^A-Za-z0-9.-]+", "-", description.name).strip("-") or "study"
        self.path = out / f"{stamp}_{study}_{condition.id}.json"
        self._handle: TextIO = self.path.open("x", encoding="utf-8", errors="replace", newline="\n")
        order = [question.id for question in bank]
        asked = {key.question_id for key in seen.keys}
        ids = [name for name in order if name in asked] + sorted(asked - set(order))
        head = {
            "version": SCHEMA,
            "status": "success",
            "eval": _spec(description, condition, ids, max(key.run for key in seen.keys) + 1, created, seen.packages),
            "plan": {"name": "plan", "steps": [], "config": _config(condition)},
            "results": {
                "total_samples": len(seen.keys),
                "completed_samples": len(seen.keys) - seen.failed,
                "scores": list(_scores(seen.keys, marks)),
            },
            "stats": {
                "started_at": seen.began or "",
                "completed_at": seen.ended or "",
                "model_usage": {condition.model: seen.usage} if seen.usage["total_tokens"] else {},
            },
        }
        text = json.dumps(head, ensure_ascii=False, indent=1)
        self._handle.write(text[: text.rindex("\n}")] + ',\n "samples": [')
        self._first = True

    def add(self, record: Record, question: Question | None, marks: Mapping[str, Any]) -> None:
        self._handle.write("\n" if self._first else ",\n")
        self._first = False
        self._handle.write(json.dumps(inspect_sample(record, question, marks, self._condition), ensure_ascii=False))

    def close(self) -> None:
        self._handle.write("\n ]\n}\n")
        self._handle.close()


def _spec(
    description: StudyDescription,
    condition: Condition,
    ids: list[str],
    epochs: int,
    created: str,
    used: dict[str, str],
) -> dict[str, Any]:
    return {
        "eval_id": fingerprint([description.name, description.bank_hash, condition.id], 22),
        "run_id": fingerprint([description.name, description.bank_hash], 22),
        "created": created,
        "task": description.name,
        "task_id": fingerprint([description.name, condition.id], 22),
        "task_version": 0,
        "dataset": {
            "name": f"bank {description.bank_hash[:16]}", "samples": len(ids), "sample_ids": ids, "shuffled": False,
        },
        "model": condition.model,
        "model_generate_config": _config(condition),
        "config": {"epochs": epochs, "epochs_reducer": ["mean"], "fail_on_error": False},
        "scorers": [
            {"name": name, "options": {}, "metrics": [{"name": "mean", "options": {}}]} for name in SCORERS
        ],
        "packages": used,
        "metadata": {
            "written_by": "dsqa export",
            "condition": condition.to_dict(),
            "condition_id": condition.id,
            "runs_per_cell": description.runs,
            "seed": description.seed,
            "template_sha256": description.template.get("sha256"),
        },
    }  # fmt: skip


def _config(condition: Condition) -> dict[str, Any]:
    config: dict[str, Any] = {"system_message": condition.system, "temperature": condition.temperature}
    rest = {}
    for name, value in condition.request.items():
        if name in _CONFIG:
            config[_CONFIG[name]] = value
        elif name == "seed" and isinstance(value, int):
            config["seed"] = value
        elif name == "stop":
            config["stop_seqs"] = [value] if isinstance(value, str) else value
        else:
            rest[name] = value
    if rest:
        config["extra_body"] = rest
    return {name: value for name, value in config.items() if value is not None}


def _scores(keys: Iterable[RunKey], marks: Mapping[RunKey, Mapping[str, Any]]) -> Iterable[dict[str, Any]]:
    """Yield each scorer's mean over questions of their means over runs, and its standard error over questions."""
    keys = list(keys)
    for name in SCORERS:
        values: dict[str, list[float]] = defaultdict(list)
        for key in keys:
            value = marks.get(key, {}).get(name)
            if value is not None:
                values[key.question_id].append(float(value))
        if not values:
            continue
        means = [math.fsum(each) / len(each) for each in values.values()]
        centre = math.fsum(means) / len(means)
        metrics = {"mean": {"name": "mean", "value": centre}}
        if len(means) > 1:
            variance = math.fsum((mean - centre) ** 2 for mean in means) / (len(means) - 1)
            metrics["stderr"] = {"name": "stderr", "value": math.sqrt(variance / len(means))}
        yield {
            "name": name,
            "scorer": name,
            "reducer": "mean",
            "scored_samples": len(means),
            "unscored_samples": len({key.question_id for key in keys}) - len(means),
            "metrics": metrics,
        }
