"""The site and the article with Quarto, where it is on the PATH."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dsqa.errors import ReportError
from dsqa.report.quarto import render_project_with_quarto, render_with_quarto
from dsqa.report.site.fingerprint import code_hash, hash_of, theme_hash
from dsqa.report.site.project import lay_study
from dsqa.report.site.rendering import ALONE
from dsqa.report.site.state import State
from dsqa.study.folder import hash_file

__all__ = ["render_with_quarto_site"]


def render_with_quarto_site(state: State, program: str, formats: Sequence[str], *, article: bool) -> list[Path]:
    """Render the whole Quarto project of a study into its ``report/``, unless all of it is there and up to date.

    Quarto renders a project as a whole, and its pages share files (``site_libs/``), so here one change renders all
    pages anew.

    Returns
    -------
    list of Path
        The single-file documents.

    Raises
    ------
    ReportError
        Quarto failed, or a file cannot be written.
    """
    documents = [f"article.{ending}" for ending in formats] if article else []
    alone = [
        (name, f"{name}.{ending}")
        for name in ALONE
        for ending in formats
        if ending != "html" and name in state.pages and state.pages[name].failure is None
    ]
    wanted = [*(f"{name}.html" for name in ("index", *state.pages)), *documents, *(target for _, target in alone)]
    with tempfile.TemporaryDirectory(prefix="dsqa-quarto-") as scratch:
        project = Path(scratch) / "project"
        laid = lay_study(state, project)
        key = hash_of(
            [
                sorted((path.relative_to(project).as_posix(), hash_file(path)) for path in laid),
                theme_hash(),
                code_hash(),
                [program, Path(program).stat().st_mtime_ns],
            ]
        )
        if all(state.made.is_current(target, key) for target in wanted):
            state.up_to_date += wanted
            return [state.dir / target for target in wanted[1 + len(state.pages) :]]
        state.say("Rendering the site with Quarto")
        site = render_project_with_quarto(program, project)
        for name in [*wanted[: 1 + len(state.pages)], *documents]:
            if not (site / name).is_file():
                raise ReportError(f"Quarto did not make {name}", path=state.dir, hint="try: --renderer pandoc")
        try:
            shutil.copytree(site, state.dir, dirs_exist_ok=True)
        except OSError as error:
            raise ReportError(f"cannot be written: {error.strerror or error}", path=state.dir) from None
    for name, target in alone:
        state.say(f"Rendering {target} with Quarto")
        render_with_quarto(program, state.executed_path(name), state.dir / target, {"subtitle": state.line})
    for target in wanted:
        state.made.note(target, key)
    return [state.dir / target for target in wanted[1 + len(state.pages) :]]
