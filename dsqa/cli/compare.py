"""`dsqa compare`: what has changed between two studies of the same questions."""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dsqa.cli.options import json_option
from dsqa.cli.studies import open_recorded, shown
from dsqa.foreign import spreadsheet_text

if TYPE_CHECKING:
    from dsqa.stats.drift import Drift

__all__ = ["compare"]

_STUDY = click.Path(path_type=Path)
_SHOWN = ("better", "worse", "other answers", "asked otherwise", "not marked", "only in old", "only in new")


@click.command()
@click.argument("old", type=_STUDY)
@click.argument("new", type=_STUDY)
@click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.05,
    show_default=True,
    help="The largest change of accuracy that would not matter.",
)
@click.option("--alpha", type=click.FloatRange(0, 0.5, min_open=True), default=0.05, show_default=True)
@click.option(
    "--adjust",
    type=click.Choice(["holm", "bh"]),
    default="holm",
    show_default=True,
    help="Over questions: no false alarm at all (holm), or few among the alarms (bh).",
)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Also write the table of questions (CSV)."
)
@json_option
def compare(old: Path, new: Path, margin: float, alpha: float, adjust: str, out: Path | None, as_json: bool) -> None:
    """Compare two marked studies, OLD and NEW (folders under runs/, or their study.yaml), question by question.

    For the same model asked again later, or for a new version of it. Runs are compared at the same prompt, model
    (unless each study has one of its own) and temperature.
    """
    folders = [open_recorded(path, marked=True) for path in (old, new)]
    if folders[0].root.resolve() == folders[1].root.resolve():
        click.echo("dsqa: OLD and NEW are one study, which has not changed from itself", err=True)
    from dsqa.outcomes import load_outcomes
    from dsqa.stats.drift import compare_studies

    tables = [load_outcomes(folder.outcomes_path) for folder in folders]
    drift = compare_studies(
        *tables,
        seed=folders[1].describe().seed,
        margin=margin,
        alpha=alpha,
        adjustment="holm" if adjust == "holm" else "bh",
    )
    if out is not None:
        drift.questions.assign(question_id=drift.questions["question_id"].map(spreadsheet_text)).to_csv(
            out, index=False
        )
    if as_json:
        click.echo(json.dumps(_data(drift, margin)))
    else:
        click.echo(_text(drift, margin, *(shown(folder.root) for folder in folders)))
        if out is not None:
            click.echo(shown(out))


def _data(drift: Drift, margin: float) -> dict[str, object]:
    return {
        "verdict": drift.verdict,
        "p_accuracy": drift.p_accuracy,
        "p_answers": drift.p_answers,
        "alpha": drift.alpha,
        "adjustment": drift.adjustment,
        "margin": margin,
        "overall": json.loads(drift.overall.to_json(orient="records", double_precision=12)),
        "questions": json.loads(drift.questions.to_json(orient="records", double_precision=12)),
    }


def _text(drift: Drift, margin: float, old: str, new: str) -> str:
    from dsqa.report.wording import p_text

    level = 1 - drift.alpha
    compared = drift.questions[~drift.questions["change"].isin(_SHOWN[3:])]
    lines = [
        f"{old} → {new}: {drift.verdict} (permutation p: accuracy {p_text(drift.p_accuracy)}, "
        f"answers {p_text(drift.p_answers)}; {len(compared)} questions compared).",
        "",
        f"  {'':<12}{'old':>8}{'new':>8}{'change':>9}   {level:.0%} interval",
    ]
    for row in drift.overall.to_dict("records"):
        if isnan(row["difference"]):
            lines.append(f"  {row['measure']:<12}{row['method']}")
            continue
        interval = row["method"] if isnan(row["low"]) else f"{row['low']:+.3f} to {row['high']:+.3f}"
        numbers = f"{row['old']:>8.3f}{row['new']:>8.3f}{row['difference']:>+9.3f}"
        lines.append(f"  {row['measure']:<12}{numbers}   {interval}")
    accuracy = drift.overall.iloc[0]
    if accuracy["equivalence"] == "equivalent":
        lines.append(f"  Any change of mean accuracy is smaller than {margin:g}.")
    elif accuracy["equivalence"] == "undecided":
        lines.append(
            f"  A change of mean accuracy by {margin:g} can be neither shown nor ruled out: more runs would tell."
        )
    lines.append("")
    changed = drift.questions[drift.questions["change"].isin(_SHOWN)]
    for row in changed.to_dict("records"):
        if isnan(row["accuracy_old"]):
            lines.append(f"  {row['question_id']}: {row['change']}")
        else:
            right = f"right {row['accuracy_old']:.0%} → {row['accuracy_new']:.0%}"
            interval = f"{row['low']:+.2f} to {row['high']:+.2f}"
            tests = f"accuracy {p_text(row['p_accuracy_adjusted'])}, answers {p_text(row['p_answers_adjusted'])}"
            lines.append(f"  {row['question_id']}: {row['change']}; {right} ({interval}); adjusted p: {tests}")
    unchanged = int((drift.questions["change"] == "no change seen").sum())
    lines.append(
        f"  {unchanged} questions: no change seen ({drift.adjustment} at {drift.alpha:g}; not proof that none is)."
    )
    return "\n".join(lines)
