"""What the sampler costs, beside AsyncOpenAI and inspect_ai on the same server.

    python -m benchmarks.sampling [--quick] [--only speed memory inspect]

Every measurement is a process of its own, pinned to one core; the server (tests/support/server.py, aiohttp) has the
others, answers after 100 ms and keeps nothing. Time and CPU are taken around the call that samples, imports and the
first connections left out, prompt, request and record on disk included; the ideal is requests × latency ÷
concurrency. Peak memory is the process's largest resident set. All sides ask chat completions. AsyncOpenAI is the
official client alone, with the same prompts and 64 tasks, on asyncio's loop and on uvloop's: no records, no retries.
inspect_ai (OpenAI provider with responses_api=False, 40 samples × 25 epochs, 64 connections, logs on, no scorer) gets
a virtual environment in the user's cache, made with `uv` when it is first wanted. --quick takes a tenth of the
requests: good for trying it, not for quoting.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LATENCY = 0.1
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dsqa-benchmarks" / "inspect"
MEGABYTE = 1024 if sys.platform == "linux" else 1024**2
PROMPT = "What is {k} plus {k}? " + "Explain every step in words. " * 20

INSPECT = """
import json, os, sys, time
from importlib.metadata import version
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.solver import generate

folder, prompts, epochs, connections = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])

def run(epochs):
    task = Task(dataset=MemoryDataset([Sample(input=p) for p in prompts]), solver=generate(), epochs=epochs)
    return eval(task, model="openai/m", max_connections=connections, log_dir=folder, display="none",
                model_args={"responses_api": False}, temperature=1.0)[0]

run(1)
before, begun = os.times(), time.perf_counter()
log = run(epochs)
wall, after = time.perf_counter() - begun, os.times()
assert log.status == "success", log.error
print(json.dumps({"requests": len(prompts) * epochs, "wall": wall, "version": version("inspect_ai"),
                  "cpu": after.user + after.system - before.user - before.system}))
"""


OPENAI = """
import asyncio, json, os, sys, time
import openai

prompts, times, tasks, loop = json.loads(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]

async def ask(client, left):
    for prompt in left:
        await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": prompt}], temperature=1.0
        )

async def run(times):
    async with openai.AsyncOpenAI(max_retries=0, timeout=60) as client:
        left = iter(prompts * times)
        await asyncio.gather(*(ask(client, left) for _ in range(tasks)))

if loop == "uvloop":
    import uvloop
    start = uvloop.run
else:
    start = asyncio.run
