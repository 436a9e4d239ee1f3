"""A run that occurs twice is refused by every function that takes an outcome table."""

from __future__ import annotations

import inspect

import pandas as pd
import pytest

import dsqa.stats as stats
from dsqa.errors import StatisticsError, StudyError
from dsqa.outcomes import load_outcomes
from tests.support.synthetic import synthetic_outcomes

TAKE_RUNS = {
    "accuracy_groups": {},
    "compare_models": {},
    "correlation_table": {},
    "dose_response": {},
    "left_out_table": {"measure": "accuracy"},
    "read_pilot": {},
    "score_parts": {},
    "stability_layers": {},
    "summarise_cells": {},
    "verbosity_table": {},
}


@pytest.mark.parametrize("name", TAKE_RUNS)
def test_a_run_twice_is_refused(name):
    runs = synthetic_outcomes(questions=3)
    twice = pd.concat([runs, runs.iloc[[5]]])
    with pytest.raises(StatisticsError, match="occurs twice"):
        getattr(stats, name)(twice, **TAKE_RUNS[name])


def test_the_seed_is_optional_wherever_there_is_one():
    for name in stats.__all__:
        found = getattr(stats, name)
        if inspect.isfunction(found) and "seed" in inspect.signature(found).parameters:
            assert inspect.signature(found).parameters["seed"].default is not inspect.Parameter.empty, name


def test_a_path_may_be_a_string(tmp_path):
    runs = synthetic_outcomes(questions=2)
    path = tmp_path / "outcomes.parquet"
    runs.to_parquet(path)
    # Whatever is wrong with it, it is read, or refused with the same reason, either way.
    said = []
    for way in (path, str(path)):
        try:
            said.append(str(len(load_outcomes(way))))
        except StudyError as refusal:
            said.append(refusal.message)
    assert said[0] == said[1]
