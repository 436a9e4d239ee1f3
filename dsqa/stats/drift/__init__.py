"""Two studies of the same questions, earlier and later: what has changed, overall and question by question."""

from dsqa.stats.drift.compare import Drift, compare_studies
from dsqa.stats.drift.pairing import CHANGES, pair_studies

__all__ = ["CHANGES", "Drift", "compare_studies", "pair_studies"]
