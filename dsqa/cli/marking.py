"""What a person should know of a study's marks before trusting them, one line each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from dsqa.study import StudyFolder

__all__ = ["marking_lines"]

_FEW, _HARDLY, _MOST = 10, 0.02, 0.5


def marking_lines(folder: StudyFolder, outcomes: pd.DataFrame) -> list[str]:
    """Return warnings of marks that do not fit and of other models' answers, and how the source's marks compare."""
    found = [_hardly_right(outcomes), _source_agreement(folder, outcomes), *_others(outcomes.attrs)]
    return [line for line in found if line]


def _hardly_right(outcomes: pd.DataFrame) -> str:
    marked = outcomes[outcomes["accuracy"].notna()]
    read = int((marked["answer_status"].isin(["matched", "mismatched", "partial"])).sum())
    right = int((marked["accuracy"] == 1).sum())
    if len(marked) < _FEW or read < _MOST * len(marked) or right >= _HARDLY * len(marked):
        return ""
    return (
        f"Warning: {right:,} of {len(marked):,} answers are right though {read:,} were read: look whether the ground "
        "truths are written as the answers are (dsqa show), before you trust an accuracy near 0"
    )


def _source_agreement(folder: StudyFolder, outcomes: pd.DataFrame) -> str:
    if not folder.source_metrics_path.is_file():
        return ""
    import numpy as np

    from dsqa.report.source_pairs import pair_metrics, source_values
    from dsqa.stats.columns import as_floats

    values = source_values(folder, outcomes)
    ours = as_floats(outcomes["accuracy"])
    best: tuple[int, int, str] | None = None
    for pair in pair_metrics(values, outcomes):
        if pair.ours == "accuracy":
            both = np.isfinite(values[pair.metric]) & np.isfinite(ours)
            equal = int((values[pair.metric][both] == ours[both]).sum())
            if both.any() and (best is None or int(both.sum()) > best[0]):
                best = int(both.sum()), equal, pair.metric
    if best is None:
        return ""
    n, equal, metric = best
    return f"Marks: accuracy equals the source's '{metric}' in {equal:,} of {n:,} runs ({100 * equal / n:.0f} %)"


def _others(attrs: Mapping[object, object]) -> list[str]:
    from dsqa.records.answered import same_model

    answered = attrs.get("answered_by")
    if not isinstance(answered, dict):
        return []
    return [
        f"Note: {times:,} runs were asked of '{asked}' and answered by '{said}': they say nothing of {asked}"
        for (asked, said), times in answered.items()
        if not same_model(asked, said)
    ]
