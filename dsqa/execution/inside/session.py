"""A kernel inside the sandbox: one cell after another, by IPython's rules, in a process that stays.

What a cell prints, shows and draws goes to the host as frames, in order; see `stream`.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.ultratb import FormattedTB
from traitlets import Type
from traitlets.config import Config

from .confine import Limits
from .keep import Keeper
from .snippet import describe_error

__all__ = ["serve"]

_LINE = 1 << 13
# Bound now: a cell may replace what the modules offer later.
_read = os.read
_decode = json.JSONDecoder().decode
# What a notebook would hand to a shell or an installer.
_OUTSIDE_LINE = ("pip", "conda", "mamba", "uv", "sx", "system")
_OUTSIDE_CELL = ("bash", "sh", "script", "perl", "ruby", "R", "sql", "javascript", "js", "cython")


class _Outputs:
    """Everything that leaves a cell, in order, within its limits."""

    def __init__(self, keeper: Keeper, cap: int) -> None:
        self.keeper = keeper
        self.cap = cap
        self.room = cap
        self.truncated = False
        self.latest: object = None

    def shown(self, data: dict[str, Any], source: str) -> None:
        """Take in what IPython made of a value, and the table or figure that it is."""
        value, self.latest = self.latest, None
        self.text("text", str(data.get("text/plain", "")), {"source": source})
        image = data.get("image/png")
        if image is None:
            self.keeper.value(value, source)
            return
        content = image if isinstance(image, bytes) else base64.b64decode(image)
        self.keeper.stream.put("image", "image", [("png", content)], {"source": source})

    def text(self, kind: str, text: str, facts: dict[str, Any] | None = None) -> None:
        data = text.encode("utf-8", "replace")
        if len(data) > self.room:
            self.truncated = True
            data = data[: self.room].decode("utf-8", "ignore").encode()
        self.room -= len(data)
        if data or facts:
            self.keeper.stream.put(kind, "", [("txt", data)], facts or {})

    def begin(self) -> None:
        self.room, self.truncated = self.cap, False
        self.keeper.begin_cell()


class _Stream(io.TextIOBase):
    """Standard output or error of a cell."""

    def __init__(self, name: str, outputs: _Outputs) -> None:
        self.name = name
        self._outputs = outputs
        self._waiting: list[str] = []
        self._size = 0

    encoding = "utf-8"
    errors = "replace"

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._waiting.append(text)
        self._size += len(text)
        if self._size > _LINE:
            self.flush()
        return len(text)

    def flush(self) -> None:
        if self._waiting:
            text = "".join(self._waiting)
            self._waiting.clear()
            self._size = 0
            self._outputs.text(self.name, text)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # a cell may have put anything there
            stream.flush()


class _Publisher(DisplayPublisher):
    """`display(x)`."""

    shell: Any

    def publish(self, data: Any, metadata: Any = None, source: Any = None, **_: Any) -> None:
        _flush()
        self.shell.outputs.shown(data, "display")


class _Hook(DisplayHook):
    """The last expression's value."""

    shell: Any

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: dict[str, Any], md_dict: Any = None) -> None:
        _flush()
        self.shell.outputs.shown(format_dict, "value")

    def finish_displayhook(self) -> None:
        pass


def _leave_out_the_middle(trace: TracebackType | None, keep: int = 20) -> None:
    frames = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    if len(frames) > 2 * keep:
        frames[keep - 1].tb_next = frames[-keep]


class _Shell(InteractiveShell):
    """IPython, without a terminal, a history file or other processes."""

    outputs: _Outputs

    displayhook_class = Type(_Hook)
    display_pub_class = Type(_Publisher)

    def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        _flush()
        self.outputs.text("error", self.InteractiveTB.stb2text(stb))

    def _get_exc_info(self, exc_tuple: Any = None) -> Any:
        # IPython looks through all modules for every frame: endless recursion would take longer to tell than to run.
        etype, value, trace = super()._get_exc_info(exc_tuple)  # type: ignore[no-untyped-call]
        told: set[int] = set()
        error = value
        while error is not None and id(error) not in told:
            told.add(id(error))
            _leave_out_the_middle(error.__traceback__)
            error = error.__cause__ or error.__context__
        return etype, value, trace

    def system(self, cmd: str) -> None:
        self.refuse(f"!{cmd}")

    system_piped = system_raw = system

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> Any:
        self.refuse(f"!{cmd}")
        return [] if split else ""

    def refuse(self, what: str) -> None:
        _flush()
        self.outputs.text("note", f"not run, there are no other programs here: {what[:200]}")

    def enable_gui(self, gui: Any = None) -> None:
        pass


