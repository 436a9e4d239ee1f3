"""Pictures that runs drew: read with suspicion, made small, and compared."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.spatial.distance import cdist

from dsqa.figures.common import Floats

__all__ = ["SIDE", "UnreadablePictureError", "distances", "for_print", "open_picture", "thumbprint"]

SIDE = 32
"""Pixels along each side of what is compared."""

MAX_PIXELS = 40_000_000
"""Pictures above it are not opened: decoding them could take all memory."""

_PRINT_PIXELS = 500  # 42 mm at 300 dpi


class UnreadablePictureError(ValueError):
    """A picture cannot be used; the message is the kind of failure, as it is counted."""


def open_picture(path: Path) -> Image.Image:
    """Return a picture in RGB, transparent parts white.

    Raises
    ------
    UnreadablePictureError
        It is no picture, damaged, empty, or larger than `MAX_PIXELS`.
    """
    try:
        # Pillow warns of sizes that the limit here refuses anyway.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path) as image:
                if image.width * image.height > MAX_PIXELS:
                    raise UnreadablePictureError("picture too large")
                layer = image.convert("RGBA")
    except UnreadablePictureError:
        raise
    except Image.DecompressionBombError:
        raise UnreadablePictureError("picture too large") from None
    except Exception:
        raise UnreadablePictureError("picture damaged") from None
    ground = Image.new("RGBA", layer.size, "white")
    return Image.alpha_composite(ground, layer).convert("RGB")


def thumbprint(image: Image.Image) -> Floats:
    """Return the picture's grey levels, 0 (black) to 1 (white), reduced to `SIDE` × `SIDE`; shape (SIDE²,)."""
    small = image.convert("L").resize((SIDE, SIDE), Image.Resampling.BOX)
    return np.asarray(small, dtype=np.float64).ravel() / 255


def for_print(image: Image.Image) -> NDArray[np.uint8]:
    """Return the picture as pixels, no more of them than are printed; shape (height, width, 3)."""
    copy = image.copy()
    copy.thumbnail((_PRINT_PIXELS, _PRINT_PIXELS), Image.Resampling.LANCZOS)
    return np.asarray(copy, dtype=np.uint8)


def distances(prints: Floats, others: Floats) -> Floats:
    """Return mean absolute differences of grey level; (n, SIDE²) and (m, SIDE²) give (n, m)."""
    return np.asarray(cdist(prints, others, "cityblock") / prints.shape[1], dtype=np.float64)
