"""The Files and Batch APIs of tests/support/server.py, in memory: validated, executed and failing as OpenAI's are."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Execute = Callable[[str, dict[str, Any]], Awaitable[tuple[int, Any]]]
"""(url, body) to (status, response body)."""

URLS = {"/v1/chat/completions", "/v1/responses", "/chat/completions", "/responses"}


@dataclass
class Batches:
    """Knobs for a test, and what was done.

    hold: batches stay in progress; most_tokens: a queue limit in requests per batch; expire: custom ids that the
    window was too short for; fail_create: what to do with the next POST /batches: "before" (disconnect, nothing
    made), "after" (made, disconnect), or a status; keep_metadata: whether batches remember their metadata.
    """

    execute: Execute
    hold: bool = False
    most_requests: int | None = None
    expire: Callable[[str], bool] = lambda _: False
    fail_create: str | int | None = None
    keep_metadata: bool = True
    max_requests: int = 50_000
    files: dict[str, bytes] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    executed: list[str] = field(default_factory=list)
    creates: int = 0
    _numbers: Any = field(default_factory=lambda: itertools.count(1))
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def add_to(self, app: web.Application) -> None:
        app.router.add_post("/v1/files", self._upload)
        app.router.add_get("/v1/files/{id}/content", self._content)
        app.router.add_post("/v1/batches", self._create)
        app.router.add_get("/v1/batches", self._list)
        app.router.add_get("/v1/batches/{id}", self._retrieve)
        app.router.add_post("/v1/batches/{id}/cancel", self._cancel)

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        if form.get("purpose") != "batch":
            return _error(400, "purpose must be batch")
        upload = form["file"]
        assert isinstance(upload, web.FileField)
        name = self._keep(upload.file.read(), upload.filename)
        return web.json_response(self._file(name))

    def _keep(self, content: bytes, filename: str) -> str:
        name = f"file-{next(self._numbers)}"
        self.files[name], self.names[name] = content, filename
        return name

    def _file(self, name: str) -> dict[str, Any]:
        return {
            "id": name,
            "object": "file",
            "bytes": len(self.files[name]),
            "created_at": int(time.time()),
            "filename": self.names[name],
            "purpose": "batch",
            "status": "processed",
        }

    async def _content(self, request: web.Request) -> web.Response:
        name = request.match_info["id"]
        if name not in self.files:
            return _error(404, f"No such File object: {name}")
        return web.Response(body=self.files[name], content_type="application/octet-stream")

    async def _create(self, request: web.Request) -> web.StreamResponse:
        self.creates += 1
        fault, self.fail_create = self.fail_create, None
        if isinstance(fault, int):
            return _error(fault, "not now")
        if fault == "before":
            return _abort(request)
        wanted = await request.json()
        if wanted.get("completion_window") != "24h" or wanted.get("endpoint") not in URLS:
            return _error(400, "invalid batch")
        if wanted.get("input_file_id") not in self.files:
            return _error(400, f"No such File object: {wanted.get('input_file_id')}")
        name = f"batch_{next(self._numbers)}"
        lines = self.files[wanted["input_file_id"]].splitlines()
        batch = self.batches[name] = {
            "id": name,
            "object": "batch",
            "endpoint": wanted["endpoint"],
            "errors": None,
            "input_file_id": wanted["input_file_id"],
            "completion_window": "24h",
            "status": "validating",
            "output_file_id": None,
            "error_file_id": None,
            "created_at": 1_700_000_000,
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
            "metadata": wanted.get("metadata") if self.keep_metadata else None,
        }
        task = asyncio.create_task(self._process(batch, lines))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return _abort(request) if fault == "after" else web.json_response(batch)

    def _invalid(self, batch: dict[str, Any], lines: list[bytes]) -> list[dict[str, Any]]:
        rows = [json.loads(line) for line in lines]
        ids = [row["custom_id"] for row in rows]
        errors = []
        if len(rows) > self.max_requests:
            errors.append(("too_many_tasks", "too many requests"))
        if self.most_requests is not None and len(rows) > self.most_requests:
            errors.append(("token_limit_exceeded", "Enqueued token limit reached for m in organization o"))
        if len(set(ids)) < len(ids):
            errors.append(("duplicate_custom_id", "custom ids must be unique"))
        if any(len(name) > 64 for name in ids):
            errors.append(("invalid_custom_id", "custom ids have at most 64 characters"))
        if any(row["url"] != batch["endpoint"] or row["method"] != "POST" for row in rows):
            errors.append(("mismatched_url", "every url must be the batch's endpoint"))
        if len({row["body"].get("model") for row in rows}) != 1:
            errors.append(("mismatched_model", "one model to a file"))
        return [{"code": code, "message": message, "param": None, "line": None} for code, message in errors]

    async def _process(self, batch: dict[str, Any], lines: list[bytes]) -> None:
        await asyncio.sleep(0.01)
        if errors := self._invalid(batch, lines):
            batch |= {"status": "failed", "errors": {"object": "list", "data": errors}}
            return
        batch["status"] = "in_progress"
        output: list[bytes] = []
        wrong: list[bytes] = []
        counts = batch["request_counts"]
        # Results come in no order.
        for number, line in enumerate(reversed(lines)):
            while self.hold and batch["status"] == "in_progress" and number >= len(lines) // 2:
                await asyncio.sleep(0.01)
            row = json.loads(line)
            late = self.expire(row["custom_id"])
            if batch["status"] == "cancelling" or late:
                code = "batch_expired" if late else "batch_cancelled"
                error = {"code": code, "message": "not executed"}
                wrong.append(_result(row, None, error))
                continue
            status, body = await self.execute(row["url"], row["body"])
            self.executed.append(row["custom_id"])
            response = {"status_code": status, "request_id": f"req_{next(self._numbers)}", "body": body}
            (output if status == 200 else wrong).append(_result(row, response, None))
            counts["completed" if status == 200 else "failed"] += 1
        if output:
            batch["output_file_id"] = self._keep(b"".join(output), "output.jsonl")
        if wrong:
            batch["error_file_id"] = self._keep(b"".join(wrong), "errors.jsonl")
        ended = {"in_progress": "completed", "cancelling": "cancelled"}[batch["status"]]
        batch["status"] = "expired" if any(self.expire(json.loads(line)["custom_id"]) for line in lines) else ended

    async def _retrieve(self, request: web.Request) -> web.Response:
        batch = self.batches.get(request.match_info["id"])
        return web.json_response(batch) if batch else _error(404, "No batch found with that id")

    async def _list(self, request: web.Request) -> web.Response:
        # Newest first, a page at a time.
        rows = list(reversed(self.batches.values()))
        after = request.query.get("after")
        start = next((k + 1 for k, row in enumerate(rows) if row["id"] == after), 0)
        page = rows[start : start + 2]
        more = start + 2 < len(rows)
        return web.json_response({"object": "list", "data": page, "has_more": more})

    async def _cancel(self, request: web.Request) -> web.Response:
        batch = self.batches[request.match_info["id"]]
        if batch["status"] == "in_progress":
            batch["status"] = "cancelling"
        return web.json_response(batch)


def _result(row: dict[str, Any], response: Any, error: Any) -> bytes:
    result = {"id": f"batch_req_{row['custom_id']}", "custom_id": row["custom_id"], "response": response}
    return json.dumps({**result, "error": error}).encode() + b"\n"


def _error(status: int, message: str) -> web.Response:
    return web.json_response({"error": {"message": message, "type": "invalid_request_error"}}, status=status)


def _abort(request: web.Request) -> web.Response:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()
