"""Write the tables of the built-in bank's data card into docs/bank.md and dsqa/bank/builtin/DATA.md.

Each table stands between two comments, `<!-- table: NAME -->` and `<!-- end -->`; the rest is written by hand.

Run: python -m analysis.make_bank_card [--check]
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from analysis.make_builtin_data import LICENCES, SOURCES
from dsqa.bank import Bank, builtin_bank_path, criteria_by_task_type, load_bank, select_questions
from dsqa.bank.composition import LEVELS, composition_of

ROOT = Path(__file__).parents[1]
HOME = builtin_bank_path().parent
CARDS = (ROOT / "docs" / "bank.md", HOME / "DATA.md")
_MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def rows(heading: Iterable[object], body: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table."""
    lines = [list(map(str, heading)), *(list(map(str, line)) for line in body)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def by_type(bank: Bank) -> str:
    """Task type × level."""
    made_of = composition_of(bank)
    body = [[name, *counts.values(), sum(counts.values())] for name, counts in made_of.by_category.items()]
    return rows(["task type", *LEVELS, "total"], [*body, ["total", *made_of.levels.values(), made_of.total]])


def by_file(bank: Bank, subset: Bank) -> str:
    """Data file × level, and how many questions of the default study."""
    made_of, chosen = composition_of(bank), composition_of(subset).by_file
    body = [
        [f"`{name}`", *counts.values(), sum(counts.values()), sum(chosen.get(name, {}).values())]
        for name, counts in made_of.by_file.items()
    ]
    return rows(
        ["data file", *LEVELS, "total", "in default-41"],
        [*body, ["total", *made_of.levels.values(), 100, len(subset)]],
    )


def data_files() -> str:
    """Each data file's origin, licence and size."""
    body = []
    for name, source in SOURCES.items():
        table = pd.read_csv(HOME / "data" / name)
        missing = [f"{column} {count}" for column, count in table.isna().sum().items() if count]
        size = f"{len(table)} × {len(table.columns)}"
        of = f"{source.package}, `{source.name}`"
        body.append([f"`{name}`", of, size, ", ".join(missing) or "none", source.origin, LICENCES[source.package][0]])
    return rows(
        ["file", "R package, data set", "rows × columns", "missing", "origin", "licence of the R package"], body
    )


def licences() -> str:
    """Where each licence was read."""
    return rows(["R package", "licence", "read in DESCRIPTION of version"], ([k, *v] for k, v in LICENCES.items()))


def ambiguities(bank: Bank) -> str:
    """Notes on single questions."""
    return "".join(f"- `{q.id}`: {q.notes}\n" for q in bank if q.notes)


def counts(bank: Bank) -> str:
    """How many questions have what."""
    types = criteria_by_task_type()
    shared = {criterion.id for criteria in types.values() for criterion in criteria}
    values, traps = sum(len(q.answers) for q in bank), sum(len(q.traps) for q in bank)
    trapped, texts = sum(bool(q.traps) for q in bank), sum(q.reference_text is not None for q in bank)
    plots = sum(q.reference_plot is not None for q in bank)
    return (
        f"{len(bank)} questions ask for {values} values; {trapped} name {traps} traps; {texts} have a model text, "
        f"{plots} a reference plot. The {len(types)} lists of criteria hold {len(shared)} distinct ones.\n"
    )


def fill(text: str) -> str:
    """Return a card's text with its tables as they are now."""
    bank = load_bank(builtin_bank_path())
    subset = select_questions(bank, ["default-41"])
    made = {
        "composition": lambda: by_type(bank),
        "default_composition": lambda: by_type(subset),
        "by_file": lambda: by_file(bank, subset),
        "data_files": data_files,
        "licences": licences,
        "ambiguities": lambda: ambiguities(bank),
        "counts": lambda: counts(bank),
    }
    return _MARKED.sub(lambda found: found[1] + made[found[2]]() + found[3], text)


def main() -> int:
    """Write the tables; with --check only say which file is stale."""
    stale = []
    for path in CARDS:
        text = path.read_text(encoding="utf-8")
        filled = fill(text)
        if filled != text:
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(filled, encoding="utf-8")
    print(f"changed: {', '.join(stale)}" if stale else "nothing changed")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
