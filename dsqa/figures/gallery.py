"""Plots that runs drew, beside the reference plot: the most typical, the most different, the failures."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from dsqa.bank import Bank, Question, builtin_bank_path, load_bank
from dsqa.errors import ReportError
from dsqa.figures.common import Caption, clean_left, condition_labels, counted, extent, in_order, shorten_name
from dsqa.figures.drawings import SIDE, UnreadablePictureError, distances, for_print, open_picture, thumbprint
from dsqa.figures.style import EDGE, GREY, PALETTE, SMALL, Width, new_figure, styled
from dsqa.figures.tables import NotApplicableError, StudyTables
from dsqa.outcomes import RunArtefact, show_artefacts

__all__ = ["Gallery", "gallery_caption", "gallery_data", "gallery_figure", "gallery_of"]

MAX_PICTURES = 600
"""Different pictures that are compared; of more, as many are taken, evenly over the runs."""

DREW = "drew a plot"
TYPICAL, FARTHEST, SECOND = "most typical", "most different", "farthest from both"
ROLES = (TYPICAL, FARTHEST, SECOND)

_RUN = ["question_id", "condition_id", "run"]
# What running the code gave, where no picture came of it.
_WITHOUT = {
    "no code": "no code in the response",
    "other language": "code in another language",
    "does not parse": "not valid Python",
    "failed": "code ended with an error",
    "timed out": "code ran out of time",
    "killed by memory": "code ran out of memory",
    "blocked": "blocked by the sandbox",
    "missing package": "a package is missing",
    "ran, right": "ran, drew nothing",
    "ran, wrong": "ran, drew nothing",
}


@dataclass(frozen=True, eq=False)
class Gallery:
    """The plots of one question.

    Parameters
    ----------
    question
        Its id.
    runs
        See `gallery_data`.
    pictures
        Role → pixels, for those that are shown.
    reference
        Pixels of the reference plot, or None.
    no_reference
        Why there is none.
    different
        Number of different pictures, and how many of them were compared.
    extent
        N in words.
    """

    question: str
    runs: pd.DataFrame
    pictures: Mapping[str, NDArray[np.uint8]]
    reference: NDArray[np.uint8] | None
    no_reference: str
    different: tuple[int, int]
    extent: str


@dataclass
class _Compared:
    """The different pictures of a question by name (hash), in order of appearance."""

    paths: dict[str, Path] = field(default_factory=dict)
    prints: dict[str, np.ndarray] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)


def gallery_of(tables: StudyTables, *, question: str | None = None, condition: str | None = None) -> Gallery:
    """Compare the plots that the runs of a question drew.

    A run's plot is the last figure or picture that its code made. Distance is the mean absolute difference of grey
    levels (0 to 1) of two pictures reduced to 32 × 32 pixels. The most typical plot is the medoid: the one with the
    least mean distance to the plots of all runs.

    Parameters
    ----------
    tables
        The study, with its folder.
    question
        By default the one with a reference plot for which most runs drew something; without any, the one for which
        most did.
    condition
        A condition's id; all by default.

    Raises
    ------
    NotApplicableError
        No run drew anything, or the pictures are not at hand.
    ReportError
        There is no run of that question under that condition.
    """
    if tables.folder is None:
        raise NotApplicableError("the folder with what the runs drew is not at hand")
    outcomes = tables.outcomes
    if condition is not None:
        outcomes = outcomes[outcomes["condition_id"] == condition]
    asked = question is not None
    if question is None:
        question = _most_drawn(outcomes, tables)
    mine = outcomes[outcomes["question_id"] == question]
    if mine.empty:
        where = f"'{question}'" if condition is None else f"'{question}' under '{condition}'"
        raise ReportError(f"there is no run of a question {where}", hint="ids are in the overview")
    drawn = _pictures(show_artefacts(tables.folder, question, kinds=("figure", "image", "file")))
    compared = _Compared()
    labels = condition_labels(tables.outcomes)
    rows = []
    for row in mine.to_dict("records"):
        key = (str(row["condition_id"]), int(row["run"]))
        path = drawn.get(key)
        name = "" if path is None else _look(path, compared)
        fate = compared.unreadable.get(name, DREW) if name else _fate(row, expected=path is None)
        rows.append((question, key[0], labels[key[0]], key[1], fate, name or None))
    runs = pd.DataFrame(rows, columns=["question_id", "condition_id", "condition", "run", "outcome", "picture"])
    readable = list(compared.prints)
    if not readable and not asked:
        raise NotApplicableError(
            "none of the plots that runs drew can be read",
            hint="'dsqa score' makes what is missing in artefacts/ anew",
        )
    reference, why = _reference(tables, question)
    chosen = readable
    if len(readable) > MAX_PICTURES:
        chosen = [readable[i] for i in np.linspace(0, len(readable) - 1, MAX_PICTURES).round().astype(int)]
    roles, to_typical = _roles(runs, chosen, compared)
    runs["to_typical"] = [to_typical.get(name, np.nan) for name in runs["picture"]]
    runs["to_reference"] = _to_reference(runs, chosen, compared, reference)
    runs["role"] = _role_column(runs, roles)
    pictures = {role: for_print(open_picture(compared.paths[name])) for role, name in roles.items()}
    print_of = None if reference is None else for_print(open_picture(reference))
    return Gallery(question, runs, pictures, print_of, why, (len(readable), len(chosen)), extent(mine))


def gallery_data(gallery: Gallery) -> pd.DataFrame:
    """Return what became of every run of the question.

    Columns: question_id, condition_id, condition, run, outcome (drew a plot, or why there is none), picture (its
    hash, 16 digits), to_typical and to_reference (distances, missing where not compared), role (of the runs shown).
    """
    return gallery.runs


@styled
def gallery_figure(gallery: Gallery, *, width: Width = "double") -> Figure:
    """Draw the reference, the typical and the most different plots side by side, and what became of the runs below.

    Parameters
    ----------
    gallery
        From `gallery_of`.
    width
        ``single`` (89 mm, two pictures in a row) or ``double`` (183 mm, four).
    """
    across = 4 if width == "double" else 2
    down = 4 // across
    fates = _fates(gallery)
    bars = 4.6 * len(fates) + 11
    figure = new_figure(width, 49 * down + bars + 8)
    halves = np.asarray(figure.subfigures(2, 1, height_ratios=[49 * down, bars]))
    top, bottom = halves.tolist()
    grid = top.subplots(down, across, squeeze=False)
    _show(grid.flat[0], gallery.reference, "Reference plot", "", gallery.no_reference)
    for axes, role in zip(list(grid.flat)[1:], ROLES, strict=True):
        why = "no plot to show" if not gallery.pictures else "no other plot"
        _show(axes, gallery.pictures.get(role), role.capitalize(), _under(gallery, role), why)
    axes = bottom.subplots()
    for place, (fate, number) in enumerate(fates.items()):
        good = fate == DREW
        axes.barh(
            place, number, height=0.7, color=PALETTE[2] if good else "#FFFFFF", edgecolor=EDGE, linewidth=0.5,
            hatch="" if good else "////",
        )  # fmt: skip
        axes.text(number, place, f" {number:,}", size=SMALL, va="center")
    axes.set_yticks(range(len(fates)), list(fates))
    most = max(fates.values())
    axes.set(ylim=(len(fates) - 0.4, -0.6), xlim=(0, most * 1.1), xlabel="Runs")
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    clean_left(axes)
    return figure


def gallery_caption(gallery: Gallery) -> Caption:
    """Return the caption of `gallery_figure` for the same plots."""
    fates = _fates(gallery)
    drew, total = fates.get(DREW, 0), sum(fates.values())
    different, compared = gallery.different
    said = "; ".join(f"{fate} {number:,}" for fate, number in fates.items() if fate != DREW)
    text = (
        f"Question {gallery.question}: plots that runs drew, beside the reference plot. {drew:,} of "
        f"{counted(total, 'run')} drew one, {different:,} of them different. A run's plot is the last its code made; "
        "distance is the mean absolute difference of grey levels (0 black, 1 white) of two plots reduced to "
        f"{SIDE} × {SIDE} pixels. Most typical: the medoid, with the least mean distance to the plots of all runs; "
        "most different: the farthest from it; then the plot farthest from both. "
    )
    if compared < different:
        text += f"Compared were {compared:,} of the different plots, evenly over the runs. "
    if gallery.reference is None:
        text += f"There is no reference plot beside them ({gallery.no_reference}). "
    text += f"Below: what became of the runs. {gallery.extent}."
    reach = gallery.runs["to_typical"].max()
    alt = f"Gallery: {drew:,} of {counted(total, 'run')} drew a plot"
    alt += f"; the most different lies {reach:.3f} from the most typical" if different > 1 else ""
    return Caption("Plots that runs drew", text, f"{alt}. {f'Without a plot: {said}.' if said else ''}".strip())


def _pictures(found: list[RunArtefact]) -> dict[tuple[str, int], Path]:
    """Return each run's last picture: a figure or an image, else a picture file that it wrote."""
    last: dict[tuple[str, int], Path] = {}
    for kinds in (("file",), ("figure", "image")):
        for artefact in found:
            if artefact.kind in kinds and "png" in artefact.paths:
                last[artefact.condition_id, artefact.run] = artefact.paths["png"]
    return last


