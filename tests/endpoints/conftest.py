from __future__ import annotations

import asyncio

import pytest

from dsqa.endpoints import PassingFailure, PermanentFailure, open_endpoint
from dsqa.study.sections import EndpointConfig
from tests.support.server import FaultServer

KEY = "sk-test/Very+Secret=0123456789"
REQUEST = {"model": "m", "messages": [{"role": "user", "content": "?"}], "temperature": 0.7, "max_tokens": 50}


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("DSQA_TEST_KEY", KEY)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)


def ask_all(script, *requests, path="", timeout=5.0, **settings):
    """Ask one after another at one open endpoint; return what came of each, and what the server saw."""

    async def main(base_url):
        config = EndpointConfig(**{"base_url": base_url, "api_key_env": "DSQA_TEST_KEY", **settings})
        outcomes = []
        async with open_endpoint("e", config, timeout=timeout) as endpoint:
            for request in requests:
                try:
                    outcomes.append(await endpoint.ask_many(request))
                except (PassingFailure, PermanentFailure) as failure:
                    outcomes.append(failure)
        return outcomes

    with FaultServer(script) as server:
        base_url = server.url.replace("/v1", path) if path else server.url
        return asyncio.run(main(base_url)), server.seen
