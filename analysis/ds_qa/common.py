"""What the scripts share: a study opened with its source's own numbers or ours, a part of it, where files go.

The paper's numbers are the authors' own measurements, which an imported study keeps as its source's metrics; so
`--values source`, the default where a study has them, puts these in place of ours. `--values ours` uses what
'dsqa score' found, and is all that a study which was sampled has.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from dsqa.errors import DsqaError, StudyError
from dsqa.figures import save_figures
from dsqa.figures.tables import StudyTables
from dsqa.report.source_pairs import MARKS, pair_metrics
from dsqa.report.sources import source_values
from dsqa.stats import summarise_cells
from dsqa.study import StudyFolder

__all__ = ["Study", "arguments", "main", "open_study", "part"]

PAPERS_MODELS = {"gpt-4o", "gpt-4o-mini", "gpt-4.1-mini", "gpt-4.1-nano"}
FORMATS = ("svg", "pdf")


@dataclass(frozen=True)
class Study:
    """A marked study, as the scripts use it.

    Parameters
    ----------
    tables
        Its tables, with the source's numbers in place of ours where `values` is ``source``.
    values
        ``source`` or ``ours``.
    replaced
        Our column → the source's metric that stands in its place.
    out
        Where files go.
    """

    tables: StudyTables
    values: str
    replaced: dict[str, str]
    out: Path

    @property
    def outcomes(self) -> pd.DataFrame:
        return self.tables.outcomes

    @property
    def ours(self) -> bool:
        """Whether its models are others than the paper's."""
        return not set(self.outcomes["model"].astype(str)) & PAPERS_MODELS

    def save(self, name: str, **options: object) -> None:
        """Draw one of `dsqa.figures.FIGURES` and say which files were written."""
        for path in save_figures(self.tables, self.out, only=[name], formats=FORMATS, **options).paths:
            print(path)

    def write(self, name: str, table: pd.DataFrame) -> None:
        """Write a table as CSV and print it."""
        self.out.mkdir(parents=True, exist_ok=True)
        table.to_csv(self.out / f"{name}.csv", index=False)
        print(table.to_string(index=False))
        print(self.out / f"{name}.csv")


def arguments(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser with the arguments that every script takes."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path, help="a marked study's folder, imported or sampled")
    parser.add_argument("--out", type=Path, help="folder for figures and tables [default: STUDY/ds_qa]")
    parser.add_argument("--values", choices=["source", "ours"], help="[default: source, where the study has them]")
    return parser


def open_study(options: argparse.Namespace) -> Study:
    """Open the study that the arguments name."""
    folder = StudyFolder.open(options.study)
    tables = StudyTables.read(folder)
    has_source = folder.source_metrics_path.is_file()
    values = options.values or ("source" if has_source else "ours")
    if values == "source" and not has_source:
        raise StudyError("has no metrics of a source: it was not imported", path=folder.root, hint="--values ours")
    replaced: dict[str, str] = {}
    if values == "source":
        outcomes, replaced = _with_source(tables)
        tables = replace(tables, outcomes=outcomes, cells=summarise_cells(outcomes, seed=tables.seed))
    return Study(tables, values, replaced, options.out or folder.root / "ds_qa")


def _with_source(tables: StudyTables) -> tuple[pd.DataFrame, dict[str, str]]:
    """Put the source's numbers in place of ours; what the source has not filled in is missing, never wrong."""
    outcomes = tables.outcomes.copy()
    assert tables.folder is not None
    found = source_values(tables.folder, outcomes)
    replaced: dict[str, str] = {}
    for pair in pair_metrics(found, outcomes):
        values = pd.array(found[pair.metric], dtype="Float64")
        if pair.ours not in replaced:
            outcomes[pair.ours] = values
            replaced[pair.ours] = pair.metric
        elif pair.ours in MARKS and bool((outcomes[pair.ours].isna() & ~values.isna()).any()):
            # The authors' files call one mark CR here and complete_ratio there: each run has one of them.
            outcomes[pair.ours] = outcomes[pair.ours].fillna(pd.Series(values, outcomes.index))
            replaced[pair.ours] += f", {pair.metric}"
    if "executability_repository" in replaced:
        outcomes["executability"] = outcomes["executability_repository"]
    parts = ["completion", "accuracy", "executability"]
    if {"completion", "accuracy"} <= replaced.keys():
        completion, accuracy, executability = (outcomes[name].astype("Float64") for name in parts)
        outcomes["score"] = completion + accuracy + executability / 2
    return outcomes, replaced


def part(study: Study, model: str | None = None, temperature: float | None = None) -> Study:
    """Return the runs of one model and temperature; all runs where the study has none of these."""
    outcomes = study.outcomes
    keep = np.ones(len(outcomes), dtype=bool)
    if model is not None:
        keep &= outcomes["model"].astype(str).eq(model).to_numpy()
    if temperature is not None:
        keep &= (outcomes["temperature"].astype("Float64") == temperature).fillna(False).to_numpy(dtype=bool)
    if not keep.any():
        return study
    chosen = outcomes[keep].reset_index(drop=True)
    cells = study.tables.cells
    cells = cells[cells["condition_id"].isin(chosen["condition_id"])].reset_index(drop=True)
    return replace(study, tables=replace(study.tables, outcomes=chosen, cells=cells))


def main(run: object, doc: str | None, parser: argparse.ArgumentParser | None = None) -> None:
    """Open the study, call `run(study, options)`, and say in one line what a person can mend."""
    options = (parser or arguments(doc)).parse_args()
    try:
        study = open_study(options)
        told = ", ".join(f"{ours} = {theirs}" for ours, theirs in study.replaced.items())
        print(f"Values: {study.values}{f' ({told})' if told else ''}")
        run(study, options)  # type: ignore[operator]
    except DsqaError as error:
        raise SystemExit(f"{error}") from None
