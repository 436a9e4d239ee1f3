"""Turn a study's settings into a recorded study: everything checked and written down before anything is sent."""

from __future__ import annotations

import logging
import platform
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

from dsqa import __version__
from dsqa.bank import Bank, builtin_bank_path, load_bank, select_questions
from dsqa.errors import StudyError
from dsqa.prices import find_prices, save_prices
from dsqa.prompting import Template, build_messages, load_template
from dsqa.records import FileLock, read_records
from dsqa.sampling.plan import CellRequest
from dsqa.study.config import StudyConfig
from dsqa.study.design import Cell, Condition, conditions_of
from dsqa.study.folder import IMPORTED, CellPlan, StudyDescription, StudyFolder, hash_file
from dsqa.study.sections import SEED_PER_RUN, EndpointConfig, PromptConfig

__all__ = [
    "build_cells",
    "count_outside_design",
    "design_cells",
    "prepare_study",
    "requests_of",
    "study_folder",
]

_log = logging.getLogger("dsqa.sampling")


def prepare_study(config: StudyConfig, study_path: Path | None, root: Path) -> StudyFolder:
    """Check a study, build what each cell asks, and write it to the study's folder.

    A study that is recorded already is extended: more runs, temperatures, models or questions leave the recorded
    runs in the design. A changed prompt makes other cells; runs that no longer belong to the design stay in
    `records.jsonl`, and a warning on the logger ``dsqa.sampling`` says how many they are.

    Parameters
    ----------
    config
        The study's settings.
    study_path
        The file they came from; paths in them are relative to its folder. None: to the working folder.
    root
        The folder that records this study (``runs/<name>``).

    Raises
    ------
    BankError, StudyError
        The bank, a data file, the template or the design cannot be used; nothing has been written.
    StudyLockedError
        Another process is sampling this study.
    """
    if (root / IMPORTED).exists():
        raise StudyError(
            "holds runs that were imported, which nothing is added to or asked again for",
            path=root,
            hint="give the study another name in study.yaml; 'dsqa score' takes the folder itself",
        )
    base_dir, bank, template, conditions, cells = _design(config, study_path)
    prices = find_prices(config.prices, base_dir)
    names = sorted({q.file_name for q in bank if q.file_name is not None})
    description = StudyDescription(
        name=config.name,
        runs=config.most_runs,
        seed=config.seed,
        conditions=conditions,
        cells=tuple(CellPlan(cell.question_id, cell.condition.id, cell.prompt_hash) for cell in cells),
        settings=_with_whole_paths(config, base_dir).model_dump(mode="json"),
        template={"name": template.name, "sha256": template.sha256, "text": template.text},
        bank_hash=bank.hash,
        data_hashes={name: hash_file(bank.data_dir / name) for name in names},
        versions={"dsqa": __version__, "python": platform.python_version(), "openai": version("openai")},
    )
    folder = StudyFolder(root)
    try:
        before = folder.description_path.read_bytes() if folder.description_path.is_file() else None
        with FileLock(folder.records_path.with_name(folder.records_path.name + ".lock")):
            folder.write(description, bank)
            save_prices(prices, (condition.model for condition in conditions), root)
        changed = before is not None and before != folder.description_path.read_bytes()
    except OSError as error:
        raise StudyError(f"cannot be written: {error.strerror or error}", path=root) from None
    _warn_of_copies(conditions, config.most_runs)
    outside = count_outside_design(folder) if changed else 0
    if outside:
        _log.warning(
            "%s: %d recorded runs do not belong to the design any more (a prompt, parameter or N has changed); "
            "they are kept, and not counted",
            folder.records_path,
            outside,
        )
    return folder


def _warn_of_copies(conditions: Iterable[Condition], runs: int) -> None:
    """A fixed seed asks for the same answer every time; where the endpoint honours it, N runs are one."""
    fixed = sorted({c.model for c in conditions if c.request.get("seed", SEED_PER_RUN) not in {SEED_PER_RUN, None}})
    if fixed and runs > 1:
        _log.warning(
            "the requests to %s have a fixed seed: its runs may be copies of one answer; "
            "seed: per-run  gives each run one of its own",
            ", ".join(fixed),
        )


def design_cells(config: StudyConfig, study_path: Path | None) -> tuple[CellRequest, ...]:
    """Return what a study would ask, with nothing written.

    Raises
    ------
    BankError, StudyError
        As `prepare_study` does.
    """
    return tuple(CellRequest.of(cell) for cell in _design(config, study_path)[-1])


