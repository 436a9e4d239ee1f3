"""Studies: the `study.yaml` a user writes, the design it describes, the folder that records it."""

from dsqa.study.config import StudyConfig
from dsqa.study.design import Cell, Condition, conditions_of, fingerprint
from dsqa.study.folder import StudyFolder
from dsqa.study.parse import load_study
from dsqa.study.sections import ExecutionConfig

__all__ = [
    "Cell",
    "Condition",
    "ExecutionConfig",
    "StudyConfig",
    "StudyFolder",
    "conditions_of",
    "fingerprint",
    "load_study",
]
