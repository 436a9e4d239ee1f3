"""What the sampler costs: requests per second against the ideal, and CPU per request.

    python -m benchmarks.sampling [--requests 4000] [--concurrency 64] [--latency 0.1]

The server (tests/support/server.py, aiohttp) runs in a process of its own and answers after `latency` seconds. The
ideal is requests × latency ÷ concurrency. CPU is that of the sampling process alone, from the first request to the
last record on disk. Peak memory is the process's largest resident set; run it with two values of --requests to see
that it does not grow with them.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dsqa.sampling import prepare_study, sample_study
from dsqa.study.parse import parse_study

QUESTIONS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=4000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.1)
    chosen = parser.parse_args()
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.support.server", "--latency", str(chosen.latency)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        with tempfile.TemporaryDirectory() as scratch:
            measure(Path(scratch), server.stdout.readline().strip(), chosen)
    finally:
        server.terminate()
        server.wait()


def measure(folder: Path, url: str, chosen: argparse.Namespace) -> None:
    rows = [
        {
            "id": f"q{k}",
            "question": f"What is {k} plus {k}? " + "Explain every step in words. " * 20,
            "concepts": ["Data Summary"],
            "format": "@sum[value]",
            "file_name": None,
            "level": "easy",
            "common_answers": [["sum", str(2 * k)]],
        }
        for k in range(QUESTIONS)
    ]
    (folder / "bank.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = parse_study(
        json.dumps(
            {
                "name": "bench",
                "bank": "bank.jsonl",
                "models": ["m"],
                "temperatures": [0.2, 1.0],
                "runs": -(-chosen.requests // (2 * QUESTIONS)),
                "endpoints": {"default": {"base_url": url, "api_key_env": None}},
                "sampling": {"concurrency": chosen.concurrency, "timeout": 60},
            }
        )
    )
    study = prepare_study(config, folder / "study.yaml", folder / "runs" / "bench")
    sample_study(study, limit=chosen.concurrency)  # imports and the first connections are not what is measured
    before, begun = os.times(), time.perf_counter()
    summary = sample_study(study)
    wall, after = time.perf_counter() - begun, os.times()
    cpu = after.user + after.system - before.user - before.system
    ideal = summary.new * chosen.latency / chosen.concurrency
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)
    print(f"requests         {summary.new} at concurrency {chosen.concurrency}, latency {chosen.latency * 1000:g} ms")
    print(f"wall time        {wall:.2f} s, {wall / ideal:.2f} × the ideal of {ideal:.2f} s")
    print(f"requests/s       {summary.new / wall:.0f}")
    print(f"CPU per request  {1000 * cpu / summary.new:.2f} ms")
    print(f"peak memory      {memory:.0f} MB")


if __name__ == "__main__":
    main()
