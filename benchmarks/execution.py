"""Warm sandbox against cold `python snippet.py`, in one run: snippets per second, start-up included.

    python benchmarks/execution.py [--snippets 200] [--cold 6] [--workers 2]
    python benchmarks/execution.py --memory 10000     is memory flat, and time linear, over so many snippets?
    python benchmarks/execution.py --layers           what each layer of the sandbox costs a snippet

Cold means what one would do without dsqa: `python snippet.py` in its own folder, `workers` at a time, no sandbox,
byte code cached. The two are run alternately in rounds, so that a busy machine disturbs both alike; CPU seconds are
given beside wall seconds, as the first say more on such a machine.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import importlib
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dsqa.execution import Snippet, detect_isolation, execute
from dsqa.execution.classify import Ending
from dsqa.study.sections import ExecutionConfig

SNIPPETS = {
    "pandas": "import pandas as pd\nprint(pd.read_csv('data.csv').mean())\n",
    "pandas + matplotlib + statsmodels": (
        "import pandas as pd\nimport matplotlib.pyplot as plt\nimport statsmodels.api as sm\n"
        "df = pd.read_csv('data.csv')\nfit = sm.OLS(df['y'], sm.add_constant(df['x'])).fit()\n"
        "print(fit.params)\n"
    ),
}
GOALS = {"pandas": 30, "pandas + matplotlib + statsmodels": 70}


def write_data(path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [f"{a:.4f},{b:.4f}" for a, b in rng.normal(size=(400, 2))]
    path.write_text("\n".join(["x,y", *rows]) + "\n")


def children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cold(code: str, data: Path, count: int, workers: int) -> tuple[float, float]:
    """Return the wall and CPU seconds that `count` cold runs take, `workers` at a time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data.csv").write_bytes(data.read_bytes())
        (folder / "snippet.py").write_text(code)
        environment = {**os.environ, "MPLBACKEND": "Agg"}
        # As for most people: or every cold run would compile the libraries anew.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)

        def one(_: int) -> None:
            subprocess.run(
                [sys.executable, "snippet.py"], cwd=folder, env=environment, check=True, capture_output=True
            )

        start, before = time.perf_counter(), children_cpu()
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, range(count)))
        return time.perf_counter() - start, children_cpu() - before


@dataclass
class Warm:
    """One pass through the sandbox: seconds of wall time, and CPU seconds by what they went into."""

    count: int
    wall: float = 0.0
    first: float = 0.0
    host: float = 0.0
    endings: list[Ending] = field(default_factory=list)

    @property
    def start_cpu(self) -> float:
        return self.endings[0].preloader[1]

    @property
    def cpu(self) -> float:
        """All CPU seconds, the preloader's start included."""
        return self.host + self.endings[-1].preloader[1] + sum(e.cpu + e.apart for e in self.endings)

    def parts(self) -> dict[str, float]:
        """CPU milliseconds a snippet, once started."""
        first, last = self.endings[0].preloader, self.endings[-1].preloader
        later = len(self.endings) - 1
        clocks = [(json.loads(e.report)["clock"], e.cpu + e.apart) for e in self.endings]
        means = {
            "fork": (last[0] - first[0]) / later,
            "parents (host and preloader)": (last[1] - first[1] - last[0] + first[0]) / later
            + self.host / self.count,
            "set-up and confinement": np.mean([ready for (ready, _), _ in clocks]),
            "the snippet's code": np.mean([ended - ready for (ready, ended), _ in clocks]),
            "keeping what it drew, exit": np.mean([total - ended for (_, ended), total in clocks]),
        }
        return {name: 1000 * seconds for name, seconds in means.items()}


def warm(code: str, data: Path, count: int, workers: int) -> Warm:
    """Run `count` snippets through the sandbox."""
    # A comment that differs, so that nothing could take them for one snippet.
    snippets = (Snippet(str(i), f"{code}# {i}\n", {"data.csv": data}) for i in range(count))
    passed = Warm(count)
    module = importlib.import_module("dsqa.execution.execute")
    classify = module.classify

    def keeping(snippet: Snippet, ending: Ending, *rest: object) -> object:
        passed.endings.append(ending)
        return classify(snippet, ending, *rest)

    module.classify = keeping
    try:
        start, before = time.perf_counter(), time.process_time()
        for result in execute(snippets, ExecutionConfig(), workers=workers):
            assert result.outcome == "ran", result
            passed.first = passed.first or time.perf_counter() - start
        passed.wall, passed.host = time.perf_counter() - start, time.process_time() - before
    finally:
        module.classify = classify
    return passed


