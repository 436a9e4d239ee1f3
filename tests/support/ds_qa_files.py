"""Run files of the shape that the DS-QA authors keep, made with a seed: nothing in them is theirs.

The verbosity ratios follow log(token ratio) = intercept + exponent · log(word ratio) + question + noise, so what an
analysis recovers is known.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

WORDS = str.split(
    "the mean of column is computed after dropping missing rows and then we print it so answer follows from a simple "
    "call to pandas which reads file groups by species rounds two decimals model fits well residuals look normal"
)
LEVELS = ("easy", "medium", "hard")
CONCEPTS = ("Data Summary", "Data Visualisation", "Linear Regression")
FILES = {
    "evals_gpt_4o_1.jsonl": 1.0,
    "evals_gpt_4o_mini_1.jsonl": 0.8,
    "evals_gpt_4_1_nano_1.jsonl": 1.4,
    "evals_gpt_4_1_mini_0_2.jsonl": 0.5,
    "evals_gpt_4_1_mini_0_7.jsonl": 0.8,
    "evals_gpt_4_1_mini_1.jsonl": 1.0,
    "evals_gpt_4_1_mini_1_2.jsonl": 1.6,
}
"""File → how much its responses vary."""


@dataclass(frozen=True)
class Truth:
    """What the files were made with."""

    exponent: float = 1.01
    intercept: float = -2.0
    question_sd: float = 0.08
    noise_sd: float = 0.05


def write_ds_qa_files(
    folder: Path, *, seed: int = 1, questions: int = 8, rounds: int = 12, truth: Truth | None = None
) -> list[Path]:
    """Write a file per model and temperature; return their paths."""
    truth = truth or Truth()
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    lengths = rng.integers(60, 600, questions)
    shifts = rng.normal(0, truth.question_sd, questions)
    rights = rng.choice([0.1, 0.5, 0.95], questions)
    paths = []
    for name, spread in FILES.items():
        rows = []
        for question in range(questions):
            base = int(rng.integers(40, 120))
            first: set[str] = set()
            for number in range(1, rounds + 1):
                words = max(8, int(base * rng.lognormal(0, 0.35 * spread)))
                text = [str(word) for word in rng.choice(WORDS, words)]
                if number == 1:
                    first = set(text)
                ratio = float(lengths[question]) / words
                token_ratio = float(
                    np.exp(
                        truth.intercept
                        + truth.exponent * np.log(ratio)
                        + shifts[question]
                        + rng.normal(0, truth.noise_sd)
                    )
                )
                tokens_in = max(1, int(lengths[question] / 4))
                right = int(rng.random() < rights[question])
                told = " ".join(text) + f". @answer[{42 if right else int(rng.integers(1, 40))}]"
                rows.append(
                    {
                        "id": question,
                        "round": number,
                        "thread_id": f"thread_{name}_{question}_{number}",
                        "status": "completed",
                        "runtime": round(float(rng.gamma(4, 2)), 3),
                        "words": words,
                        "tokens": max(1, round(tokens_in / token_ratio)),
                        "reasoning": told,
                        "input_words": int(lengths[question]),
                        "input_tokens_gpt_4o": tokens_in,
                        "common_answers": [["answer", "42"]],
                        "verbosity_ratio_words": ratio,
                        "verbosity_ratio_tokens": token_ratio,
                        "complete_ratio": 1,
                        "accuracy": None if number % 3 == 0 else right,
                        "code_execute": int(rng.choice([0, 1, 2])),
                        "Similarity_Jaccard": len(first & set(text)) / len(first | set(text)),
                        "file_name": "",
                        "concepts": [CONCEPTS[question % 3]],
                        "level": LEVELS[question % 3],
                        "image_id": None,
                    }
                )
        path = folder / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        paths.append(path)
    return paths
