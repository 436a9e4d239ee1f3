"""Ask with the real tools, import what they wrote, and compare it with what they say of it themselves.

    python -m tests.importing.round_trip [--only inspect lm-eval promptfoo] [--embedded] [--keep FOLDER]

The tools are installed into the user's cache when they are first wanted. They ask the server of `answers.py`; with
--embedded, dsqa's embedded model. --keep copies the logs, and what the tools say of them, for the tests.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import tempfile
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from tests.importing.round_trip.answers import Answers
from tests.importing.round_trip.compare import compare
from tests.importing.round_trip.tools import TOOLS, NotHereError, both_ways
from tests.support.server import FaultServer


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=tuple(TOOLS), default=tuple(TOOLS))
    parser.add_argument("--embedded", action="store_true", help="ask the embedded model")
    parser.add_argument("--keep", type=Path, help="copy the logs to this folder")
    chosen = parser.parse_args()
    async with AsyncExitStack() as stack:
        if chosen.embedded:
            from dsqa.endpoints import open_endpoint
            from dsqa.study.sections import EndpointConfig

            endpoint = await stack.enter_async_context(
                open_endpoint("embedded", EndpointConfig(kind="embedded"), timeout=300)
            )
            url, model = endpoint.base_url, "smollm2-135m"
        else:
            url, model = stack.enter_context(FaultServer(Answers(), keep=False)).url, "small"
        return await asyncio.to_thread(work, chosen, url, model)


def work(chosen: argparse.Namespace, url: str, model: str) -> int:
    wrong: Counter[str] = Counter()
    print(f"{'log':<26}{'runs':>10}{'texts equal':>14}{'usage equal':>14}{'scores equal':>14}")
    for name in chosen.only:
        with tempfile.TemporaryDirectory() as place:
            try:
                logs, said = TOOLS[name](url, model, Path(place))
            except NotHereError as error:
                print(f"{name}: not here: {error}")
                wrong["not here"] += 1
                continue
            for paths in logs:
                show(name, paths, said, wrong)
            if name == "inspect":
                alike = both_ways([path for paths in logs for path in paths])
                wrong["read differently"] += alike["equal"][0] != alike["equal"][1]
                print(
                    f"inspect, read with inspect_ai and without: {alike['equal'][0]}/{alike['equal'][1]} runs alike"
                )
                print("".join(f"    {line}\n" for line in alike["differences"][:5]), end="")
            if chosen.keep:
                keep(name, logs, said, chosen.keep)
    return int(any(wrong.values()))


def show(name: str, paths: list[Path], said: dict[str, Any], wrong: Counter[str]) -> None:
    theirs = next(said[path.name] for path in paths if path.name in said)
    found = compare(paths, theirs["runs"])
    label = f"{name} {theirs['tool'].split()[-1]} {paths[0].suffix}"
    cells = [f"{found.runs}/{found.expected}"]
    for pair in (found.texts, found.usage, found.scores):
        cells.append(f"{pair[0]}/{pair[1]}" if pair[1] else "–")
        wrong["differs"] += pair[0] != pair[1]
    wrong["count"] += found.runs != found.expected
    wrong += Counter()
    print(f"{label:<26}{cells[0]:>10}{cells[1]:>14}{cells[2]:>14}{cells[3]:>14}")
    for line in found.differences[:5]:
        print(f"    {line}")


def keep(name: str, logs: list[list[Path]], said: dict[str, Any], folder: Path) -> None:
    target = folder / name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for path in {path for paths in logs for path in paths}:
        shutil.copy(path, target)
    (target / "said.json").write_text(json.dumps(said, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
