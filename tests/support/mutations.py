"""Seeded damage to files that dsqa reads, and what came of reading them: run small by the tests, long by benchmarks."""

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
    b"\xff\xfe", b"\x00", b'"', b"{", b"}", b"[", b"]", b"'", b"\n", b"\r", b",", b":", b"- ", b"#", b"&a ", b"*a", b"!!python/none ",
    b"9" * 5000, b"-1", b"1e999", b"NaN", b"Infinity", b"null", b"true", b"\\ud800", b"\xed\xa0\x80", b"\xe2\x80\xa8", b"1" + b"0" * 25,
    b"[" * 3000, b'{"a":' * 1500, b"=1+1", b"2025-13-45", b"@x[", b"\x1b[31m", b"~", b"0x1F", b"1_000", b"<!DOCTYPE", b"&lol;",
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


def targets(folder: Path) -> Iterator[Target]:
    """Write small files of each kind into a folder and yield them with what reads them."""
    from dsqa.cli.init import write_study_files

    study = folder / "study"
    write_study_files(study)
    for name in sorted(path.name for path in study.iterdir() if path.is_file()):
        if name == "study.yaml":
            yield Target("study.yaml", study / name, lambda copy: ["sample", str(copy / "study.yaml"), "--dry-run"])
        elif name.startswith("bank"):
            yield Target("bank", study / name, lambda copy, name=name: ["bank", "check", str(copy / name)])
