from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from dsqa.endpoints import open_endpoint
from dsqa.endpoints.embedded import fetch_weights, find_weights, weights
from dsqa.errors import EndpointError, MissingDependencyError
from dsqa.study.sections import EndpointConfig

SMALL = EndpointConfig(kind="embedded", slots=2, context=512, threads=1)


def need_model():
    pytest.importorskip("xllamacpp")
    if find_weights() is None:
        pytest.skip("no weights here; 'dsqa doctor --get-model' fetches them")


def test_a_real_model_answers_and_says_which_it_is(tmp_path):
    need_model()

    async def main():
        async with open_endpoint("local", SMALL, timeout=120, log_dir=tmp_path) as endpoint:
            request = {
                "model": "SmolLM2-135M-Instruct",
                "messages": [{"role": "user", "content": "Say hello."}],
                "max_tokens": 4,
            }
            replies = await asyncio.gather(*[endpoint.ask({**request, "temperature": t}) for t in (0.2, 1.0)])
            return endpoint, replies

    endpoint, replies = asyncio.run(main())
    for reply in replies:
        assert reply.status == "truncated"
        assert reply.usage["completion_tokens"] == 4
        assert reply.text
        assert reply.response_model == find_weights().stem
    assert endpoint.base_url == "embedded"
    assert endpoint.concurrency_limit == 2
    assert endpoint.versions["weights_sha256"] == weights.hash_weights(find_weights())
    assert (tmp_path / "embedded-server.log").is_file()


def test_server_ends_when_its_parent_is_killed(tmp_path):
    need_model()
    code = textwrap.dedent("""
        import asyncio
        from dsqa.endpoints.embedded.server import start_server
        from dsqa.study.sections import EndpointConfig
        async def main():
            config = EndpointConfig(kind="embedded", slots=1, context=512, threads=1)
            async with start_server("local", config) as server:
                print(server.pid, flush=True)
                await asyncio.sleep(60)
        asyncio.run(main())
    """)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        os.kill(child, 0)
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and _runs(child):
        time.sleep(0.05)
    assert not _runs(child)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    # An orphan waits for its new parent to reap it; it runs no more.
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


def test_weights_that_are_none_give_one_clear_line(tmp_path):
    pytest.importorskip("xllamacpp")
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"not a model")

    async def main(path):
        async with open_endpoint("local", SMALL.model_copy(update={"weights": str(path)}), timeout=5):
            pass

    with pytest.raises(EndpointError, match="did not start"):
        asyncio.run(main(bad))
    with pytest.raises(EndpointError, match="no such weights file"):
        asyncio.run(main(tmp_path / "none.gguf"))


def test_without_xllamacpp_the_extra_is_named(monkeypatch):
    from dsqa.endpoints.embedded import server

    monkeypatch.setattr(server, "find_spec", lambda name: None)

    async def main():
        async with open_endpoint("local", SMALL, timeout=5):
            pass

    with pytest.raises(MissingDependencyError, match=r"pip install 'dsqa\[embedded\]'"):
        asyncio.run(main())


def test_weights_are_found_in_the_documented_order(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("DSQA_MODEL_FILE", raising=False)
    monkeypatch.setattr(weights, "PACKAGE", "no_such_package_here")
    assert find_weights() is None
    cached = weights.cache_dir() / weights.FILE_NAME
    cached.parent.mkdir(parents=True)
    cached.write_bytes(b"c")
    assert find_weights() == cached
    package = tmp_path / "site" / "fake_weights"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    (package / weights.FILE_NAME).write_bytes(b"p")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setattr(weights, "PACKAGE", "fake_weights")
    assert find_weights() == package / weights.FILE_NAME
    own = tmp_path / "own.gguf"
    monkeypatch.setenv("DSQA_MODEL_FILE", str(own))
    with pytest.raises(EndpointError, match=r"own\.gguf"):
        find_weights()
    own.write_bytes(b"o")
    assert find_weights() == own
    assert fetch_weights() == own


def _fake_pip(tmp_path: Path, monkeypatch, content: bytes | None) -> None:
    """A pip that leaves a wheel with `content` as the weights, or fails as offline."""
    import zipfile

    script = tmp_path / "pip.py"
    if content is None:
        script.write_text("import sys; sys.exit('ERROR: No matching distribution found')")
    else:
        wheel = tmp_path / "w.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(f"{weights.PACKAGE}/{weights.FILE_NAME}", content)
        script.write_text(f"import shutil, sys; shutil.copy({str(wheel)!r}, sys.argv[1])")
    monkeypatch.setattr(weights, "_downloaders", lambda folder: [[sys.executable, str(script), str(folder)]])
    monkeypatch.setattr(weights, "find_spec", lambda name: None)
    monkeypatch.delenv("DSQA_MODEL_FILE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "platform", "linux")


def test_fetched_weights_are_checked_before_they_are_kept(tmp_path, monkeypatch):
    import hashlib

    _fake_pip(tmp_path, monkeypatch, b"evil")
    with pytest.raises(EndpointError, match="not the expected file"):
        fetch_weights()
    assert list((tmp_path / "cache" / "dsqa").iterdir()) == []
    monkeypatch.setattr(weights, "SHA256", hashlib.sha256(b"evil").hexdigest())
    path = fetch_weights()
    assert path.read_bytes() == b"evil"
    assert path == find_weights()


def test_offline_gives_one_clear_line(tmp_path, monkeypatch):
    _fake_pip(tmp_path, monkeypatch, None)
    with pytest.raises(EndpointError, match="cannot be downloaded: ERROR: No matching") as caught:
        fetch_weights()
    assert "DSQA_MODEL_FILE" in caught.value.hint
