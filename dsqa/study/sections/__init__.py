"""The sections of a `study.yaml`, one module each."""

from dsqa.study.sections.artefacts import ArtefactConfig
from dsqa.study.sections.budget import BudgetConfig
from dsqa.study.sections.endpoints import (
    SEED_PER_RUN,
    EndpointConfig,
    ModelConfig,
    check_address,
    check_parameters,
)
from dsqa.study.sections.execution import ExecutionConfig
from dsqa.study.sections.prompt import PromptConfig
from dsqa.study.sections.sampling import EndpointLimits, SamplingConfig
from dsqa.study.sections.stopping import StopConfig

__all__ = [
    "SEED_PER_RUN",
    "ArtefactConfig",
    "BudgetConfig",
    "EndpointConfig",
    "EndpointLimits",
    "ExecutionConfig",
    "ModelConfig",
    "PromptConfig",
    "SamplingConfig",
    "StopConfig",
    "check_address",
    "check_parameters",
]
