"""Run where lm_eval is installed, in the folder of the task: lm_eval_task.py URL MODEL OUT  writes samples.

Prints what lm_eval itself holds of them in memory.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path


def main() -> None:
    import lm_eval
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    url, model, out = sys.argv[1:4]
    tracker = EvaluationTracker(output_path=out)
    results = lm_eval.simple_evaluate(
        model="local-chat-completions",
        model_args={
            "model": model,
            "base_url": f"{url}/chat/completions",
            "num_concurrent": 1,
            "max_retries": 2,
            "tokenizer_backend": None,
        },
        tasks=["four"],
        task_manager=TaskManager(include_path=".", include_defaults=False),
        apply_chat_template=True,
        system_instruction="Answer in one line: ANSWER: value",
        log_samples=True,
        evaluation_tracker=tracker,
        bootstrap_iters=0,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    tracker.save_results_samples(task_name="four", samples=samples["four"])
    runs = [
        {
            "question": str(sample["doc"]["id"]),
            "run": number,
            "text": text,
            "usage": None,
            # Of several responses the filter "first" scores the first, and no other.
            "scores": {"exact_match,first": [None, sample["exact_match"]]} if number == 0 else {},
            "error": False,
        }
        for sample in samples["four"]
        if sample["filter"] == "first"
        for number, text in enumerate(sample["resps"][0])
    ]
    name = next(Path(out).rglob("samples_*.jsonl")).name
    print("\n" + json.dumps({name: {"tool": f"lm_eval {version('lm_eval')}", "status": "success", "runs": runs}}))


if __name__ == "__main__":
    main()
