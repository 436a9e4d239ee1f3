"""What a comparison comes to, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dsqa.stats.comparison.layout import Paired
from dsqa.stats.interval import level_text

__all__ = ["answer_of", "best_of"]

_LARGEST = {"accuracy": 1.0, "score": 3.0, "instability": 1.0}
_UNITS = {"accuracy": "accuracy", "score": "mean score", "instability": "instability"}


def best_of(paired: Paired, table: pd.DataFrame, level: float) -> tuple[str, tuple[str, ...]]:
    """Return the label with the best mean, and those it is told apart from after adjustment."""
    means = np.round(paired.values.mean(axis=0), 9)
    at = int(np.argmin(means) if paired.low_is_better else np.argmax(means))
    best = paired.labels[at]
    tests = table[table["quantity"] == "difference"]
    own = tests[(tests["first"] == best) | (tests["second"] == best)]
    beaten = own[(own["p_adjusted"] < 1 - level).fillna(False).to_numpy(dtype=bool)]
    others = beaten["first"].where(beaten["first"] != best, beaten["second"])
    return best, tuple(str(label) for label in others)


def answer_of(
    paired: Paired,
    table: pd.DataFrame,
    best: str,
    separated: tuple[str, ...],
    *,
    level: float,
    margin: float,
    adjust: str,
) -> str:
    """Return the answer in sentences."""

    def named(label: str) -> str:
        return label if paired.by == "model" else f"{paired.by} {label}"

    def row(quantity: str, label: str, other: str | None = None) -> Any:
        hits = table[table["quantity"] == quantity]
        hits = hits[hits["first"].isin([label, other]) & (hits["second"].isin([label, other]) | (other is None))]
        return hits.iloc[0] if len(hits) else None

    count, unit = len(paired.values), _UNITS[paired.measure]
    mean = row("mean", best)
    digits = _digits(mean["high"] - mean["low"], mean["estimate"])
    rank = "lowest" if paired.low_is_better else "highest"
    means = np.round(paired.values.mean(axis=0), 9)
    top = means[paired.labels.index(best)]
    tied = [label for label, value in zip(paired.labels, means, strict=True) if value == top]
    if len(tied) > 1:
        lead = f"{_list(list(map(named, tied)))} tie for the {rank} {unit}, {mean['estimate']:.{digits}f}"
    else:
        lead = f"{named(best)} has the {rank} {unit}, {mean['estimate']:.{digits}f}"
    if not pd.isna(mean["low"]) and len(tied) == 1:
        lead += f" ({level_text(level)} interval {mean['low']:.{digits}f} to {mean['high']:.{digits}f})"
    lead += f", over {count} question{'s' if count > 1 else ''}"
    likely = row("probability of being best", best)
    if likely is not None and not pd.isna(likely["estimate"]) and len(tied) == 1:
        lead += f"; its probability of being best is {_share(likely['estimate'])}"
    sentences = [lead + "."]
    it = "It" if len(tied) == 1 else named(best)
    others = [label for label in paired.labels if label != best]
    open_ = [label for label in others if label not in separated]
    if count < 2:
        sentences.append("One question cannot say how the models compare on others.")
    elif not open_:
        sentences.append(
            f"{it} is told apart from {_list(list(map(named, others)))} (permutation within questions, {adjust})."
        )
    else:
        if separated:
            sentences.append(f"{it} is told apart from {_list(list(map(named, separated)))}.")
        same = [label for label in open_ if _is_equivalent(row("equivalence", best, label))]
        if same:
            sentences.append(f"{it} is equivalent to {_list(list(map(named, same)))} within ±{margin:g}.")
        rest = [label for label in open_ if label not in same]
        if rest:
            sentences.append(f"{it} is not told apart from {_list(list(map(named, rest)))}.")
    if count >= 2:
        order = np.argsort(paired.values.mean(axis=0), kind="stable")
        order = order if paired.low_is_better else order[::-1]
        second = next(paired.labels[i] for i in order if paired.labels[i] != best)
        gap, found = row("difference", best, second), row("smallest detectable difference", best, second)
        sign = 1 if gap["first"] == best else -1
        digits = _digits(gap["high"] - gap["low"], gap["estimate"])
        which = f"Between {named(best)} and {named(second)}"
        which = which if second in tied else f"To the next, {named(second)},"
        text = f"{which} the difference is {_signed(sign * gap['estimate'], digits)}"
        if not pd.isna(gap["low"]):
            ends = sorted((sign * gap["low"], sign * gap["high"]))
            text += f" ({level_text(level)} interval {_signed(ends[0], digits)} to {_signed(ends[1], digits)})"
        text += f", {_p(gap['p_adjusted'])} after {adjust}"
        most = _LARGEST[paired.measure]
        if not pd.isna(found["estimate"]) and found["estimate"] < most:
            text += f"; differences below {found['estimate']:.{digits}f} this study would often have missed"
        elif not pd.isna(found["estimate"]):
            text += f"; even the largest difference there can be, {most:g}, this study would often have missed"
        sentences.append(text + ".")
    return " ".join(sentences)


def _share(value: float) -> str:
    """Return a probability that reads 0 or 1 only where it is."""
    return "above 0.99" if 0.995 <= value < 1 else f"{value:.2f}"


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.2g}"


def _digits(width: float, value: float) -> int:
    """Return decimals that tell an interval's ends, or a value without one from 0: two, or up to four."""
    size = abs(value) or 1.0 if pd.isna(width) else width
    return 2 if size >= 0.05 else 3 if size >= 0.005 else 4


def _signed(value: float, digits: int) -> str:
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text.replace("-", "\u2212")


def _is_equivalent(row: Any) -> bool:
    return row is not None and not pd.isna(row["note"]) and str(row["note"]).startswith("equivalent")


def _list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