def _make_shell(outputs: _Outputs) -> Any:
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.autocall = 0
    os.environ["IPYTHONDIR"] = os.environ["TMPDIR"] + "/.ipython"
    shell: Any = _Shell.instance(config=config)
    shell.outputs = outputs
    for name in _OUTSIDE_LINE:
        shell.register_magic_function(_refusing(shell, f"%{name}"), "line", name)
    for name in _OUTSIDE_CELL:
        shell.register_magic_function(_refusing(shell, f"%%{name}"), "cell", name)
    # Figures are drawn in any case.
    shell.register_magic_function(lambda line="": None, "line", "matplotlib")
    formatter = shell.display_formatter
    formatter.active_types = ["text/plain", "image/png"]
    format_plainly = formatter.format

    def format_value(value: Any, *args: Any, **options: Any) -> Any:
        outputs.latest = value
        return format_plainly(value, *args, **options)

    formatter.format = format_value
    return shell


def _refusing(shell: Any, name: str) -> Any:
    def magic(line: str = "", cell: str | None = None) -> None:
        shell.refuse(f"{name} {line}".strip())

    return magic


def _warm_up() -> None:
    """Make a traceback before the forks: the first takes half a second."""
    try:
        raise ValueError
    except ValueError:
        make: Any = FormattedTB
        make(mode="Context").structured_traceback(*sys.exc_info())


def serve(commands: int, keeper: Keeper, limits: Limits) -> None:
    """Run cells until the host hangs up.

    Parameters
    ----------
    commands
        Descriptor with one JSON object a line: ``{"number": …, "code": …}``.
    keeper
        Takes what is shown and drawn.
    limits
        For the output of each cell.
    """
    outputs = _Outputs(keeper, limits.output_kb * 1024)
    for name in ("stdout", "stderr"):
        setattr(sys, name, _Stream(name, outputs))
    sys.path.insert(0, os.getcwd())  # noqa: PTH109
    shell = _make_shell(outputs)
    sys.modules["__main__"] = shell.user_module
    keeper.start()

    def show() -> None:
        _flush()
        keeper.figures.flush(keeper.stream)

    keeper.figures.on_show = show
    keeper.stream.put("ready", "", [], {})
    buffer = b""
    identity = _identity(commands)
    while chunk := _read(commands, 1 << 16):
        buffer += chunk
        while b"\n" in buffer:
            line, buffer = buffer.split(b"\n", 1)
            _cell(shell, outputs, _decode(line.decode()), lambda: _identity(commands) == identity)


def _identity(fd: int) -> tuple[int, int]:
    info = os.fstat(fd)
    return info.st_dev, info.st_ino


def _still_runs(shell: Any, connected: Callable[[], bool]) -> bool:
    """Return whether another cell could be run, by running one: a cell may have broken what runs them."""
    try:
        result = shell.run_cell("20 + 1", store_history=False, silent=True)
        return bool(result.success) and connected()
    except BaseException:
        return False


def _cell(shell: Any, outputs: _Outputs, request: dict[str, Any], connected: Callable[[], bool]) -> None:
    keeper = outputs.keeper
    outputs.begin()
    name = f"<cell {request['number']}>"
    shell.compile.get_code_name = lambda *_: name
    # In a kernel that took the place of another the cells go on counting.
    shell.execution_count = request["number"]
    start = time.process_time()
    facts: dict[str, Any] = {"kind": "done"}
    try:
        # Only while a cell runs: an interrupt that comes late must not end the kernel.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        result = shell.run_cell(request["code"], store_history=True)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        error = result.error_before_exec or result.error_in_exec
        if result.error_before_exec is not None:
            facts = {"kind": "syntax", "line": getattr(error, "lineno", None), "message": str(error)[:300]}
        elif error is not None:
            facts = {"kind": "exception", **describe_error(error, name)}
    except BaseException as error:
        facts = {"kind": "exception", **describe_error(error, name), "broken": not _still_runs(shell, connected)}
    else:
        facts["broken"] = not _still_runs(shell, connected)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    _flush()
    keeper.figures.flush(keeper.stream)
    keeper.written.write(keeper.stream)
    facts |= {"number": request["number"], "truncated": outputs.truncated, "notes": keeper.stream.notes}
    keeper.stream.put("done", "", [], {**facts, "cpu": time.process_time() - start})


_warm_up()
