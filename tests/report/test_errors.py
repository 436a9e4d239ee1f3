"""What goes wrong is said in one line."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from dsqa.errors import ReportError
from dsqa.report import open_page, render_report
from dsqa.report.locate import notebook_path, shipped
from dsqa.study import StudyFolder
from tests.report.study import make_study


@pytest.fixture
def small(tmp_path: Path) -> StudyFolder:
    return make_study(tmp_path / "runs" / "small", questions=1, runs=2)


def write(path: Path, *sources: str) -> Path:
    cells = [new_code_cell('study = "x"', metadata={"tags": ["parameters"]}), new_markdown_cell("# Hello")]
    nbformat.write(new_notebook(cells=[*cells, *(new_code_cell(source) for source in sources)]), path)
    return path


def test_failing_cell_names_notebook_cell_reason_and_way_on(small: StudyFolder, tmp_path: Path) -> None:
    notebook = write(tmp_path / "mine.ipynb", "# a comment\nimport math; value = math.sqrt(-1)\nprint(value)", "1")
    with pytest.raises(ReportError) as caught:
        render_report(small, notebook=str(notebook))
    message = str(caught.value)
    assert message.startswith(f"{notebook}: cell 3 of 4 (import math; value = math.sqrt(-1)) failed: ValueError: ")
    assert str(small.report_dir / "mine.ipynb") in message
    assert "\n" not in message
    assert "Traceback" not in message
    assert caught.value.__suppress_context__
    kept = nbformat.read(small.report_dir / "mine.ipynb", 4)
    assert any(output.output_type == "error" for cell in kept.cells for output in cell.get("outputs", []))


def test_a_failing_part_is_a_sentence_and_the_rest_is_made(small: StudyFolder, tmp_path: Path) -> None:
    notebook = write(
        tmp_path / "mine.ipynb", "import math", "value = math.exp(1000)", "print(value)",
        "from IPython.display import Markdown\nMarkdown('The rest of it.')", "1 / 0",
    )  # fmt: skip
    with pytest.raises(ReportError) as caught:
        render_report(small, notebook=str(notebook))
    message = str(caught.value)
    assert message.startswith(f"{notebook}: 2 parts could not be made; the first: cell 4 of 7 (value = math.exp(")
    assert "OverflowError: math range error" in message
    page = (small.report_dir / "mine.html").read_text()
    assert "This part could not be made (OverflowError: math range error)." in " ".join(page.split())
    assert "This part needs one above that could not be made." in page
    assert "The rest of it." in page
    assert "Traceback" not in page
    kept = nbformat.read(small.report_dir / "mine.ipynb", 4)
    assert len(kept.cells) == 8  # with the injected parameters, without papermill's own remarks
    assert not any(output.output_type == "error" for cell in kept.cells for output in cell.get("outputs", []))
    assert not any("raises-exception" in cell.metadata.get("tags", []) for cell in kept.cells)


def test_error_of_dsqa_in_a_cell_speaks_for_itself(small: StudyFolder, tmp_path: Path) -> None:
    notebook = write(tmp_path / "mine.ipynb", 'from dsqa.report import open_page\nopen_page("nowhere")')
    with pytest.raises(ReportError, match=r"failed: nowhere: is not a recorded study"):
        render_report(small, notebook=str(notebook))


def test_dying_kernel_is_reported(small: StudyFolder, tmp_path: Path) -> None:
    notebook = write(tmp_path / "mine.ipynb", "import os\nos._exit(3)")
    with pytest.raises(ReportError, match="died"):
        render_report(small, notebook=str(notebook))


def test_notebook_sees_no_key(small: StudyFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    notebook = write(tmp_path / "mine.ipynb", 'import os\nassert not os.environ.get("OPENAI_API_KEY")')
    render_report(small, notebook=str(notebook))


def test_unknown_notebook_lists_those_there_are(small: StudyFolder) -> None:
    with pytest.raises(ReportError, match=r"no notebook is called 'overvew' \(dsqa has: .*overview"):
        render_report(small, notebook="overvew")


def test_unknown_parameter_lists_those_there_are(small: StudyFolder) -> None:
    with pytest.raises(ReportError, match=r"field 'sed'.*it has: study, seed, resamples, response_lines"):
        render_report(small, parameters={"sed": 1})


def test_unknown_format(small: StudyFolder) -> None:
    with pytest.raises(ReportError, match=r"'odt' is not a format of reports \(formats are: html, pdf, docx\)"):
        render_report(small, formats=("odt",))


def test_not_a_notebook(small: StudyFolder, tmp_path: Path) -> None:
    (tmp_path / "broken.ipynb").write_text("{")
    with pytest.raises(ReportError, match=r"broken\.ipynb: cannot be read as a notebook"):
        render_report(small, notebook=str(tmp_path / "broken.ipynb"))


def test_unmarked_study(small: StudyFolder) -> None:
    small.outcomes_path.unlink()
    with pytest.raises(ReportError, match=r"has not been marked yet \(run: dsqa score"):
        render_report(small)


def test_runs_of_a_question_that_the_bank_lacks(small: StudyFolder) -> None:
    bank = small.bank_dir / "questions.jsonl"
    bank.write_text(bank.read_text().replace('"q01"', '"other"'))
    with pytest.raises(ReportError, match="runs of a question that the study's bank lacks: q01"):
        open_page(small.root)


def test_shipped_notebooks_hold_no_outputs() -> None:
    paths = sorted(shipped("notebooks").glob("*.ipynb"))
    assert notebook_path("overview") in paths
    for path in paths:
        for cell in nbformat.read(path, 4).cells:
            assert not cell.get("outputs")
            assert cell.get("execution_count") is None
