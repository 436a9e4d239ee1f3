"""Every example in a docstring of the statistics runs and gives what it says."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import dsqa.stats

MODULES = [module.name for module in pkgutil.walk_packages(dsqa.stats.__path__, "dsqa.stats.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    failed, _ = doctest.testmod(import_module(name))
    assert failed == 0