def _look(path: Path, compared: _Compared) -> str:
    """Return the picture's name, having read it if it is new."""
    name = path.stem[:16]
    if name not in compared.prints and name not in compared.unreadable:
        try:
            compared.prints[name] = thumbprint(open_picture(path))
            compared.paths[name] = path
        except UnreadablePictureError as error:
            compared.unreadable[name] = str(error)
    return name


def _fate(row: Mapping[Hashable, Any], *, expected: bool) -> str:
    """Return why a run has no picture."""
    status, execution = str(row["status"]), row["execution"]
    if status in ("failed", "refused", "empty", "filtered"):
        return {"failed": "request failed", "refused": "model refused", "empty": "empty response"}.get(
            status, "response filtered"
        )
    if expected and not pd.isna(row["figures"]) and int(row["figures"]) > 0:
        return "picture is not kept"
    return "not run" if pd.isna(execution) else _WITHOUT.get(str(execution), str(execution))


def _most_drawn(outcomes: pd.DataFrame, tables: StudyTables) -> str:
    drew = pd.Series(
        [not pd.isna(text) and bool({"figure", "image"} & set(json.loads(text))) for text in outcomes["artefacts"]],
        index=outcomes.index,
        dtype=bool,
    )
    counts = drew.groupby(outcomes["question_id"].astype(str), sort=False).sum()
    if not len(counts) or counts.max() == 0:
        raise NotApplicableError("no run drew a plot that is kept")
    order = in_order(outcomes["question_id"])
    with_reference = {name for name in order if counts[name] and _reference(tables, name)[0] is not None}
    return max(order, key=lambda name: (name in with_reference, int(counts[name]), -order.index(name)))


