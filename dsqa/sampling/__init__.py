"""Sampling: from a study's settings to its recorded runs."""

from dsqa.sampling.budget import parse_budget
from dsqa.sampling.estimate import Estimate, ModelEstimate, estimate_study
from dsqa.sampling.ledger import SessionEntry, read_sessions
from dsqa.sampling.prepare import count_outside_design, prepare_study
from dsqa.sampling.progress import Progress, SamplingState, terminal_progress
from dsqa.sampling.sample import sample_study
from dsqa.sampling.select import Selection
from dsqa.sampling.summary import SamplingSummary

__all__ = [
    "Estimate",
    "ModelEstimate",
    "Progress",
    "SamplingState",
    "SamplingSummary",
    "Selection",
    "SessionEntry",
    "count_outside_design",
    "estimate_study",
    "parse_budget",
    "prepare_study",
    "read_sessions",
    "sample_study",
    "terminal_progress",
]
