"""The executed notebook as HTML, PDF or Word, with Quarto."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import yaml

from dsqa.errors import ReportError
from dsqa.report.locate import shipped

__all__ = ["quarto_path", "render_project_with_quarto", "render_with_quarto"]

_TO = {".html": "html", ".pdf": "typst", ".docx": "docx"}


def quarto_path() -> str | None:
    """Return the `quarto` program on the PATH, or None."""
    return shutil.which("quarto")


def render_with_quarto(program: str, notebook: Path, target: Path, metadata: dict[str, str]) -> None:
    """Render an executed notebook to `target`; its suffix says the format.

    The Quarto project is laid in a scratch folder with the notebook in ``report/`` and its pictures in
    ``figures/``, as they lie in a study's folder, so nothing is written where dsqa is installed.

    Parameters
    ----------
    program
        Quarto.
    notebook
        With its outputs.
    target
        ``.html``, ``.pdf`` or ``.docx``.
    metadata
        Document metadata beside the notebook's own, such as ``subtitle``.

    Raises
    ------
    ReportError
        Quarto failed; the message holds the end of what it said.
    """
    with tempfile.TemporaryDirectory(prefix="dsqa-quarto-") as scratch:
        project = Path(scratch) / "project"
        shutil.copytree(shipped("reports"), project, copy_function=shutil.copyfile)
        project.chmod(0o755)
        _alone(project / "_quarto.yml")
        (project / "report").mkdir()
        shutil.copyfile(notebook, project / "report" / notebook.name)
        pictures = notebook.parent.parent / "figures"
        if pictures.is_dir():
            shutil.copytree(pictures, project / "figures")
        command = [program, "render", f"report/{notebook.name}", "--to", _TO[target.suffix], "--no-execute"]
        for key, value in metadata.items():
            command += ["--metadata", f"{key}:{value}"]
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False, errors="replace")
        made = project / "report" / f"{notebook.stem}{target.suffix}"
        if done.returncode or not made.is_file():
            said = " ".join((done.stderr or done.stdout).split())[-600:]
            raise ReportError(
                f"Quarto could not render it: {said}",
                path=notebook,
                hint="without 'quarto' on the PATH, dsqa renders with its bundled pandoc",
            )
        shutil.copyfile(made, target)


def _alone(settings: Path) -> None:
    """Make the project of a website one of single documents, without its pages' navigation."""
    kept = yaml.safe_load(settings.read_text(encoding="utf-8"))
    kept["project"] = {"type": "default"}
    kept.pop("website", None)
    settings.write_text(yaml.safe_dump(kept, sort_keys=False, allow_unicode=True), encoding="utf-8")


def render_project_with_quarto(program: str, project: Path) -> Path:
    """Render a Quarto project, whose notebooks have their outputs, and return the folder of what it made.

    Raises
    ------
    ReportError
        Quarto failed; the message holds the end of what it said.
    """
    command = [program, "render", str(project), "--no-execute"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False, errors="replace")
    if done.returncode or not (project / "_site").is_dir():
        said = " ".join((done.stderr or done.stdout).split())[-600:]
        raise ReportError(
            f"Quarto could not render the site: {said}", hint="'--renderer pandoc' uses what dsqa brings along"
        )
    return project / "_site"
