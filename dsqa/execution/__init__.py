"""Take the code out of a response and run it, isolated, with limits, many at a time.

The rooms before this one know nothing of it; metrics and outcomes read what it returns.
"""

from dsqa.execution.artefacts import Artefact, ArtefactStore, Part
from dsqa.execution.execute import execute
from dsqa.execution.extraction import CodeBlock, Extraction, extract
from dsqa.execution.interpreter import Environment, changed_packages, environment_of
from dsqa.execution.isolation import detect_isolation
from dsqa.execution.missing import asked_version
from dsqa.execution.model import ExecutionResult, Isolation, Outcome, Snippet
from dsqa.execution.session import CellResult, Output, Session, SessionHost, SessionLimits, open_session

__all__ = [
    "Artefact",
    "ArtefactStore",
    "CellResult",
    "CodeBlock",
    "Environment",
    "ExecutionResult",
    "Extraction",
    "Isolation",
    "Outcome",
    "Output",
    "Part",
    "Session",
    "SessionHost",
    "SessionLimits",
    "Snippet",
    "asked_version",
    "changed_packages",
    "detect_isolation",
    "environment_of",
    "execute",
    "extract",
    "open_session",
]
