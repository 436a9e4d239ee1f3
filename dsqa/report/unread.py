"""Where answers could not be read: typical responses beside the truth, and what would read them."""

from __future__ import annotations

from dsqa.outcomes import UnreadReplies, inspect_unread, unread_matters, unread_runs
from dsqa.report.markdown import Markdown, code_span, escape, verbatim
from dsqa.report.page import Page, answer_text
from dsqa.report.wording import count, listing

__all__ = ["unread_note"]

_TAIL = 500
_ENDS = {
    "truncated": "cut at the token limit",
    "refused": "refused",
    "filtered": "filtered",
    "empty": "empty",
}


def unread_note(page: Page) -> Markdown:
    """Return a callout on the replies that could not be read; nothing where they are too few to matter."""
    if not unread_matters(page.outcomes):
        return Markdown("")
    found = inspect_unread(page.folder, page.outcomes)
    title = (
        "Hardly any answer could be read" if found.unread > 0.5 * found.replies else "Many answers could not be read"
    )
    parts = [f'::: {{.callout-important title="{title}"}}', _how_they_ended(page), _what_reads_them(found)]
    parts += [_response(page, found, number) for number in range(len(found.typical))]
    return Markdown("\n\n".join(part for part in [*parts, ":::\n"] if part))


def _how_they_ended(page: Page) -> str:
    runs = unread_runs(page.outcomes)
    statuses = runs["status"].value_counts()
    ends = [f"{int(statuses[name]):,} {word}" for name, word in _ENDS.items() if statuses.get(name, 0)]
    whole = int(statuses.get("answered", 0))
    if whole:
        ends.append(f"{whole:,} that came to {'its' if whole == 1 else 'their'} own end")
    return f"{count(len(runs), 'reply', 'replies')} could not be read: {listing(ends)}."


def _what_reads_them(found: UnreadReplies) -> str:
    tried = "them" if found.tried == found.unread else f"{found.tried:,} of them, evenly spread"
    said = "; ".join(
        f"{code_span(name)} reads {by.read:,}" + (f", {by.right:,} of them right" if by.read else "")
        for name, by in found.readers.items()
    )
    text = f"**What would read them.** Other readers, tried on {tried}: {said}."
    if found.best is not None:
        text += f" `dsqa score STUDY --reader {found.best}` marks every run that way too, and compares."
    for name, replies in found.other_names.items():
        text += (
            f" {count(replies, 'reply', 'replies')} {'answers' if replies == 1 else 'answer'} as "
            f"{code_span('@' + name + '[…]')}, a name that the question does not have: give the truth that name."
        )
    if found.best is None and not found.other_names:
        text += " None does: look at a reply with `dsqa show`, and say in the question in what form to answer."
    return text


def _response(page: Page, found: UnreadReplies, number: int) -> str:
    reply = found.typical[number]
    truth = escape(", ".join(str(value) for value in reply.truth.values()))
    at = f", {escape(page.conditions[reply.condition_id])}" if len(page.conditions) > 1 else ""
    read = listing(f"{code_span(name)} reads {answer_text(answer, 40)}" for name, answer in reply.read_by.items())
    about = f"{page.link(reply.question_id)}{at}, run {reply.run}; right answer: **{truth}**" + (
        f"; {read}" if read else ""
    )
    # An answer stands at the end.
    text = reply.text if len(reply.text) <= _TAIL else "…" + reply.text[-_TAIL:]
    return f"{about}.\n\n{verbatim(text.strip() or '(empty)', max_lines=20)}"
