"""Which runs of two studies can be set against each other: same question, same prompt, same condition."""

from __future__ import annotations

import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.columns import as_floats, require

__all__ = ["CHANGES", "SIDES", "pair_studies"]

SIDES = ("old", "new")
CHANGES = (
    "better", "worse", "other answers", "no change seen",
    "asked otherwise", "not marked", "only in old", "only in new",
)  # fmt: skip
"""Every verdict on a question, in the order in which tables show them."""

_NEEDED = ("question_id", "model", "temperature", "score", "accuracy", "answer_key", "prompt_hash")
_NONE = "(unparsed)"


def pair_studies(old: pd.DataFrame, new: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Put two outcome tables on top of each other, and say which questions cannot be compared.

    Runs are compared at equal model and temperature. Where no model is in both studies and each has one, the models
    themselves are what is compared (another version), at equal temperature. A question that was asked with another
    prompt is another question: its runs are left out and it is named.

    Parameters
    ----------
    old, new
        One row per run, see `dsqa.outcomes.columns`.

    Returns
    -------
    runs : pandas.DataFrame
        The runs that can be compared: side ("old" or "new"), question_id, block (model and temperature), score,
        accuracy, answer.
    left_out : pandas.DataFrame
        question_id, change ("asked otherwise", "not marked": without a ground truth, "only in old" or "only in new").

    Raises
    ------
    StatisticsError
        A column is missing, the studies have no model (or temperature) in common, or no question.
    """
    sides = []
    for side, table in zip(SIDES, (old, new), strict=True):
        require(table, _NEEDED, f"{side} outcome table")
        sides.append(_rows(side, table))
    runs = pd.concat(sides, ignore_index=True)
    models = [set(part["model"]) for part in sides]
    if models[0] & models[1]:
        runs["block"] = runs["model"] + " at " + runs["temperature"]
    elif len(models[0]) == len(models[1]) == 1:
        runs["block"] = "at " + runs["temperature"]
    else:
        raise StatisticsError(
            f"the studies have no model in common (old: {', '.join(sorted(models[0]))}; "
            f"new: {', '.join(sorted(models[1]))})",
            hint="compare studies of one model each, or of the same models",
        )
    left_out = _left_out(runs)
    runs = runs[~runs["question_id"].isin(left_out["question_id"])]
    if runs.empty and (left_out["change"] == "not marked").any():
        raise StatisticsError("no question that both studies asked has a ground truth, so no run is right or wrong")
    both = runs.groupby(["question_id", "block"])["side"].transform("nunique") == len(SIDES)
    if not both.any():
        raise StatisticsError(
            "no question was asked in both studies with the same prompt, model and temperature",
            hint="template, question and data preview make the prompt: sample the new study with those of the old",
        )
    return runs[both].reset_index(drop=True), left_out


def _rows(side: str, table: pd.DataFrame) -> pd.DataFrame:
    numbers = {name: as_floats(table[name]) for name in ("score", "accuracy")}
    heat = table["temperature"].astype("Float64")
    return pd.DataFrame(
        {
            "side": side,
            "question_id": table["question_id"].astype("string").to_numpy(),
            "model": table["model"].astype("string").fillna("unknown").to_numpy(),
            "temperature": heat.map(lambda t: f"temperature {t:g}", na_action="ignore")
            .astype("string")
            .fillna("no temperature")
            .to_numpy(),
            "prompt": table["prompt_hash"].astype("string").fillna("").to_numpy(),
            "answer": table["answer_key"].astype("string").fillna(_NONE).to_numpy(),
            **numbers,
        }
    )


def _left_out(runs: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for question, group in runs.groupby("question_id", sort=True):
        prompts = [set(group.loc[group["side"] == side, "prompt"]) for side in SIDES]
        if not prompts[0] or not prompts[1]:
            rows.append((question, "only in new" if not prompts[0] else "only in old"))
        elif prompts[0] != prompts[1]:
            rows.append((question, "asked otherwise"))
        elif group["accuracy"].isna().all():
            rows.append((question, "not marked"))
    return pd.DataFrame(rows, columns=["question_id", "change"], dtype="string")
