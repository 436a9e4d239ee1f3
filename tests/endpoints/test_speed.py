"""What a request costs, by CPU time, against the bare HTTP client."""

from __future__ import annotations

import asyncio
import json
import time

import aiohttp

from dsqa.endpoints import open_endpoint
from dsqa.study.sections import EndpointConfig
from tests.endpoints.conftest import REQUEST
from tests.support.server import FaultServer

REQUESTS = 200


def test_a_request_costs_little_more_than_the_bare_client(monkeypatch):
    body = {**REQUEST, "messages": [{"role": "user", "content": "Explain every step in words. " * 50}]}

    async def spent(ask):
        await asyncio.gather(*(ask() for _ in range(16)))
        begun = time.thread_time()
        for _ in range(REQUESTS // 16):
            await asyncio.gather(*(ask() for _ in range(16)))
        return time.thread_time() - begun

    async def main(url):
        # The server's thread is another one: thread_time counts the client's alone.
        async with (
            aiohttp.ClientSession() as session,
            open_endpoint("e", EndpointConfig(base_url=url, api_key_env=None), timeout=10) as endpoint,
        ):

            async def bare():
                async with session.post(f"{url}/chat/completions", data=json.dumps(body).encode()) as response:
                    return json.loads(await response.read())

            # Side by side, so that whatever else the machine does falls on both.
            return [(await spent(lambda: endpoint.ask(body))) / (await spent(bare)) for _ in range(4)]

    with FaultServer(keep=False) as server:
        ratios = asyncio.run(main(server.url))
    # The official client, the same way, is at 5 to 8.
    assert min(ratios) < 1.8, ratios
