"""Find what the runs of a study drew, showed and wrote, for a gallery or for a person who looks at one run."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pandas as pd

from dsqa.execution import Artefact, ArtefactStore
from dsqa.outcomes.cache import ExecutionCache
from dsqa.outcomes.table import load_outcomes
from dsqa.study import StudyFolder

__all__ = ["RunArtefact", "show_artefacts"]


@dataclass(frozen=True)
class RunArtefact:
    """An artefact of one run, and where its files are.

    Parameters
    ----------
    question_id, condition_id, model, temperature, run
        The run.
    outcome
        How running its code ended; see the column ``execution``.
    accuracy
        1 if the run was right, 0 if not.
    kind, name, facts
        See `dsqa.execution.Artefact`.
    paths
        Media → file: ``png``, ``svg`` and ``json`` of a figure. Only files that are there.
    """

    question_id: str
    condition_id: str
    model: str | None
    temperature: float | None
    run: int
    outcome: str
    accuracy: int | None
    kind: str
    name: str
    facts: dict[str, Any]
    paths: dict[str, Path]

    @classmethod
    def of(cls, row: Any, artefact: Artefact, store: ArtefactStore) -> Self:
        """Return the artefact of the run that `row` (of the outcome table) is about."""
        paths = {part.media: path for part in artefact.parts if (path := store.path(part)) is not None}
        return cls(
            question_id=row.question_id,
            condition_id=row.condition_id,
            model=_plain(row.model),
            temperature=_plain(row.temperature),
            run=int(row.run),
            outcome=row.execution,
            accuracy=_plain(row.accuracy),
            kind=artefact.kind,
            name=artefact.name,
            facts=artefact.facts,
            paths={str(media): path for media, path in paths.items()},
        )

    def drawn(self) -> dict[str, Any] | None:
        """Return what a figure shows (axes, labels, limits, marks), or a table's cells; None where it has no JSON."""
        path = self.paths.get("json")
        return None if path is None else json.loads(path.read_text(encoding="ascii"))


def show_artefacts(
    folder: StudyFolder,
    question: str | None = None,
    *,
    condition: str | None = None,
    run: int | None = None,
    kinds: Collection[str] = ("figure", "table", "image", "file"),
) -> list[RunArtefact]:
    """Return the artefacts of a marked study's runs.

    Parameters
    ----------
    folder
        The study.
    question, condition, run
        Only of these; None for all.
    kinds
        ``figure``, ``table``, ``image``, ``file``.

    Returns
    -------
    list of RunArtefact
        In the outcome table's order, then in the order they were made. Runs with equal code share their files.

    Raises
    ------
    StudyError
        The study has not been marked, or its executions cannot be read.
    """
    outcomes = load_outcomes(folder.outcomes_path)
    chosen = outcomes["execution_key"].notna()
    for name, wanted in (("question_id", question), ("condition_id", condition), ("run", run)):
        if wanted is not None:
            chosen &= outcomes[name] == wanted
    found = []
    cache = ExecutionCache(folder.executions_path, read_only=True)
    for row in outcomes[chosen].itertuples():
        key = str(row.execution_key)
        if key in cache:
            made = (artefact for artefact in cache[key].artefacts if artefact.kind in kinds)
            found += [RunArtefact.of(row, artefact, cache.artefacts) for artefact in made]
    return found


def _plain(value: Any) -> Any:
    return None if pd.isna(value) else value
