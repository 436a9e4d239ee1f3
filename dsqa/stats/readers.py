"""How much of the instability is the reader's: the same runs read in several ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.dispersion import normalised_instability
from dsqa.stats.interval import share_text

__all__ = ["ReaderSummary", "summarise_readers"]


@dataclass(frozen=True)
class ReaderSummary:
    """What the readers of the same runs agree on.

    Parameters
    ----------
    runs
        Number of runs.
    disagreement
        Share of runs that the readers do not all mark alike, in [0, 1].
    readers
        By reader: ``accuracy`` (mean over runs), ``unparsed`` (share of runs in which it read nothing) and ``sigma``
        (normalised instability, mean over cells of two runs or more; NaN where there is none).
    reader_share
        Share of the variance of the scores within cells that is the reader's, in [0, 1]: see `summarise_readers`. NaN
        where no score varies.
    """

    runs: int
    disagreement: float
    readers: dict[str, dict[str, float]]
    reader_share: float

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain data; NaN becomes None."""
        return {
            "runs": self.runs,
            "disagreement": self.disagreement,
            "readers": {
                name: {key: None if np.isnan(value) else value for key, value in values.items()}
                for name, values in self.readers.items()
            },
            "reader_share": None if np.isnan(self.reader_share) else self.reader_share,
        }

    def lines(self) -> list[str]:
        """Return the summary in words, a line per reader and one for all."""
        said = []
        for name, values in self.readers.items():
            sigma = "–" if np.isnan(values["sigma"]) else f"{values['sigma']:.3f}"
            right, nothing = share_text(values["accuracy"]), share_text(values["unparsed"])
            said.append(f"{name}: accuracy {right}, nothing read in {nothing}, mean σ̄ {sigma}")
        share = (
            "no score varies" if np.isnan(self.reader_share) else f"{share_text(self.reader_share)} of the variance"
        )
        whose = "" if np.isnan(self.reader_share) else " of scores within cells is the reader's"
        said.append(f"readers mark {share_text(self.disagreement)} of {self.runs} runs differently; {share}{whose}")
        return said


def summarise_readers(table: pd.DataFrame) -> ReaderSummary:
    r"""Compare readers of the same runs.

    Parameters
    ----------
    table
        One row per run and reader, as `dsqa.outcomes.read_with` gives; every run read by every reader.

    Notes
    -----
    In a cell of n runs read by k readers, with scores :math:`s_{ij}`, the sum of squares about the cell's mean is
    that between runs, :math:`k \sum_i (\bar s_{i\cdot} - \bar s)^2`, and that within runs,
    :math:`\sum_{ij} (s_{ij} - \bar s_{i\cdot})^2`: the same response marked otherwise by another reader. The reader's
    share is the sum over cells of the latter, over the sum of the total.

    Raises
    ------
    StatisticsError
        There is no row, or a run is not read by every reader.
    """
    names = list(dict.fromkeys(table["reader"]))
    cell = ["question_id", "condition_id", "prompt_hash"]
    if not names:
        raise StatisticsError("there is no run that was read")
    marks = table.pivot(index=[*cell, "run"], columns="reader", values="accuracy")[names]
    scores = table.pivot(index=[*cell, "run"], columns="reader", values="score")[names]
    if marks.isna().to_numpy().any():
        raise StatisticsError("not every run was read by every reader")
    hits = marks.to_numpy(dtype=float)
    readers: dict[str, dict[str, float]] = {}
    for i, name in enumerate(names):
        own = table[table["reader"] == name]
        sigmas = [
            normalised_instability(values.to_numpy())
            for _, values in scores[name].astype(float).groupby(level=cell)
            if len(values) > 1
        ]
        readers[name] = {
            "accuracy": float(hits[:, i].mean()),
            "unparsed": float((own["answer_status"] == "unparsed").mean()),
            "sigma": float(np.mean(sigmas)) if sigmas else float("nan"),
        }
    within = total = 0.0
    for _, values in scores.astype(float).groupby(level=cell):
        s = values.to_numpy()
        within += float(((s - s.mean(axis=1, keepdims=True)) ** 2).sum())
        total += float(((s - s.mean()) ** 2).sum())
    return ReaderSummary(
        runs=len(marks),
        disagreement=float((hits != hits[:, :1]).any(axis=1).mean()),
        readers=readers,
        reader_share=within / total if total > 0 else float("nan"),
    )
