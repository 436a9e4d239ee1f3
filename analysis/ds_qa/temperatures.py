"""Figure 8: token use and text similarity of one question by temperature.

    python -m analysis.ds_qa.temperatures STUDY [--question 21 --model gpt-4.1-mini]

Writes question-by-temperature (figure, data, caption) and temperatures.csv, a row per temperature.
"""

from __future__ import annotations

import argparse

from analysis.ds_qa.common import Study, arguments, main, part
from analysis.ds_qa.models import one_question


def run(study: Study, options: argparse.Namespace) -> None:
    chosen = part(study, model=options.model)
    one_question(chosen, options.question, "temperature", "question-by-temperature", "temperatures")


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--question", default="21")
    parser.add_argument("--model", default="gpt-4.1-mini")
    main(run, __doc__, parser)
