"""The software behind a report, with its versions and how to cite it."""

from __future__ import annotations

import platform

from dsqa.installed import installed_version
from dsqa.report.markdown import Markdown, escape
from dsqa.report.wording import listing

__all__ = ["software_text"]

# Distribution → its key in references.bib, in the order they are told.
_ANALYSIS = ("numpy", "pandas", "scipy", "statsmodels")
_PICTURES = ("matplotlib", "seaborn")


def software_text() -> Markdown:
    """Return a paragraph that names and cites what the report was computed, drawn and set with."""
    own = installed_version("dsqa")
    return Markdown(
        f"Computed by dsqa{f' {escape(own)}' if own else ''} "
        f"with Python {escape(platform.python_version())} [@python]: "
        f"{_cited(_ANALYSIS)}; drawn with {_cited(_PICTURES)}. The page is a Jupyter notebook [@jupyter], executed "
        f"with {_cited(('papermill',))} and set by Quarto [@quarto] or, where that is not installed, by "
        "pandoc [@pandoc] and Typst [@typst]. The statistics were checked against R [@rcore]."
    )


def _cited(names: tuple[str, ...]) -> str:
    versions = {name: installed_version(name) for name in names}
    return listing(f"{name} {escape(v)} [@{name}]" if v else f"{name} [@{name}]" for name, v in versions.items())
