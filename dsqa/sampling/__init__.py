"""Sampling: from a study's settings to its recorded runs."""

from dsqa.sampling.prepare import count_outside_design, prepare_study
from dsqa.sampling.progress import Progress, SamplingState, terminal_progress
from dsqa.sampling.sample import sample_study
from dsqa.sampling.select import Selection
from dsqa.sampling.summary import SamplingSummary

__all__ = [
    "Progress",
    "SamplingState",
    "SamplingSummary",
    "Selection",
    "count_outside_design",
    "prepare_study",
    "sample_study",
    "terminal_progress",
]
