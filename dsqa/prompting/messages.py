"""The messages that ask a question: a pure function of question, data file and template."""

from __future__ import annotations

from dsqa.bank import Bank, Question, format_names
from dsqa.prompting.preview import preview
from dsqa.prompting.template import Template

__all__ = ["build_messages"]


def build_messages(
    question: Question, bank: Bank, template: Template, *, system: str | None, preview_rows: int
) -> tuple[dict[str, str], ...]:
    """Return the chat messages that ask a question.

    Parameters
    ----------
    question, bank
        What is asked, and the bank that holds its data file.
    template
        What the user message is made from.
    system
        A system message that goes before it, or None.
    preview_rows
        How many rows of the data file are shown.

    Returns
    -------
    tuple of dict
        Each with `role` and `content`: the system message if there is one, then the user message.

    Raises
    ------
    BankError, MissingDependencyError
        The data file cannot be previewed.
    StudyError
        The template fails.
    """
    path = bank.data_file(question)
    content = template.render(
        question=question.asked.strip(),
        format=question.format.strip(),
        names=format_names(question.format),
        options=question.options,
        file_name=question.file_name,
        preview=None if path is None else preview(path, preview_rows),
    )
    user = {"role": "user", "content": content}
    return (user,) if system is None else ({"role": "system", "content": system}, user)
