"""`dsqa show` prints what a model wrote, and lets it command nothing."""

from __future__ import annotations

import json

from click.testing import CliRunner

from dsqa.cli.show import show
from dsqa.sampling import sample_study
from tests.sampling.studies import prepare
from tests.support.server import FaultServer, completion

HOSTILE = "\x1b]52;c;aGk=\x07\x1b[2Jone\r\ntwo\ttabs \x9b31m \ud800 é"


def test_control_characters_and_lone_surrogates_are_shown_not_sent(tmp_path, monkeypatch):
    monkeypatch.setenv("DSQA_TEST_KEY", "sk-for-tests-only")
    with FaultServer(lambda seen: completion(seen.number, "m", HOSTILE)) as server:
        study = prepare(tmp_path, server.url, questions=1, runs=1)
        sample_study(study)
    shown = CliRunner().invoke(show, [str(study.root)], color=True, catch_exceptions=False)
    assert "\\x1b]52;c;aGk=\\x07\\x1b[2Jone\ntwo\ttabs \\x9b31m \\ud800 é" in shown.output
    assert not {"\x1b", "\x07", "\x9b"} & set(shown.output)
    as_json = CliRunner().invoke(show, [str(study.root), "--json"], catch_exceptions=False)
    assert json.loads(as_json.output)["response"] == HOSTILE
