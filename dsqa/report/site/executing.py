"""The notebooks of a report executed, those whose inputs have changed."""

from __future__ import annotations

import ast
from functools import partial
from typing import Any

from nbformat import NotebookNode

from dsqa.report.execute import Kernels, execute_notebook, key_variables, parts_missing, read_notebook
from dsqa.report.site.fingerprint import code_hash, hash_of, mentioned_hashes
from dsqa.report.site.parallel import in_parallel
from dsqa.report.site.pictures import pictures_of
from dsqa.report.site.state import State
from dsqa.study.folder import hash_file, stop_of

__all__ = ["execute_notebooks", "is_executed"]


def is_executed(state: State, name: str) -> bool:
    """Tell whether a notebook's last execution is of just these inputs, and all that it left is still there."""
    return state.made.is_current(f"{name}.ipynb", _key(state, name))


def execute_notebooks(state: State) -> None:
    """Execute the notebooks of a report, several at a time; one that fails is noted and does not stop the others."""
    current = [name for name in state.pages if is_executed(state, name)]
    state.up_to_date += current
    for name in current:
        _note_missing(state, name, read_notebook(state.executed_path(name)))
    wanted = [name for name in state.pages if name not in current]
    if not wanted:
        return
    _make_cells(state)
    kernels = Kernels()
    hidden = key_variables(state.description.settings)
    tasks = {
        name: partial(
            execute_notebook,
            state.sources[name],
            state.executed_path(name),
            state.parameters[name],
            cwd=state.dir,
            hidden_variables=hidden,
            kernels=kernels,
        )
        for name in wanted
    }
    for name in wanted:
        # Until it is whole again, what is there counts as nothing.
        state.made.forget(f"{name}.ipynb")
    state.say(f"Executing {len(wanted)} of {len(state.pages)} notebooks, {min(state.jobs, len(wanted))} at a time")
    for name, error in in_parallel(tasks, state.jobs, kernels):
        if error is not None:
            state.fail(name, error)
            continue
        executed = read_notebook(state.executed_path(name))
        state.made.note(f"{name}.ipynb", _key(state, name), pictures_of(executed, state.dir))
        state.say(f"Executed {name}")
        _note_missing(state, name, executed)


def _note_missing(state: State, name: str, executed: NotebookNode) -> None:
    missing = parts_missing(executed)
    if missing:
        state.incomplete[name] = missing
        for part in missing:
            state.say(f"A part of the page {name} could not be made: {part}")


def _key(state: State, name: str) -> str:
    values = {key: _literal(code) for key, code in state.defaults[name].items()} | state.parameters[name]
    others = {key: value for key, value in values.items() if key != "study"}
    return hash_of(
        {
            "notebook": hash_file(state.sources[name]),
            "parameters": state.parameters[name],
            "mentioned": mentioned_hashes(others, (state.dir, state.folder.root.parent)),
            "study": state.study,
            "code": code_hash(),
        }
    )


def _literal(code: str) -> Any:
    try:
        return ast.literal_eval(code.partition("  #")[0])
    except (ValueError, SyntaxError):
        return None


def _make_cells(state: State) -> None:
    """Make the table that every notebook opens, once, before several of them ask for it."""
    # Here and not above: pandas takes seconds, and nothing else needs it where all is up to date.
    from dsqa.outcomes import load_outcomes  # noqa: PLC0415
    from dsqa.stats.kept import cell_table, table_is_kept  # noqa: PLC0415

    outcomes, cells = state.folder.outcomes_path, state.folder.cells_path
    seed, sequential = state.description.seed, stop_of(state.description) is not None
    if not table_is_kept(outcomes, cells, seed=seed, sequential=sequential):
        state.say("Computing the statistics of each cell")
        cell_table(load_outcomes(outcomes), outcomes, cells, seed=seed, sequential=sequential)