start(run(1))
before, begun = os.times(), time.perf_counter()
start(run(times))
wall, after = time.perf_counter() - begun, os.times()
print(json.dumps({"requests": len(prompts) * times, "wall": wall, "version": openai.__version__,
                  "cpu": after.user + after.system - before.user - before.system}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the requests")
    parser.add_argument("--only", nargs="+", choices=("speed", "memory", "inspect"))
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.measure:
        print(json.dumps(measure(**json.loads(chosen.measure))))
        return
    parts = chosen.only or ("speed", "memory", "inspect")
    tenth = 10 if chosen.quick else 1
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}")
    if "speed" in parts:
        with server(LATENCY) as url:
            for concurrency, requests in ((64, 8000), (256, 20_000)):
                got = child(url=url, questions=40, runs=requests // tenth // 40, concurrency=concurrency)
                report_speed(got, concurrency)
    if "memory" in parts:
        with server(0.0) as url:
            for requests in (4000, 100_000):
                got = child(url=url, questions=40, runs=requests // tenth // 40, concurrency=64)
                print(f"peak memory     {got['memory']:.0f} MB after {got['requests']:,} requests")
    if "inspect" in parts:
        compare(epochs=max(1, 25 // tenth))


def report_speed(got: dict[str, Any], concurrency: int) -> None:
    count, wall = got["requests"], got["wall"]
    ideal = count * LATENCY / concurrency
    print(
        f"concurrency {concurrency:<4}{count / wall:.0f} requests/s, {wall / ideal:.2f} × the ideal {ideal:.1f} s, "
        f"CPU {1000 * got['cpu'] / count:.2f} ms/request ({count:,} requests)"
    )


def compare(*, epochs: int) -> None:
    """Sample the same prompts as often with both, at the same server."""
    python = inspect_python()
    prompts = [PROMPT.format(k=k) for k in range(40)]
    with server(LATENCY) as url, tempfile.TemporaryDirectory() as logs:
        ours = child(url=url, questions=40, runs=epochs, concurrency=64, temperatures=(1.0,))
        environment = {**os.environ, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none", "INSPECT_LOG_LEVEL": "error"}
        asked = [json.dumps(prompts), str(epochs), "64"]
        peers = {
            f"AsyncOpenAI, {loop}": peer([sys.executable, "-c", OPENAI, *asked, loop], environment)
            for loop in ("asyncio", "uvloop")
        }
        peers["inspect_ai"] = peer([python, "-c", INSPECT, logs, *asked], environment)
    for name, got in {"dsqa": ours, **peers}.items():
        count = got["requests"]
        cpu, wall = 1000 * got["cpu"] / count, 1000 * got["wall"] / count
        ratios = got["cpu"] / count / (ours["cpu"] / ours["requests"]), wall * ours["requests"] / 1000 / ours["wall"]
        print(
            f"{name:<22}{cpu:7.2f} ms CPU, {wall:7.2f} ms wall per request ({count:,}, {1000 / wall:.0f}/s), "
            f"{ratios[0]:.1f} × CPU, {ratios[1]:.1f} × wall {got.get('version', '')}"
        )


def peer(command: list[str], environment: dict[str, str]) -> dict[str, Any]:
    """Measure another program on the core that dsqa was measured on."""
    run = subprocess.run(
        command,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=pin,
    )
    return json.loads(run.stdout.splitlines()[-1])


def inspect_python() -> str:
    """Return the Python of an environment that has inspect_ai, made where there is none."""
    python = CACHE / "bin" / "python"
    if not (CACHE / "ready").exists():
        uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
        subprocess.run(
            [uv, "venv", "--clear", "--python", sys.executable, str(CACHE)], check=True, capture_output=True
        )
        subprocess.run([uv, "pip", "install", "--python", str(python), "inspect-ai", "openai"], check=True)
        (CACHE / "ready").touch()
    return str(python)


@contextlib.contextmanager
def server(latency: float) -> Iterator[str]:
    """Run the server in a process of its own, off the core that samples."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.server", "--latency", str(latency)],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=unpin,  # noqa: PLW1509  (no threads here)
    )
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def child(**what: Any) -> dict[str, Any]:
    """Measure in a process of its own."""
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.sampling", "--measure", json.dumps(what)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=pin,
    )
    return json.loads(run.stdout.splitlines()[-1])


def pin() -> None:
    """Keep this process on the first core it may use."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def unpin() -> None:
    """Keep this process off that core, where there is another."""
    if hasattr(os, "sched_setaffinity") and len(os.sched_getaffinity(0)) > 1:
        os.sched_setaffinity(0, os.sched_getaffinity(0) - {min(os.sched_getaffinity(0))})


def measure(
    url: str, questions: int, runs: int, concurrency: int, temperatures: tuple[float, ...] = (0.2, 1.0)
) -> dict[str, Any]:
    """Sample a study; `runs` are per question."""
    # Here, so that the parent process stays small and quick.
    from dsqa.sampling import prepare_study, sample_study  # noqa: PLC0415
    from dsqa.study.parse import parse_study  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "bank.jsonl").write_text("".join(json.dumps(question(k)) + "\n" for k in range(questions)))
        config = {
            "name": "bench",
            "bank": "bank.jsonl",
            "models": ["m"],
            "temperatures": list(temperatures),
            "runs": max(1, runs // len(temperatures)) + 1,
            "endpoints": {"default": {"base_url": url, "api_key_env": None}},
            "sampling": {"concurrency": concurrency, "timeout": 60},
        }
        study = prepare_study(parse_study(json.dumps(config)), folder / "study.yaml", folder / "runs" / "bench")
        # One block first: imports and the first connections are not what is measured.
        warm = sample_study(study, limit=questions * len(temperatures))
        before, begun = os.times(), time.perf_counter()
        summary = sample_study(study)
        wall, after = time.perf_counter() - begun, os.times()
        assert summary.recorded == summary.total == warm.new + summary.new, summary
        return {
            "requests": summary.new,
            "wall": wall,
            "cpu": after.user + after.system - before.user - before.system,
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEGABYTE,
        }


def question(k: int) -> dict[str, Any]:
    """A question of the bank."""
    return {
        "id": f"q{k}",
        "question": PROMPT.format(k=k),
        "concepts": ["Data Summary"],
        "format": "@sum[value]",
        "file_name": None,
        "level": "easy",
        "common_answers": [["sum", str(2 * k)]],
    }


if __name__ == "__main__":
    main()
