"""Where the shipped notebooks and the Quarto project lie: in the wheel, or at the root of a checkout."""

from __future__ import annotations

from pathlib import Path

from dsqa.errors import ReportError

__all__ = ["notebook_path", "shipped"]

_PACKAGE = Path(__file__).resolve().parent.parent


def shipped(kind: str) -> Path:
    """Return the folder of shipped files of a kind.

    Parameters
    ----------
    kind
        ``notebooks`` or ``reports``.

    Raises
    ------
    ReportError
        The installation lacks them.
    """
    for folder in (_PACKAGE / "_shipped" / kind, _PACKAGE.parent / kind):
        if folder.is_dir():
            return folder
    raise ReportError(f"this installation of dsqa lacks its '{kind}' folder", hint="install dsqa anew")


def notebook_path(name: str) -> Path:
    """Return the path of a notebook: a shipped one's name, or a file of the user's.

    Raises
    ------
    ReportError
        There is no such notebook; the message lists the shipped ones.
    """
    own = Path(name)
    if own.suffix == ".ipynb":
        if own.is_file():
            return own.resolve()
        raise ReportError("no such notebook", path=own)
    folder = shipped("notebooks")
    path = folder / f"{name}.ipynb"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in folder.glob("*.ipynb")))
        raise ReportError(f"no notebook is called '{name}'", hint=f"dsqa has: {known}; or name an .ipynb file")
    return path
