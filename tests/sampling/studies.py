"""Small studies against a local server, for the tests of this room."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dsqa.sampling import prepare_study
from dsqa.study.config import StudyConfig
from dsqa.study.folder import StudyFolder
from dsqa.study.parse import parse_study


def write_bank(folder: Path, questions: int = 3, *, wording: str = "What is") -> Path:
    path = folder / "bank.jsonl"
    rows = [
        {
            "id": f"q{k}",
            "question": f"{wording} {k} plus {k}?",
            "concepts": ["Data Summary"],
            "format": "@sum[value]",
            "file_name": None,
            "level": "easy",
            "common_answers": [["sum", str(2 * k)]],
        }
        for k in range(1, questions + 1)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def study_config(url: str, **changes: Any) -> StudyConfig:
    data: dict[str, Any] = {
        "name": "small",
        "bank": "bank.jsonl",
        "models": ["m"],
        "temperatures": [0.2, 1.0],
        "runs": 4,
        "endpoints": {"default": {"base_url": url, "api_key_env": "DSQA_TEST_KEY"}},
        "request": {"max_tokens": 50},
        "sampling": {"concurrency": 4, "timeout": 5, "retries": 2},
        **changes,
    }
    return parse_study(json.dumps(data))


def prepare(folder: Path, url: str, questions: int = 3, **changes: Any) -> StudyFolder:
    write_bank(folder, questions)
    return prepare_study(study_config(url, **changes), folder / "study.yaml", folder / "runs" / "small")
