"""Waiting costs nothing: neither the host nor the warm process spins while a snippet sleeps."""

import importlib
import time

from dsqa.execution import Snippet, execute
from dsqa.study.sections import ExecutionConfig

CLOSED = "import os, time\nos.closerange(1, 64)\ntime.sleep(1.5)"


def test_streams_that_have_ended_wake_nobody(monkeypatch):
    # An ended pipe is always "readable": watched on, it keeps its reader busy for as long as the run lasts.
    module = importlib.import_module("dsqa.execution.execute")
    endings = []

    def keeping(snippet, ending, *rest):
        endings.append(ending)
        return classify(snippet, ending, *rest)

    classify = module.classify
    monkeypatch.setattr(module, "classify", keeping)
    runs = iter(execute([Snippet("first", "1"), Snippet("closed", CLOSED)], ExecutionConfig(), workers=1))
    assert next(runs).outcome == "ran"
    before = time.process_time()
    closed = next(runs)
    assert closed.wall_seconds >= 1.5
    assert time.process_time() - before < 0.5
    assert endings[1].preloader[1] - endings[0].preloader[1] < 0.5
