"""The formats that can be imported: one module each, which holds its reader as `READER`."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from dsqa.importing.runs import Reader

__all__ = ["all_readers"]

_MODULES = (
    "openai_batch", "mt_bench", "stored_completions", "lm_eval", "promptfoo", "inspect_logs", "ds_qa",
    "llm_stability", "table",
)  # fmt: skip


@cache
def all_readers() -> dict[str, Reader]:
    """Return the readers by name, the more particular formats first."""
    readers: list[Reader] = [import_module(f"{__name__}.{module}").READER for module in _MODULES]
    return {reader.name: reader for reader in readers}