def _reference(tables: StudyTables, question: str) -> tuple[Path | None, str]:
    """Return the file of a question's reference plot, or None and why."""
    if tables.bank is None or question not in {item.id for item in tables.bank}:
        return None, "the bank is not at hand"
    item = tables.bank[question]
    if item.reference_plot is None:
        return None, "the bank has none for this question"
    path = tables.bank.reference_plot(item) or _builtin_plot(item)
    if path is None:
        return None, "its file is not in the bank's folder"
    try:
        open_picture(path)
    except UnreadablePictureError as error:
        return None, str(error)
    return path, ""


def _builtin_plot(item: Question) -> Path | None:
    """Return the plot of a question of the built-in bank: studies recorded before plots were copied lack theirs."""
    mine = _builtin_bank()
    known = {question.id: question for question in mine}
    return mine.reference_plot(item) if known.get(item.id) == item else None


@cache
def _builtin_bank() -> Bank:
    return load_bank(builtin_bank_path())


def _roles(runs: pd.DataFrame, names: list[str], compared: _Compared) -> tuple[dict[str, str], dict[str, float]]:
    """Return role → picture, and each picture's distance to the typical one."""
    if not names:
        return {}, {}
    prints = np.stack([compared.prints[name] for name in names])
    weights = runs["picture"].value_counts().reindex(names).to_numpy(dtype=float)
    apart = distances(prints, prints)
    # Rounded, so that equal sums tie and the first run's picture is taken whatever the last digit.
    typical = int(np.argmin((apart @ weights).round(9)))
    roles = {TYPICAL: names[typical]}
    if len(names) > 1:
        farthest = int(np.argmax(apart[typical].round(9)))
        roles[FARTHEST] = names[farthest]
        if len(names) > 2:
            second = int(np.argmax(np.minimum(apart[typical], apart[farthest]).round(9)))
            roles[SECOND] = names[second]
    return roles, dict(zip(names, apart[typical].round(6).tolist(), strict=True))


