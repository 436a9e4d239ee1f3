"""Sampling: from a study's settings to its recorded runs."""

from dsqa.sampling.prepare import count_outside_design, prepare_study
from dsqa.sampling.progress import Progress, SamplingState, terminal_progress
from dsqa.sampling.sample import SamplingSummary, sample_study

__all__ = [
    "Progress",
    "SamplingState",
    "SamplingSummary",
    "count_outside_design",
    "prepare_study",
    "sample_study",
    "terminal_progress",
]
