"""A real browser that opens pages, has a script look at them, and says what it saw."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def look(folder: Path, frames: dict[str, tuple[str, int]], script: str) -> Any:
    """Open pages in frames of a given width and return what `script` returns.

    Parameters
    ----------
    folder
        Where the pages' relative addresses lead.
    frames
        Name → the page's text and the frame's width in pixels. Narrower than any window can be made.
    script
        Body of a function of `pages`, which maps each name to its window.
    """
    program = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    if program is None:
        pytest.skip("no Chromium on this machine to open pages in")
    parts = [
        f'<iframe name="{name}" style="width: {width}px; height: 900px" srcdoc="{html.escape(text)}"></iframe>'
        for name, (text, width) in frames.items()
    ]
    driver = (
        "addEventListener('load', () => { const pages = {}; for (const frame of document.querySelectorAll('iframe'))"
        " pages[frame.name] = frame.contentWindow; let seen; try { seen = (function () {" + script + "})(); }"
        " catch (error) { seen = String(error); }"
        " document.body.textContent = 'SEEN' + encodeURIComponent(JSON.stringify(seen)) + 'END'; });"
    )
    page = folder / "driver.html"
    page.write_text(f"<!doctype html><body>{''.join(parts)}<script>{driver}</script></body>", encoding="utf-8")
    command = [
        program, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'browser'}",
        "--virtual-time-budget=20000", "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    found = re.search("SEEN(.*?)END", done.stdout)
    assert found, f"the browser said nothing: {done.stderr[-2000:]}"
    return json.loads(unquote(found.group(1)))
