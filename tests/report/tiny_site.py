"""Three small notebooks on a small study: what a site is made of, without the statistics."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

from dsqa.report import SiteResult, build_site
from dsqa.study import StudyFolder

NAMES = ("overview", "alpha", "beta")
LINE = "Study synthetic · 1 question × 2 conditions, 2 runs each · recorded 30 November 2026"

_SHOW = "from IPython.display import Markdown as M"
_FIGURE = """#| echo: false
from pathlib import Path
folder = Path(study) / "figures"
folder.mkdir(exist_ok=True)
(folder / "dot.svg").write_text(
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><circle cx="4" cy="4" r="3"/></svg>')
import base64
(folder / "dot.png").write_bytes(base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="))
M('::: {#fig-dot}\\n\\n![](../figures/dot.svg){fig-alt="A dot." width=50%}\\n\\nA dot.\\n\\n:::')"""


def _table(label: str, caption: str) -> str:
    return f"::: {{#{label} .data}}\n\n| a | b |\n|---|--:|\n| x | 1 |\n\n{caption}\n\n:::"


def _notebook(path: Path, title: str, parameters: str, *cells: str) -> None:
    made = [
        new_raw_cell(f'---\ntitle: "{title}"\n---'),
        new_code_cell(f"#| include: false\n{parameters}\n{_SHOW}", metadata={"tags": ["parameters"]}),
        *(new_markdown_cell(c[3:]) if c.startswith("md ") else new_code_cell(c) for c in cells),
    ]
    notebook = new_notebook(cells=made)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"c{number}"
    nbformat.write(notebook, path)


def write_notebooks(folder: Path) -> None:
    """Write the three notebooks; `beta` fails where its parameter `fails` is true."""
    folder.mkdir(parents=True, exist_ok=True)
    _notebook(
        folder / "overview.ipynb",
        "Everything at a glance",
        'study = "x"',
        "md ## The answer {#sec-answer}",
        "#| echo: false\nM('All is *well*: [q01](#q-q01), @tbl-all.')",
        "md ## Question by question {#sec-cards}\n\n### q01 {#q-q01}\n\nA card about zebras.",
        f"md ## All questions {{#sec-questions}}\n\n{_table('tbl-all', 'All.')}\n\nSee [q01](#q-q01).",
        "md ## Methods {#sec-methods}\n\nAs in @ni2026 and @tbl-all.",
        "md ## References {#sec-references}\n\n::: {#refs}\n:::",
    )
    _notebook(
        folder / "alpha.ipynb",
        "First things",
        'study = "x"\nx = 1',
        "md ## Shapes {#sec-alpha-shapes}\n\n@fig-dot is round, @tbl-numbers is not; [elsewhere](#q-q01).",
        _FIGURE,
        f"#| echo: false\nM({_table('tbl-numbers', 'Numbers of alpha.')!r} + '\\n\\nTo be found: Über μῆνις.')",
        "md ## References {#sec-references}\n\n::: {#refs}\n:::",
    )
    _notebook(
        folder / "beta.ipynb",
        "Second things",
        'study = "x"\nfails = False\npartly = False',
        "md ## Numbers {#sec-beta-numbers}\n\n@tbl-numbers again. `## not a heading [x](#y)`\n\n"
        "```\n## nor this\n```",
        "#| echo: false\nif fails:\n    raise ValueError('no numbers today')\n"
        f"M({_table('tbl-numbers', 'Numbers of beta.')!r})",
        "#| echo: false\nif partly:\n    raise OverflowError('math range error')\nM('The end of beta.')",
    )


class TinySite:
    """A study and its notebooks; `build` makes the site and says what was done."""

    def __init__(self, study: StudyFolder, notebooks: Path) -> None:
        self.study = study
        self.notebooks = notebooks

    def build(self, **options: object) -> tuple[SiteResult, list[str]]:
        said: list[str] = []
        with pytest.MonkeyPatch.context() as patch:
            self.use(patch)
            result = build_site(self.study, progress=said.append, **options)  # type: ignore[arg-type]
        return result, said

    def use(self, patch: pytest.MonkeyPatch) -> None:
        patch.setattr("dsqa.report.site.build.shipped_notebooks", lambda: NAMES)
        patch.setattr("dsqa.report.site.state.notebook_path", lambda name: self.notebooks / f"{name}.ipynb")
