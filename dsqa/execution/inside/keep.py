"""Keep what a run shows, draws and writes: the part of a run that comes after the snippet's own."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from typing import Any

from .figures import Figures
from .stream import Caps, Stream
from .tables import image_of, table_of
from .watch import send_mark
from .written import Written

__all__ = ["Keeper"]


class Keeper:
    """Everything that is kept of one process.

    Parameters
    ----------
    fd
        Where it is written; the host reads it.
    marks
        Where the parent is told which time is not the snippet's.
    caps
        How much is kept.
    work, temporary
        The snippet's folders, with nothing of the snippet's in them yet.
    """

    def __init__(self, fd: int, marks: int, caps: Caps, work: str, temporary: str) -> None:
        self.marks = marks
        self.stream = Stream(fd, caps)
        self.figures = Figures(caps.figures, self.apart)
        self.written = Written(work, temporary)
        self.tables = 0
        self.images = 0

    def start(self) -> None:
        """Begin to watch for figures."""
        self.figures.watch()

    @contextlib.contextmanager
    def apart(self) -> Iterator[None]:
        """Do work that is not counted as the snippet's."""
        send_mark(self.marks, b"b", time.process_time())
        try:
            yield
        finally:
            send_mark(self.marks, b"e", time.process_time())

    def value(self, value: object, source: str) -> None:
        """Keep what a value is beyond its text; `source` is ``value`` or ``display``."""
        try:
            if type(value).__module__ == "matplotlib.figure":
                self.figures.note(value)
            found = table_of(value)
            image = None if found is not None else image_of(value)
        except BaseException as error:
            self.stream.say(f"{source}: its table could not be kept: {type(error).__name__}")
            return
        if found is not None:
            self.tables += 1
            content, facts = found
            self.stream.put("table", f"table {self.tables}", [("json", content)], {**facts, "source": source})
        elif image is not None:
            self.images += 1
            self.stream.put("image", f"image {self.images}", [("png", image)], {"source": source})

    def begin_cell(self) -> None:
        """Give a session's next cell the room that a run has."""
        self.stream.renew()
        self.figures.total = self.tables = self.images = 0

    def finish(self, *values: Any) -> None:
        """Keep the last value, the figures and the files; the run itself is over and has been reported."""
        send_mark(self.marks, b"f", time.process_time())
        # What drawing prints is not the snippet's output.
        null = os.open("/dev/null", os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        for value in values:
            self.value(value, "value")
        self.figures.flush(self.stream)
        files = self.written.write(self.stream)
        self.stream.end({"figures": self.figures.total, "files": files})
