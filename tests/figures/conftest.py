"""Any warning while a figure is drawn or saved is a failure."""

import warnings

import pytest


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
