"""Run one snippet in this forked process, as `__main__`, the way a notebook cell runs, and report how it ended.

The report is written by the same process that ran the snippet, so it is only ever believed about itself: what
the snippet printed, how long it took and how it died come from outside.
"""

from __future__ import annotations
import __future__

import ast
import atexit
import builtins
import contextlib
import fcntl
import json
import linecache
import os
import signal
import sys
import threading
import time
import traceback
import types
from collections.abc import Callable
from typing import Any

from .confine import Layers, Limits, confine, make_scratch
from .keep import Keeper
from .stream import Caps

__all__ = ["FILE_NAME", "child_main", "describe_error"]

FILE_NAME = "snippet.py"
_MESSAGE_CAP = 500
_CHAIN_CAP = 8
_COPY_CHUNK = 1 << 20
_HIGHEST_FD = 4096
# Bound now: the snippet may replace what `json` offers later.
_encode = json.JSONEncoder().encode
_FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


def child_main(fds: list[int], layers: Layers) -> None:
    """Set this process up, run the snippet, report, and exit; never returns.

    Parameters
    ----------
    fds
        The job (JSON), standard output, standard error, the report, what is kept, marks for the parent, and then
        each data file, open for reading.
    layers
        The protections to put on.
    """
    status = 1
    report = fds[3]
    try:
        job = _prepare(fds)
        os.dup2(fds[1], 1)
        os.dup2(fds[2], 2)
        report = _keep_only(fds[3:])
        caps = Caps(**job["limits"]["artefacts"])
        limits = Limits(**{**job["limits"], "artefacts": caps}, shares=job["shares"])
        data = list(zip(job["files"], range(6, 6 + len(job["files"])), strict=True))
        sizes = sum(os.fstat(fd).st_size for _, fd in data)
        work = make_scratch(layers, job["id"], limits, sizes)
        for name, fd in data:
            _copy_in(name, fd)
        path = os.path.join(os.path.dirname(work), FILE_NAME)  # noqa: PTH118, PTH120
        with open(path, "w", encoding="utf-8", errors="surrogatepass") as handle:  # noqa: PTH123
            handle.write(job["code"])
        _fresh_state()
        keeper = Keeper(4, 5, limits.artefacts, work, os.environ["TMPDIR"])
        confine(layers, limits)
    except BaseException as error:
        _send(report, {"kind": "setup", "message": f"{type(error).__name__}: {error}"[:_MESSAGE_CAP]})
        os._exit(status)
    try:
        if job.get("session"):
            # IPython is loaded only where sessions are wanted.
            sys.modules[f"{__package__}.session"].serve(6 + len(data), keeper, limits)
            return
        ready = time.process_time()
        row, shown = _run(job["code"], path, limits.output_kb * 1024, keeper)
        status = int(row["status"])
        _send(report, {**row, "clock": [ready, time.process_time()]})
        keeper.finish(*shown)
    finally:
        os._exit(status)


def _prepare(fds: list[int]) -> dict[str, Any]:
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size = os.fstat(fds[0]).st_size
    job: dict[str, Any] = json.loads(os.pread(fds[0], size, 0))
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    return job


def _keep_only(wanted: list[int]) -> int:
    """Move these to descriptor 3 and up, and close everything else; return the first."""
    above = 3 + len(wanted)
    copies = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, above) for fd in wanted]
    for index, fd in enumerate(copies):
        os.dup2(fd, 3 + index, inheritable=False)
    os.closerange(above, _HIGHEST_FD)
    return 3


def _copy_in(name: str, fd: int) -> None:
    folder = os.path.dirname(name)  # noqa: PTH120
    if folder:
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103
    target = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444)
    # Read by position: the descriptor is shared with other runs of the same question.
    position = 0
    while chunk := os.pread(fd, _COPY_CHUNK, position):
        position += len(chunk)
        view = memoryview(chunk)
        while view:
            view = view[os.write(target, view) :]
    os.close(target)
    os.close(fd)


def _fresh_state() -> None:
    """Give back what a new interpreter would have: no exit handlers, empty streams; randomness was seen to before."""
    atexit._clear()
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    # A pipe is block-buffered as under `python snippet.py > file`; errors must never stop a print.
    sys.stdout = open(1, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="replace", buffering=1, closefd=False)  # noqa: SIM115
    for name in ("stdin", "stdout", "stderr"):
        setattr(sys, f"__{name}__", getattr(sys, name))