def _to_reference(runs: pd.DataFrame, names: list[str], compared: _Compared, reference: Path | None) -> list[float]:
    if reference is None or not names:
        return [np.nan] * len(runs)
    prints = np.stack([compared.prints[name] for name in names])
    apart = distances(prints, thumbprint(open_picture(reference))[None])[:, 0].round(6)
    found = dict(zip(names, apart.tolist(), strict=True))
    return [found.get(name, np.nan) for name in runs["picture"]]


def _role_column(runs: pd.DataFrame, roles: Mapping[str, str]) -> list[str | None]:
    """Name the first run that drew each of the pictures shown."""
    column: list[str | None] = [None] * len(runs)
    pictures = runs["picture"].tolist()
    for role, name in roles.items():
        column[pictures.index(name)] = role
    return column


def _fates(gallery: Gallery) -> dict[str, int]:
    """Return outcome → runs: plots first, then failures by number."""
    counts = gallery.runs["outcome"].value_counts(sort=False)
    failures = sorted(
        (name for name in counts.index if name != DREW), key=lambda name: (-int(counts[name]), str(name))
    )
    return {str(name): int(counts[name]) for name in ([DREW] if DREW in counts.index else []) + failures}


def _under(gallery: Gallery, role: str) -> str:
    rows = gallery.runs[gallery.runs["role"] == role]
    if rows.empty:
        return ""
    row = rows.iloc[0]
    same = int((gallery.runs["picture"] == row["picture"]).sum())
    lines = [f"run {row['run']}, {shorten_name(str(row['condition']), 22)}"]
    apart = [] if role == TYPICAL else [f"{row['to_typical']:.3f} from typical"]
    if np.isfinite(row["to_reference"]):
        apart.append(f"{row['to_reference']:.3f} from reference")
    lines.append(f"drawn by {counted(same, 'run')}")
    return "\n".join([*lines, *apart])


def _show(axes: Axes, picture: NDArray[np.uint8] | None, title: str, under: str, why: str) -> None:
    axes.set_title(title)
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(visible=True, color=GREY, linewidth=0.5)
    if picture is None:
        axes.set_aspect("equal", adjustable="box", anchor="N")
        axes.text(
            0.5, 0.5, why, transform=axes.transAxes, size=SMALL, color=GREY, ha="center", va="center", wrap=True
        )
    else:
        # As it is: resampling it again would blur it, and differ between formats.
        axes.imshow(picture, interpolation="none")
        axes.set_anchor("N")
    axes.set_xlabel(under, size=SMALL, loc="left", linespacing=1.35)
