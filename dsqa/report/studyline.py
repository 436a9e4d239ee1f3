"""Which study a report is about, in one line: its name, its size, and when it was recorded."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime

import pyarrow.parquet as pq

from dsqa.report.facts import record_facts
from dsqa.report.wording import count
from dsqa.study import StudyFolder
from dsqa.study.folder import replace_text

__all__ = ["study_line"]


def study_line(folder: StudyFolder, key: str | None = None) -> str:
    """Return which study it is, how large, and when it was recorded: from its records, never from the clock.

    Parameters
    ----------
    folder
        A marked study.
    key
        Changes whenever the study does: the line is then kept, since large records take seconds to read.
    """
    kept = folder.report_dir / ".study-line.json"
    if key is not None:
        try:
            found = json.loads(kept.read_text(encoding="utf-8"))
            if found["key"] == key:
                return str(found["line"])
        except (OSError, ValueError, KeyError, TypeError):
            pass
    line = f"Study {folder.describe().name} · {_size(folder)} · {_recorded(folder)}"
    if key is not None:
        replace_text(kept, json.dumps({"key": key, "line": line}, ensure_ascii=False) + "\n")
    return line


def _size(folder: StudyFolder) -> str:
    table = pq.read_table(folder.outcomes_path, columns=["question_id", "condition_id"]).to_pydict()
    cells = Counter(zip(table["question_id"], table["condition_id"], strict=True))
    questions = len({question for question, _ in cells})
    conditions = len({condition for _, condition in cells})
    sizes = sorted(set(cells.values()))
    each = f"{count(sizes[0], 'run')} each" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,} runs each"
    return f"{count(questions, 'question')} × {count(conditions, 'condition')}, {each}"


def _recorded(folder: StudyFolder) -> str:
    facts = record_facts(folder)
    if facts.first is None or facts.last is None:
        return "when it was recorded is not known"
    text = _span(facts.first, facts.last)
    return f"{text} (when {count(facts.without_time, 'run')} began is not known)" if facts.without_time else text


def _span(first: datetime, last: datetime) -> str:
    if first.date() == last.date():
        return f"recorded {first.day} {first:%B %Y}"
    if (first.year, first.month) == (last.year, last.month):
        return f"recorded {first.day}–{last.day} {last:%B %Y}"
    return f"recorded {first.day} {first:%B %Y} to {last.day} {last:%B %Y}"
