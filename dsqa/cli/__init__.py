"""The command line."""

from dsqa.cli.app import main

__all__ = ["main"]
