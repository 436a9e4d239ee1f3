"""Run where dsqa and inspect_ai are installed: reads logs both ways; prints how many runs are equal, of how many."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from dsqa.importing import ImportReport, ReadOptions, SourceRun
from dsqa.importing.readers import all_readers
from dsqa.importing.readers.inspect_files import reads_with


def read(path: Path, own: bool) -> list[SourceRun]:
    os.environ["DSQA_OWN_READER"] = "1" if own else ""
    assert (reads_with(path) is None) == own
    return list(all_readers()["inspect"].read([path], ReadOptions(), ImportReport()))


def main() -> None:
    equal, differences = [0, 0], []
    fields = [name for name in SourceRun.__slots__ if name not in {"where", "row"}]
    for path in map(Path, sys.argv[1:]):
        ours, theirs = ({(run.question, run.run): run for run in read(path, own)} for own in (True, False))
        for key in ours.keys() | theirs.keys():
            equal[1] += 1
            mine, other = ours.get(key), theirs.get(key)
            different = [
                f"{path.name} {key} {name}: {getattr(mine, name, None)!r} ≠ {getattr(other, name, None)!r}"
                for name in fields
                if getattr(mine, name, None) != getattr(other, name, None)
            ]
            equal[0] += not different
            differences += different
    print(json.dumps({"equal": equal, "differences": differences}, ensure_ascii=False))


if __name__ == "__main__":
    main()
