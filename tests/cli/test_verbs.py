from __future__ import annotations

import subprocess
import sys

import click
import pytest

from dsqa.cli.app import cli
from dsqa.cli.verbs import VERBS


@pytest.mark.parametrize("name", VERBS)
def test_each_verb_is_a_command_of_its_name_with_a_text_of_its_own(name):
    command = cli.get_command(click.Context(cli), name)
    assert isinstance(command, click.Command)
    assert command.name == name
    assert command.help
    assert name in cli.list_commands(click.Context(cli))


def test_help_loads_none_of_what_the_verbs_need():
    script = (
        "import sys; from dsqa.cli.app import main\n"
        "try: main()\n"
        "finally: print(sorted({'pandas', 'numpy', 'pydantic', 'yaml', 'aiohttp', 'dsqa.study'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script, "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert all(f"\n  {name} " in done.stdout for name in VERBS)
