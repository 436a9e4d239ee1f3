"""Execute a notebook with papermill, in a kernel of the running Python."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import signal
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import papermill
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import DeadKernelError
from papermill.exceptions import PapermillExecutionError

from dsqa.errors import ReportError
from dsqa.study.folder import replace_text

__all__ = ["Kernels", "execute_notebook", "known_parameters", "read_notebook"]


class Kernels:
    """The kernels that run now, so that Ctrl-C ends those that other threads wait for."""

    def __init__(self) -> None:
        self._managers: list[_OwnKernel] = []
        self._lock = threading.Lock()
        self.stopped = False

    def add(self, manager: _OwnKernel) -> None:
        """Note a kernel that is about to start."""
        with self._lock:
            self._managers.append(manager)

    def stop(self) -> None:
        """End every kernel; the executions that wait for them fail, and none starts any more."""
        self.stopped = True
        with self._lock:
            for manager in self._managers:
                pid = getattr(manager.provisioner, "pid", None)
                if pid:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)


class _OwnKernel(AsyncKernelManager):
    """A kernel of this very Python, whatever kernelspecs the machine has."""

    # Set by a subclass made for one execution.
    scratch: str
    hidden: tuple[str, ...]
    running: Kernels | None
    folder: Path

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        if self.running is not None:
            self.running.add(self)
        # Sockets in a folder of our own: no port is opened.
        self.transport = "ipc"
        self.ip = f"{self.scratch}/k"
        self.connection_file = f"{self.scratch}/kernel.json"

    async def start_kernel(self, *_: Any, **settings: Any) -> None:  # type: ignore[override]
        # Not papermill's `cwd`, which changes this process's own folder, under the feet of other threads.
        await super().start_kernel(**{**settings, "cwd": str(self.folder)})

    @property
    def kernel_spec(self) -> KernelSpec:
        # A fixed hash seed, for output that does not vary; no IPython start-up files of the user's; no keys.
        env = {"IPYTHONDIR": self.scratch, "PYTHONHASHSEED": "0", **dict.fromkeys(self.hidden, "")}
        # What a kernel says of itself when Ctrl-C ends it is of no use to anyone; a failing cell is told otherwise.
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=50"]
        return KernelSpec(argv=argv, display_name="Python 3", language="python", env=env)


def execute_notebook(
    notebook: Path,
    output: Path,
    parameters: Mapping[str, Any],
    *,
    cwd: Path,
    hidden_variables: tuple[str, ...] = (),
    kernels: Kernels | None = None,
) -> nbformat.NotebookNode:
    """Execute `notebook` and save it, with its outputs and without any time or path of this execution.

    Parameters
    ----------
    notebook
        The notebook; one of its cells is tagged ``parameters``.
    output
        Where the executed notebook goes. After a failure it holds what was executed until then.
    parameters
        Values that replace those of the ``parameters`` cell.
    cwd
        The kernel's working folder.
    hidden_variables
        Environment variables that the kernel shall not see.
    kernels
        Takes note of the kernel, where it may have to be ended from another thread.

    Returns
    -------
    nbformat.NotebookNode
        The executed notebook.

    Raises
    ------
    ReportError
        It is not a notebook, has no such parameter, or one of its cells failed.
    """
    source = read_notebook(notebook)
    _check_parameters(notebook, source, parameters)
    logging.getLogger("papermill").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="dsqa-kernel-") as scratch:
        own = {"scratch": scratch, "hidden": hidden_variables, "running": kernels, "folder": cwd}
        manager = type("_ThisKernel", (_OwnKernel,), own)
        executed = Path(scratch) / "executed.ipynb"
        if kernels is not None and kernels.stopped:
            raise ReportError("was not executed: interrupted", path=notebook)
        try:
            papermill.execute_notebook(
                source,
                executed,
                parameters=dict(parameters),
                kernel_name="python3",
                language="python",
                progress_bar=False,
                start_timeout=120,
                kernel_manager_class=manager,
            )
        except PapermillExecutionError as error:
            result = _tidy(_read(executed))
            _save(result, output)
            raise ReportError(
                f"cell {_number_in(source, error)} ({_first_line(error.source)}) failed: {_reason(error)}",
                path=notebook,
                hint=f"{output} holds the notebook as far as it got; mend the cause, then render again",
            ) from None
        except (DeadKernelError, RuntimeError) as error:
            raise ReportError(
                f"the notebook's Python died or did not start: {_plain(error)}",
                path=notebook,
                hint="is there enough memory? 'dsqa doctor' says what is installed",
            ) from None
        result = _tidy(_read(executed))
    _save(result, output)
    return result


def read_notebook(path: Path) -> nbformat.NotebookNode:
    """Read a notebook.

    Raises
    ------
    ReportError
        It is not one.
    """
    try:
        return _read(path)
    except (OSError, UnicodeDecodeError, nbformat.reader.NotJSONError, nbformat.ValidationError) as error:
        raise ReportError(f"cannot be read as a notebook: {error}", path=path) from None


def known_parameters(notebook: nbformat.NotebookNode) -> dict[str, str] | None:
    """Return a notebook's parameters with their defaults as code; None where no cell is tagged ``parameters``."""
    for cell in notebook.cells:
        if "parameters" in cell.get("metadata", {}).get("tags", []):
            return dict(re.findall(r"^([A-Za-z_]\w*)\s*(?::[^=]+)?=\s*(.*?)\s*$", cell.source, flags=re.MULTILINE))
    return None


