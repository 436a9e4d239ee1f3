"""What is installed beside dsqa."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

__all__ = ["installed_version"]


def installed_version(package: str) -> str | None:
    """Return the version of an installed package, or None where it is not there."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
