"""Notebooks executed by papermill in the tests' own process: what they compute, without a kernel's start."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path
from typing import Any

import nbformat
import papermill
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from papermill.engines import Engine, papermill_engines

from dsqa.report.locate import notebook_path


class _InProcess(Engine):
    """Runs each cell in an IPython shell of this process."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **settings: Any) -> None:
        shell = InteractiveShell()
        for index, cell in enumerate(nb_man.nb.cells):
            if cell.cell_type != "code":
                continue
            nb_man.cell_start(cell, index)
            with capture_output() as captured:
                result = shell.run_cell(cell.source, store_history=True)
            result.raise_error()
            shown = [output.data for output in captured.outputs]
            if result.result is not None:
                shown.append(shell.display_formatter.format(result.result)[0])
            cell.outputs = [nbformat.v4.new_output("display_data", data=data) for data in shown]
            nb_man.cell_complete(cell, index)


def run_notebook(name: str, study: Path, folder: Path, **parameters: Any) -> str:
    """Execute a notebook on a study from `folder`; return the Markdown that its cells show."""
    papermill_engines.register("in-process", _InProcess)
    with chdir(folder):
        done = papermill.execute_notebook(
            notebook_path(name),
            folder / f"{name}.ipynb",
            parameters={"study": str(study), **parameters},
            engine_name="in-process",
            kernel_name="python3",
            language="python",
            progress_bar=False,
        )
    shown = [output["data"] for cell in done.cells if cell.cell_type == "code" for output in cell.outputs]
    return "\n\n".join(data["text/markdown"] for data in shown if "text/markdown" in data)
