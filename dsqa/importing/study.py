"""From the files of another tool to a study folder: read once, put by, numbered, written beside and renamed."""

from __future__ import annotations

import contextlib
import json
import platform
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dsqa import __version__
from dsqa.bank import Bank, Question, format_names
from dsqa.bank.load import examine_bank
from dsqa.errors import SourceError
from dsqa.importing.agreement import LOOKED_AT, beside
from dsqa.importing.cells import Cells, Numbered, OnDuplicate
from dsqa.importing.detection import choose_files, source_files
from dsqa.importing.files import parse_json
from dsqa.importing.folder import Contents, check_out, write_folder
from dsqa.importing.questions import OnDifferentQuestion, QuestionBook
from dsqa.importing.record import condition_of, record_of, run_number, without_keys
from dsqa.importing.runs import ImportReport, Planning, Reader, ReadOptions, SourceRun
from dsqa.importing.spool import Spool, Spooled
from dsqa.records.answered import same_model
from dsqa.records.lines import encode_line, json_bytes
from dsqa.study.design import Condition
from dsqa.study.folder import StudyFolder, hash_file
from dsqa.values import parse_time, time_text

__all__ = ["ImportOptions", "Imported", "import_study"]

_LISTED = 20
_NOT_NEEDED = {"common_answers": "ground truth: they are not marked", "level": "level: it is taken as medium"}
"""Fields of a bank's question without which it can still be matched to its runs, and what is said then."""
_SEED = 20240611


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """How to import.

    Parameters
    ----------
    format_name
        The format; None: found out.
    reading
        What the reader is told.
    bank, data
        A bank file with the questions and ground truths; the folder of the data files.
    on_duplicate
        See `Cells.number`.
    on_different_question
        See `QuestionBook`.
    seed
        Of the study's bootstrap.
    describe_design
        Told the runs of each cell (question, condition, runs), it says in words what is incomplete about the design.
    progress
        Called with the number of runs read so far.
    announce
        Called with what a person should see before anything is read, such as which column is taken for what.
    """

    format_name: str | None = None
    reading: ReadOptions = field(default_factory=ReadOptions)
    bank: Path | None = None
    data: Path | None = None
    on_duplicate: OnDuplicate = "error"
    on_different_question: OnDifferentQuestion = "error"
    seed: int = _SEED
    describe_design: Callable[[list[tuple[str, str, int]]], list[str]] | None = None
    progress: Callable[[int], None] | None = None
    announce: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of it: the folder (None where nothing was to be written), and what `import.json` in it says."""

    folder: StudyFolder | None
    description: dict[str, Any]


def import_study(paths: Sequence[Path], out: Path | None, options: ImportOptions | None = None) -> Imported:
    """Turn what another tool recorded into a study folder, on which everything that works on a study works.

    Nothing is asked of a model, and nothing is left behind where it fails: the folder is made beside and renamed when
    it is whole. Memory does not grow with the responses, only by some bytes per run.

    Parameters
    ----------
    paths
        The files, all of one format; or folders of them.
    out
        The folder to make, such as ``runs/theirs``. Its last part is the study's name. None: nothing is written, only
        said what would come of it.
    options
        How to import.

    Raises
    ------
    SourceError
        The files cannot be read or contradict themselves; `out` is there already.
    BankError
        The bank that was given cannot be used.
    """
    options = options or ImportOptions()
    if out is not None:
        check_out(out)
    report = ImportReport(skip_bad=options.reading.skip_bad)
    hashes = _distinct(source_files(paths), report)
    files = list(hashes.values())
    reader, files = choose_files(files, options.format_name, report, options.reading.columns)
    if options.announce is not None and isinstance(reader, Planning):
        for line in reader.plan(files, options.reading):
            options.announce(line)
    bank = None if options.bank is None else _bank(options.bank, options.data, report)
    book = QuestionBook(bank, options.data, options.on_different_question, report)
    with _workshop(out) as place:
        gathered = _gather(reader, files, options, report, book, place / "spool")
        numbered = _number(gathered, options.on_duplicate, report)
        bank, made = book.bank()
        contents = Contents(
            name="" if out is None else out.name,
            seed=options.seed,
            bank=bank,
            conditions=tuple(gathered.conditions.values()),
            cells=gathered.cells,
            numbered=numbered,
            spool=gathered.spool,
            described={
                "format": reader.name,
                "dsqa": __version__,
                "files": [
                    {"name": str(p), "bytes": p.stat().st_size, "sha256": digest} for digest, p in hashes.items()
                ],
                "bank": None if options.bank is None else str(options.bank),
                **_said(report, gathered, numbered, options.on_duplicate),
                "made_up": made,
            },
            describe_design=options.describe_design,
        )
        contents.described["marking"] = _marking(contents)
        write_folder(contents, place / "study")
        if out is not None:
            (place / "study").rename(out)
    return Imported(None if out is None else StudyFolder(out), contents.described)


def _marking(contents: Contents) -> dict[str, Any]:
    """Return how the answers are read, and how far dsqa's marks agree with the source's."""
    kept = np.flatnonzero(contents.numbered.numbers >= 0)
    chosen = kept if len(kept) <= LOOKED_AT else kept[np.linspace(0, len(kept) - 1, LOOKED_AT).astype(int)]
    runs = (
        (parse_json(spooled.record), parse_json(spooled.metrics)["metrics"])
        for spooled in (contents.spool[int(position)] for position in chosen)
    )
    found = beside(runs, contents.bank, len(kept))
    return {**found.to_dict(), "line": found.line(), "warning": found.warning()}


@contextlib.contextmanager
def _workshop(out: Path | None) -> Iterator[Path]:
    """Give a folder to work in, beside where the study is to be, so that a renaming ends it; gone afterwards."""
    parent = Path(tempfile.gettempdir()) if out is None else out.parent
    made = [folder for folder in (parent, *parent.parents) if not folder.exists()]
    place: Path | None = None
    try:
        parent.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=".dsqa-import-", dir=parent))
        yield place
    except OSError as error:
        said = error.strerror or str(error)
        hint = "nothing is left behind; make room, or choose another place"
        raise SourceError(f"cannot be written: {said}", path=out or parent, hint=hint) from None
    finally:
        if place is not None:
            shutil.rmtree(place, ignore_errors=True)
        with contextlib.suppress(OSError):
            for folder in made:
                folder.rmdir()  # made for this; it stays where something came of it


def _distinct(files: Sequence[Path], report: ImportReport) -> dict[str, Path]:
    """Return the files by their hashes; one that is another's copy is left out, and said."""
    found: dict[str, Path] = {}
    for path in files:
        try:
            digest = hash_file(path)
        except OSError as error:
            raise SourceError(f"cannot be read: {error.strerror or error}", path=path) from None
        if found.setdefault(digest, path) != path:
            report.leave_out(str(path), f"the same file as {found[digest]}")
    return found


