"""How generated code is run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, field_validator

from dsqa.study.sections.artefacts import ArtefactConfig
from dsqa.study.sections.base import Section

__all__ = ["ExecutionConfig"]


class ExecutionConfig(Section):
    """Limits for generated code, per snippet, and the environment it sees.

    `python` is another virtual environment (its folder or its interpreter); dsqa's own where it is None. `packages`
    are requirements (``seaborn``, ``pandas==2.2.3``) that must hold there before anything is run.
    """

    cpu_seconds: Annotated[float, Field(gt=0)] = 10.0
    wall_seconds: Annotated[float, Field(gt=0)] = 30.0
    memory_mb: Annotated[int, Field(ge=64)] = 2048
    disk_mb: Annotated[int, Field(ge=1)] = 64
    output_kb: Annotated[int, Field(ge=1)] = 256
    workers: Annotated[int, Field(ge=1)] | None = None
    artefacts: ArtefactConfig = ArtefactConfig()
    packages: tuple[str, ...] = ()
    python: str | None = None

    @field_validator("packages")
    @classmethod
    def _are_requirements(cls, packages: tuple[str, ...]) -> tuple[str, ...]:
        from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415

        for text in packages:
            try:
                Requirement(text)
            except InvalidRequirement:
                raise ValueError(f"'{text}' is no package: write 'seaborn' or 'seaborn==0.13.2'") from None
        return packages

    @field_validator("python")
    @classmethod
    def _is_a_whole_path(cls, python: str | None) -> str | None:
        if python is not None and not Path(python).expanduser().is_absolute():
            raise ValueError(f"'{python}' must be the whole path of a virtual environment, from '/' or '~' on")
        return python

    def per_snippet(self) -> dict[str, Any]:
        """Return what one snippet is held to, as plain data: the limits, without how many run at once and where."""
        return self.model_dump(exclude={"workers", "packages", "python"})
