"""Take the code out of a response and run it, isolated, with limits, many at a time.

The rooms before this one know nothing of it; metrics and outcomes read what it returns.
"""

from dsqa.execution.artefacts import Artefact, ArtefactStore, Part
from dsqa.execution.execute import execute
from dsqa.execution.extraction import CodeBlock, Extraction, extract
from dsqa.execution.isolation import detect_isolation
from dsqa.execution.model import ExecutionResult, Isolation, Outcome, Snippet

__all__ = [
    "Artefact",
    "ArtefactStore",
    "CodeBlock",
    "ExecutionResult",
    "Extraction",
    "Isolation",
    "Outcome",
    "Part",
    "Snippet",
    "detect_isolation",
    "execute",
    "extract",
]
