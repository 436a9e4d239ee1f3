"""One making of a study's report: what it is made of, what it says of itself, what has failed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dsqa.errors import DsqaError, ReportError
from dsqa.report.execute import known_parameters, read_notebook
from dsqa.report.locate import notebook_path
from dsqa.report.site.fingerprint import code_hash, hash_of, study_hash
from dsqa.report.site.front import PageTitle, title_of
from dsqa.report.site.made import Made
from dsqa.report.studyline import study_line
from dsqa.study import StudyFolder

__all__ = ["State"]


class State:
    """What every step of the making knows.

    Parameters
    ----------
    folder
        A marked study.
    notebooks
        Names of shipped notebooks, in the order of their pages.
    parameters
        Values for parameters of the notebooks; each goes to the notebooks that have it.
    say
        Takes a line of text after each step.
    jobs
        Notebooks and pages made at once.

    Attributes
    ----------
    pages
        Notebook → its page, with the failure where there was one.
    incomplete
        Notebook → the cells of it that failed, each with a sentence on the page in its place.
    failed_documents
        File name of a single-file document → why it could not be made.
    up_to_date
        What was not made again.
    warnings
        What the renderer warned of.

    Raises
    ------
    ReportError
        No notebook has such a parameter, or ``report/`` cannot be made.
    """

    def __init__(
        self,
        folder: StudyFolder,
        notebooks: Sequence[str],
        parameters: Mapping[str, Any],
        say: Callable[[str], None],
        jobs: int,
    ) -> None:
        self.folder = StudyFolder(folder.root.resolve())
        self.dir = self.folder.report_dir
        self.description = self.folder.describe()
        self.say = say
        self.jobs = jobs
        self.sources = {name: notebook_path(name) for name in notebooks}
        read = {name: read_notebook(path) for name, path in self.sources.items()}
        self.defaults = {name: known_parameters(notebook) or {} for name, notebook in read.items()}
        self.parameters = _shared_out(parameters, self.defaults)
        self.pages: dict[str, PageTitle] = {name: title_of(notebook, name) for name, notebook in read.items()}
        try:
            self.dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ReportError(f"cannot be made: {error.strerror or error}", path=self.dir) from None
        self.made = Made(self.dir)
        self.study = study_hash(self.folder)
        self.line = study_line(self.folder, hash_of([self.study, code_hash()]))
        self.incomplete: dict[str, tuple[str, ...]] = {}
        self.failed_documents: dict[str, str] = {}
        self.up_to_date: list[str] = []
        self.warnings: list[str] = []

    def executed_path(self, name: str) -> Path:
        """Return where a notebook goes once it is executed."""
        return self.dir / f"{name}.ipynb"

    def keep(self, names: Sequence[str]) -> None:
        """Leave out the pages of other notebooks."""
        self.pages = {name: page for name, page in self.pages.items() if name in names}

    def warn(self, line: str) -> None:
        """Note what the renderer warned of, and say it."""
        self.warnings.append(line)
        self.say(f"Quarto warns: {line}")

    def fail(self, name: str, error: DsqaError) -> None:
        """Note that a page could not be made, and say so."""
        # On the page, without the folders of this machine.
        said = str(error).replace(f"{self.dir}/", "report/").replace(f"{self.sources[name].parent}/", "")
        self.pages[name] = replace(self.pages[name], failure=said)
        self.say(f"The page {name} failed: {error}")


def _shared_out(given: Mapping[str, Any], defaults: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, Any]]:
    for key in given:
        if not any(key in names for names in defaults.values()):
            every = dict.fromkeys(name for names in defaults.values() for name in names)
            raise ReportError("is not a parameter of any notebook", field=key, hint=f"there are: {', '.join(every)}")
    # The study relative to where the notebook goes, so that no path of this machine gets into it.
    return {
        name: {**{key: value for key, value in given.items() if key in names}, "study": ".."}
        for name, names in defaults.items()
    }
