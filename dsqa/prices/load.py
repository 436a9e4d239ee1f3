"""Find and read the files of prices: the user's, then the one that comes with dsqa."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path

import yaml
from pydantic import ValidationError

from dsqa.errors import StudyError
from dsqa.foreign_yaml import YamlError, read_yaml
from dsqa.prices.model import PriceEntry, PriceFile, Prices
from dsqa.study.folder import replace_text
from dsqa.study.plain import closest, in_plain_words

__all__ = ["USER_FILE", "find_prices", "load_prices", "recorded_prices", "save_prices"]

USER_FILE = "prices.yaml"

_HEAD = """\
# The prices that this study's cost is computed with, per million tokens. 'dsqa sample' writes them anew from your
# prices.yaml beside the study file (or the file that 'prices' in the study names) and dsqa's own list.
"""


def find_prices(named: str | None, base_dir: Path) -> Prices:
    """Return the prices that a study goes by.

    Parameters
    ----------
    named
        The study's own setting, relative to `base_dir`. Without it ``prices.yaml`` in `base_dir`, where there is
        one, else in the working folder.
    base_dir
        The study file's folder.

    Raises
    ------
    StudyError
        The file is missing or wrong; the message names the entry.
    """
    if named is not None:
        return load_prices(base_dir / Path(named).expanduser())
    beside = next((path for path in (base_dir / USER_FILE, Path.cwd() / USER_FILE) if path.is_file()), None)
    return load_prices(beside)


def load_prices(path: Path | None = None) -> Prices:
    """Return the prices in a file, followed by the list prices that come with dsqa.

    Parameters
    ----------
    path
        The file; None for the list prices alone.

    Raises
    ------
    StudyError
        The file is missing or wrong.
    """
    own = () if path is None else ((str(path), _read(path)),)
    return Prices((*own, ("dsqa's list prices", _shipped())))


def save_prices(prices: Prices, models: Iterable[str], root: Path) -> None:
    """Write the prices of some models into a study's folder, so that its cost stays what it was computed to be.

    Parameters
    ----------
    prices
        From `find_prices`.
    models
        The study's.
    root
        The study's folder.
    """
    wanted = set(models)
    entries = [
        {**entry.model_dump(mode="json", exclude_none=True), "models": names}
        for _, file in prices.files
        for entry in file.prices
        if (names := sorted(model for model in wanted if entry.names(model)))
    ]
    text = yaml.safe_dump({"currency": prices.currency, "prices": entries}, sort_keys=False, allow_unicode=True)
    replace_text(root / USER_FILE, _HEAD + text)


def recorded_prices(root: Path) -> Prices:
    """Return the prices in a study's folder, which it was sampled with; without them, the list prices.

    Raises
    ------
    StudyError
        The file is wrong.
    """
    path = root / USER_FILE
    return Prices(((str(path), _read(path)),)) if path.is_file() else load_prices()


@cache
def _shipped() -> PriceFile:
    return PriceFile.model_validate(yaml.safe_load((files("dsqa.prices") / "prices.yaml").read_text("utf-8")))


def _read(path: Path) -> PriceFile:
    hint = "an entry has models, input and output, per million tokens; docs/sampling.md shows one"
    try:
        _, data = read_yaml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StudyError("no such file of prices", path=path, hint="'prices' in the study names it") from None
    except YamlError as error:
        raise StudyError(error.message, path=path, line=error.line) from None
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"cannot be read: {error}", path=path) from None
    try:
        return PriceFile.model_validate({} if data is None else data)
    except ValidationError as invalid:
        # A misspelt name is why another one is missing: it comes first.
        first = min(invalid.errors(include_url=False), key=lambda error: error["type"] != "extra_forbidden")
        where = ".".join(str(part) for part in first["loc"]) or None
        message = in_plain_words(first)
        if first["type"] == "extra_forbidden":
            meant = closest(str(first["loc"][-1]), (PriceEntry if len(first["loc"]) > 1 else PriceFile).model_fields)
            message = "is not a setting of a price" + (f"; did you mean {meant}?" if meant else "")
        raise StudyError(message, path=path, field=where, hint=hint) from None
