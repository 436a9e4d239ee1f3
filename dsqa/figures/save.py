"""A figure on disk: the picture, the data it shows and its caption, the same bytes every time."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from dsqa.errors import ReportError
from dsqa.figures.common import Caption
from dsqa.figures.style import style
from dsqa.foreign import spreadsheet_text

__all__ = ["FORMATS", "render", "save_figure"]

FORMATS = ("svg", "pdf", "png")

# None leaves a field out: dates and versions would make every file differ from the last.
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}


def render(figure: Figure, file_format: str, caption: Caption | None = None, *, dpi: int = 300) -> bytes:
    """Return a figure as the bytes of a file; the same figure gives the same bytes.

    Parameters
    ----------
    figure
        As one of the drawing functions returns it.
    file_format
        ``svg`` (text as outlines), ``pdf`` or ``png``.
    caption
        Its title and alt text go into the file's metadata.
    dpi
        Of a PNG.

    Raises
    ------
    ReportError
        The format is none of the three.
    """
    if file_format not in FORMATS:
        raise ReportError(f"figures cannot be written as '{file_format}'", hint=f"one of: {', '.join(FORMATS)}")
    metadata = dict(_METADATA[file_format])
    if caption is not None:
        metadata["Title"] = caption.title
        metadata["Subject" if file_format == "pdf" else "Description"] = caption.alt
    buffer = io.BytesIO()
    with style():
        # A PNG is packed once, when it has its few colours.
        packing: dict[str, Any] = {"pil_kwargs": {"compress_level": 1}} if file_format == "png" else {}
        figure.savefig(buffer, format=file_format, dpi=dpi, metadata=metadata, **packing)
    content = buffer.getvalue()
    return {"svg": _lean_svg, "png": _lean_png}.get(file_format, bytes)(content)


def _lean_svg(content: bytes) -> bytes:
    """Return an SVG without comments and indentation, coordinates to a thousandth of a point."""
    # A name with a control character in it (a model's, in a log) would be no XML.
    text = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "\ufffd", content.decode())
    text = re.sub(r"\s*<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"\n\s+", "\n", text)
    # Numbers below 1 stay as they are: scales are among them.
    return re.sub(r"\d*[1-9]\d*\.\d{4,}", lambda m: f"{float(m[0]):.3f}".rstrip("0").rstrip("."), text).encode()


def _lean_png(content: bytes) -> bytes:
    """Return a PNG of 256 colours, chosen for the picture: a third of the size, no difference to be seen."""
    with Image.open(io.BytesIO(content)) as image:
        small = image.convert("RGB").quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        # The palette's colours are means of neighbours; paper stays white.
        palette = small.getpalette() or []
        colours = [palette[i : i + 3] for i in range(0, len(palette), 3)]
        small.putpalette([part for colour in colours for part in ([255] * 3 if min(colour) > 248 else colour)])
        notes = PngInfo()
        for key, value in image.info.items():
            if isinstance(key, str) and isinstance(value, str):
                notes.add_itxt(key, value)
        buffer = io.BytesIO()
        small.save(buffer, "png", dpi=image.info["dpi"], pnginfo=notes)
    return buffer.getvalue()


def save_figure(
    figure: Figure,
    data: pd.DataFrame,
    caption: Caption,
    out_dir: Path,
    name: str,
    formats: Sequence[str] = FORMATS,
) -> list[Path]:
    """Write a figure in every format, with its data (``name.csv``) and caption (``name.txt``) beside it.

    Parameters
    ----------
    figure, data, caption
        As the functions for the figure return them.
    out_dir
        Made if it is not there.
    name
        The files' name without ending: letters, digits, dots, dashes and underscores.
    formats
        Any of ``svg``, ``pdf`` and ``png``.

    Returns
    -------
    list of Path
        The files, pictures first, in the order of `formats`.

    Raises
    ------
    ReportError
        The name or a format cannot be used, or a file cannot be written.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise ReportError(f"'{name}' cannot be a figure's file name", hint="use letters, digits, dots, dashes")
    # Everything is made before anything is written: a failure leaves no half set behind.
    files = {f"{name}.{file_format}": render(figure, file_format, caption) for file_format in formats}
    files[f"{name}.csv"] = _csv(data)
    files[f"{name}.txt"] = f"{caption.title}\n\n{caption.text}\n\nAlt text: {caption.alt}\n".encode()
    paths = []
    try:
        out_dir.mkdir(parents=True, exist_ok=True)
        for file_name, content in files.items():
            path = out_dir / file_name
            # Two notebooks may draw the same figure at once; neither shall read a half of it.
            beside = out_dir / f".{os.getpid()}-{file_name}"
            try:
                beside.write_bytes(content)
                beside.replace(path)
            finally:
                beside.unlink(missing_ok=True)
            paths.append(path)
    except OSError as error:
        raise ReportError(f"cannot be written: {error.strerror or error}", path=out_dir) from None
    return paths


def _csv(data: pd.DataFrame) -> bytes:
    safe = data.map(lambda value: spreadsheet_text(value) if isinstance(value, str) else value)
    return safe.to_csv(index=False, lineterminator="\n").encode("utf-8", "replace")
