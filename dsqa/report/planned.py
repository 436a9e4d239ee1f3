"""How many questions and runs next time, what they cost, and what stopping would have saved: for `reliability`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from dsqa.prices import AverageCost, average_cost, recorded_prices
from dsqa.records import read_records
from dsqa.report.attempts import NO_REPLY, NotAvailable, attempt, no_reply, sentence
from dsqa.report.markdown import Markdown, escape
from dsqa.report.page import Page
from dsqa.report.stopping import runs_needed
from dsqa.report.tables import Field, data_table
from dsqa.report.wording import count, percent
from dsqa.stats import Pilot, curve_means, hardest_pair, least_precise, plan_cells, plan_comparison, plan_precision
from dsqa.stats.interval import level_text
from dsqa.stats.sequential import stopping_table
from dsqa.study.sections import StopConfig

__all__ = [
    "ASSURANCE",
    "plan_costs",
    "planned_differences",
    "planned_precision",
    "planned_verdicts",
    "stopping_replayed",
]

_STATISTICS = ("pass@k", "pass^k", "maj@k")

ASSURANCE = 0.8
"""A plan counts as reaching its target if so many of the simulated studies do, as in `dsqa plan`."""


def plan_costs(page: Page) -> AverageCost:
    """Return what a request of this study took on average, from its records and its prices."""
    return average_cost(read_records(page.folder.records_path), recorded_prices(page.folder.root))


def planned_precision(
    page: Page, pilot: Pilot | NotAvailable, cost: AverageCost, *, target: float, **settings: Any
) -> Markdown:
    """Return how precise the mean of the least precise condition would be, plan by plan, and what plans cost.

    Parameters
    ----------
    page, pilot, cost
        The study, what it says of studies to come (`dsqa.stats.read_pilot`), and what a request takes.
    target
        Half-width of the 95 % interval that is wanted.
    **settings
        Of `dsqa.stats.plan_precision`.
    """
    if isinstance(pilot, NotAvailable):
        return sentence(f"no plan can be made from this study: {pilot.reason}")
    plans = attempt(page, plan_precision, pilot, target=target, **settings)
    if isinstance(plans, NotAvailable):
        return sentence(plans.reason)
    conditions = len(pilot.conditions)
    frame = least_precise(plans)
    requests = [int(q) * int(n) * conditions for q, n in zip(frame["questions"], frame["runs"], strict=True)]
    frame = frame.assign(requests=requests, **_spent(cost, requests))
    fields = [
        Field("questions", "Questions", "count", width=10),
        Field("runs", "Runs", "count", width=7),
        Field("half_width", "Half-width", digits=3, width=11),
        Field("half_width_90", "9 in 10 below", digits=3, width=13),
        Field("assurance", "Reaches target", "percent", digits=0, width=13),
        Field("requests", "Requests", "count", width=10),
        *_cost_fields(cost),
    ]
    caption = (
        f"Precision of the mean of the least precise of {count(conditions, 'condition')}: half-width of the 95 % "
        f"interval over questions, mean over {settings['simulations']:,} simulated studies; target ±{target:g}."
    )
    enough = frame[frame["assurance"] >= ASSURANCE]
    if enough.empty:
        text = f"No plan tried reaches ±{target:g} in {percent(ASSURANCE)} of studies: try more questions."
    else:
        best = enough.sort_values("requests", kind="stable").iloc[0]
        text = (
            f"The fewest requests that reach ±{target:g} in {percent(ASSURANCE)} of studies: "
            f"**{best['questions']:,.0f} questions × {best['runs']:,.0f} runs** under each condition "
            f"({escape(cost.text(int(best['requests'])))})."
        )
    table = data_table(frame, fields, label="tbl-reliability-plan", caption=caption)
    return Markdown(f"{text}\n\n{table}")


def planned_differences(
    page: Page, pilot: Pilot | NotAvailable, *, difference: float, **settings: Any
) -> Markdown | None:
    """Return which difference between two conditions each plan would find; None where there are not two."""
    if isinstance(pilot, NotAvailable) or len(pilot.conditions) < 2:
        return None
    plans = attempt(page, plan_comparison, pilot, difference=difference, **settings)
    if isinstance(plans, NotAvailable):
        return sentence(plans.reason)
    fields = [
        Field("questions", "Questions", "count", width=10),
        Field("runs", "Runs", "count", width=7),
        Field("power", f"Finds {difference:g}", "percent", digits=0, width=13),
        Field("smallest_difference", "Finds with power 80\u00a0%", digits=3, width=20),
    ]
    caption = (
        f"The pair of conditions that is hardest to tell apart: how often a paired $t$ test over questions would "
        f"find a true difference of {difference:g}, and the difference that it finds in 80\u00a0% of studies."
    )
    return data_table(hardest_pair(plans), fields, label="tbl-reliability-differences", caption=caption)


def planned_verdicts(
    page: Page, pilot: Pilot | NotAvailable, *, runs: Sequence[int], seed: int, simulations: int
) -> Markdown | None:
    """Return what more runs would settle about single questions."""
    if isinstance(pilot, NotAvailable):
        return None
    plans = attempt(
        page, plan_cells, pilot, runs=[n for n in runs if n > 1], seed=seed, simulations=simulations
    )  # fmt: skip
    if isinstance(plans, NotAvailable):
        return sentence(plans.reason)
    frame = plans.assign(label=[page.conditions.get(str(name), str(name)) for name in plans["condition"]])
    frame = frame.sort_values(["condition", "runs"], kind="stable", ignore_index=True)
    fields = [
        Field("runs", "Runs", "count", width=8),
        Field("settled", "Verdicts settled", "percent", digits=0, width=16),
        Field("half_width", "Half-width of accuracy", digits=3, width=20),
        Field("half_width_90", "9 in 10 below", digits=3, width=14),
    ]
    caption = "Single questions of this study, asked so many times: verdicts settled, and how well accuracy is known."
    return data_table(
        frame, fields, label="tbl-reliability-verdicts", caption=caption, group="label", sortable=False
    )  # fmt: skip


def stopping_replayed(
    page: Page, *, accuracy: float | None, verdict: float | None, min_runs: int, look_every: int
) -> Markdown:
    """Return what stopping by itself saved, or, in a study of fixed N, what it would have saved.

    Parameters
    ----------
    page
        The study.
    accuracy, verdict, min_runs, look_every
        The rule, as ``stop:`` in a study file has it; ignored where the study has one of its own.
    """
    if page.stop is not None:
        return runs_needed(page) or Markdown("")
    most = int(page.cells["runs"].max())
    if no_reply(page):
        return sentence(NO_REPLY)
    if accuracy is None and verdict is None:
        return sentence("no rule is set: give the parameter stop_accuracy or stop_verdict")
    if most < 2:
        return sentence("cells of one run: nothing could have been stopped earlier")
    rule = StopConfig(accuracy=accuracy, verdict=verdict, min_runs=min_runs, look_every=look_every)
    table = stopping_table(page.outcomes, rule, most)
    rows = []
    for key, label in page.conditions.items():
        own = table[table["condition_id"] == key]
        asked = own["stopped_at"].fillna(own["runs"]).astype(int)
        rows.append(
            {
                "condition": label,
                "cells": len(own),
                "precise": int((own["state"] == "precise").sum()),
                "median": float(asked.median()),
                "asked": int(asked.sum()),
                "recorded": int(own["runs"].sum()),
                "saved": 1 - asked.sum() / max(1, own["runs"].sum()),
            }
        )
    frame = pd.DataFrame(rows)
    fields = [
        Field("condition", "Condition", "text", width=20),
        Field("cells", "Cells", "count", width=8),
        Field("precise", "Precise enough", "count", width=12),
        Field("median", "Median N", digits=0, width=10),
        Field("asked", "Runs asked", "count", width=11),
        Field("recorded", "Recorded", "count", width=11),
        Field("saved", "Saved", "percent", digits=0, width=9),
    ]
    criteria = [f"accuracy known to ±{accuracy:g} (95\u00a0%)"] if accuracy is not None else []
    criteria += [f"stable or unstable certain at {percent(verdict)}"] if verdict is not None else []
    caption = (
        f"The recorded runs looked at after {min_runs} and then every {look_every} runs, each cell stopped once it "
        f"has {' and '.join(criteria)}, by confidence sequences."
    )
    all_asked, recorded = int(frame["asked"].sum()), int(frame["recorded"].sum())
    text = (
        f"Had the study stopped by itself (`stop:` in its file), it would have asked {all_asked:,} of its "
        f"{recorded:,} runs, {percent(1 - all_asked / recorded)} fewer."
    )
    return Markdown(f"{text}\n\n{data_table(frame, fields, label='tbl-reliability-stopping', caption=caption)}")


def curves_table(page: Page, curves: pd.DataFrame | NotAvailable, *, level: float, resamples: int) -> Markdown:
    """Return pass@k, pass^k and maj@k: means over questions per condition, with intervals over questions."""
    if isinstance(curves, NotAvailable):
        return sentence(curves.reason)
    means = attempt(page, curve_means, curves, ["condition_id"], seed=page.seed, level=level, resamples=resamples)
    if isinstance(means, NotAvailable):
        return sentence(means.reason)
    rows = []
    for key, label in page.conditions.items():
        own = means[means["condition_id"] == key]
        for k in sorted(set(own["k"])):
            at = own[own["k"] == k].set_index("statistic")
            row: dict[str, Any] = {
                "label": label,
                "k": k,
                "questions": at["questions"].max(),
                "fewer": at["left_out"].max(),
            }
            for name in _STATISTICS:
                value = at.loc[name] if name in at.index else {}
                row |= {name: value.get("mean"), f"{name} low": value.get("low"), f"{name} high": value.get("high")}
            rows.append(row)
    missing = "no cell has so many runs"
    fields = [
        Field("k", "k", "count", width=6),
        *(
            Field(name, escape(name), low=f"{name} low", high=f"{name} high", missing=missing, width=22)
            for name in _STATISTICS
        ),
        Field("questions", "Questions", "count", width=10),
        Field("fewer", "Cells with fewer runs", "count", width=14),
    ]
    caption = f"Chances over k runs: means over questions with {level_text(level)} intervals; a question counts once."
    return data_table(
        pd.DataFrame(rows), fields, label="tbl-reliability-curves", caption=caption, group="label", sortable=False
    )


def sizes_to_plan(page: Page) -> list[int]:
    """Return numbers of questions to plan for: half of the study's, as many, and twice as many, at least two."""
    own = len(page.questions)
    return sorted({max(2, own // 2), max(2, own), max(2, 2 * own)})


def _spent(cost: AverageCost, requests: Sequence[int]) -> dict[str, list[Any]]:
    plans = [cost.of(n) for n in requests]
    return {name: [plan[name] for plan in plans] for name in ("tokens", "money")}


def _cost_fields(cost: AverageCost) -> list[Field]:
    fields = []
    if cost.tokens is not None:
        fields.append(Field("tokens", "Tokens", "count", width=12))
    if cost.money:
        fields.append(Field("money", f"Cost, {escape(cost.currency)}", digits=2, width=12))
    return fields
