"""The five lines that end a run, and the same as data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from dsqa.cli.cost import money_text
from dsqa.study.folder import StudyFolder

if TYPE_CHECKING:
    from dsqa.sampling import SamplingSummary

__all__ = ["five_lines", "summary_data", "unread_line"]


def summary_data(folder: StudyFolder, sampled: SamplingSummary | None, reports: list[Path]) -> dict[str, Any]:
    """Return what a script wants to know of a marked study, as plain data."""
    from dsqa.outcomes import load_outcomes, unread_matters, unread_runs
    from dsqa.prices import recorded_prices, total_cost
    from dsqa.records import read_records
    from dsqa.stats import CALLS, VERDICTS, mean_accuracy

    outcomes = load_outcomes(folder.outcomes_path)
    cells = pd.read_parquet(folder.cells_path)
    description = folder.describe()
    runs = len(outcomes)
    if sampled is not None:
        money, unpriced = sampled.money_all or {}, sampled.unpriced
    else:
        money, unpriced = total_cost(read_records(folder.records_path), recorded_prices(folder.root))
    counts = cells["verdict"].value_counts()
    return {
        "study": description.name,
        "folder": str(folder.root),
        "models": sorted({condition.model for condition in description.conditions}),
        "questions": int(cells["question_id"].nunique()),
        "conditions": len(description.conditions),
        "runs_planned": len(description.cells) * description.runs,
        "runs": runs,
        "stops_by_itself": description.settings.get("stop") is not None,
        "new_runs": sampled.new if sampled else 0,
        "status": {str(k): int(v) for k, v in outcomes["status"].value_counts().items()},
        "unparsed": int((outcomes["answer_status"] == "unparsed").sum()),
        "unread": len(unread_runs(outcomes)),
        "replies": int((outcomes["accuracy"].notna() & (outcomes["status"] != "failed")).sum()),
        "unread_matters": unread_matters(outcomes),
        "tokens": int(outcomes["tokens_total"].sum()),
        "tokens_per_second": sampled.tokens_per_second if sampled and sampled.new else None,
        "cost": {"money": money, "money_new": (sampled.money if sampled else None) or {}, "unpriced": unpriced},
        "stopped": sampled.stopped if sampled else None,
        "sampling_seconds": sampled.seconds if sampled and sampled.new else None,
        "verdicts": {verdict: int(counts.get(verdict, 0)) for verdict in VERDICTS},
        "unsettled": int((~cells["settled"].astype(bool) & cells["verdict"].isin(CALLS)).sum()),
        # Over questions, each once: a pooled share would weigh questions by how often they were asked.
        "mean_accuracy": _none_if_missing(mean_accuracy(cells)),
        "mean_instability": _none_if_missing(cells["instability"].mean()),
        "reports": [str(path) for path in reports],
    }


def five_lines(data: dict[str, Any], shown: Callable[[Path], str]) -> str:
    """Return the summary as five lines of text."""
    reused = data["runs"] - data["new_runs"]
    status = ", ".join(f"{count} {name}" for name, count in data["status"].items())
    speed = ""
    if data["tokens_per_second"]:
        speed = f"; {data['tokens_per_second']:.0f} tokens/s for {_duration(data['sampling_seconds'])}"
    cost = data["cost"]
    if cost["unpriced"] or any(cost["money"].values()):
        speed += f"; cost: {money_text(cost['money'], cost['unpriced'])}"
    most = "at most " if data["stops_by_itself"] else ""
    counts = dict(data["verdicts"])
    if data["unread_matters"]:
        counts = {"not read": counts.pop("not read")} | counts
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    cells = sum(data["verdicts"].values())
    lines = {
        "Study": (
            f"{data['study']}: {_count(data['questions'], 'question')} × {_count(data['conditions'], 'condition')}, "
            f"{', '.join(data['models'])}"
        ),
        "Runs": (
            f"{data['runs']} of {most}{data['runs_planned']} ({data['new_runs']} new, {reused} reused): "
            f"{status}{speed}"
        ),
        "Verdict": f"of {_count(cells, 'cell')}: {verdicts}; {data['unsettled']} not settled at this N",
        "Accuracy": (
            f"{_number(data['mean_accuracy'])} (mean over questions) and normalised instability "
            f"{_number(data['mean_instability'])} (mean over cells); no answer could be read in {data['unread']} of "
            f"{_count(data['replies'], 'reply', 'replies')}"
        ),
        "Report": ", ".join(shown(Path(path)) for path in data["reports"]),
    }
    return "\n".join(f"{name:<9} {text}" for name, text in lines.items())


def unread_line(folder: StudyFolder, outcomes: pd.DataFrame) -> str:
    """Return that much could not be read, and what would read it, on one line; nothing where little was."""
    from dsqa.outcomes import inspect_unread, unread_matters

    if not unread_matters(outcomes):
        return ""
    found = inspect_unread(folder, outcomes)
    cells = pd.read_parquet(folder.cells_path, columns=["verdict"])
    calls = int((cells["verdict"] == "not read").sum())
    line = (
        f"Not read: in {found.unread} of {_count(found.replies, 'reply', 'replies')} no answer could be read, so "
        f"{calls} of {_count(len(cells), 'cell')} {'is' if calls == 1 else 'are'} called neither right nor wrong"
    )
    tried = "" if found.tried == found.unread else f" of {found.tried} tried"
    if found.best is not None:
        by = found.readers[found.best]
        line += f"; the reader {found.best} reads {by.read}{tried}, {by.right} of them right (--reader {found.best})"
    else:
        line += "; no other reader reads any"
    for name, replies in list(found.other_names.items())[:1]:
        line += f"; {replies}{tried} {'answers' if replies == 1 else 'answer'} as @{name}[…], a name no question has"
    return f"{line}; the report shows typical ones."


def _count(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"


def _none_if_missing(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)
