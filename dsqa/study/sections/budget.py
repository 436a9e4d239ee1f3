"""How much a study may cost."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dsqa.study.sections.base import Section

__all__ = ["BudgetConfig"]


class BudgetConfig(Section):
    """What the whole study may take, all its sessions together; a limit that is left out does not bind."""

    money: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] | None = None
    tokens: Annotated[int, Field(gt=0)] | None = None
    requests: Annotated[int, Field(gt=0)] | None = None
