from __future__ import annotations

import pytest

from dsqa.sampling import pacing

KEY = "sk-Sampling+Secret/0123456789"


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("DSQA_TEST_KEY", KEY)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def quick_backoff(monkeypatch):
    monkeypatch.setattr(pacing, "FIRST_WAIT", 0.02)