def _displayer(keeper: Keeper) -> Callable[..., None]:
    def display(*objects: object, **_options: object) -> None:
        """Stand in for a notebook's `display`."""
        for item in objects:
            print(item if isinstance(item, str) else repr(item))  # noqa: T201
            keeper.value(item, "display")

    return display


def _run(code: str, path: str, cap: int, keeper: Keeper) -> tuple[dict[str, Any], list[Any]]:
    """Run the code; return the report and, if it has one, the last expression's value."""
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=path, __builtins__=builtins)
    sys.modules["__main__"] = module
    sys.argv = [path]
    sys.path.insert(0, os.getcwd())  # noqa: PTH109
    builtins.display = _displayer(keeper)  # type: ignore[attr-defined]
    linecache.cache[path] = (len(code), None, code.splitlines(keepends=True), path)
    row: dict[str, Any] = {"kind": "done", "status": 0, "value": None}
    shown: list[Any] = []
    keeper.start()
    try:
        try:
            body, last = _compile(code, path)
        except (SyntaxError, ValueError) as error:
            # ValueError: a null byte; RecursionError and MemoryError of the parser fall to the outer handler
            _print_exception(error, path)
            line = getattr(error, "lineno", None)
            return {"kind": "syntax", "status": 1, "line": line, "message": _text(error)}, []
        exec(body, module.__dict__)  # noqa: S102
        if last is not None:
            value = eval(last, module.__dict__)  # noqa: S307
            if value is not None:
                row["value"] = repr(value)[:cap]
                shown.append(value)
        _end_threads()
    except SystemExit as stop:
        row = _exit_row(stop)
    except BaseException as error:
        row = {"kind": "exception", "status": 1, **describe_error(error, path)}
        _print_exception(error, path)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):  # the snippet may have closed or replaced it
            stream.flush()
    return row, shown


def _compile(code: str, path: str) -> tuple[types.CodeType, types.CodeType | None]:
    """Compile the code; a last statement that is an expression comes apart, for its value."""
    tree = ast.parse(code, path)
    last: ast.Expression | None = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not _ends_in_semicolon(code):
        statement = tree.body.pop()
        assert isinstance(statement, ast.Expr)  # noqa: S101
        last = ast.Expression(statement.value)
    body = compile(tree, path, "exec", dont_inherit=True)
    if last is None:
        return body, None
    return body, compile(last, path, "eval", flags=body.co_flags & _FUTURES, dont_inherit=True)


def _ends_in_semicolon(code: str) -> bool:
    # As notebooks do: `plt.plot(x);` shows no value.
    return code.rstrip().endswith(";")


def _end_threads() -> None:
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


def _exit_row(stop: SystemExit) -> dict[str, Any]:
    code = stop.code
    if code is None or code == 0:
        return {"kind": "exit", "status": 0, "value": None}
    if not isinstance(code, int):
        sys.stderr.write(f"{code}\n")
    return {"kind": "exit", "status": code & 0xFF if isinstance(code, int) else 1, "value": None}


def _text(error: BaseException) -> str:
    try:
        return str(error)[:_MESSAGE_CAP]
    except BaseException:
        return ""


def describe_error(error: BaseException, path: str) -> dict[str, Any]:
    """Return the exception, its line in the snippet, and what it came from, as plain data."""
    chain: list[dict[str, Any]] = []
    current: object = error
    while isinstance(current, BaseException) and len(chain) < _CHAIN_CAP:
        number = getattr(current, "errno", None)
        name = getattr(current, "name", None)
        chain.append(
            {
                "type": type(current).__name__,
                "bases": [base.__name__ for base in type(current).__mro__][:12],
                "message": _text(current),
                "errno": number if isinstance(number, int) else None,
                "name": name[:200] if isinstance(name, str) else None,
            }
        )
        reason = getattr(current, "reason", None)  # urllib keeps its cause here
        current = reason if isinstance(reason, BaseException) else current.__cause__ or current.__context__
    return {"chain": chain, "line": _line_of(error, path)}


def _line_of(error: BaseException, path: str) -> int | None:
    line = None
    for frame, number in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == path:
            line = number
    return line


def _print_exception(error: BaseException, path: str) -> None:
    """Print the traceback as Python does, without the frames of this file."""
    try:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != path:
            trace = trace.tb_next
        lines = traceback.format_exception(type(error), error, trace)
        sys.stderr.write("".join(lines))
    except BaseException:  # noqa: S110
        pass  # the snippet made stderr unusable; the report still tells the type and the line


def _send(fd: int, row: dict[str, Any]) -> None:
    data = _encode(row).encode() + b"\n"
    while data:
        data = data[os.write(fd, data) :]
