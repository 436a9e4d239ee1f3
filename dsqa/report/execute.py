"""Execute a notebook with papermill, in a kernel of the running Python."""

from __future__ import annotations

import contextlib
import copy
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
from nbformat.v4.rwbase import split_lines
from papermill.exceptions import PapermillExecutionError

from dsqa.errors import ReportError
from dsqa.report.markdown import escape
from dsqa.study.folder import replace_text

__all__ = [
    "Kernels",
    "execute_notebook",
    "key_variables",
    "known_parameters",
    "notebook_text",
    "parts_missing",
    "read_notebook",
]

_MISSING = "dsqa_missing"
_GOES_ON = "raises-exception"
_PAPERMILL_NOTE = "papermill-error-cell-tag"


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
        The executed notebook. Where a cell failed, a sentence stands in its place and the others are there;
        `parts_missing` tells which.

    Raises
    ------
    ReportError
        It is not a notebook, has no such parameter, or its first cell after the parameters, on which all others
        depend, failed.
    """
    source = read_notebook(notebook)
    _check_parameters(notebook, source, parameters)
    _go_on_after_errors(source)
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
            if not any(_GOES_ON in cell.metadata.get("tags", []) for cell in _failed_cells(result)[:1]):
                _save(result, output)
                raise _stopped(notebook, source, output, error) from None
        except (DeadKernelError, RuntimeError) as error:
            raise ReportError(
                f"the notebook's Python died or did not start: {_plain(error)}",
                path=notebook,
                hint="is there enough memory? 'dsqa doctor' says what is installed",
            ) from None
        else:
            result = _tidy(_read(executed))
    _say_what_is_missing(result, source)
    _save(result, output)
    return result


def _stopped(notebook: Path, source: nbformat.NotebookNode, output: Path, error: Any) -> ReportError:
    return ReportError(
        f"cell {_number_in(source, error.source)} ({_first_line(error.source)}) failed: "
        f"{_reason(error.ename, error.evalue)}",
        path=notebook,
        hint=f"{output} holds the notebook as far as it got; mend the cause, then render again",
    )


def parts_missing(notebook: nbformat.NotebookNode) -> tuple[str, ...]:
    """Return what of an executed notebook could not be made: for each failed cell, which it is and why."""
    return tuple(notebook.metadata.get(_MISSING, ()))


def _go_on_after_errors(source: nbformat.NotebookNode) -> None:
    """Mark every cell whose failure leaves the others standing: all but the first after the parameters."""
    code = [cell for cell in source.cells if cell.cell_type == "code"]
    for cell in [cell for cell in code if "parameters" not in cell.metadata.get("tags", [])][1:]:
        cell.metadata["tags"] = [*cell.metadata.get("tags", []), _GOES_ON]


def _failed_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if any(o.output_type == "error" for o in cell.get("outputs", []))]


def _say_what_is_missing(notebook: nbformat.NotebookNode, source: nbformat.NotebookNode) -> None:
    """Put a sentence in place of what each failed cell shows, and note which cells these are."""
    missing, lost = [], set[str]()
    for cell in _failed_cells(notebook):
        error = next(output for output in cell.outputs if output.output_type == "error")
        reason = _reason(error.ename, error.evalue)
        name = re.search(r"'(\w+)'", error.evalue) if error.ename == "NameError" else None
        if name is not None and name[1] in lost:
            text = "*This part needs one above that could not be made.*"
        else:
            text = f"*This part could not be made ({escape(reason)}). The others do not depend on it.*"
            number = _number_in(source, cell.source)
            missing.append(f"cell {number} ({_first_line(cell.source)}): {reason}")
        lost |= set(re.findall(r"^(\w+)\s*=", cell.source, flags=re.MULTILINE))
        cell.outputs = [nbformat.v4.new_output("display_data", data={"text/markdown": text})]  # type: ignore[no-untyped-call]
    if missing:
        notebook.metadata[_MISSING] = missing
    for cell in notebook.cells:
        tags = [tag for tag in cell.metadata.get("tags", []) if tag != _GOES_ON]
        cell.metadata.pop("tags", None)
        if tags:
            cell.metadata["tags"] = tags


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


def notebook_text(notebook: nbformat.NotebookNode) -> str:
    """Return a notebook as its file holds it, the same for the same notebook.

    Sources and outputs are lists of lines: Quarto drops the newlines of a source that is one string. nbformat's own
    writing would refuse lone surrogates, which JSON's escapes carry.
    """
    lines = split_lines(copy.deepcopy(notebook))  # type: ignore[no-untyped-call]
    text = json.dumps(lines, indent=1, sort_keys=True, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"


def known_parameters(notebook: nbformat.NotebookNode) -> dict[str, str] | None:
    """Return a notebook's parameters with their defaults as code; None where no cell is tagged ``parameters``."""
    for cell in notebook.cells:
        if "parameters" in cell.get("metadata", {}).get("tags", []):
            return dict(re.findall(r"^([A-Za-z_]\w*)\s*(?::[^=]+)?=\s*(.*?)\s*$", cell.source, flags=re.MULTILINE))
    return None


def key_variables(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the environment variables that hold the study's keys; a notebook needs none."""
    endpoints = settings.get("endpoints") or {}
    names = {endpoint.get("api_key_env") for endpoint in endpoints.values() if isinstance(endpoint, dict)}
    return tuple(sorted(name for name in names if isinstance(name, str) and name))


def _check_parameters(notebook: Path, source: nbformat.NotebookNode, parameters: Mapping[str, Any]) -> None:
    known = known_parameters(source)
    if known is None:
        raise ReportError("has no cell tagged 'parameters'", path=notebook)
    for name in parameters:
        if name not in known:
            raise ReportError(
                "is not a parameter of the notebook", path=notebook, field=name, hint=f"it has: {', '.join(known)}"
            )


def _number_in(source: nbformat.NotebookNode, text: str) -> str:
    # papermill counts its own cells too; say which cell of the notebook as the user has it.
    for number, cell in enumerate(source.cells, start=1):
        if cell.cell_type == "code" and cell.source == text:
            return f"{number} of {len(source.cells)}"
    return "of the parameters"


def _first_line(source: str) -> str:
    lines = [line.strip() for line in source.splitlines()]
    return next((line for line in lines if line and not line.startswith("#")), "empty")[:80]


def _plain(text: object) -> str:
    return " ".join(re.sub(r"\x1b\[[0-9;]*m", "", str(text)).split())


def _reason(name: str, value: str) -> str:
    reason = _plain(value)
    # dsqa's own errors speak for themselves; for others the class is half of the message.
    ours = name.endswith("Error") and hasattr(sys.modules["dsqa.errors"], name)
    return reason if ours else f"{name}: {reason}".rstrip(": ")


def _tidy(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Take out what differs from one execution to the next: times, paths, random cell ids."""
    notebook.metadata.pop("papermill", None)
    # What papermill puts above a notebook with a failed cell.
    notebook.cells = [cell for cell in notebook.cells if _PAPERMILL_NOTE not in cell.metadata.get("tags", [])]
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
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        replace_text(output, notebook_text(notebook))
    except OSError as error:
        raise ReportError(f"cannot be written: {error.strerror or error}", path=output) from None
