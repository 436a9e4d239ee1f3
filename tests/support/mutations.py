"""Seeded damage to files that dsqa reads, and what came of it: a few in the tests, thousands in benchmarks."""

from __future__ import annotations

import contextlib
import gzip
import io
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from dsqa.cli.app import cli
from dsqa.errors import DsqaError

PIECES = [
    b"\xff\xfe", b"\x00", b'"', b"{", b"}", b"[", b"]", b"'", b"\n", b"\r", b",", b":", b"- ", b"#", b"&a ", b"*a",
    b"!!python/none ", b"9" * 5000, b"-1", b"1e999", b"NaN", b"Infinity", b"null", b"true", b"\\ud800",
    b"\xed\xa0\x80", b"\xe2\x80\xa8", b"1" + b"0" * 25, b"[" * 3000, b'{"a":' * 1500, b"=1+1", b"2025-13-45",
    b"@x[", b"\x1b[31m", b"~", b"0x1F", b"1_000", b"<!DOCTYPE", b"&lol;",
]  # fmt: skip


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Damage some places of a file: bytes changed, cut, doubled, swapped, put in."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 5)):
        at = rng.randrange(max(1, len(changed)))
        match rng.randrange(7):
            case 0:
                changed[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                del changed[at : at + rng.choice([1, 3, 20, 200])]
            case 2 | 3:
                changed[at:at] = rng.choice(PIECES)
            case 4:
                end = at + rng.choice([1, 8, 40])
                changed[at:at] = changed[at:end]
            case 5:
                changed[at : at + rng.choice([1, 4, 12])] = rng.choice(PIECES)
            case _:
                lines = bytes(changed).split(b"\n")
                one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
                lines[one], lines[other] = lines[other], lines[one]
                changed = bytearray(b"\n".join(lines))
    return bytes(changed)


@dataclass(frozen=True)
class Target:
    """A file, and the command that reads it.

    Parameters
    ----------
    name
        For the count.
    file
        The one that is damaged, in a folder of its own.
    command
        The command line, from a working folder.
    """

    name: str
    file: Path
    command: Callable[[Path], list[str]]


@dataclass(frozen=True)
class Outcome:
    """What a command made of a damaged file: it went through, said one line, or failed with something else."""

    kind: str
    said: str


def run_command(arguments: list[str]) -> Outcome:
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = cli.main(arguments, standalone_mode=False)
    except (DsqaError, click.ClickException) as error:
        text = str(error) if isinstance(error, DsqaError) else error.format_message()
        return Outcome("one line" if "\n" not in text and text else "several lines", text)
    except (SystemExit, click.exceptions.Exit):
        return Outcome("through", "")
    except OSError as error:
        return Outcome("one line" if error.strerror else "traceback", f"OSError: {error}")
    except BaseException as error:
        return Outcome("traceback", f"{type(error).__name__}: {error}"[:500])
    return Outcome("through" if not code else "one line", out.getvalue()[-500:])


def damage_and_read(target: Target, folder: Path, rng: random.Random) -> tuple[bytes, Outcome]:
    """Damage a copy of a target's file and run its command on it."""
    copy = folder / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(target.file.parent, copy)
    victim = copy / target.file.name
    packed = victim.suffix == ".gz"
    whole = victim.read_bytes()
    data = mutate(gzip.decompress(whole) if packed and rng.random() < 0.7 else whole, rng)
    victim.write_bytes(gzip.compress(data) if packed and data[:2] != b"\x1f\x8b" else data)
    return data, run_command(target.command(copy))


_TABLE = """question,model,run,text,truth
What is 1 plus 1?,m,0,"The answer is @x[2]",2
What is 1 plus 1?,m,1,"I think 3.",2
What is 2 plus 2?,m,0,"```python\nprint(4)\n```",4
What is 2 plus 2?,m,1,4.0,4
"""
_BATCH = """{"custom_id": "q1-0", "response": {"status_code": 200, "body": {"id": "c", "model": "m", "choices": \
[{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "4"}}], "usage": \
{"prompt_tokens": 3, "completion_tokens": 1}}}}
"""
_PRICES = "currency: USD\nprices:\n  - {models: [gpt-4o-mini], input: 0.15, output: 0.6}\n"
_BANK = """- id: q1
  question: How many rows?
  concepts: [Data Summary]
  level: easy
  format: "@n[value]"
  common_answers: [[n, "3"]]
"""


def targets(folder: Path) -> Iterator[Target]:
    """Write small files of each kind into a folder and yield them with what reads them."""
    study = folder / "study"
    for arguments in (["init", str(study)],):
        assert run_command(arguments).kind == "through"
    (study / "prices.yaml").write_text(_PRICES)
    dry = ["sample", "study.yaml", "--dry-run"]
    yield Target("study.yaml", study / "study.yaml", _in(dry))
    yield Target("prices.yaml", study / "prices.yaml", _in(dry))
    yield Target("bank.jsonl", study / "bank.jsonl", _in(["bank", "check", "bank.jsonl"]))
    for name, text in (
        ("bank.yaml", _BANK),
        ("bank.csv", "id,question,answer\nq1,How many rows?,3\nq2,Mean?,2.50\n"),
    ):
        path = folder / name.replace(".", "-") / name
        path.parent.mkdir()
        path.write_text(text)
        yield Target(name, path, _in(["bank", "check", name]))
    for name, text in (("table.csv", _TABLE), ("batch.jsonl", _BATCH.replace("\\\n", "") * 3)):
        path = folder / name.replace(".", "-") / name
        path.parent.mkdir()
        path.write_text(text)
        yield Target(f"import of {name}", path, _in(["import", name, "--out", "out"]))
    recorded = folder / "recorded"
    made = run_command(["import", str(folder / "table-csv" / "table.csv"), "--out", str(recorded)])
    assert made.kind == "through", made
    assert run_command(["score", str(recorded)]).kind == "through"
    for name, command in {
        "records.jsonl": ["show", "."],
        "study.json": ["plan", "."],
        "outcomes.parquet": ["plan", "."],
        "executions.jsonl": ["show", "."],
    }.items():
        if (recorded / name).is_file():
            yield Target(name, recorded / name, _in(command))


def _in(arguments: list[str]) -> Callable[[Path], list[str]]:
    """Return a command line in which names of files are those in a folder."""

    def command(folder: Path) -> list[str]:
        return [str(folder / word) if "." in word or word == "out" else word for word in arguments]

    return command
