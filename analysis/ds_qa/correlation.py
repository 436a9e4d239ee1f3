"""Figure 5: how the metrics of the first two layers go together, over runs and within questions.

    python -m analysis.ds_qa.correlation STUDY

Writes correlation-heatmap (figure, data, caption) and correlation.csv: every kind of coefficient with intervals.
"""

from __future__ import annotations

import argparse

from analysis.ds_qa.common import Study, arguments, main
from dsqa.stats import correlation_table

METRICS = (
    "words_out", "tokens_total", "word_ratio", "token_ratio", "jaccard_first", "seconds", "completion", "accuracy",
    "executability",
)  # fmt: skip


def run(study: Study, options: argparse.Namespace) -> None:
    metrics = [name for name in METRICS if study.outcomes[name].notna().any()]
    study.save("correlation-heatmap", kind="pearson", metrics=metrics)
    study.write(
        "correlation", correlation_table(study.outcomes, metrics, seed=study.tables.seed, resamples=options.resamples)
    )


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--resamples", type=int, default=999, help="of the bootstrap over questions")
    main(run, __doc__, parser)
