"""Figure 4: instability by category and level, here with intervals.

    python -m analysis.ds_qa.instability STUDY [--model gpt-4o --temperature 1]

Writes instability-by-category (figure, data, caption) and instability.csv, a row per category and level.
"""

from __future__ import annotations

import argparse

from analysis.ds_qa.common import Study, arguments, main, part
from dsqa.stats import summarise_groups


def run(study: Study, options: argparse.Namespace) -> None:
    chosen = part(study, options.model, options.temperature)
    chosen.save("instability-by-category")
    groups = summarise_groups(chosen.tables.cells, ["category", "level"], seed=study.tables.seed)
    chosen.write("instability", groups)


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--model", default="gpt-4o")
    parser.add_argument("--temperature", type=float, default=1.0)
    main(run, __doc__, parser)
