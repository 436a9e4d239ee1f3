"""Cells tables for the figures' tests: computed here by plain NumPy from an outcome table, or by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from dsqa.bank import Bank, Question

CELL_COLUMNS = [
    "study", "question_id", "category", "level", "condition_id", "endpoint", "model", "temperature", "runs",
    "score_mean", "instability", "instability_low", "instability_high", "accuracy", "accuracy_low", "accuracy_high",
    "verdict", "settled",
]  # fmt: skip


def cells_of(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Cells with rough intervals: the figures only draw what they are given, so these need not be exact."""
    rows = []
    for (question, condition), cell in outcomes.groupby(["question_id", "condition_id"], sort=False):
        score, n = cell["score"].to_numpy(float), len(cell)
        sd = float(np.sqrt(np.mean((score - score.mean()) ** 2))) / 1.5
        p = float(cell["accuracy"].mean())
        half = 1.96 * np.sqrt(p * (1 - p) / n + 0.25 / n**2 * 3.84) / (1 + 3.84 / n)
        mid = (p + 1.92 / n) / (1 + 3.84 / n)
        first = cell.iloc[0]
        spread = np.nan if n < 2 else 0.6 * sd / np.sqrt(n) + (0.03 if sd else 0)
        rows.append({
            "study": first["study"], "question_id": question, "category": first["category"],
            "level": first["level"], "condition_id": condition, "endpoint": first["endpoint"],
            "model": first["model"], "temperature": first["temperature"], "runs": n,
            "score_mean": float(score.mean()), "instability": sd if n > 1 else np.nan,
            "instability_low": max(0.0, sd - spread), "instability_high": min(1.0, sd + spread),
            "accuracy": p, "accuracy_low": max(0.0, mid - half), "accuracy_high": min(1.0, mid + half),
            "verdict": "unstable" if sd >= 0.3 else "stable and right" if p >= 0.5 else "stable and wrong",
            "settled": bool(abs(sd - 0.3) > 0.1),
        })  # fmt: skip
    return pd.DataFrame(rows, columns=CELL_COLUMNS)


def bank_of(outcomes: pd.DataFrame) -> Bank:
    """A bank of the questions in an outcome table."""
    rows = outcomes.drop_duplicates("question_id")
    questions = (
        Question(
            id=row.question_id, question="How many?", format="@x[n]", file_name="cars.csv", level=row.level,
            common_answers=(("x", "42"),), category=row.category,
        )
        for row in rows.itertuples()
    )  # fmt: skip
    return Bank(tuple(questions), Path())
