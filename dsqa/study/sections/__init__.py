"""The sections of a `study.yaml`, one module each."""

from dsqa.study.sections.endpoints import EndpointConfig, ModelConfig, check_address
from dsqa.study.sections.execution import ExecutionConfig
from dsqa.study.sections.prompt import PromptConfig
from dsqa.study.sections.sampling import SamplingConfig

__all__ = ["EndpointConfig", "ExecutionConfig", "ModelConfig", "PromptConfig", "SamplingConfig", "check_address"]
