"""Every finding about a bank: what its reading said, and what a careful colleague would."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dsqa.authoring import data, truths, wording
from dsqa.bank.findings import Finding
from dsqa.bank.labels import labels_beside
from dsqa.bank.load import Item, examine_bank
from dsqa.bank.model import Question

__all__ = ["Checked", "check_bank"]


@dataclass(frozen=True)
class Checked:
    """How many questions a bank has that could be read, and every finding, in the file's order."""

    path: Path
    questions: int
    findings: tuple[Finding, ...]

    def count(self, severity: str) -> int:
        """Return how many findings are of a severity."""
        return sum(f.severity == severity for f in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "path": str(self.path),
            "questions": self.questions,
            "errors": self.count("error"),
            "warnings": self.count("warning"),
            "notes": self.count("note"),
            "findings": [f.to_dict() for f in self.findings],
        }


def check_bank(path: Path, data_dir: Path | None = None, *, labels: Path | None = None) -> Checked:
    """Look at everything in a bank that may be wrong.

    Parameters
    ----------
    path, data_dir, labels
        As for `dsqa.bank.load_bank`.

    Raises
    ------
    BankError
        The file as a whole cannot be read.
    """
    examined = examine_bank(path, data_dir, labels=labels)
    labelled = labels is not None or labels_beside(path) is not None
    files = data.DataFiles(examined.data_dir)
    findings = list(examined.findings)
    said = {(f.line, f.field) for f in findings if f.severity == "error"}
    texts: dict[str, Question] = {}
    for item in examined.items:
        for finding in _about(item.question, path, files, texts):
            placed = _placed(finding, item, path)
            if labelled and placed.severity == "error":
                # A public bank is used as it is; its flaws are said, not refused.
                placed = replace(placed, severity="warning")
            # A field that could not be read at all has its error already.
            if (placed.line, placed.field) not in said or placed.severity != "error":
                findings.append(placed)
    findings.sort(key=lambda f: (f.line is None, f.line or 0))
    return Checked(path, len(examined.items), tuple(findings))


def _about(question: Question, path: Path, files: data.DataFiles, texts: dict[str, Question]) -> Iterator[Finding]:
    yield from truths.check(question)
    yield from wording.check(question, texts)
    yield from data.check(question, path, files)


def _placed(finding: Finding, item: Item, path: Path) -> Finding:
    line, cell = item.source.place(finding.field)
    return replace(finding, line=line, cell=cell, question=item.question.id, path=path)
