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

__all__ = ["five_lines", "summary_data"]


def summary_data(folder: StudyFolder, sampled: SamplingSummary | None, reports: list[Path]) -> dict[str, Any]:
    """Return what a script wants to know of a marked study, as plain data."""
    from dsqa.outcomes import load_outcomes
    from dsqa.prices import recorded_prices, total_cost
    from dsqa.records import read_records
    from dsqa.stats import VERDICTS

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
        "tokens": int(outcomes["tokens_total"].sum()),
        "tokens_per_second": sampled.tokens_per_second if sampled and sampled.new else None,
        "cost": {"money": money, "money_new": (sampled.money if sampled else None) or {}, "unpriced": unpriced},
        "stopped": sampled.stopped if sampled else None,
        "sampling_seconds": sampled.seconds if sampled and sampled.new else None,
        "verdicts": {verdict: int(counts.get(verdict, 0)) for verdict in VERDICTS},
        "unsettled": int((~cells["settled"].astype(bool)).sum()),
        # Means over cells: a pooled interval would ignore that runs of a cell belong together.
        "mean_accuracy": _none_if_missing(cells["accuracy"].mean()),
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
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in data["verdicts"].items())
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
            f"{_number(data['mean_accuracy'])} and normalised instability {_number(data['mean_instability'])}, "
            f"means over cells; {_count(data['unparsed'], 'run')} with no answer to read"
        ),
        "Report": ", ".join(shown(Path(path)) for path in data["reports"]),
    }
    return "\n".join(f"{name:<9} {text}" for name, text in lines.items())


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"


def _none_if_missing(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)
