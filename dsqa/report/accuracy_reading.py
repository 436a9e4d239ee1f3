"""How much of accuracy is a matter of reading answers: other conventions, text against code."""

from __future__ import annotations

from dsqa.report.attempts import NO_REPLY, no_reply, sentence
from dsqa.report.markdown import Markdown, escape
from dsqa.report.page import Page
from dsqa.report.wording import count, listing

__all__ = ["accuracy_conventions"]


def accuracy_conventions(page: Page) -> Markdown:
    """Return how many wrong runs are right under another convention, and how many contradict themselves."""
    if no_reply(page):
        return sentence(NO_REPLY)
    named = page.outcomes["answer_convention"].dropna().astype(str)
    parts = []
    if named.empty:
        parts.append("No wrong answer is right under another convention that is known.")
    else:
        kinds = named.value_counts().sort_index().sort_values(ascending=False, kind="stable").head(5)
        parts.append(
            f"{count(len(named), 'wrong run')} would be right under another convention: "
            f"{listing(f'{escape(name)} ({n:,})' for name, n in kinds.items())}. They are marked wrong; whether the "
            "question says which convention it wants is for its author to judge."
        )
    conflict = int(page.outcomes["answer_conflict"].fillna(False).astype(bool).sum())
    parts.append(
        f"In {count(conflict, 'run')} the text and the executed code gave different answers; "
        "the protocol counts what running the code gave."
        if conflict
        else "In no run did the text and the executed code give different answers."
    )
    return Markdown(" ".join(parts))
