"""The simulated study that R analysed, and what R said about it."""

from __future__ import annotations

import functools
import hashlib
import json
from gzip import decompress
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
from hypothesis import settings

_HERE = Path(__file__).parent / "reference"


few = settings(max_examples=25, deadline=None)


@functools.cache
def reference() -> dict[str, Any]:
    return json.loads((_HERE / "reference.json").read_text(encoding="utf-8"))


@functools.cache
def _study() -> pd.DataFrame:
    raw = decompress((_HERE / "study.csv.gz").read_bytes())
    assert hashlib.sha256(raw).hexdigest() == reference()["meta"]["study_sha256"]
    table = pd.read_csv(BytesIO(raw))
    return table.assign(score=table["completion"] + table["accuracy"] + table["executability"] / 2)


def study() -> pd.DataFrame:
    return _study().copy()


def as_outcomes(table: pd.DataFrame) -> pd.DataFrame:
    """The reference study with the columns that the cell summary needs."""
    failed = (table["completion"] == 0) & (table["words_out"] == 0)
    return table.assign(
        study="reference",
        condition_id=table["model"] + "_t" + table["temperature"].astype(str),
        status=failed.map({True: "failed", False: "answered"}),
        answer_key=table["accuracy"].map({1: "x=right", 0: "x=wrong"}).where(~failed),
    )
