"""dsqa export: what other programs read is what was measured."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from analysis.make_columns_page import pages
from dsqa.errors import StudyError
from dsqa.exporting import export_study
from dsqa.exporting.tidy import FACTORS
from dsqa.outcomes import COLUMNS, load_outcomes, save_table
from dsqa.records import Record, RecordStore, read_records
from dsqa.sampling.batch import prepare_batches, read_requests
from dsqa.sampling.plan import CellRequest
from dsqa.sampling.prepare import prepare_study, requests_of
from dsqa.sampling.sample import settings_of
from dsqa.study import StudyFolder
from dsqa.study.parse import parse_study
from tests.report.study import make_study


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> StudyFolder:
    folder = make_study(tmp_path_factory.mktemp("x") / "made", questions=4, models=("gpt-4o", "b"), runs=5)
    outcomes = load_outcomes(folder.outcomes_path)
    # What tears a table that is written carelessly apart.
    outcomes.loc[0, "answer"] = '{"x": "a, \\"b\\"\nc\\\\ é 中"}'
    outcomes.loc[1, "near_limit"] = True
    save_table(outcomes, folder.outcomes_path)
    return folder


@pytest.fixture(scope="module")
def exported(study, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("out")
    export_study(study, ["csv", "parquet", "r", "columns", "inspect"], out)
    return out


def _sorted(outcomes: pd.DataFrame) -> pd.DataFrame:
    return outcomes.sort_values(["question_id", "condition_id", "run"], ignore_index=True)


def test_csv_gives_back_every_value(study, exported):
    text = (exported / "outcomes.csv").read_text(encoding="utf-8")
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == [column.name for column in COLUMNS]
    back = pd.DataFrame(rows[1:], columns=rows[0]).replace({"": None, "TRUE": True, "FALSE": False})
    back = _sorted(pd.DataFrame({c.name: _as(back[c.name], c.dtype) for c in COLUMNS}))
    pd.testing.assert_frame_equal(back, _sorted(load_outcomes(study.outcomes_path)), check_exact=True)


def _as(column: pd.Series, dtype: str) -> pd.Series:
    numeric = dtype in {"Int64", "Float64"}
    return (pd.to_numeric(column) if numeric else column).astype(dtype)


def test_parquet_has_labels_in_the_designs_order_and_says_what_columns_mean(study, exported):
    table = pd.read_parquet(exported / "outcomes.parquet")
    assert list(table["level"].cat.categories) == ["easy", "medium", "hard"]
    assert list(table["condition_id"].cat.categories) == [c.id for c in study.describe().conditions]
    assert {name for name in table if table[name].dtype == "category"} == set(FACTORS)
    schema = pq.read_schema(exported / "outcomes.parquet")
    assert schema.field("score").metadata[b"description"].startswith(b"CR + RA + CE/2, in [0, 3]")
    same = _sorted(load_outcomes(exported / "outcomes.parquet"))
    pd.testing.assert_frame_equal(same, _sorted(load_outcomes(study.outcomes_path)))


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed here")
def test_r_reads_the_types_and_fits_the_model_that_numpy_fits(study, exported, tmp_path):
    check = tmp_path / "check.R"
    check.write_text(
        f'source("{exported / "read_outcomes.R"}")\n'
        'types <- vapply(runs, function(x) class(x)[1], "")\n'
        'writeLines(c("", "TYPES", paste(names(types), types, sep = "=")))\n'
        'writeLines(c("", "COEF", sprintf("%s=%.12g", names(coef(model)), coef(model))))\n'
        'writeLines(c("", "LEVELS", levels(runs$condition_id)))\n'
        'writeLines(c("", "NA", sum(is.na(runs$words_out)), sum(runs$near_limit, na.rm = TRUE)))\n'
        'writeLines(c("", "ANSWER", sum(grepl("\\n", runs$answer, fixed = TRUE)), ""))\n'
    )
    done = subprocess.run(["Rscript", "--vanilla", check], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    parts = {block.split("\n")[0]: block.split("\n")[1:] for block in done.stdout.split("\n\n") if block}
    types = dict(line.split("=") for line in parts["TYPES"])
    wanted = {"string": "character", "Int64": "integer", "Float64": "numeric", "boolean": "logical"}
    assert types == {c.name: "factor" if c.name in FACTORS else wanted[c.dtype] for c in COLUMNS}
    assert parts["LEVELS"] == [c.id for c in study.describe().conditions]
    outcomes = load_outcomes(study.outcomes_path)
    assert parts["NA"][:2] == [str(int(outcomes["words_out"].isna().sum())), "1"]
    assert parts["ANSWER"][0].strip() == "1"
    # The same model by least squares on cell means, questions and conditions as dummies.
    means = outcomes.groupby(["question_id", "condition_id"])["score"].mean().reset_index()
    q, c = sorted(set(means["question_id"])), [each.id for each in study.describe().conditions]
    x = np.column_stack([
        np.ones(len(means)),
        *(means["question_id"].eq(name).to_numpy() for name in q[1:]),
        *(means["condition_id"].eq(name).to_numpy() for name in c[1:]),
    ]).astype(float)  # fmt: skip
    expected = np.linalg.lstsq(x, means["score"].to_numpy(dtype=float), rcond=None)[0]
    found = [float(line.rpartition("=")[2]) for line in parts["COEF"] if "=" in line]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_committed_script_and_column_page_are_in_step_with_the_columns():
    for path, text in pages().items():
        assert path.read_text(encoding="utf-8") == text, "run: python -m analysis.make_columns_page"


def test_column_list_is_that_of_the_package(exported):
    rows = list(csv.DictReader((exported / "columns.csv").open(encoding="utf-8")))
    assert [(row["column"], row["holds"]) for row in rows] == [(c.name, c.meaning) for c in COLUMNS]


def test_inspect_logs_have_runs_as_epochs_and_the_right_means(study, exported):
    logs = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((exported / "inspect").iterdir())]
    conditions = {c.id: c for c in study.describe().conditions}
    assert {log["eval"]["metadata"]["condition_id"] for log in logs} == set(conditions)
    records = {(r.question_id, r.condition_id, r.run): r for r in read_records(study.records_path)}
    outcomes = load_outcomes(study.outcomes_path)
    for log in logs:
        name = log["eval"]["metadata"]["condition_id"]
        assert log["version"] == 2
        assert log["eval"]["model"] == conditions[name].model
        assert log["eval"]["model_generate_config"]["temperature"] == conditions[name].temperature
        assert {sample["epoch"] for sample in log["samples"]} == {1, 2, 3, 4, 5}
        mine = outcomes[outcomes["condition_id"] == name]
        means = {score["name"]: score["metrics"]["mean"]["value"] for score in log["results"]["scores"]}
        assert means["accuracy"] == pytest.approx(mine.groupby("question_id")["accuracy"].mean().mean())
        for sample in log["samples"]:
            record = records[sample["id"], name, sample["epoch"] - 1]
            if record.status == "failed":
                assert sample["error"]["message"]
                assert sample["output"]["choices"] == []
            else:
                assert sample["output"]["choices"][0]["message"]["content"] == record.text
            row = mine[(mine["question_id"] == sample["id"]) & (mine["run"] == sample["epoch"] - 1)].iloc[0]
            assert sample["scores"]["score"]["value"] == row["score"]


def test_inspect_log_imported_again_has_the_same_runs(study, exported, tmp_path):
    from dsqa.importing import import_study

    logs = sorted((exported / "inspect").iterdir())
    again = import_study(logs, tmp_path / "again").folder
    assert again is not None

    def texts(folder: StudyFolder) -> list[tuple[str, str, float | None, str]]:
        rows = read_records(folder.records_path)
        return sorted((r.question_id, str(r.condition["model"]), r.temperature or 0.0, r.text) for r in rows)

    assert texts(again) == texts(study)


def test_nothing_is_overwritten_unless_told(study, exported):
    before = (exported / "outcomes.csv").read_bytes()
    with pytest.raises(StudyError, match="is there already"):
        export_study(study, ["csv"], exported)
    assert (exported / "outcomes.csv").read_bytes() == before
    assert not [path for path in exported.iterdir() if path.name.startswith(".export-")]
    assert export_study(study, ["csv"], exported, force=True).paths == (exported / "outcomes.csv",)


def test_unknown_target_names_those_there_are(study, tmp_path):
    with pytest.raises(StudyError, match=r"cannot export to 'excel'.*csv, parquet"):
        export_study(study, ["excel"], tmp_path)


def _sampled(root: Path, runs: int = 3, recorded: int = 0) -> StudyFolder:
    """A real prepared study, `recorded` runs of each cell answered."""
    bank = root.parent / "bank.csv"
    bank.write_text("question,answer\nWhat is 1 + 1?,2\nWhat is 2 + 3?,5\n")
    config = parse_study(
        f"name: s\nbank: {bank}\nmodels: [gpt-4o-mini, gpt-4o]\ntemperatures: [0.2]\nruns: {runs}\n"
        "request: {seed: per-run}\n"
    )
    folder = prepare_study(config, None, root)
    description = folder.describe()
    cells: tuple[CellRequest, ...] = requests_of(folder, description, settings_of(folder, description))
    with RecordStore.open(folder.records_path) as store:
        for cell in cells:
            for run in range(recorded):
                body = cell.body((run,), description.seed)
                store.append(
                    Record(*cell.key(run)[:3], cell.prompt_hash, cell.condition, body, "answered", "@answer[2]")
                )
    return folder


def test_requests_are_those_that_dsqa_batch_would_send(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-verysecretverysecret")
    folder = _sampled(tmp_path / "s", runs=3, recorded=1)
    done = export_study(folder, ["requests", "inspect"], tmp_path / "out")
    files = [path for path in done.paths if path.parent.name == "requests"]
    mine = {request.custom_id: request for path in files for request in read_requests(path)}
    assert len(mine) == 2 * 2 * 2
    assert len(files) == 2  # one model to a file
    jobs = prepare_batches(folder)
    theirs = [r for job in jobs for r in read_requests(folder.batch_path / f"{job.name}.requests.jsonl")]
    assert {request.custom_id: request for request in theirs} == mine
    written = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert b"verysecret" not in written
    # Now they wait in a batch, so none is missing any more.
    again = export_study(folder, ["requests"], tmp_path / "again")
    assert again.paths == ()
    assert any("8 runs wait in a batch" in note for note in again.notes)


def test_a_complete_study_says_that_nothing_is_missing(tmp_path):
    done = export_study(_sampled(tmp_path / "s", runs=2, recorded=2), ["requests"], tmp_path / "out")
    assert done.paths == ()
    assert done.notes == ("no run is missing: no requests were written",)


def test_table_of_a_study_that_is_not_marked_is_refused(tmp_path):
    with pytest.raises(StudyError, match=r"has not been marked yet.*dsqa score"):
        export_study(_sampled(tmp_path / "s", recorded=1), ["csv"], tmp_path / "out")
