"""The server that the tools ask: its answers to a question differ from one time to the next, and some go wrong.

``python -m tests.importing.round_trip.answers`` prints its URL and serves until it is killed.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

from tests.support.server import Fault, FaultServer, Seen, completion, error

QUESTIONS = [json.loads(line) for line in (Path(__file__).parent / "questions.jsonl").read_text("utf-8").splitlines()]


class Answers:
    """What to answer: the answers of a question in turn."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()

    def __call__(self, seen: Seen) -> Fault | dict[str, Any] | None:
        prompt = _text(seen.prompt)
        if seen.body.get("model") == "odd":
            return _odd(seen, prompt)
        asked = json.dumps([seen.body.get("model"), seen.body.get("temperature"), prompt])
        times = self._asked[asked]
        self._asked[asked] += 1
        question = next((q for q in QUESTIONS if q["question"] in prompt), None)
        if question is None:
            return None
        draw = hashlib.sha256(f"{asked} {times}".encode()).digest()
        text = question["answers"][times % len(question["answers"])]
        if text == "(error)" and seen.body.get("model") == "steady":
            text = "ANSWER: no idea"
        if text == "(error)":
            return error(400, "this one the server will not answer", code="invalid_value")
        finish = {"(cut)": "length", "(filtered)": "content_filter"}.get(text[text.rfind("(") :], "stop")
        answer = completion(seen.number, str(seen.body["model"]), text, finish_reason=finish)
        read, written = len(prompt.split()), len(text.split()) + draw[1] % 7
        answer["usage"] = {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
            "prompt_tokens_details": {"cached_tokens": read // 2},
        }
        return answer


def _odd(seen: Seen, prompt: str) -> dict[str, Any]:
    """Answer what `inspect_task.odd` asks, each in a way of its own."""
    if "dots" in prompt:
        return completion(seen.number, "odd", "It is 4.", reasoning_content="Two and two.")
    if seen.body["messages"][-1]["role"] == "tool":
        return completion(seen.number, "odd", f"The tool says {prompt}.")
    if prompt.startswith("Add"):
        call = {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": '{"x": 2, "y": 2}'}}
        return completion(seen.number, "odd", None, tool_calls=[call], finish_reason="tool_calls")
    if "even" in prompt and "GRADE" not in prompt:
        answer = completion(seen.number, "odd", "4")
        answer["choices"].append(
            {"index": 1, "finish_reason": "length", "message": {"role": "assistant", "content": "5"}}
        )
        return answer
    return completion(seen.number, "odd", "GRADE: C")


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


if __name__ == "__main__":
    asyncio.run(FaultServer(Answers(), keep=False).run(lambda url: print(url, flush=True)))
