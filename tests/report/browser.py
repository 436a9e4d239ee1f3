"""A headless Chromium, driven over its debugging port: what a page requests, and what its scripts do."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import aiohttp

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)

_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--disable-default-apps", "--no-default-browser-check", "--disable-domain-reliability", "--no-pings",
    "--remote-debugging-port=0",
)  # fmt: skip


def visit(urls: list[str], scratch: Path, script: str = "null") -> tuple[list[str], list[Any]]:
    """Open pages one after the other; return every address they requested, and what `script` gives on each."""
    return asyncio.run(_visit(urls, scratch, script))


async def _visit(urls: list[str], scratch: Path, script: str) -> tuple[list[str], list[Any]]:
    profile = scratch / "profile"
    command = [str(PROGRAM), *_FLAGS, f"--user-data-dir={profile}", "about:blank"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        port = await _port(profile / "DevToolsActivePort")
        async with aiohttp.ClientSession() as http:
            async with http.get(f"http://127.0.0.1:{port}/json/list") as answer:
                [target] = [row for row in await answer.json() if row["type"] == "page"]
            async with http.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                page = _Page(socket)
                await page.call("Network.enable")
                await page.call("Page.enable")
                results = []
                for url in urls:
                    await page.call("Page.navigate", url=url)
                    await page.until("Page.loadEventFired")
                    done = await page.call("Runtime.evaluate", expression=script, returnByValue=True)
                    results.append(done["result"].get("value"))
                return page.requested, results
    finally:
        process.terminate()
        process.wait(30)


async def _port(path: Path) -> str:
    for _ in range(600):
        if path.is_file() and path.read_text().strip():
            return path.read_text().split()[0]
        await asyncio.sleep(0.1)
    raise AssertionError("the browser did not start")


class _Page:
    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0
        self._seen: list[str] = []
        self.requested: list[str] = []

    async def _receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads((await self._socket.receive(timeout=60)).data)
        if "method" in message:
            self._seen.append(message["method"])
        if message.get("method") == "Network.requestWillBeSent":
            self.requested.append(message["params"]["request"]["url"])
        return message

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        self._seen.clear()
        await self._socket.send_json({"id": self._number, "method": method, "params": params})
        while True:
            message = await self._receive()
            if message.get("id") == self._number:
                return dict(message["result"])

    async def until(self, event: str) -> None:
        while event not in self._seen:
            await self._receive()
