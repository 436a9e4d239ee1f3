"""Warm sandbox against cold `python snippet.py`, in one run: snippets per second, start-up included.

    python benchmarks/execution.py [--snippets 200] [--cold 6] [--workers 2]

Cold means what one would do without dsqa: `python snippet.py` in its own folder, `workers` at a time, no sandbox.
The two are run alternately in rounds, so that a busy machine disturbs both alike.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from dsqa.execution import Snippet, detect_isolation, execute
from dsqa.study.sections import ExecutionConfig

SNIPPETS = {
    "pandas": "import pandas as pd\nprint(pd.read_csv('data.csv').mean())\n",
    "pandas + matplotlib + statsmodels": (
        "import pandas as pd\nimport matplotlib.pyplot as plt\nimport statsmodels.api as sm\n"
        "df = pd.read_csv('data.csv')\nfit = sm.OLS(df['y'], sm.add_constant(df['x'])).fit()\n"
        "print(fit.params)\n"
    ),
}


def write_data(path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [f"{a:.4f},{b:.4f}" for a, b in rng.normal(size=(400, 2))]
    path.write_text("\n".join(["x,y", *rows]) + "\n")


def cold(code: str, data: Path, count: int, workers: int) -> float:
    """Return the seconds that `count` cold runs take, `workers` at a time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data.csv").write_bytes(data.read_bytes())
        (folder / "snippet.py").write_text(code)
        environment = {**os.environ, "MPLBACKEND": "Agg"}

        def one(_: int) -> None:
            subprocess.run(
                [sys.executable, "snippet.py"], cwd=folder, env=environment, check=True, capture_output=True
            )

        start = time.perf_counter()
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, range(count)))
        return time.perf_counter() - start


def warm(code: str, data: Path, count: int, workers: int) -> tuple[float, float]:
    """Return the seconds that `count` runs in the sandbox take, and those until the first result."""
    # A comment that differs, so that nothing could take them for one snippet.
    snippets = (Snippet(str(i), f"{code}# {i}\n", {"data.csv": data}) for i in range(count))
    start = time.perf_counter()
    first = 0.0
    for result in execute(snippets, ExecutionConfig(), workers=workers):
        assert result.outcome == "ran", result
        first = first or time.perf_counter() - start
    return time.perf_counter() - start, first


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--snippets", type=int, default=200)
    parser.add_argument("--cold", type=int, default=6, help="cold runs per round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    isolation = detect_isolation()
    load = os.getloadavg()[0]
    print(f"{isolation.name}; Python {platform.python_version()}; {os.cpu_count()} processors, load {load:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.csv"
        write_data(data)
        for name, code in SNIPPETS.items():
            cold(code, data, 1, 1)  # the file cache
            cold_rates, warm_rates, later_rates, starts = [], [], [], []
            for _ in range(options.rounds):
                cold_rates.append(options.cold / cold(code, data, options.cold, options.workers))
                seconds, first = warm(code, data, options.snippets, options.workers)
                warm_rates.append(options.snippets / seconds)
                later_rates.append((options.snippets - 1) / (seconds - first))
                starts.append(first)
            ratios = [w / c for w, c in zip(warm_rates, cold_rates, strict=True)]
            median = statistics.median
            print(f"\n{name}")
            print(f"  cold python snippet.py        {median(cold_rates):8.2f} snippets/s")
            print(f"  warm, start-up included       {median(warm_rates):8.2f} snippets/s over {options.snippets}")
            print(f"  warm, once started            {median(later_rates):8.2f} snippets/s")
            print(f"  until the first result        {median(starts):8.2f} s")
            print(f"  ratio, start-up included      {median(ratios):8.1f} x ({min(ratios):.1f} to {max(ratios):.1f})")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\npeak memory of this process {peak:.0f} MB")


if __name__ == "__main__":
    main()
