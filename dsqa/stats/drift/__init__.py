"""Two studies of the same questions, earlier and later: what has changed, overall and question by question."""

from dsqa.stats.drift.compare import Drift, compare_studies
from dsqa.stats.drift.pairing import CHANGES, pair_studies
from dsqa.stats.drift.power import detectable_in_question, detectable_overall, power_in_question

__all__ = [
    "CHANGES",
    "Drift",
    "compare_studies",
    "detectable_in_question",
    "detectable_overall",
    "pair_studies",
    "power_in_question",
]
