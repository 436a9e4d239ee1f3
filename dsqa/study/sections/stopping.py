"""When enough runs of a cell have been asked."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from dsqa.study.sections.base import Section

__all__ = ["StopConfig"]


class StopConfig(Section):
    """Stop asking a cell once its runs are precise enough; every criterion given must be met.

    Parameters
    ----------
    accuracy
        Half the width that the 95 % interval for the share of right runs may have, such as 0.10.
    verdict
        How certain the call stable or unstable (normalised instability 0.3) must be, such as 0.95.
    min_runs, max_runs, look_every
        Look first after `min_runs`, then every `look_every` runs, and never ask more than `max_runs`
        (the study's `runs` by default).
    """

    accuracy: Annotated[float, Field(gt=0, lt=0.5)] | None = None
    verdict: Annotated[float, Field(gt=0.5, lt=1)] | None = None
    min_runs: Annotated[int, Field(ge=2)] = 10
    max_runs: Annotated[int, Field(ge=2)] | None = None
    look_every: Annotated[int, Field(ge=1)] = 10

    @model_validator(mode="after")
    def _says_when(self) -> Self:
        if self.accuracy is None and self.verdict is None:
            raise ValueError("says nothing to stop for: give 'accuracy: 0.10', 'verdict: 0.95', or both")
        if self.max_runs is not None and self.max_runs < self.min_runs:
            raise ValueError(f"max_runs ({self.max_runs}) is below min_runs ({self.min_runs})")
        return self

    def looks(self, most: int) -> tuple[int, ...]:
        """Return the numbers of runs after which to look, up to and with `most`."""
        return (*range(min(self.min_runs, most), most, self.look_every), most)
