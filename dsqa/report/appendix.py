"""What it takes to get the same report again: versions, seeds, hashes, every setting, the prompt."""

from __future__ import annotations

import platform
import re
from datetime import datetime

import yaml

from dsqa.installed import installed_version
from dsqa.report.facts import RecordFacts, record_facts
from dsqa.report.markdown import Column, Markdown, code_span, escape, table, verbatim
from dsqa.report.page import Page
from dsqa.report.stopping import saved_text
from dsqa.report.wording import MISSING, count, listing, temperature
from dsqa.study.folder import hash_file

__all__ = ["conditions_table", "facts_table", "hashes_table", "settings_text", "template_text"]

_USED = ("dsqa", "numpy", "pandas", "scipy", "pyarrow", "matplotlib", "papermill")
_URL_USER = re.compile(r"//[^/@\s]+@")


def facts_table(page: Page) -> Markdown:
    """Return N, dates, models, seeds and versions."""
    facts = record_facts(page.folder)
    temperatures = dict.fromkeys(temperature(c.temperature) for c in page.description.conditions)
    missing = len(page.description.cells) * page.description.runs - len(page.outcomes)
    runs = f"{count(len(page.outcomes), 'run')} in {count(len(page.cells), 'cell')}, {page.runs_text} per cell"
    if page.stop is not None:
        runs += f"; {saved_text(page)}"
    elif missing > 0:
        runs += f"; {count(missing, 'run')} planned and not recorded"
    pairs = [
        ("Study", escape(page.description.name)),
        ("Runs", escape(runs)),
        ("Questions", f"{len(page.questions)}"),
        ("Models", listing(code_span(name) for name in page.models)),
        ("Models as the endpoint named them", _answered_by(facts)),
        ("Temperatures", escape(listing(temperatures))),
        ("First run", escape(_moment(facts.first))),
        ("Last run", escape(_moment(facts.last))),
        *([("Runs of unknown time", f"{facts.without_time:,}")] if facts.without_time else []),
        ("Seed", f"study {page.description.seed}, bootstrap {page.seed} with {page.resamples:,} resamples per cell"),
        ("Prompt template", code_span(page.description.template.get("name", "")) or MISSING),
    ]
    isolation = page.outcomes["isolation"].dropna().astype(str)
    used = listing(code_span(name) for name in sorted(set(isolation)))
    pairs.append(("Isolation of generated code", used or "no code was run"))
    recorded = {**page.description.versions, **{name: ", ".join(seen) for name, seen in facts.versions.items()}}
    pairs.append(("Versions when sampled", _versions(recorded)))
    now = {
        "python": platform.python_version(),
        **{name: v for name in _USED if (v := installed_version(name)) is not None},
    }
    pairs.append(("Versions of this report", _versions(now)))
    columns = [Column("", width=28), Column("", width=72)]
    return table(
        columns,
        [[f"**{name}**", value] for name, value in pairs],
        label="tbl-facts",
        caption="The study.",
        classes=("facts-table",),
    )


def conditions_table(page: Page) -> Markdown:
    """Return every condition with all its request parameters."""
    rows = []
    for condition in page.description.conditions:
        request = ", ".join(f"{key} = {value}" for key, value in sorted(condition.request.items()))
        rows.append(
            [
                escape(page.conditions.get(condition.id, MISSING)),
                code_span(condition.id),
                escape(condition.model),
                escape(condition.endpoint),
                escape(temperature(condition.temperature)),
                escape(condition.system) if condition.system else MISSING,
                escape(request) or MISSING,
            ]
        )
    columns = [
        Column("Condition", width=12),
        Column("Id", width=22),
        Column("Model", width=18),
        Column("Endpoint", width=10),
        Column("Temperature", "right", 10),
        Column("System message", width=14),
        Column("Other parameters", width=14),
    ]
    return table(columns, rows, label="tbl-conditions", caption="The conditions.", classes=("stack",))


def hashes_table(page: Page) -> Markdown:
    """Return the SHA-256 of the bank, the data files, the template, the records and the outcomes."""
    rows = [["Bank (content)", code_span(page.description.bank_hash)]]
    for name, digest in sorted(page.description.data_hashes.items()):
        rows.append([f"Data: {escape(name)}", code_span(digest)])
    if "sha256" in page.description.template:
        rows.append(["Prompt template", code_span(page.description.template["sha256"])])
    for title, path in (("Records", page.folder.records_path), ("Outcomes", page.folder.outcomes_path)):
        if path.is_file():
            rows.append([f"{title}: {escape(path.name)}", code_span(hash_file(path))])
    columns = [Column("What", width=30), Column("SHA-256", width=70)]
    return table(columns, rows, label="tbl-hashes", caption="Fingerprints.", classes=("hashes",))


def settings_text(page: Page) -> Markdown:
    """Return every setting of the study, as YAML."""
    text = yaml.safe_dump(page.description.settings, sort_keys=True, allow_unicode=True, default_flow_style=False)
    return Markdown(verbatim(_URL_USER.sub("//…@", text).rstrip()))


def template_text(page: Page) -> Markdown:
    """Return the prompt template's text."""
    text = page.description.template.get("text", "")
    return Markdown(verbatim(text.rstrip()) if text else "The study's description does not hold the template's text.")


def _answered_by(facts: RecordFacts) -> str:
    return listing(f"{code_span(name)} ({count(n, 'run')})" for name, n in facts.answered_by.items()) or MISSING


def _moment(began: datetime | None) -> str:
    return MISSING if began is None else f"{began:%Y-%m-%d %H:%M} UTC"


def _versions(versions: dict[str, str]) -> str:
    return escape(", ".join(f"{name} {number}" for name, number in versions.items())) or MISSING
