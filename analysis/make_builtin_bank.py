"""Fill in what the built-in bank's reference code works out: ground truths, rounding, traps and reference plots.

Everything else in dsqa/bank/builtin/questions.jsonl is written by hand. Each reference/<id>.py prints the answer and
may set TRAPS, a dict from a convention's name to the answer under it; the parts that differ from the truth are kept.

Run: python analysis/make_builtin_bank.py [--check] [ID ...]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import runpy
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt

matplotlib.use("Agg")

HOME = Path(__file__).parents[1] / "dsqa" / "bank" / "builtin"
PART = re.compile(r"@(\w+)\[([^\[\]]*)\]")
#: Dots per inch of a reference plot: enough to judge a drawing by, small enough to ship nineteen.
DPI = 80


@dataclass(frozen=True)
class Worked:
    """What a reference script works out: its answer, its traps (both as text) and the picture that it drew."""

    answer: str
    traps: dict[str, str]
    plot: bytes | None


def parts(text: str) -> dict[str, str]:
    """Return the values of `@name[value]` by name."""
    return dict(PART.findall(text))


def work_out(question_id: str, file_name: str) -> Worked:
    """Run a reference script in this process, in a new folder that holds nothing but the data file."""
    before = Path.cwd()
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, matplotlib.rc_context({"savefig.dpi": DPI}):
        shutil.copy(HOME / "data" / file_name, folder)
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(said):
                names = runpy.run_path(str(HOME / "reference" / f"{question_id}.py"))
        finally:
            os.chdir(before)
            plt.close("all")
        pictures = list(Path(folder).glob("*.png"))
        plot = pictures[0].read_bytes() if pictures else None
    return Worked(said.getvalue().strip(), names.get("TRAPS", {}), plot)


def fill(row: dict[str, Any], worked: Worked) -> dict[str, Any]:
    """Return a question with the fields that its reference code decides."""
    answers = parts(worked.answer)
    traps = {
        convention: differing
        for convention, text in worked.traps.items()
        if (differing := {k: v for k, v in parts(text).items() if v != answers[k] and v != "nan"})
    }
    decimals = {name: found[1] for name, value in answers.items() if (found := re.fullmatch(r"-?\d+\.(\d+)", value))}
    row = {k: v for k, v in row.items() if k not in ("traps", "rounding")} | {"common_answers": list(answers.items())}
    rounding = {name: str(len(digits)) for name, digits in decimals.items()}
    extra = {"rounding": rounding, "traps": traps}
    return row | {k: v for k, v in extra.items() if v}


def read() -> list[dict[str, Any]]:
    """Return the bank's questions as plain data."""
    return [json.loads(line) for line in (HOME / "questions.jsonl").read_text(encoding="utf-8").splitlines()]


def main() -> int:
    """Fill in the questions named, or all; with --check only say which would change."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ids", nargs="*")
    parser.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    rows, changed = read(), []
    for i, row in enumerate(rows):
        if chosen.ids and row["id"] not in chosen.ids:
            continue
        worked = work_out(row["id"], row["file_name"])
        filled = json.loads(json.dumps(fill(row, worked)))
        if filled != row:
            changed.append(row["id"])
            rows[i] = filled
        if "reference_plot" in row and not chosen.check:
            path = HOME / row["reference_plot"]
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(worked.plot or b"")
    if changed and not chosen.check:
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (HOME / "questions.jsonl").write_text(text, encoding="utf-8")
    print(f"{len(changed)} changed: {', '.join(changed)}" if changed else "nothing changed")
    return 1 if changed and chosen.check else 0


if __name__ == "__main__":
    sys.exit(main())
