"""Random streams that depend on a seed and a name, never on what was drawn before."""

from __future__ import annotations

import numpy as np

from dsqa.study.design import fingerprint

__all__ = ["stream"]


def stream(seed: int, *names: str | int) -> np.random.Generator:
    """Return the generator that belongs to `names` under `seed`.

    Two calls with equal arguments give equal streams, whatever happened in between; any difference
    in seed or names gives an independent one.
    """
    return np.random.default_rng(int(fingerprint([seed, *names], 32), 16))
