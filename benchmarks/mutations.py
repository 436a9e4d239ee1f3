"""Damage dsqa's files and those it reads, thousands of times: nothing may end in a traceback.

python -m benchmarks.mutations [--count 200] [--seed 1]    (that many mutations of each kind of file)
"""

from __future__ import annotations

import argparse
import logging
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.support.mutations import damage_and_read, targets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a folder for the files that ended in a traceback")
    arguments = parser.parse_args()
    logging.disable()
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"{'file':24} {'through':>8} {'one line':>9} {'several':>8} {'traceback':>10} {'slowest s':>10}")
        for target in targets(folder):
            # Each kind has a stream of its own: another count of one changes nothing of the others.
            rng = random.Random(f"{arguments.seed} {target.name}")
            counts: Counter[str] = Counter()
            slowest = 0.0
            said = set()
            for number in range(arguments.count):
                begun = time.process_time()
                data, outcome = damage_and_read(target, folder, rng)
                slowest = max(slowest, time.process_time() - begun)
                counts[outcome.kind] += 1
                if outcome.kind in {"traceback", "several lines"} and outcome.said not in said:
                    said.add(outcome.said)
                    print(f"  {target.name}, mutation {number}: {outcome.kind}: {outcome.said[:300]}")
                    if arguments.keep:
                        arguments.keep.mkdir(parents=True, exist_ok=True)
                        (arguments.keep / f"{number}-{target.file.name}").write_bytes(data)
            total += counts
            print(
                f"{target.name:24} {counts['through']:8} {counts['one line']:9} {counts['several lines']:8} "
                f"{counts['traceback']:10} {slowest:10.2f}",
                flush=True,
            )
    print(f"{sum(total.values())} mutations: {dict(total)}")


if __name__ == "__main__":
    main()
