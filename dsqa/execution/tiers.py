"""Which libraries a snippet needs loaded, told from its imports: the fewer, the cheaper each fork."""

from __future__ import annotations

import re

__all__ = ["BASE", "FULL", "LEARN", "choose_modules"]

BASE = ("numpy", "pandas")
FULL = (
    *BASE,
    "scipy.stats",
    "statsmodels.api",
    "statsmodels.formula.api",
    "matplotlib.pyplot",
    "seaborn",
)
# Loaded and not warmed up: once OpenMP has run in a process, it hangs in every process forked from that.
LEARN = (
    *FULL,
    "sklearn.cluster",
    "sklearn.compose",
    "sklearn.decomposition",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "sklearn.metrics",
    "sklearn.model_selection",
    "sklearn.neighbors",
    "sklearn.pipeline",
    "sklearn.preprocessing",
)
_LEARNS = re.compile(r"^[ \t]*(?:import|from)[ \t]+[^#\n]*\bsklearn\b", re.MULTILINE)
_HEAVY = re.compile(
    r"^[ \t]*(?:import|from)[ \t]+[^#\n]*\b(?:scipy|statsmodels|matplotlib|seaborn|pylab)\b", re.MULTILINE
)
# These draw or fit without an import of their own.
_DRAWS = re.compile(r"\.(?:plot|hist|boxplot)\b")


def choose_modules(code: str) -> tuple[str, ...]:
    """Return the modules a preloader for `code` should have loaded.

    A wrong guess costs time, never correctness: what is not loaded is imported by the snippet itself.
    """
    if _LEARNS.search(code):
        return LEARN
    return FULL if _HEAVY.search(code) or _DRAWS.search(code) else BASE
