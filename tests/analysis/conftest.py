"""An imported study of the shape of the DS-QA authors' files, marked."""

from __future__ import annotations

import pytest

from dsqa.importing import import_study
from dsqa.outcomes import save_table, score_study
from dsqa.stats import summarise_cells
from dsqa.study import StudyFolder
from tests.support.ds_qa_files import write_ds_qa_files


@pytest.fixture(scope="session")
def imported(tmp_path_factory) -> StudyFolder:
    root = tmp_path_factory.mktemp("ds-qa")
    folder = import_study(write_ds_qa_files(root / "files"), root / "study").folder
    assert folder is not None
    outcomes = score_study(folder, unsafe=True)  # no response holds code
    save_table(outcomes, folder.outcomes_path)
    save_table(summarise_cells(outcomes, seed=1, resamples=99), folder.cells_path)
    return folder