def _check_parameters(notebook: Path, source: nbformat.NotebookNode, parameters: Mapping[str, Any]) -> None:
    known = known_parameters(source)
    if known is None:
        raise ReportError("has no cell tagged 'parameters'", path=notebook)
    for name in parameters:
        if name not in known:
            raise ReportError(
                "is not a parameter of the notebook", path=notebook, field=name, hint=f"it has: {', '.join(known)}"
            )


def _number_in(source: nbformat.NotebookNode, error: Any) -> str:
    # papermill counts its own cells too; say which cell of the notebook as the user has it.
    for number, cell in enumerate(source.cells, start=1):
        if cell.cell_type == "code" and cell.source == error.source:
            return f"{number} of {len(source.cells)}"
    return f"[{error.exec_count}]"


def _first_line(source: str) -> str:
    lines = [line.strip() for line in source.splitlines()]
    return next((line for line in lines if line and not line.startswith("#")), "empty")[:80]


def _plain(text: object) -> str:
    return " ".join(re.sub(r"\x1b\[[0-9;]*m", "", str(text)).split())


def _reason(error: Any) -> str:
    reason = _plain(error.evalue)
    # dsqa's own errors speak for themselves; for others the class is half of the message.
    ours = error.ename.endswith("Error") and hasattr(sys.modules["dsqa.errors"], error.ename)
    return reason if ours else f"{error.ename}: {reason}".rstrip(": ")


def _tidy(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Take out what differs from one execution to the next: times, paths, random cell ids."""
    notebook.metadata.pop("papermill", None)
    for number, cell in enumerate(notebook.cells, start=1):
        for key in ("papermill", "execution"):
            cell.metadata.pop(key, None)
        cell.id = f"cell-{number}"
        if "injected-parameters" in cell.metadata.get("tags", []) and not cell.source.startswith("#|"):
            cell.source = f"#| echo: false\n{cell.source}"
    return notebook


def _read(path: Path) -> nbformat.NotebookNode:
    notebook: nbformat.NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    return notebook


def _save(notebook: nbformat.NotebookNode, output: Path) -> None:
    # nbformat would refuse lone surrogates; JSON's own escapes carry them.
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False)
        replace_text(output, text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")
    except OSError as error:
        raise ReportError(f"cannot be written: {error.strerror or error}", path=output) from None
