"""The study that is committed under runs/: small, whole, as it was recorded, and it can be marked."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from dsqa.outcomes import load_outcomes, score_study
from dsqa.study import StudyFolder

STUDY = Path(__file__).parents[2] / "runs" / "smollm2-direct"
KEPT = ("study.json", "records.jsonl.gz", "prices.yaml", "sessions.jsonl")
LIMIT = 10_000_000


@pytest.fixture(scope="module")
def lines() -> list[dict[str, object]]:
    return [json.loads(line) for line in gzip.decompress((STUDY / "records.jsonl.gz").read_bytes()).splitlines()]


def test_small_enough_to_clone() -> None:
    parts = [STUDY / name for name in KEPT] + [path for path in (STUDY / "bank").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in parts) < LIMIT


def test_no_key_and_no_path_of_the_machine(lines: list[dict[str, object]]) -> None:
    for name in KEPT[:1]:
        assert not re.search(r"/home/|/root/|/work/", (STUDY / name).read_text(encoding="utf-8"))
    assert not any(re.search(r"sk-[A-Za-z0-9]{16}|/root/|/work/", json.dumps(line)) for line in lines)


def test_marked_from_the_records_alone(tmp_path: Path, lines: list[dict[str, object]]) -> None:
    root = tmp_path / "copy"
    root.mkdir()
    for name in KEPT:
        shutil.copy(STUDY / name, root / name)
    shutil.copytree(STUDY / "bank", root / "bank")
    folder = StudyFolder.open(root)
    design = {condition.id for condition in folder.describe().conditions}
    asked = [line for line in lines if line["condition_id"] in design]
    assert Counter(line["condition_id"] for line in asked) == dict.fromkeys(design, 41 * 20)
    score_study(folder)
    outcomes = load_outcomes(folder.outcomes_path)
    assert len(outcomes) == 2 * 41 * 20
    assert set(outcomes.groupby(["question_id", "condition_id"]).size()) == {20}
    cut = sum(line["finish_reason"] == "length" for line in asked)
    assert (outcomes["status"] == "truncated").sum() == cut
    assert outcomes["accuracy"].notna().all()
