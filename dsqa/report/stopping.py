"""How many runs each question needed, why it was asked no further, and what that saved."""

from __future__ import annotations

from dsqa.report.markdown import Column, Markdown, escape, table
from dsqa.report.page import Page
from dsqa.report.wording import MISSING, count, percent

__all__ = ["runs_needed", "saved_text", "stopping_methods"]

_WHY = {"precise": "", "max_runs": " (at most)", "open": " (open)"}


def runs_needed(page: Page) -> Markdown | None:
    """Return the runs of every question under every condition, with why no more were asked; None for a fixed N."""
    if page.stop is None or page.stopping is None:
        return None
    found = {
        (str(row.question_id), str(row.condition_id)): f"{row.runs:,}{_WHY[str(row.state)]}"
        for row in page.stopping.itertuples()
    }
    rows = [
        [page.link(question.id), *(found.get((question.id, condition), MISSING) for condition in page.conditions)]
        for question in page.questions
    ]
    columns = [Column("Question", width=24)]
    columns += [Column(escape(label), "right", 14) for label in page.conditions.values()]
    caption = (
        f"Runs asked per question and condition, until {_criteria(page)}. A number alone: precise enough then. At "
        f"most: not precise enough with all {page.description.runs:,} runs that were allowed. Open: sampling was "
        f"ended before. {saved_text(page)}"
    )
    return Markdown(
        "### How many runs were needed {#sec-stopping}\n\n"
        + table(columns, rows, label="tbl-stopping", caption=caption, classes=("whole",))
    )


def saved_text(page: Page) -> str:
    """Return in a sentence what stopping saved against asking every cell as often as allowed."""
    if page.stopping is None:
        return ""
    through = page.stopping[page.stopping["state"] != "open"]
    if through.empty:
        return "No cell has had enough runs yet."
    most, saved = int(through["max_runs"].sum()), int(through["saved"].sum())
    precise = int((through["state"] == "precise").sum())
    text = (
        f"{precise:,} of {count(len(page.stopping), 'cell')} {'was' if precise == 1 else 'were'} precise enough; "
        f"{saved:,} of {most:,} runs were saved ({percent(saved / most)})."
    )
    still_open = len(page.stopping) - len(through)
    return text + (f" {count(still_open, 'cell')} still open." if still_open else "")


def stopping_methods(page: Page) -> Markdown | None:
    """Return what a reader must know of intervals and estimates where N was decided by looking; None otherwise."""
    if page.stop is None:
        return None
    return Markdown(
        "### The number of runs was decided by looking {#sec-methods-stopping}\n\n"
        f"Each cell was looked at after {page.stop.looks(page.description.runs)[0]:,} runs and then every "
        f"{count(page.stop.look_every, 'run')}, and asked no further once {_criteria(page)} (@tbl-stopping); cells "
        "therefore differ in $N$, and no run is missing. An interval made for a fixed $N$ does not hold for an $N$ "
        "chosen by looking at it, so none is shown here: in place of Wilson's interval and of the one for "
        "$\\bar\\sigma$ above stand *confidence sequences*, which contain the truth at every $N$ at once with "
        "probability 95 %: for accuracy the beta-binomial mixture [@robbins1970; @howard2021] with "
        "$a = \\tfrac12$, all $p$ with\n\n"
        "$$\n\\frac{B(a + k,\\; a + N - k)}{B(a, a)\\; p^{k} (1 - p)^{N - k}} < \\frac{1}{0.05},\n"
        "$$ {#eq-sequence}\n\n"
        "and for $\\bar\\sigma$ tests by betting [@waudbysmith2024], inverted on a grid of 0.01. They are wider than "
        "intervals for a fixed $N$; that is the price of looking.\n\n"
        "*Estimates* of cells that stopped early are slightly biased: a cell stops sooner when its first runs happen "
        "to be alike, so shares lean towards 0 and 1 and $\\bar\\sigma$ towards 0; the intervals allow for that. "
        "Means over questions weigh every cell alike whatever its $N$, and carry that bias; their intervals, which "
        "resample questions, do not allow for it. The number of different answers, total agreement and entropy "
        "grow or fall with $N$ by themselves: do not compare them between cells of different $N$."
    )


def _criteria(page: Page) -> str:
    stop = page.stop
    assert stop is not None  # noqa: S101
    parts = []
    if stop.accuracy is not None:
        parts.append(f"the 95 % interval for accuracy is no wider than ±{stop.accuracy:g}")
    if stop.verdict is not None:
        parts.append(f"stable or unstable (0.3) is certain at {percent(stop.verdict)}")
    return " and ".join(parts)
