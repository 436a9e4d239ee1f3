"""What is installed beside dsqa."""

from __future__ import annotations

import importlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dsqa.errors import MissingDependencyError

__all__ = ["installed_version", "openpyxl_for"]


def installed_version(package: str) -> str | None:
    """Return the version of an installed package, or None where it is not there."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def openpyxl_for(path: Path) -> Any:
    """Return the module that reads and writes the Excel file at `path`.

    Raises
    ------
    MissingDependencyError
        It is not installed.
    """
    try:
        return importlib.import_module("openpyxl")
    except ImportError:
        raise MissingDependencyError(
            "an Excel file needs openpyxl", path=path, hint="'pip install openpyxl', or save the sheet as CSV"
        ) from None
