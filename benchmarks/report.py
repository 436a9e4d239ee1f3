"""Where the time of a report goes: from a study's tables to the website and the article.

    python -m benchmarks.report [STUDY …] [--runs 40000] [--again] [--renderer pandoc]
    python -m benchmarks.report --overview 1001 --runs 1001

Without STUDY, a study of 41 questions × 3 conditions is simulated, with as many runs as --runs asks (a seed makes it:
the same study each time). Each study is copied to a scratch folder, without what was made of it before, and its whole
report is made there: wall seconds of each step, CPU seconds of all processes, the largest memory that they held
together, the size of what came out. --overview makes the overview
alone, of that many questions. --again then makes it once more after a change of one notebook's text.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from dsqa.report import build_site
from dsqa.report.formats import RENDERERS, Renderer
from dsqa.report.locate import notebook_path
from dsqa.report.site import shipped_notebooks
from dsqa.report.site.rendering import SEARCH
from dsqa.study import StudyFolder
from tests.report.study import make_study

MEGABYTE = 1_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="*", type=Path)
    parser.add_argument("--runs", type=int, default=40_000)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--overview", type=int, metavar="QUESTIONS")
    parser.add_argument("--renderer", choices=RENDERERS, default="pandoc")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dsqa-benchmark-") as scratch:
        if chosen.overview:
            root = Path(scratch) / "overview"
            make_study(
                root, questions=chosen.overview, temperatures=(0.2,), runs=max(1, chosen.runs // chosen.overview)
            )
            overview(StudyFolder(root), chosen.renderer)
            return
        roots = chosen.studies or [simulated(Path(scratch) / "simulated", chosen.runs)]
        for root in roots:
            copy = Path(scratch) / "copies" / root.name
            shutil.copytree(root, copy, ignore=shutil.ignore_patterns("report", "figures", ".cells", "cells.parquet"))
            measure(StudyFolder(copy), chosen.again, chosen.renderer)


def overview(folder: StudyFolder, renderer: Renderer) -> None:
    timed(
        "the overview alone",
        lambda say: build_site(folder, notebooks=("overview",), renderer=renderer, progress=say),
    )
    page = folder.report_dir / "overview.html"
    print(f"    {page.name:<22}{page.stat().st_size / MEGABYTE:8.2f} MB")


def simulated(root: Path, runs: int) -> Path:
    conditions = (0.2, 0.7, 1.0)
    make_study(root, questions=41, temperatures=conditions, runs=max(2, runs // (41 * len(conditions))), seed=1)
    return root


def measure(folder: StudyFolder, again: bool, renderer: Renderer) -> None:
    print(f"\n{folder.describe().name}: {folder.root}")
    timed(
        "the whole report",
        lambda say: build_site(folder, formats=("html", "pdf", "docx"), renderer=renderer, progress=say),
    )
    for name in ("index", *shipped_notebooks(), "article"):
        for ending in ("html", "pdf", "docx"):
            path = folder.report_dir / f"{name}.{ending}"
            if path.is_file():
                print(f"    {path.name:<22}{path.stat().st_size / MEGABYTE:8.2f} MB")
    print(f"    {SEARCH[0]:<22}{(folder.report_dir / SEARCH[0]).stat().st_size / MEGABYTE:8.2f} MB")
    timed(
        "nothing changed",
        lambda say: build_site(folder, formats=("html", "pdf", "docx"), renderer=renderer, progress=say),
    )
    if again:
        with changed_text("verbosity"):
            timed("one text changed", lambda say: build_site(folder, renderer=renderer, progress=say))


class changed_text:  # noqa: N801 - reads as a statement
    """One more word in a shipped notebook, for a while."""

    def __init__(self, name: str) -> None:
        self.path = notebook_path(name)
        self.before = self.path.read_bytes()

    def __enter__(self) -> None:
        self.path.write_bytes(self.before.replace(b"## ", b"## Again: ", 1))

    def __exit__(self, *_: object) -> None:
        self.path.write_bytes(self.before)


def timed(title: str, make: Callable[[Callable[[str], None]], object]) -> None:
    start = last = time.perf_counter()
    cpu = cpu_seconds()
    print(f"  {title}")

    def say(text: str) -> None:
        nonlocal last
        now = time.perf_counter()
        print(f"    {now - start:8.1f} s  (+{now - last:.1f})  {text}", flush=True)
        last = now

    with PeakMemory() as memory:
        make(say)
    wall = time.perf_counter() - start
    print(
        f"    {wall:8.1f} s in all; CPU {cpu_seconds() - cpu:.1f} s; "
        f"memory of all processes at most {memory.peak / MEGABYTE:,.0f} MB"
    )


def cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in used)


class PeakMemory:
    """The largest resident memory of this process and all below it, looked at five times a second (Linux)."""

    def __init__(self) -> None:
        self.peak = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.2):
            self.peak = max(self.peak, tree_memory(os.getpid()))


def tree_memory(root: int) -> int:
    parents: dict[int, int] = {}
    resident: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            after_name = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(entry.name)] = int(after_name[1])
        resident[int(entry.name)] = int(after_name[21]) * os.sysconf("SC_PAGE_SIZE")
    total, members = 0, {root}
    # A process is started after its parent, but numbers start anew: go round until nothing is added.
    while True:
        more = {pid for pid, parent in parents.items() if parent in members} - members
        if not more:
            break
        members |= more
    for pid in members:
        total += resident.get(pid, 0)
    return total


if __name__ == "__main__":
    main()
