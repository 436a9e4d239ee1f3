"""Random streams that depend on a seed and a name, never on what was drawn before."""

from __future__ import annotations

import numpy as np

from dsqa.study.design import fingerprint

__all__ = ["DEFAULT_SEED", "stream"]

DEFAULT_SEED = 20240611
"""Of everything in `dsqa.stats` that draws, unless told otherwise; a study has its own, which its pages use."""


def stream(seed: int, *names: str | int) -> np.random.Generator:
    """Return the generator that belongs to `names` under `seed`.

    Two calls with equal arguments give equal streams, whatever happened in between; any difference
    in seed or names gives an independent one.
    """
    return np.random.default_rng(int(fingerprint([seed, *names], 32), 16))
