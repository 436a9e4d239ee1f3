"""Asking, on the command line: which part, for how much; what was asked, and how to go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dsqa.cli.scheduler import HERE, Machines
from dsqa.cli.stopping import Besides, ask_until_precise
from dsqa.study.config import StudyConfig
from dsqa.study.folder import StudyFolder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dsqa.sampling import SamplingSummary, Selection
    from dsqa.sampling.plan import CellId

__all__ = ["Asking", "ask_study", "asking_options", "say_how_to_go_on"]

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--limit", type=click.IntRange(1), help="Record at most this many new runs, then stop."),
    click.option(
        "--only",
        multiple=True,
        metavar="NAME=LIST",
        help="Ask only these: question=q1,q2, model=…, temperature=… or condition=…; may be repeated.",
    ),
    click.option(
        "--budget",
        multiple=True,
        metavar="LIST",
        help="Stop before the study has taken more, all sessions together: money=5, tokens=2000000, requests=500.",
    ),
)


@dataclass(frozen=True)
class Asking:
    """What the command line says of asking.

    Parameters
    ----------
    limit
        New runs at most.
    only, budget
        As they were written.
    """

    limit: int | None = None
    only: tuple[str, ...] = ()
    budget: tuple[str, ...] = ()

    def selection(self) -> Selection | None:
        """Return what `only` restricts the study to."""
        from dsqa.sampling import Selection

        return Selection.parse(self.only) if self.only else None


def asking_options(command: F) -> F:
    """Give a command the options of asking; it gets them as `asking`."""

    @wraps(command)
    def wrapped(
        *arguments: Any, limit: int | None, only: tuple[str, ...], budget: tuple[str, ...], **options: Any
    ) -> Any:
        return command(*arguments, asking=Asking(limit, only, budget), **options)

    result: Any = wrapped
    for option in reversed(_OPTIONS):
        result = option(result)
    return result  # type: ignore[no-any-return]


def ask_study(
    config: StudyConfig,
    study_path: Path | None,
    root: Path,
    asking: Asking,
    *,
    unsafe: bool,
    workers: int | None,
    over: Machines = HERE,
) -> tuple[StudyFolder, SamplingSummary]:
    """Prepare a study and ask what is missing; where it says when to stop, mark the answers as they come."""
    from dsqa.endpoints.embedded import DEFAULT_MODEL, MODELS, fetch_weights, find_weights
    from dsqa.sampling import parse_budget, prepare_study, sample_study, terminal_progress

    selection = asking.selection()
    budget = parse_budget(asking.budget, config.budget)
    used = [config.endpoints[model.endpoint] for model in config.models]
    for name in sorted({str(e.model or "") for e in used if e.kind == "embedded" and e.weights is None}):
        model = MODELS.get(name)
        if not find_weights(model):
            wanted = model or DEFAULT_MODEL
            click.echo(f"Fetching the weights of {wanted.name} ({wanted.megabytes} MB, once) …", err=True)
            fetch_weights(model)
    folder = prepare_study(config, study_path, root)

    def ask(*, targets: Mapping[CellId, int] | None = None, limit: int | None, besides: int = 0) -> SamplingSummary:
        with terminal_progress("sampling") as progress:
            return sample_study(
                folder,
                progress=Besides(progress, besides),
                limit=limit,
                only=selection,
                targets=targets,
                budget=budget,
                opener=over.opener,
            )

    if config.stop is None:
        return folder, ask(limit=asking.limit)
    summary = ask_until_precise(
        folder,
        config.stop,
        ask,
        config=config,
        only=selection,
        limit=asking.limit,
        unsafe=unsafe,
        workers=workers,
        executor=over.executor,
    )
    return folder, summary


def say_how_to_go_on(summary: SamplingSummary) -> None:
    """Say on stderr why a session ended before it was through, and how to go on; nothing if it was through."""
    recorded = f"{summary.recorded:,} of {summary.total:,} runs recorded"
    if summary.stopped == "interrupted":
        click.echo(f"dsqa: stopped with {recorded}; nothing is lost; run the same command again to go on", err=True)
    elif summary.stopped == "budget":
        click.echo(
            f"dsqa: the budget is used up: {summary.why}, and another request could cross it; {recorded}; "
            "raise 'budget' in the study (or --budget) and run the same command to go on",
            err=True,
        )
