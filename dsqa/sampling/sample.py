"""Sample a prepared study: open what it needs, ask what is missing, stop cleanly when told to."""

from __future__ import annotations

import time
from collections.abc import Mapping

from pydantic import ValidationError

from dsqa.endpoints import open_endpoint
from dsqa.errors import StudyError
from dsqa.prices import recorded_prices
from dsqa.records import RecordStore
from dsqa.sampling.history import History
from dsqa.sampling.job import LOG_FOLDER, Job, Opener, Past
from dsqa.sampling.log import sampling_log
from dsqa.sampling.loop import run_loop
from dsqa.sampling.plan import CellId
from dsqa.sampling.prepare import requests_of
from dsqa.sampling.progress import Progress
from dsqa.sampling.select import Selection
from dsqa.sampling.summary import SamplingSummary
from dsqa.sampling.wish import Wish
from dsqa.study.config import StudyConfig
from dsqa.study.folder import StudyDescription, StudyFolder
from dsqa.study.sections import BudgetConfig

__all__ = ["Opener", "sample_study", "settings_of"]


def sample_study(
    folder: StudyFolder,
    *,
    progress: Progress | None = None,
    limit: int | None = None,
    only: Selection | None = None,
    targets: Mapping[CellId, int] | None = None,
    budget: BudgetConfig | None = None,
    opener: Opener | None = None,
) -> SamplingSummary:
    """Ask every run of a prepared study that is not recorded yet, and record it as soon as it is answered.

    A recorded run is never asked again, a failed one neither: it stays in every denominator. Ctrl-C (and SIGTERM)
    stops sending, waits up to two seconds for what is on its way, and returns; a second Ctrl-C does not wait.

    Parameters
    ----------
    folder
        From `prepare_study`, or `StudyFolder.open`.
    progress
        Told how far it is; see `terminal_progress`.
    limit
        Ask for at most so many runs.
    only
        Ask only these questions, models, temperatures or conditions.
    targets
        Runs that a cell (question id, condition id, prompt hash) is to have after this session, in place of the
        study's N; cells that are not named are not asked. `SamplingSummary.total` is then what they add up to.
    budget
        What the study may take, in all its sessions together; the study's own by default. Where it is used up,
        sampling ends and `SamplingSummary.stopped` is ``budget``.
    opener
        What opens endpoints, such as those of a cluster's workers; `dsqa.endpoints.open_endpoint` by default.

    Raises
    ------
    EndpointError
        A key is missing or wrong, a model unknown, an address unreachable, or the endpoint went down: none of the
        runs that failed of it are recorded.
    StudyLockedError
        Another process is sampling this study.
    RecordError
        The disk is full, or a recorded line is damaged.
    StudyError
        `study.json` does not fit the rest of the folder; `only` names what the study does not have; `targets`
        names a cell that it does not have; the budget has a cap on money and a price is unknown.
    MissingDependencyError
        The embedded model is asked for and not installed.
    """
    begun = time.monotonic()
    description = folder.describe()
    config = settings_of(folder, description)
    wish = Wish.of(
        requests_of(folder, description, config),
        runs=description.runs,
        seed=description.seed,
        choices=config.sampling.choices_per_request,
        limit=limit,
        only=only,
        targets=targets,
    )
    past = Past(folder, History(recorded_prices(folder.root)))
    with RecordStore.open(folder.records_path, past.see) as store, sampling_log(folder.root / LOG_FOLDER) as log:
        past.ledger.close_killed(past.rest)
        job = Job(
            folder,
            config,
            wish,
            store,
            past.history,
            past.ledger,
            log,
            progress,
            budget or config.budget,
            opener or open_endpoint,
        )
        return run_loop(lambda stopper: job.run(stopper, begun))


def settings_of(folder: StudyFolder, description: StudyDescription) -> StudyConfig:
    """Return the settings that a study was prepared with.

    Raises
    ------
    StudyError
        They are not what this dsqa understands.
    """
    try:
        return StudyConfig.model_validate(description.settings)
    except ValidationError as invalid:
        first = invalid.errors(include_url=False)[0]
        where = ".".join(("settings", *map(str, first["loc"])))
        raise StudyError(first["msg"], path=folder.description_path, field=where) from None
