"""The steps of a study as commands: sample, score, and all of them with the report in a row."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dsqa.cli.asking import Asking, ask_study, asking_options, say_how_to_go_on
from dsqa.cli.options import json_option, study_argument
from dsqa.cli.report import formats_option, render_overview
from dsqa.cli.scheduler import HERE, Machines, machines, scheduler_option
from dsqa.cli.studies import YAML, load_settings, open_recorded, shown
from dsqa.study.config import StudyConfig
from dsqa.study.folder import StudyFolder
from dsqa.study.parse import parse_study

if TYPE_CHECKING:
    import pandas as pd

    from dsqa.stats.readers import ReaderSummary

__all__ = ["demo", "run", "sample", "score"]

_unsafe = click.option(
    "--unsafe",
    is_flag=True,
    help="Run generated code even where this machine offers no sandbox. Only for answers you trust.",
)
_workers = click.option("--workers", type=click.IntRange(1), help="Snippets run at once. [default: one per core]")


def _score(
    folder: StudyFolder, unsafe: bool, workers: int | None, reruns: int = 1, over: Machines = HERE
) -> pd.DataFrame:
    from dsqa.cli.progress import counting_bar
    from dsqa.outcomes import save_table, score_study
    from dsqa.stats.kept import cell_table
    from dsqa.stats.sequential import stopping_table
    from dsqa.study.folder import stop_of

    with counting_bar("marking", "runs") as advance:
        outcomes = score_study(
            folder, unsafe=unsafe, workers=workers, progress=advance, reruns=reruns, executor=over.executor
        )
    description = folder.describe()
    stop = stop_of(description)
    if stop is not None:
        save_table(stopping_table(outcomes, stop, description.runs), folder.stopping_path)
    cell_table(
        outcomes,
        folder.outcomes_path,
        folder.cells_path,
        seed=description.seed,
        sequential=stop is not None,
        must_keep=True,
    )
    return outcomes


def _all_steps(
    config: StudyConfig,
    study_path: Path | None,
    root: Path,
    *,
    asking: Asking,
    formats: tuple[str, ...],
    unsafe: bool,
    workers: int | None,
    scheduler: str | None = None,
    as_json: bool,
) -> int:
    from dsqa.cli.summary import five_lines, summary_data

    if not unsafe and scheduler is None:
        _refuse_early(config)
    with machines(scheduler) as over:
        folder, sampled = ask_study(config, study_path, root, asking, unsafe=unsafe, workers=workers, over=over)
        say_how_to_go_on(sampled)
        if sampled.interrupted:
            return 130
        _score(folder, unsafe, workers, over=over)
    reports = render_overview(folder, formats)
    data = summary_data(folder, sampled, reports)
    click.echo(json.dumps(data, ensure_ascii=False) if as_json else five_lines(data, shown))
    return 0


def _refuse_early(config: StudyConfig) -> None:
    # Better said before an hour of sampling than after it: the call itself refuses, even with nothing to run.
    from dsqa.execution import execute

    execute((), config.execution)


@click.command()
@click.option("--runs", type=click.IntRange(1), help="Runs per question and condition. [default: 10]")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs/demo"),
    show_default=True,
    help="Folder that records the study.",
)
@formats_option("html")
@_unsafe
@_workers
@json_option
def demo(
    runs: int | None, out: Path, formats: tuple[str, ...], unsafe: bool, workers: int | None, as_json: bool
) -> int:
    """Ask a small local model easy questions about real data, mark the answers, render the report.

    The model is SmolLM2-135M-Instruct, run on this machine by llama.cpp: no key, no cost. Run again, the recorded
    runs are reused and only the report is rendered anew.
    """
    text = (files("dsqa.study") / "templates" / "demo.yaml").read_text(encoding="utf-8")
    config = parse_study(text)
    if runs is not None:
        config = config.model_copy(update={"runs": runs})
    return _all_steps(
        config, None, out, asking=Asking(), formats=formats, unsafe=unsafe, workers=workers, as_json=as_json
    )


@click.command()
@study_argument
@asking_options
@formats_option("html")
@_unsafe
@_workers
@scheduler_option
@json_option
def run(
    study: Path,
    asking: Asking,
    formats: tuple[str, ...],
    unsafe: bool,
    workers: int | None,
    scheduler: str | None,
    as_json: bool,
) -> int:
    """Do everything that STUDY (a study.yaml) asks for and that is not done yet.

    Recorded runs are never asked again: killed or interrupted, run the same command and it goes on.
    """
    config, root = load_settings(study)
    return _all_steps(
        config,
        study,
        root,
        asking=asking,
        formats=formats,
        unsafe=unsafe,
        workers=workers,
        scheduler=scheduler,
        as_json=as_json,
    )


@click.command()
@study_argument
@click.option(
    "--dry-run", is_flag=True, help="Say what would be sent and cost, per model; send nothing, write nothing."
)
@asking_options
@_unsafe
@_workers
@scheduler_option
@json_option
def sample(
    study: Path,
    dry_run: bool,
    asking: Asking,
    unsafe: bool,
    workers: int | None,
    scheduler: str | None,
    as_json: bool,
) -> int:
    """Ask what STUDY (a study.yaml) asks for and is not recorded yet. This is the step that costs money.

    Where the study says when to 'stop', the answers are marked as they come in, which runs the code in them.
    """
    config, root = load_settings(study)
    if dry_run:
        _say_what_it_would_cost(config, study, root, asking, as_json)
        return 0
    if config.stop is not None and not unsafe and scheduler is None:
        _refuse_early(config)
    with machines(scheduler) as over:
        folder, summary = ask_study(config, study, root, asking, unsafe=unsafe, workers=workers, over=over)
    say_how_to_go_on(summary)
    if as_json:
        click.echo(json.dumps({"folder": str(folder.root), **summary.to_dict()}))
    else:
        from dsqa.cli.cost import spent_text

        click.echo(
            f"{shown(folder.records_path)}: {summary.recorded:,} of {summary.total:,} runs, {summary.new:,} new; "
            f"cost: {spent_text(summary)}"
        )
    return 130 if summary.interrupted else 0


def _say_what_it_would_cost(config: StudyConfig, study: Path, root: Path, asking: Asking, as_json: bool) -> None:
    from dsqa.cli.cost import budget_text, estimate_text
    from dsqa.sampling import estimate_study, parse_budget

    selection = asking.selection()
    caps = parse_budget(asking.budget, config.budget)
    estimate = estimate_study(config, study, root, limit=asking.limit, only=selection)
    if config.stop is None:
        click.echo(json.dumps(estimate.to_dict()) if as_json else estimate_text(estimate, Path(shown(root))))
        if not as_json and (remark := budget_text(caps, estimate)):
            click.echo(remark)
        return
    # It stops by itself: somewhere between the first look at every cell and the most runs it may have.
    first = config.stop.looks(config.most_runs)[0]
    fewest = config.model_copy(update={"stop": None, "runs": first})
    least = estimate_study(fewest, study, root, limit=asking.limit, only=selection)
    if as_json:
        click.echo(json.dumps({"at_least": least.to_dict(), "at_most": estimate.to_dict()}))
        return
    click.echo(f"At least, if every cell is precise enough at its first look ({first} runs):\n")
    click.echo(estimate_text(least, Path(shown(root))))
    click.echo(f"\nAt most, if none is before it has {config.most_runs} runs:\n")
    click.echo(estimate_text(estimate, Path(shown(root))))
    if remark := budget_text(caps, estimate):
        click.echo(remark)


@click.command()
@study_argument
@click.option(
    "--rerun",
    "reruns",
    type=click.IntRange(1),
    default=1,
    metavar="K",
    help="Run each piece of code K times, to tell code that varies by itself from a machine that does.",
)
@click.option(
    "--reader",
    "readers",
    multiple=True,
    type=click.Choice(["all", "strict", "last-number"]),
    help="Read the answers in another way too, and say how much of the instability is the reader's.",
)
@_unsafe
@_workers
@scheduler_option
@json_option
def score(
    study: Path,
    reruns: int,
    readers: tuple[str, ...],
    unsafe: bool,
    workers: int | None,
    scheduler: str | None,
    as_json: bool,
) -> None:
    """Mark every recorded run of STUDY (a folder under runs/, or its study.yaml).

    Code in the answers is run in a sandbox; what a piece of code gave is kept, so marking again is quick, and
    marking that was interrupted goes on where it stopped.
    """
    if study.suffix in YAML:
        # What the file says now: a mended ground truth, more runs. Nothing is asked.
        from dsqa.sampling import prepare_study

        config, root = load_settings(study)
        folder = prepare_study(config, study, StudyFolder.open(root).root)
    else:
        folder = open_recorded(study)
    with machines(scheduler) as over:
        outcomes = _score(folder, unsafe, workers, reruns, over)
    compared = _read_otherwise(folder, outcomes, readers) if readers else None
    if as_json:
        from dsqa.cli.summary import summary_data

        data = summary_data(folder, None, [])
        click.echo(json.dumps(data if compared is None else data | {"readers": compared.to_dict()}))
    else:
        if reruns > 1:
            from dsqa.outcomes import rerun_summary

            click.echo(rerun_summary(outcomes))
        if compared is not None:
            click.echo("\n".join(compared.lines()))
        if line := _design_line(folder, outcomes):
            click.echo(line)
        click.echo(shown(folder.outcomes_path))
        click.echo(shown(folder.cells_path))
        from dsqa.cli.marking import marking_lines
        from dsqa.cli.summary import unread_line

        for line in marking_lines(folder, outcomes):
            click.echo(line)
        if line := unread_line(folder, outcomes):
            click.echo(line)


def _design_line(folder: StudyFolder, outcomes: pd.DataFrame) -> str:
    """Return what is incomplete about the design, on one line; nothing where it is complete."""
    from dsqa.stats import check_design
    from dsqa.study.folder import stop_of

    if outcomes.empty:
        return ""
    description = folder.describe()
    design = check_design(outcomes, seed=description.seed, sequential=stop_of(description) is not None)
    return "" if design.complete else f"Design: {design.line}"


def _read_otherwise(folder: StudyFolder, outcomes: pd.DataFrame, readers: tuple[str, ...]) -> ReaderSummary:
    from dsqa.metrics import READERS
    from dsqa.outcomes import read_with
    from dsqa.stats.readers import summarise_readers

    chosen = [name for name in READERS if name == "standard" or name in readers or "all" in readers]
    return summarise_readers(read_with(folder, outcomes, chosen))
