"""`dsqa init`: write a study to start from."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import click

from dsqa.errors import StudyError

__all__ = ["init"]

_OPENAI = """\
  default:
    base_url: https://api.openai.com/v1
    api_key_env: OPENAI_API_KEY
    # requests_per_minute: 500  # your account's limits, if you know them; the endpoint's own are heeded anyway
    # tokens_per_minute: 200000
"""
_EMBEDDED = """\
  default:
    kind: embedded            # SmolLM2-135M-Instruct on this machine, no key; or weights: path/to/model.gguf
"""
_DATA = """\
student,hours,mark
ana,2,51
ben,4,58
cho,6,66
dev,8,71
eve,10,84
"""
_QUESTIONS = (
    {
        "id": "q1",
        "question": "How many students are in the data set?",
        "concepts": ["Data Understanding"],
        "format": "@n_students[value] where value is an integer",
        "file_name": "marks.csv",
        "level": "easy",
        "common_answers": [["n_students", "5"]],
    },
    {
        "id": "q2",
        "question": "Fit a linear regression of mark on hours. What is the slope, rounded to two decimals?",
        "concepts": ["Linear Regression"],
        "format": "@slope[value] where value has two decimals",
        "file_name": "marks.csv",
        "level": "medium",
        "common_answers": [["slope", "3.95"]],
    },
)


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--embedded", is_flag=True, help="Use the embedded local model instead of the OpenAI API.")
@click.option("--default", "default", is_flag=True, help="The default study instead: 41 of the built-in questions.")
def init(directory: Path, embedded: bool, default: bool) -> None:
    """Write a commented study.yaml, a bank of two questions and their data file into DIRECTORY.

    With --default only a study.yaml, which asks 41 of the 100 questions that dsqa ships. Nothing that is there
    already is overwritten.
    """
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", directory.resolve().name).strip("-._")[:64] or "study"
    which = "default.yaml" if default else "init.yaml"
    template = (files("dsqa.study") / "templates" / which).read_text(encoding="utf-8")
    fill = {
        "name": name,
        "model": "SmolLM2-135M-Instruct" if embedded else "gpt-4o-mini",
        "endpoint": _EMBEDDED if embedded else _OPENAI,
    }
    for key, value in fill.items():
        template = template.replace("{" + key + "}", value)
    bank = "".join(json.dumps(question, ensure_ascii=False) + "\n" for question in _QUESTIONS)
    written = {"study.yaml": template}
    if not default:
        written |= {"bank.jsonl": bank, "data/marks.csv": _DATA}
    for file_name in written:
        if (directory / file_name).exists():
            raise StudyError("is there already", path=directory / file_name, hint="name another folder")
    for file_name, text in written.items():
        target = directory / file_name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        click.echo(str(target))
    click.echo(f"Next: edit {directory / 'study.yaml'}, then: dsqa run {directory / 'study.yaml'}", err=True)
