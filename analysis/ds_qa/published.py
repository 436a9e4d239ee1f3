"""Each number that the paper prints beside ours: value, how it was computed, and whether the printed digits agree.

    python -m analysis.ds_qa.published STUDY

Writes published.csv. On the authors' own runs (dsqa import) a `yes` reproduces the number; on any other study the
table sets another model's findings beside the paper's, and `yes` is a coincidence.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from analysis.ds_qa.common import Study, main, part
from analysis.ds_qa.numbers import MEASURES, Value
from dsqa.errors import StatisticsError

__all__ = ["as_printed", "compare_published", "published"]

COLUMNS = ["place", "says", "of", "printed", "ours", "how", "same"]


@cache
def published() -> tuple[dict[str, Any], ...]:
    """Return the published numbers."""
    text = Path(__file__).with_name("published.yaml").read_text(encoding="utf-8")
    return tuple(yaml.safe_load(text))


def as_printed(value: Value, printed: str) -> str:
    """Return a value with as many decimals as the printed number has.

    Examples
    --------
    >>> as_printed(1.0149, "1.01"), as_printed((0.9512, 1.0749), "[0.95, 1.07]"), as_printed(-0.001, "-0.01")
    ('1.01', '[0.95, 1.07]', '0.00')
    """
    first = printed.strip("[]").split(",")[0].split(" to ")[0]
    decimals = len(first.partition(".")[2])
    if isinstance(value, tuple):
        return f"[{', '.join(_fixed(end, decimals) for end in value)}]"
    return _fixed(value, decimals)


def _fixed(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if float(text) == 0 else text


def compare_published(study: Study) -> pd.DataFrame:
    """Return a row per published number and construction."""
    rows = [found for number in published() for found in _compare(study, number)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _compare(study: Study, number: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    chosen = _of(study, number)
    named = [f"question {number['question']}" if "question" in number else "", str(number.get("model", "")),
             f"T = {number['temperature']:g}" if "temperature" in number else ""]  # fmt: skip
    start = number["place"], number["says"], ", ".join(filter(None, named)), number["printed"]
    if chosen is None:
        yield *start, "", "this study has no such runs", ""
        return
    try:
        found = list(MEASURES[number["measure"]](chosen, number))
    except StatisticsError as refusal:
        yield *start, "", refusal.message, ""
        return
    if not found:
        yield *start, "", "not to be computed from these runs", ""
    for how, value in found:
        ours = as_printed(value, number["printed"])
        yield *start, ours, how, _same(value, ours, number)


def _same(value: Value, ours: str, number: dict[str, Any]) -> str:
    printed = number["printed"]
    if number.get("about"):
        return "about"
    if isinstance(value, float) and number.get("at_most"):
        return "yes" if value <= float(printed) else "no"
    if isinstance(value, float) and " to " in printed:
        low, high = map(float, printed.split(" to "))
        return "yes" if low <= float(ours) <= high else "no"
    return "yes" if ours == printed else "no"


def _of(study: Study, number: dict[str, Any]) -> Study | None:
    """Return the runs that a number is of. A study of other models stands for the paper's as a whole."""
    outcomes = study.outcomes
    if study.ours:
        # No question, model or temperature is shared, so only numbers of whole studies can be set side by side.
        return None if "question" in number else study
    chosen = part(study, number.get("model"), number.get("temperature"))
    if ("model" in number or "temperature" in number) and len(chosen.outcomes) == len(outcomes):
        same = outcomes["model"].astype(str).eq(str(number.get("model"))).all()
        if not same:
            return None
    if "question" in number:
        runs = chosen.outcomes[chosen.outcomes["question_id"].astype(str).eq(number["question"])]
        if runs.empty:
            return None
        chosen = replace(chosen, tables=replace(chosen.tables, outcomes=runs.reset_index(drop=True)))
    return chosen


def run(study: Study, _options: argparse.Namespace) -> None:
    if study.ours:
        models = ", ".join(sorted(set(study.outcomes["model"].astype(str))))
        print(f"These are runs of {models}, not of the paper's models: ours are another model's findings.")
    study.write("published", compare_published(study))


if __name__ == "__main__":
    main(run, __doc__)
