"""The command group, and how errors reach a person: one line on stderr, exit code 2."""

from __future__ import annotations

import logging
import sys

import click

from dsqa import __version__
from dsqa.cli.verbs import VERBS, Verbs
from dsqa.errors import DsqaError
from dsqa.foreign import visible

__all__ = ["main"]

INTERRUPTED = 130


@click.group(
    cls=Verbs, verbs=VERBS, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="dsqa")
def cli() -> None:
    """Say how reliable a language model's answers to data-science questions are.

    dsqa asks every question N times at each condition, marks every run, and turns the runs into statistics and
    a report. A study is described in a study.yaml and recorded in one folder, runs/NAME beside it.

    \b
    Start here:
      dsqa demo               a real report in a few minutes, from a small local model, no key needed
      dsqa init my-study      a commented study to change (--default: 41 of the built-in questions)
      dsqa bank show          the 100 built-in questions
      dsqa run study.yaml     ask, mark, report; run again, it does only what is missing
      dsqa doctor             what is installed, what is missing, how to get it

    \b
    Or step by step, each reading what the one before it wrote:
      dsqa sample study.yaml  ask the questions        (records.jsonl)
      dsqa batch  --help      the same through a Batch API, for half the price, within a day
      dsqa score  runs/NAME   run the code and mark    (outcomes.parquet, cells.parquet)
      dsqa report runs/NAME   the whole report: a website, one page a question  (report/index.html)
      dsqa figures runs/NAME  the figures alone, with their data
      dsqa plan   runs/NAME   runs and questions for the next study, and their cost
      dsqa compare OLD NEW    what changed between two studies of the same questions
      dsqa import FILES       the runs that another tool recorded, as a study
      dsqa export runs/NAME   the runs for R, Inspect, the Batch API
      dsqa show runs/NAME     one run: response, code, output, figures (-q question -r run)

    Results go to stdout, progress to stderr. Exit codes: 0 done, 2 something to mend (one line says what),
    130 interrupted (run the same command again to go on).
    """  # noqa: D301  (the backslashes are click's)


def main() -> None:
    """Run the command line and exit."""
    # A kernel that Ctrl-C ends while a report is made would be reported by asyncio too, as a traceback.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL + 1)
    try:
        code = cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("dsqa: interrupted; run the same command again to go on", err=True)
        sys.exit(INTERRUPTED)
    except DsqaError as error:
        # Names of files, models and questions, and what an endpoint said, may hold a terminal's commands.
        click.echo(f"dsqa: {visible(str(error))}", err=True)
        sys.exit(2)
    except SystemExit:
        # What click makes of a reader of stdout that went away (`dsqa … | head`): not an error of ours.
        sys.exit(0)
    except OSError as error:
        # A full disk, a folder that may not be written: the user's to mend, not a bug.
        where = f"{error.filename}: " if error.filename else ""
        click.echo(f"dsqa: {where}{error.strerror or error} (what is recorded is kept)", err=True)
        sys.exit(2)
    sys.exit(code if isinstance(code, int) else 0)
