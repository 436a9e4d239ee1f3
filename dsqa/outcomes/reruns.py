"""Code that was run several times: whether it gave the same, and whose fault it was where it did not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from dsqa.execution import ExecutionResult

__all__ = ["agreement", "rerun_summary"]

_SHOWN = 5


def agreement(results: Mapping[int, ExecutionResult], keys: Mapping[int, str | None]) -> dict[str, Any]:
    """Return the columns ``reruns``, ``rerun_agreement`` and ``flaky`` of a piece of code.

    Parameters
    ----------
    results
        What running it gave, by number; the first (0) is what is scored.
    keys
        What tells those results apart: the answer in the output, else the output, else how it failed.

    Notes
    -----
    A difference is laid to the machine where a run on either side of it was near a limit, ran into one, or broke
    its worker; else to the code, which then varies by itself (a random generator without a seed, the time of day).
    """
    if 0 not in results:
        return {"reruns": None, "rerun_agreement": None, "flaky": None}
    same = [i for i, key in keys.items() if key == keys[0]]
    flaky = None
    if len(results) > 1:
        pressed = any(r.near_limit or r.attempts > 1 or r.outcome == "timed out" for r in results.values())
        flaky = "no" if len(same) == len(results) else "machine" if pressed else "code"
    return {"reruns": len(results), "rerun_agreement": len(same), "flaky": flaky}


def rerun_summary(outcomes: pd.DataFrame) -> str:
    """Return in a few lines what running code again showed; every distinct piece of code counts once.

    Parameters
    ----------
    outcomes
        An outcome table.
    """
    again = outcomes[outcomes["flaky"].notna()].drop_duplicates("execution_key")
    if again.empty:
        return "no code was run more than once"
    times = sorted(set(again["reruns"].astype(int)))
    spelled = f"{times[0]}" if len(times) == 1 else f"{times[0]} to {times[-1]}"
    counts = again["flaky"].value_counts()
    pieces = "piece" if len(again) == 1 else "pieces"
    lines = [
        f"{len(again):,} {pieces} of code, each run {spelled} times: {counts.get('no', 0):,} always gave the same, "
        f"{counts.get('code', 0):,} vary by themselves, {counts.get('machine', 0):,} depend on the machine"
    ]
    unsteady = again[again["flaky"] != "no"].sort_values(["rerun_agreement", "question_id"])
    for row in unsteady.head(_SHOWN).itertuples():
        why = "varies by itself" if row.flaky == "code" else "ran near a limit"
        lines.append(
            f"  {row.question_id}, {row.condition_id}, run {row.run}: {row.rerun_agreement} of {row.reruns} agree; "
            f"{why} ({row.execution})"
        )
    if len(unsteady) > _SHOWN:
        lines.append(f"  and {len(unsteady) - _SHOWN:,} more: column 'flaky' of outcomes.parquet")
    return "\n".join(lines)
