"""What cannot be found for a study, said in a sentence in its place: a page goes on without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from dsqa.errors import StatisticsError
from dsqa.report.markdown import Markdown, escape
from dsqa.report.page import Page

__all__ = ["NO_REPLY", "NotAvailable", "attempt", "found", "no_reply", "refusals"]

_P = ParamSpec("_P")
_T = TypeVar("_T")

NO_REPLY = "No run got a reply, so nothing here would be about the model"


@dataclass(frozen=True)
class NotAvailable:
    """Why there is no result; shows itself as a sentence."""

    reason: str

    def _repr_markdown_(self) -> str:
        return str(sentence(self.reason))


def attempt(
    page: Page, estimate: Callable[_P, _T], /, *arguments: _P.args, **settings: _P.kwargs
) -> _T | NotAvailable:
    """Call an estimator of `dsqa.stats`; where the study does not allow for it, return the reason.

    Parameters
    ----------
    page
        The study. One without a single reply has no estimates.
    estimate
        Any function that raises `StatisticsError` where the data do not allow for an estimate.
    *arguments, **settings
        Its own.
    """
    if no_reply(page):
        return NotAvailable(NO_REPLY)
    try:
        return estimate(*arguments, **settings)
    except StatisticsError as refusal:
        return NotAvailable(refusal.message)


def no_reply(page: Page) -> bool:
    """Tell whether every run was lost to the infrastructure."""
    return bool((page.outcomes["status"].astype("string") == "failed").all())


def found(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return those results that there are."""
    return {name: result for name, result in results.items() if not isinstance(result, NotAvailable)}


def refusals(results: Mapping[str, Any]) -> Markdown:
    """Return why results are missing: a sentence where all are for one reason, else a line each; empty if none is."""
    reasons = {name: result.reason for name, result in results.items() if isinstance(result, NotAvailable)}
    if not reasons:
        return Markdown("")
    distinct = list(dict.fromkeys(reasons.values()))
    if len(distinct) == 1 and len(reasons) == len(results):
        return sentence(distinct[0])
    return Markdown(
        "\n".join(f"- *{escape(name)}* is not available: {escape(why)}." for name, why in reasons.items())
    )


def sentence(reason: str) -> Markdown:
    """Return a reason as a sentence."""
    return Markdown(escape(f"{reason[:1].upper()}{reason[1:].rstrip('.')}."))
