"""Figure 9: plots that runs of one question drew, beside the reference plot: typical, most different, failures.

    python -m analysis.ds_qa.gallery STUDY [--question ID] [--condition ID]

Writes gallery (figure, data, caption). It takes a study whose code was run here; the authors' run files hold no
pictures that can be drawn again without their data.
"""

from __future__ import annotations

import argparse

from analysis.ds_qa.common import Study, arguments, main


def run(study: Study, options: argparse.Namespace) -> None:
    chosen = {name: getattr(options, name) for name in ("question", "condition") if getattr(options, name)}
    study.save("gallery", **chosen)


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--question")
    parser.add_argument("--condition")
    main(run, __doc__, parser)
