"""`dsqa plan`: how many runs and questions the next study needs, and what it costs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dsqa.cli.options import json_option, study_argument
from dsqa.cli.studies import open_recorded, shown
from dsqa.errors import StatisticsError

if TYPE_CHECKING:
    from dsqa.prices import AverageCost

__all__ = ["plan"]

_SHARES = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0)
"""Of the difference asked about: where the power curve is given; 0 is the share of false alarms."""
ASSURANCE = 0.8
"""A plan counts as reaching its target if so many of the simulated studies do."""


def _numbers(least: int) -> Callable[[click.Context, click.Parameter, str | None], tuple[int, ...] | None]:
    def read(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[int, ...] | None:
        if value is None:
            return None
        try:
            numbers = tuple(sorted({int(part) for part in value.split(",") if part.strip()}))
        except ValueError:
            raise click.BadParameter(f"'{value}' is no list of whole numbers such as 5,10,20") from None
        if not numbers or numbers[0] < least:
            raise click.BadParameter(f"numbers from {least} up, such as 5,10,20")
        return numbers

    return read


@click.command()
@study_argument
@click.option("--metric", type=click.Choice(["accuracy", "score"]), default="accuracy", show_default=True)
@click.option("--precision", type=click.FloatRange(0, min_open=True), default=0.05, show_default=True, metavar="X")
@click.option("--difference", type=click.FloatRange(0, min_open=True), default=0.1, show_default=True, metavar="X")
@click.option(
    "--questions", callback=_numbers(2), metavar="LIST", help="Numbers of questions to try. [default: 20,41,100]"
)
@click.option(
    "--runs", callback=_numbers(2), metavar="LIST", help="Numbers of runs to try. [default: 5,10,20,50,100]"
)
@click.option("--budget", type=click.FloatRange(0, min_open=True), metavar="MONEY", help="Which plan is best for it.")
@click.option("--simulations", type=click.IntRange(100), default=500, show_default=True)
@json_option
def plan(
    study: Path,
    metric: str,
    precision: float,
    difference: float,
    questions: tuple[int, ...] | None,
    runs: tuple[int, ...] | None,
    budget: float | None,
    simulations: int,
    as_json: bool,
) -> None:
    """Plan the next study from a marked STUDY (a folder under runs/, or its study.yaml), the pilot.

    Studies of other sizes are simulated from what the pilot's runs gave. PRECISION is the half-width of the 95 %
    interval of a condition's mean over questions; DIFFERENCE is one between two conditions that should be found.
    """
    folder = open_recorded(study, marked=True)
    from dsqa.outcomes import load_outcomes
    from dsqa.prices import average_cost, recorded_prices
    from dsqa.records import read_records
    from dsqa.stats.planning import (
        hardest_pair,
        least_power,
        least_precise,
        plan_cells,
        plan_comparison,
        plan_precision,
        power_curve,
        read_pilot,
    )

    outcomes = load_outcomes(folder.outcomes_path)
    seed = folder.describe().seed
    pilot = read_pilot(outcomes)
    runs = runs or (5, 10, 20, 50, 100)
    common: dict[str, Any] = {
        "metric": metric,
        "questions": questions or (20, 41, 100),
        "runs": runs,
        "seed": seed,
        "simulations": simulations,
    }
    precise = least_precise(plan_precision(pilot, target=precision, **common))
    compared, curve = None, None
    if len(pilot.conditions) > 1:
        compared = hardest_pair(plan_comparison(pilot, difference=difference, **common))
        tried = [round(difference * share, 6) for share in _SHARES]
        curve = least_power(power_curve(pilot, differences=tried, **common))
    cells = plan_cells(pilot, runs=runs, seed=seed, simulations=100)
    cost = average_cost(read_records(folder.records_path), recorded_prices(folder.root))
    conditions = len(pilot.conditions)
    result: dict[str, Any] = {
        "study": str(folder.root),
        "metric": metric,
        "precision": precision,
        "difference": difference,
        "conditions": conditions,
        "plans": [
            {**row, **cost.of(int(row["questions"]) * int(row["runs"]) * conditions)}
            for row in precise.to_dict("records")
        ],
        "comparisons": [] if compared is None else compared.to_dict("records"),
        "power_curve": [] if curve is None else curve.to_dict("records"),
        "verdicts": cells.to_dict("records"),
        "currency": cost.currency,
    }
    result["cheapest"] = min(
        (p for p in result["plans"] if p["assurance"] >= ASSURANCE), key=lambda p: p["requests"], default=None
    )
    if budget is not None:
        result["best_for_budget"] = _best(result["plans"], budget, cost)
    if as_json:
        click.echo(json.dumps(result, default=float))
    else:
        click.echo(_text(result, cost, budget, shown(folder.root), outcomes["run"].nunique()))


def _best(plans: list[dict[str, Any]], budget: float, cost: AverageCost) -> dict[str, Any] | None:
    if cost.money is None:
        raise StatisticsError(
            "a budget in money needs the price of every model of the pilot, and one is unknown",
            hint="put it into prices.yaml, or leave --budget out",
        )
    affordable = [p for p in plans if p["money"] <= budget]
    return min(affordable, key=lambda p: (p["half_width"], p["money"]), default=None)


def _text(result: dict[str, Any], cost: AverageCost, budget: float | None, where: str, pilot_runs: int) -> str:
    metric, conditions = result["metric"], result["conditions"]
    lines = [
        f"From the pilot {where} (up to {pilot_runs} runs per cell, conditions: {conditions}).",
        "",
        f"Precision of mean {metric}, the least precise condition (target ±{result['precision']:g}):",
        "  questions   runs   half-width   9 in 10 below   reaches target   requests         tokens          money",
    ]
    for p in result["plans"]:
        money = "unknown" if p["money"] is None else f"{p['money']:.2f} {cost.currency}"
        tokens = "unknown" if p["tokens"] is None else f"{p['tokens']:,}"
        lines.append(
            f"  {p['questions']:>9} {p['runs']:>6}   {p['half_width']:>10.3f}   {p['half_width_90']:>13.3f}"
            f"   {p['assurance']:>13.0%}   {p['requests']:>8,}   {tokens:>12}   {money:>12}"
        )
    cheapest = result["cheapest"]
    if cheapest is None:
        lines.append(
            f"No plan tried reaches ±{result['precision']:g} in {ASSURANCE:.0%} of studies: try more questions."
        )
    else:
        lines.append(
            f"Fewest requests that reach it in {ASSURANCE:.0%} of studies: {cheapest['questions']} questions × "
            f"{cheapest['runs']} runs ({cost.text(cheapest['requests'])})."
        )
    if budget is not None:
        best = result["best_for_budget"]
        lines.append(
            f"No plan tried costs {budget:g} {cost.currency} or less."
            if best is None
            else f"Best for {budget:g} {cost.currency}: {best['questions']} questions × {best['runs']} runs, "
            f"±{best['half_width']:.3f} ({cost.text(best['requests'])})."
        )
    if result["comparisons"]:
        lines += [
            "",
            f"Two conditions, paired by question (a true difference of {result['difference']:g} in {metric}):",
            "  questions   runs   found   smallest difference found in 80 %",
        ]
        lines += [
            f"  {c['questions']:>9} {c['runs']:>6}   {c['power']:>5.0%}   {c['smallest_difference']:>33.3f}"
            for c in result["comparisons"]
        ]
    if result["power_curve"]:
        lines += ["", *_curve(result["power_curve"])]
    lines += ["", "Verdicts on single questions:", "  runs   settled   half-width of a cell's accuracy   condition"]
    lines += [
        f"  {v['runs']:>4}   {v['settled']:>7.0%}   {v['half_width']:>31.3f}   {v['condition']}"
        for v in result["verdicts"]
    ]
    return "\n".join(lines)


def _curve(points: list[dict[str, Any]]) -> list[str]:
    """Return the power curve as a table: a row per plan, a column per difference."""
    differences = sorted({point["difference"] for point in points})
    found = {(p["questions"], p["runs"], p["difference"]): p["power"] for p in points}
    plans = list(dict.fromkeys((p["questions"], p["runs"]) for p in points))
    return [
        "Power curve: how often a true difference between the two hardest to tell apart is found",
        "  questions   runs   " + "   ".join(f"{d:>6.3g}" for d in differences),
        *(f"  {q:>9} {n:>6}   " + "   ".join(f"{found[q, n, d]:>6.0%}" for d in differences) for q, n in plans),
    ]
