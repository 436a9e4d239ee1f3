"""No damaged file of ours ends in a traceback; ``python -m benchmarks.mutations`` damages thousands."""

from __future__ import annotations

import random

import pytest

from tests.support.mutations import Target, damage_and_read, targets


@pytest.fixture(scope="module")
def every(tmp_path_factory) -> dict[str, Target]:
    return {target.name: target for target in targets(tmp_path_factory.mktemp("files"))}


NAMES = [
    "study.yaml",
    "prices.yaml",
    "bank.jsonl",
    "bank.yaml",
    "bank.csv",
    "import of table.csv",
    "import of batch.jsonl",
    "records.jsonl",
    "study.json",
    "outcomes.parquet",
    "executions.jsonl",
]


def test_each_kind_of_file_is_among_them(every):
    assert list(every) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_file_is_read_or_named(every, tmp_path, name):
    rng = random.Random(f"2026 {name}")
    for _ in range(12):
        _, outcome = damage_and_read(every[name], tmp_path, rng)
        assert outcome.kind != "traceback", outcome.said