def _design(
    config: StudyConfig, study_path: Path | None
) -> tuple[Path, Bank, Template, tuple[Condition, ...], tuple[Cell, ...]]:
    base_dir = study_folder(study_path)
    bank = _load_bank(config, base_dir)
    template = load_template(config.prompt.template, base_dir)
    conditions = conditions_of(config)
    _refuse_twins(conditions)
    return base_dir, bank, template, conditions, build_cells(bank, conditions, template, config.prompt)


def study_folder(study_path: Path | None) -> Path:
    """Return the folder that a study's paths are relative to: the study file's, or the working folder."""
    return (study_path.parent if study_path is not None else Path()).resolve()


def build_cells(
    bank: Bank, conditions: tuple[Condition, ...], template: Template, prompt: PromptConfig
) -> tuple[Cell, ...]:
    """Return question × condition, each with the messages that ask it."""
    cells: list[Cell] = []
    for question in bank:
        messages = build_messages(question, bank, template, system=prompt.system, preview_rows=prompt.preview_rows)
        cells.extend(Cell(question.id, condition, messages) for condition in conditions)
    return tuple(cells)


def count_outside_design(folder: StudyFolder) -> int:
    """Return how many recorded runs are of no cell, or of no run number, of the study as it is described now."""
    description = folder.describe()
    design = {(c.question_id, c.condition_id, c.prompt_hash) for c in description.cells}
    return sum(
        (r.question_id, r.condition_id, r.prompt_hash) not in design or r.run >= description.runs
        for r in read_records(folder.records_path)
    )


def requests_of(folder: StudyFolder, description: StudyDescription, config: StudyConfig) -> tuple[CellRequest, ...]:
    """Rebuild what each cell asks from the study's own copies.

    Raises
    ------
    StudyError
        The copies, or the code that makes prompts of them, give other prompts than `study.json` lists.
    """
    text = description.template["text"]
    template = Template(name=description.template["name"], text=text, sha256=description.template["sha256"])
    cells = build_cells(folder.bank(), description.conditions, template, config.prompt)
    requests = tuple(CellRequest.of(cell) for cell in cells)
    if [(c.question_id, c.condition_id, c.prompt_hash) for c in requests] != [
        (c.question_id, c.condition_id, c.prompt_hash) for c in description.cells
    ]:
        raise StudyError(
            "lists other prompts than the study's bank and template give now",
            path=folder.description_path,
            hint="prepare it anew from its study.yaml; recorded runs are kept",
        )
    return requests


def _load_bank(config: StudyConfig, base_dir: Path) -> Bank:
    data_dir = None if config.data is None else base_dir / Path(config.data).expanduser()
    path = builtin_bank_path() if config.bank == "builtin" else base_dir / Path(config.bank).expanduser()
    bank = load_bank(path, data_dir)
    _warn_of_problems(bank, path)
    return select_questions(bank, config.questions) if config.questions else bank


def _warn_of_problems(bank: Bank, path: Path) -> None:
    """Say before anything is paid for which questions are not marked or left out, and where to read why.

    What cannot be read so far that it is known which question it is, stops a study: nobody would miss it.
    """
    if not bank.problems:
        return
    for problem in bank.problems:
        if problem.question is None:
            raise problem.to_error()
    first, more = bank.problems[0], len(bank.problems) - 1
    became = "is asked and not marked" if first.question in bank.ids else "is left out"
    _log.warning(
        "%s; its question %s%s: dsqa bank check %s", first, became, f", and {more} more" if more else "", path
    )


def _refuse_twins(conditions: tuple[Condition, ...]) -> None:
    seen: set[str] = set()
    for condition in conditions:
        if condition.id in seen:
            heat = "no temperature" if condition.temperature is None else f"temperature {condition.temperature:g}"
            raise StudyError(
                f"asks for '{condition.model}' at {heat} twice, with the same parameters",
                hint="for more runs, raise 'runs'",
            )
        seen.add(condition.id)


def _with_whole_paths(config: StudyConfig, base_dir: Path) -> StudyConfig:
    # study.json is read from elsewhere than the study file: what an endpoint reads must be named in full there.
    def whole(endpoint: EndpointConfig) -> EndpointConfig:
        named = {name: getattr(endpoint, name) for name in ("weights", "records")}
        paths = {name: str(base_dir / Path(path).expanduser()) for name, path in named.items() if path is not None}
        return endpoint.model_copy(update=paths) if paths else endpoint

    return config.model_copy(update={"endpoints": {name: whole(each) for name, each in config.endpoints.items()}})