def _said(report: ImportReport, gathered: _Gathered, numbered: Numbered, on_duplicate: OnDuplicate) -> dict[str, Any]:
    counts = report.left_out_counts
    return {
        "mapped": dict(report.mapped),
        "left_out": [{"what": what, "why": why, "times": counts[what]} for what, why in report.left_out.items()],
        "bad_rows": {"passed_over": report.bad_count, "first": report.bad},
        "duplicates": {
            "dropped_identical": numbered.repeats,
            "differing": len(numbered.conflicts),
            "on_duplicate": on_duplicate,
            "first": [_told(gathered, pair) for pair in numbered.conflicts[:_LISTED]],
        },
        "keys_struck_out": gathered.struck,
        "notes": [
            *numbered.notes,
            *_counted(report.notes),
            *_prompts(gathered),
            *_times(gathered),
            *_others(gathered),
        ],
    }


def _bank(path: Path, data: Path | None, report: ImportReport) -> Bank:
    """Return the questions of a bank file that can be used, and report those that cannot."""
    examined = examine_bank(path, data, check_data=False)
    # Of a question that is not valid the finding knows the line and not always the id. One that only lacks its answer
    # or its level is known all the same.
    errors = [finding for finding in examined.errors if finding.field not in _NOT_NEEDED]
    for finding in examined.errors:
        if finding not in errors:
            report.note(f"questions of the bank have no usable {_NOT_NEEDED[str(finding.field)]}", 1)
    blamed = {finding.question for finding in errors if finding.question is not None}
    places = {(finding.field, finding.line) for finding in errors if finding.question is None}
    for finding in errors:
        report.leave_out(str(finding.to_error()), "this question of the bank cannot be used")
    whole = tuple(
        _unmarked_if_unanswered(item.question)
        for item in examined.items
        if item.question.id not in blamed
        and not any(name is not None and line == item.source.place(name)[0] for name, line in places)
    )
    if not whole:
        raise examined.errors[0].to_error()
    return Bank(whole, examined.data_dir, path)


def _unmarked_if_unanswered(question: Question) -> Question:
    """Return a question that lacks its ground truth as one that is asked and not marked."""
    if question.marked or question.unmarked:
        return question
    names = list(format_names(question.format)) or ["answer"]
    return Question.model_validate({**question.to_dict(), "unmarked": names})


