"""A simulated outcome table with known cells, for tests of what lies downstream of scoring."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from dsqa.outcomes.columns import COLUMNS


def synthetic_outcomes(
    seed: int = 1, questions: int = 6, models: tuple[str, ...] = ("model-a",), temperatures=(0.2, 1.0), runs: int = 10
) -> pd.DataFrame:
    """Question 1 is always right, 2 always wrong, the others coin tosses that a high temperature unsettles."""
    rng = np.random.default_rng(seed)
    levels, categories = ("easy", "medium", "hard"), ("Data Summary", "Linear Regression")
    rows = []
    for q in range(1, questions + 1):
        for model in models:
            for t in temperatures:
                p = {1: 1.0, 2: 0.0}.get(q, 0.5 + 0.45 * (1 - t))
                for run in range(runs):
                    right = int(rng.random() < p)
                    failed = q > 2 and rng.random() < 0.05
                    truncated = q > 2 and not failed and rng.random() < 0.1
                    words = int(rng.integers(30, 60 + int(80 * t)))
                    tokens = int(words * 1.4 * rng.lognormal(0, 0.05))
                    completion = int(not failed and not truncated)
                    right *= completion
                    ce = 0 if failed else (2 if right else 1)
                    status = "failed" if failed else "truncated" if truncated else "answered"
                    value = "42" if right else str(rng.integers(1, 4))
                    rows.append(
                        {
                            "study": "synthetic",
                            "question_id": f"q{q:02d}",
                            "category": categories[q % 2],
                            "level": levels[q % 3],
                            "condition_id": f"{model}_t{t:g}_00000000",
                            "endpoint": "default",
                            "model": model,
                            "temperature": t,
                            "run": run,
                            "prompt_hash": "0" * 16,
                            "status": status,
                            "finish_reason": {"failed": None, "truncated": "length"}.get(status, "stop"),
                            "error_class": "timeout" if failed else None,
                            "retries": 0,
                            "words_in": 120,
                            "tokens_in": 180,
                            "words_out": None if failed else words,
                            "tokens_out": None if failed else tokens,
                            "tokens_total": None if failed else tokens + 40,
                            "tokens_source": None if failed else "usage-apportioned",
                            "word_ratio": None if failed else 120 / words,
                            "token_ratio": None if failed else 180 / tokens,
                            "jaccard_first": None if failed else (1.0 if run == 0 else rng.uniform(0.3, 1 - 0.3 * t)),
                            "jaccard_mean": None if failed else rng.uniform(0.3, 1 - 0.3 * t),
                            "seconds": None if failed else rng.gamma(4, 0.5),
                            "completion": completion,
                            "accuracy": right,
                            "executability": ce,
                            "executability_repository": ce,
                            "score": completion + right + ce / 2,
                            "execution": "no code" if failed else "ran, right" if right else "ran, wrong",
                            "isolation": "bubblewrap",
                            "answer": None if failed else json.dumps({"x": value}),
                            "answer_source": None if failed else "execution",
                            "answer_status": "unparsed" if failed else "matched" if right else "mismatched",
                            "answer_share": float(right),
                            "answer_conflict": False,
                            "answer_key": None if failed else f"x={value}",
                        }
                    )
    table = pd.DataFrame(rows).reindex(columns=[c.name for c in COLUMNS])
    return table.astype({c.name: c.dtype for c in COLUMNS})
