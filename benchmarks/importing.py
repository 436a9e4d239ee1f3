"""Import a large log: peak memory and MB/s. ``python -m benchmarks.importing [GB] [FOLDER]``; by default 1 GB.

The log is in the shape of the DS-QA authors' run files: 5 kB to a run, 100 runs to a cell. It is deleted afterwards.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

from dsqa.importing import import_study

_WORDS = ("the", "mean", "of", "a", "column", "is", "about", "and", "so", "we", "fit", "a", "line", "with", "slope")
_RUNS = 100


def make_log(path: Path, size: int) -> int:
    """Write a log of `size` bytes; return how many runs are in it."""
    runs = written = 0
    with path.open("w", encoding="utf-8") as handle:
        while written < size:
            words = [_WORDS[(runs * 7 + i * i) % len(_WORDS)] for i in range(900)]
            row = {
                "id": runs // _RUNS, "round": runs % _RUNS, "thread_id": f"thread_{runs}", "status": "completed",
                "runtime": 3.25, "words": 900, "tokens": 1000, "reasoning": " ".join(words), "input_words": 300,
                "input_tokens_gpt_4o": 70, "common_answers": [["mean", "35.50"]], "accuracy": None,
                "code_execute": 0, "Similarity_Jaccard": 0.8, "file_name": None, "concepts": ["Data Summary"],
                "level": "easy", "image_id": None,
            }  # fmt: skip
            written += handle.write(json.dumps(row) + "\n")
            runs += 1
    return runs


def main() -> None:
    """Make the log, import it, say how it went."""
    size = int(float(sys.argv[1] if len(sys.argv) > 1 else 1) * 1e9)
    place = Path(tempfile.mkdtemp(dir=sys.argv[2] if len(sys.argv) > 2 else None))
    try:
        log = place / "evals_gpt_4o_1.jsonl"
        runs = make_log(log, size)
        start, cpu = time.perf_counter(), time.process_time()
        import_study([log], place / "runs" / "log")
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
        peak = int(found[1]) / 1024 if found else float("nan")
        print(
            f"{size / 1e6:,.0f} MB, {runs:,} runs: {seconds:.1f} s ({cpu:.1f} s CPU), {size / 1e6 / seconds:.1f} MB/s"
        )
        print(f"peak resident memory {peak:.0f} MiB ({1024 * 1024 * peak / size:.3f} of the log)")
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
