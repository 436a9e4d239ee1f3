"""Arguments and options that several verbs share."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["json_option", "study_argument"]

study_argument = click.argument("study", type=click.Path(path_type=Path))
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
