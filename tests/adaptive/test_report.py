"""What a report says of a study that stopped by itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from dsqa.adaptive import Marks, sample_until_precise
from dsqa.outcomes import score_study
from dsqa.report import facts_table, open_page, question_table, runs_needed, stopping_methods
from tests.adaptive.test_adaptive import SETTINGS, asking, steady, study
from tests.support.server import FaultServer


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The same study with `stop:`, and as one with a fixed N would be read."""
    with FaultServer(steady, models=("m",)) as server:
        config, folder = study(server, tmp_path_factory.mktemp("report"))
        sample_until_precise(folder, config.stop, asking(folder), Marks(folder))
    score_study(folder)
    looked = open_page(folder.root)
    described = json.loads(folder.description_path.read_text(encoding="utf-8"))
    described["settings"]["stop"] = None
    folder.description_path.write_text(json.dumps(described), encoding="utf-8")
    return looked, open_page(folder.root)


def test_how_many_runs_each_question_needed_why_and_what_was_saved(pages):
    text = runs_needed(pages[0])
    assert text is not None
    rows = [line for line in text.splitlines() if "cars\\_" in line]
    assert len(rows) == 2
    assert all("18" in line and "40 (at most)" in line for line in rows)
    assert "44 of 160 runs were saved" in text


def test_runs_not_asked_are_not_missing(pages):
    looked, fixed = pages
    assert "not recorded" not in facts_table(looked)
    assert "44 of 160 runs were saved" in facts_table(looked)
    # Of a fixed N of 40, they would be.
    assert "44 runs planned and not recorded" in facts_table(fixed)


def test_no_fixed_n_interval_is_shown_for_a_cell(pages):
    looked, fixed = pages
    assert set(looked.cells["accuracy_method"]) == {"beta-binomial confidence sequence"}
    assert set(looked.cells["instability_method"]) == {"betting confidence sequence"}
    assert "Wilson" not in question_table(looked)
    assert "Wilson" in question_table(fixed)
    assert (looked.cells["accuracy_high"] >= fixed.cells["accuracy_high"]).all()


def test_what_adaptive_n_biases_is_said(pages):
    text = stopping_methods(pages[0])
    assert text is not None
    for word in ("biased", "confidence sequences", "do not compare", "±0.15", "no run is missing"):
        assert word in text


def test_a_fixed_n_has_none_of_it(pages):
    assert runs_needed(pages[1]) is None
    assert stopping_methods(pages[1]) is None


def test_dry_run_says_least_and_most(tmp_path):
    path = tmp_path / "study.yaml"
    text = SETTINGS.format(url="http://127.0.0.1:1/v1", stop="{accuracy: 0.15, min_runs: 6}")
    path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "dsqa", "sample", "--dry-run", "--json", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ))
    found = json.loads(done.stdout)
    assert [found[name]["models"][0]["requests"] for name in ("at_least", "at_most")] == [24, 160]
    assert not (tmp_path / "runs").exists()
