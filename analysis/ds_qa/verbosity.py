"""Figure 6 and the numbers around it: token verbosity ratio on word verbosity ratio, log-log and raw.

    python -m analysis.ds_qa.verbosity STUDY [--model gpt-4o --temperature 1]

Writes verbosity-fit and verbosity-residuals (figure, data, caption), verbosity.csv (slopes by every method and kind
of error) and verbosity-intervals.csv (every construction of the exponent's interval, beside
the printed [0.95, 1.07]).
"""

from __future__ import annotations

import argparse

from analysis.ds_qa.common import Study, arguments, main, part
from analysis.ds_qa.intervals import exponent_intervals
from analysis.ds_qa.published import as_printed, published
from dsqa.stats import verbosity_table


def run(study: Study, options: argparse.Namespace) -> None:
    chosen = part(study, options.model, options.temperature)
    if len(chosen.outcomes) == len(study.outcomes):
        print("All runs of the study:")
    chosen.save("verbosity-fit")
    chosen.save("verbosity-residuals")
    seed = study.tables.seed
    chosen.write("verbosity", verbosity_table(chosen.outcomes, seed=seed, resamples=min(999, options.resamples)))
    table = exponent_intervals(chosen.outcomes, seed=seed, resamples=options.resamples)
    printed = next(number["printed"] for number in published() if number["measure"] == "exponent interval")
    ends = [as_printed((low, high), printed) for low, high in zip(table["low"], table["high"], strict=True)]
    chosen.write(
        "verbosity-intervals", table.assign(printed=printed, ours=ends, same=[end == printed for end in ends])
    )
    alike = table[[end == printed for end in ends]]
    told = "; ".join(f"{row.construction} ({row.unit})" for row in alike.itertuples())
    print(f"The printed interval {printed} is that of: {told or 'none of these'}.")


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--model", default="gpt-4o")
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--resamples", type=int, default=9999, help="of the bootstrap of the exponent")
    main(run, __doc__, parser)