def compare(name: str, data: Path, options: argparse.Namespace) -> None:
    """Print one snippet's rates, and where its time goes."""
    code = SNIPPETS[name]
    cold(code, data, 1, 1)  # the file cache, and byte code
    rates: dict[str, list[float]] = {key: [] for key in ("cold", "warm", "later", "start", "wall", "cpu")}
    colds, passes = [], []
    for _ in range(options.rounds):
        wall, cpu = cold(code, data, options.cold, options.workers)
        run = warm(code, data, options.snippets, options.workers)
        rates["cold"].append(options.cold / wall)
        rates["warm"].append(run.count / run.wall)
        rates["later"].append((run.count - 1) / (run.wall - run.first))
        rates["start"].append(run.first)
        rates["wall"].append(rates["warm"][-1] / rates["cold"][-1])
        rates["cpu"].append((cpu / options.cold) / (run.cpu / run.count))
        colds.append(cpu / options.cold)
        passes.append(run)
    middle = {key: np.median(values) for key, values in rates.items()}
    print(f"\n{name}")
    print(f"  cold python snippet.py        {middle['cold']:8.2f} snippets/s, {np.median(colds):.2f} CPU s each")
    print(f"  warm, start-up included       {middle['warm']:8.2f} snippets/s over {options.snippets}")
    print(f"  warm, once started            {middle['later']:8.2f} snippets/s")
    started = np.median([run.start_cpu for run in passes])
    print(f"  until the first result        {middle['start']:8.2f} s ({started:.2f} CPU s)")
    for kind in ("wall", "cpu"):
        spread = f"{min(rates[kind]):.1f} to {max(rates[kind]):.1f}"
        print(f"  ratio by {kind:<4} time            {middle[kind]:8.1f} x ({spread}; wanted {GOALS[name]} x)")
    parts = {part: np.median([run.parts()[part] for run in passes]) for part in passes[0].parts()}
    total = sum(parts.values())
    print(f"  a snippet, once started       {total:8.1f} CPU ms, of which")
    for part, milliseconds in parts.items():
        print(f"    {part:<28}{milliseconds:8.1f}")
    possible = 1000 * options.workers / total
    print(f"  {options.workers} processors of our own        {possible:8.1f} snippets/s: {possible / 100:.0%} of 100")


def memory(data: Path, count: int, workers: int) -> None:
    """Print resident memory and time as `count` snippets go by."""
    step = max(count // 10, 1)
    code = SNIPPETS["pandas"]
    snippets = (Snippet(str(i), f"{code}# {i}\n", {"data.csv": data}) for i in range(count))
    start = before = time.perf_counter()
    print(f"{'snippets':>9} {'host MB':>8} {'a snippet MB':>13} {'s for these':>12}")
    for number, result in enumerate(execute(snippets, ExecutionConfig(), workers=workers), start=1):
        assert result.outcome == "ran", result
        if number % step == 0:
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            now = time.perf_counter()
            resident = pages * resource.getpagesize() / 1e6
            print(f"{number:>9} {resident:>8.1f} {result.peak_mb or 0:>13.1f} {now - before:>12.1f}", flush=True)
            before = now
    print(f"{count} snippets in {time.perf_counter() - start:.0f} s")


def layers(data: Path, count: int, rounds: int) -> None:
    """Print what a pandas snippet costs with every layer, and without each that can be left out."""
    module = importlib.import_module("dsqa.execution.execute")
    find = module.find_launch
    launch, isolation = find("")
    without: dict[str, dict[str, bool]] = {
        "every layer": {},
        "no user namespace per run": {"users": False},
        "no Landlock": {"landlock": False},
        "no seccomp": {"seccomp": False},
        "none of the three": {"users": False, "landlock": False, "seccomp": False},
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in without}
    for _ in range(rounds):
        for name, changed in without.items():
            module.find_launch = lambda _="", changed=changed: (dataclasses.replace(launch, **changed), isolation)
            try:
                parts = warm(SNIPPETS["pandas"], data, count, 2).parts()
            finally:
                module.find_launch = find
            found[name].append((parts["set-up and confinement"], sum(parts.values())))
    print(f"{'CPU ms a snippet, medians of ' + str(rounds):<34}{'set-up':>8}{'all':>8}")
    for name, pairs in found.items():
        set_up, total = np.median(np.array(pairs), axis=0)
        print(f"{name:<34}{set_up:>8.2f}{total:>8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--snippets", type=int, default=200)
    parser.add_argument("--cold", type=int, default=6, help="cold runs per round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", type=int, metavar="N", help="run N snippets and print memory and time instead")
    parser.add_argument("--layers", action="store_true", help="print what each layer costs instead")
    options = parser.parse_args()
    isolation = detect_isolation()
    load = os.getloadavg()[0]
    print(f"{isolation.name}; Python {platform.python_version()}; {os.cpu_count()} processors, load {load:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.csv"
        write_data(data)
        if options.layers:
            layers(data, options.snippets, options.rounds)
            return
        if options.memory:
            memory(data, options.memory, options.workers)
            return
        for name in SNIPPETS:
            compare(name, data, options)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\npeak memory of this process {peak:.0f} MB")


if __name__ == "__main__":
    main()
