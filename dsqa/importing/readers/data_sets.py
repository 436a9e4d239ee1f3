"""Questions of several files under the same ids: told apart where the files are about different things.

Two data sets often number their questions 0, 1, 2 each. Files are of one data set as long as nothing that is known of
a question (its text, ground truth, data file) differs between them; where it does, the ids are given the file's name
in front, so that none is ever merged with another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dsqa.importing.runs import ImportReport

__all__ = ["DataSets"]


@dataclass(slots=True)
class _Group:
    name: str
    known: dict[str, dict[str, bytes]] = field(default_factory=dict)
    """By id: what is known of the question, hashed."""


@dataclass(slots=True)
class DataSets:
    """Which files number the same questions; sees all of them first.

    Parameters
    ----------
    named
        Whether the files' labels name data sets: then those of different labels are of one set only where something
        that is known of their questions is the same.
    """

    named: bool = False
    _labels: dict[str, dict[str, dict[str, bytes]]] = field(default_factory=dict)
    _prefixes: dict[str, str] = field(default_factory=dict)

    def see(self, label: str, question: str, facts: Mapping[str, Any]) -> None:
        """Take note of what a file says of a question; what it leaves blank is not known."""
        known = self._labels.setdefault(label, {}).setdefault(question, {})
        for name, value in facts.items():
            if value not in (None, "", [], ()):
                known.setdefault(
                    name, hashlib.blake2b(repr(value).encode("utf-8", "replace"), digest_size=8).digest()
                )

    def settle(self, report: ImportReport) -> None:
        """Group the files, and say which ids get a name in front."""
        groups: list[_Group] = []
        for label, questions in self._labels.items():
            group = next((g for g in groups if self._of_one(g, questions)), None)
            if group is None:
                group = _Group(label)
                groups.append(group)
            for question, known in questions.items():
                group.known.setdefault(question, {}).update(known)
            self._prefixes[label] = group.name
        times: dict[str, int] = {}
        for group in groups:
            for question in group.known:
                times[question] = times.get(question, 0) + 1
        if not any(count > 1 for count in times.values()):
            self._prefixes.clear()
            return
        told = ", ".join(f"'{group.name}'" for group in groups[:5]) + (", …" if len(groups) > 5 else "")
        text = f"data sets number different questions alike ({told}): their names stand before the ids"
        report.note(text, len(groups))

    def prefix(self, label: str) -> str:
        """Return what stands before a file's ids: its data set's name and a slash, or nothing."""
        name = self._prefixes.get(label)
        return "" if name is None else f"{name}/"

    def _of_one(self, group: _Group, questions: Mapping[str, Mapping[str, bytes]]) -> bool:
        shared = [question for question in questions if question in group.known]
        same = False
        for question in shared:
            for name, value in questions[question].items():
                other = group.known[question].get(name)
                if other is not None and other != value:
                    return False
                same |= other is not None
        return same or not shared or not self.named
