"""Statistics that stay valid while one looks: confidence sequences, and when to stop asking."""

from dsqa.stats.sequential.proportion import PROPORTION_SEQUENCE, proportion_sequence
from dsqa.stats.sequential.spread import INSTABILITY_SEQUENCE, instability_calls, instability_sequence
from dsqa.stats.sequential.stopping import STOPPING_COLUMNS, stopping_table

__all__ = [
    "INSTABILITY_SEQUENCE",
    "PROPORTION_SEQUENCE",
    "STOPPING_COLUMNS",
    "instability_calls",
    "instability_sequence",
    "proportion_sequence",
    "stopping_table",
]
