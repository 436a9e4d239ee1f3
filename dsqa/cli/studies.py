"""Find the study that a command is about, and say where things are."""

from __future__ import annotations

from pathlib import Path

from dsqa.errors import StudyError
from dsqa.study.config import StudyConfig
from dsqa.study.folder import IMPORTED, StudyFolder
from dsqa.study.parse import load_study

__all__ = ["YAML", "load_settings", "open_recorded", "shown"]

YAML = (".yaml", ".yml")


def load_settings(path: Path) -> tuple[StudyConfig, Path]:
    """Return a study's settings and the folder that records it: runs/NAME beside the study file."""
    if (path / IMPORTED).is_file():
        raise StudyError(
            "holds runs that were imported: nothing can be asked for it",
            path=path,
            hint="score, report, figures and compare work on it; a study of your own needs a study.yaml",
        )
    config = load_study(path)
    return config, path.resolve().parent / "runs" / config.name


def open_recorded(path: Path, *, marked: bool = False) -> StudyFolder:
    """Open a recorded study by its folder, or by the study.yaml that it was recorded from.

    Raises
    ------
    StudyError
        There is none, or it should be `marked` and is not.
    """
    if path.suffix in YAML:
        folder = StudyFolder.open(load_settings(path)[1])
    elif not path.exists():
        raise StudyError("no such folder", path=path, hint="name a folder under runs/, or a study.yaml")
    else:
        folder = StudyFolder.open(path)
    if marked and not folder.outcomes_path.is_file():
        raise StudyError("has not been marked yet", path=folder.root, hint=f"run: dsqa score {shown(folder.root)}")
    return folder


def shown(path: Path) -> str:
    """Return a path as short as it can be said from here."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
