"""The verbs: each is imported when it is called, so that ``dsqa --help`` loads none of them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import click

__all__ = ["VERBS", "Verb", "Verbs"]


class Verb(NamedTuple):
    """Where a command is, and its line in the list of commands.

    Parameters
    ----------
    module
        Its module in `dsqa.cli`.
    name
        The command's name there.
    summary
        What it is for; the only place where that is written in one line.
    """

    module: str
    name: str
    summary: str


VERBS: Mapping[str, Verb] = {
    "demo": Verb("steps", "demo", "A real report in a few minutes, no key needed."),
    "init": Verb("init", "init", "Write a commented study to start from."),
    "bank": Verb("bank", "bank", "Look at a bank of questions, check it, convert it, answer it."),
    "run": Verb("steps", "run", "Ask, mark and report: the whole study."),
    "sample": Verb("steps", "sample", "Ask the questions and record the answers."),
    "batch": Verb("batch", "batch", "Sample through the Batch API: half the price, within a day."),
    "score": Verb("steps", "score", "Run the answers' code and mark every run."),
    "report": Verb("report", "report", "The whole report: a website, and one document."),
    "figures": Verb("figures", "figures", "Write the figures as SVG, PDF or PNG."),
    "plan": Verb("plan", "plan", "How many runs and questions next time, and what they cost."),
    "compare": Verb("compare", "compare", "What changed between an old study and a new one."),
    "show": Verb("show", "show", "One run: response, code, outcome, output, figures."),
    "records": Verb("records", "records", "Look for damaged lines among the runs, and set them aside."),
    "import": Verb("importing", "import_runs", "Turn what another tool recorded into a study."),
    "export": Verb("export", "export", "The runs for R, Inspect, the Batch API."),
    "doctor": Verb("doctor", "doctor", "What is installed, what is missing, how to get it."),
}


class Verbs(click.Group):
    """A group whose commands are imported when they are called."""

    def __init__(self, *args: Any, verbs: Mapping[str, Verb], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands' names, in alphabetical order."""
        return sorted(self._verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None where there is none of the name."""
        verb = self._verbs.get(cmd_name)
        if verb is None:
            return None
        command: click.Command = getattr(import_module(f"dsqa.cli.{verb.module}"), verb.name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._verbs[name].summary) for name in self.list_commands(ctx)])