@dataclass(slots=True)
class _Gathered:
    spool: Spool
    cells: Cells
    conditions: dict[str, Condition]
    struck: int = 0
    answered: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Model that was asked, model that answered → runs."""
    untimed: list[str] = field(default_factory=list)
    """Times that could not be read, the first of them."""
    untimed_count: int = 0


def _gather(
    reader: Reader,
    files: Sequence[Path],
    options: ImportOptions,
    report: ImportReport,
    book: QuestionBook,
    spool_path: Path,
) -> _Gathered:
    gathered = _Gathered(Spool(spool_path), Cells(), {})
    versions = {"dsqa": __version__, "python": platform.python_version(), "source": reader.name}
    known: dict[str, str] = {}
    try:
        for position, run in enumerate(reader.read(files, options.reading, report), start=1):
            try:
                _put_by(run, gathered, reader.name, book, versions, known, report)
            except (ValueError, OverflowError, TypeError) as error:
                where, _, line = run.where.rpartition(":")
                told = "holds a number that is too large" if isinstance(error, OverflowError) else str(error)
                report.skip(Path(where or run.where), int(line) if line.isdigit() else None, told)
            if options.progress is not None:
                options.progress(position)
    finally:
        gathered.spool.close()
    if not len(gathered.cells):
        if report.first_bad is not None and report.bad_count == 1:
            raise report.first_bad
        more = f"; {report.bad_count} rows or files could not be read, the first: {report.first_bad}"
        raise SourceError(
            f"no run was found in it, read as {reader.title}{more if report.bad_count else ''}",
            path=files[0],
            hint="is it the right file? --format says how to read it",
        )
    return gathered


def _put_by(
    run: SourceRun,
    gathered: _Gathered,
    endpoint: str,
    book: QuestionBook,
    versions: dict[str, str],
    known: dict[str, str],
    report: ImportReport,
) -> None:
    if not run.model.strip():
        raise SourceError(f"{run.where} does not say which model it is of", hint="say so: --model NAME")
    number = run_number(run)
    question_id = book.id_of(run)
    condition = condition_of(run, endpoint)
    # An id is a hash: worked out once for each condition, not for each run.
    told = json.dumps(condition.to_dict(), sort_keys=True)
    condition_id = known.get(told) or known.setdefault(told, condition.id)
    text = run.question_text
    if run.messages is None and text is None and (text := book.text_of(question_id)) is not None:
        report.note("runs have no prompt; the text that the bank has of the question stands in its place")
    record = record_of(run, question_id, text, condition, condition_id, versions, _moment(run, gathered))
    gathered.conditions.setdefault(record.condition_id, condition)
    if run.response_model is not None:
        gathered.answered[run.model, run.response_model] += 1
    key = {"question_id": question_id, "condition_id": record.condition_id}
    encoded, struck = without_keys(encode_line(record))
    row, in_row = without_keys(json_bytes({**key, "run": 0, "where": run.where, "row": run.row}) + b"\n")
    metrics, in_metrics = without_keys(json_bytes({**key, "where": run.where, "metrics": run.metrics}) + b"\n")
    content = encoded + metrics.partition(b'"metrics":')[2]
    gathered.struck += struck + in_row + in_metrics
    gathered.cells.add(question_id, record.condition_id, number, record.prompt_hash, content)
    gathered.spool.add(Spooled(encoded, row, metrics))


def _moment(run: SourceRun, gathered: _Gathered) -> str | None:
    """Return a run's time as records write it; one that cannot be read is missing, and counted."""
    if run.started_at is None or run.started_at == "":
        return None
    moment = time_text(parse_time(run.started_at))
    if moment is None:
        gathered.untimed_count += 1
        if len(gathered.untimed) < 1:
            gathered.untimed.append(f"'{str(run.started_at)[:40]}' ({run.where})")
    return moment


def _number(gathered: _Gathered, on_duplicate: OnDuplicate, report: ImportReport) -> Numbered:
    numbered = gathered.cells.number(on_duplicate, report.first_run)
    if numbered.conflicts and on_duplicate == "error":
        told = "\n  ".join(_told(gathered, pair) for pair in numbered.conflicts[:_LISTED])
        more = len(numbered.conflicts) - _LISTED
        raise SourceError(
            f"{len(numbered.conflicts)} runs have the cell and the number of another one, and differ:\n  {told}"
            + (f"\n  … and {more} more" if more > 0 else "")
            + "\nNothing was written. --on-duplicate first  or  last  keeps one of each,  all  keeps every one under "
            "a number of its own."
        )
    return numbered


def _told(gathered: _Gathered, pair: tuple[int, int]) -> str:
    first, later = pair
    question_id, condition_id = gathered.cells.keys[gathered.cells.cell_of(first)]
    places = [json.loads(gathered.spool[position].metrics)["where"] for position in pair]
    return f"question {question_id}, {condition_id}, run {gathered.cells.given(later)}: {places[0]} and {places[1]}"


def _counted(notes: Counter[str]) -> list[str]:
    return [f"{times:,} {text}" for text, times in notes.items() if times]


def _times(gathered: _Gathered) -> list[str]:
    if not gathered.untimed_count:
        return []
    text = "runs have a time that cannot be read, which is missing; the first"
    return [f"{gathered.untimed_count:,} {text}: {gathered.untimed[0]}"]


def _others(gathered: _Gathered) -> list[str]:
    """Say which runs another model answered than was asked."""
    return [
        f"{times:,} runs were asked of '{asked}' and answered by '{answered}': they say nothing of {asked}"
        for (asked, answered), times in gathered.answered.most_common()
        if not same_model(asked, answered)
    ]


def _prompts(gathered: _Gathered) -> list[str]:
    mixed = [
        key for key, prompts in zip(gathered.cells.keys, gathered.cells.prompts, strict=True) if len(prompts) > 1
    ]
    if not mixed:
        return []
    question_id, condition_id = mixed[0]
    return [
        f"{len(mixed)} cells hold runs of different prompts (the first: question {question_id}, {condition_id}): how "
        "much their answers vary is due to the prompts too"
    ]
