"""Run where inspect_ai is installed: inspect_task.py QUESTIONS LOG_DIR MODEL EPOCHS  writes logs, and prints them.

With ``read FILE…`` it only prints what inspect_ai says of logs that are there.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path


def main() -> None:
    if sys.argv[1] == "read":
        show(sys.argv[2:])
        return
    import inspect_ai
    from inspect_ai import Epochs, Task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.scorer import Score, accuracy, answer, includes, mean, scorer
    from inspect_ai.solver import generate, system_message

    questions, folder, model, epochs = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    asked = [json.loads(line) for line in Path(questions).read_bytes().splitlines()]

    @scorer(metrics={"words": [mean()], "has_code": [mean()]})
    def shape():
        async def score(state, target):
            text = state.output.completion
            return Score(value={"words": len(text.split()), "has_code": "```" in text}, explanation="counted")

        return score

    @scorer(metrics=[accuracy()])
    def sure():
        async def score(state, target):
            return Score.unscored(reason="no mark") if "(" in state.output.completion else Score(value="P")

        return score

    def run(chosen, kind, epochs, *, stop_at_error=False):
        samples = [
            Sample(id=q["id"], input=q["question"], target=q["truth"], metadata={"category": q["category"]})
            for q in asked
            if q["id"] in chosen or not chosen
        ]
        task = Task(
            dataset=MemoryDataset(samples, name="four"),
            solver=[system_message("Answer in one line: ANSWER: value"), generate()],
            scorer=[answer("line"), includes(), shape(), sure()],
            epochs=Epochs(epochs, ["mean"]),
            name="four",
        )
        log = inspect_ai.eval(
            task,
            model=f"openai-api/local/{model}",
            temperature=0.7,
            max_tokens=60,
            log_dir=folder,
            log_format=kind,
            display="none",
            fail_on_error=stop_at_error,
            log_model_api=False,
            log_realtime=False,
            max_connections=1,
            max_samples=1,
        )[0]
        return log.location

    logs = [run([], "eval", epochs), run(["mean", "größe"], "json", 2)]
    if model != "steady":
        logs.append(run(["median", 4], "eval", epochs, stop_at_error=True))
        logs.append(odd(folder))
    show(logs)


def odd(folder: str) -> str:
    """Write a log of what is seldom: parts, pictures, reasoning, tools, several choices, several targets, a judge."""
    import inspect_ai
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageUser, ContentImage, ContentText
    from inspect_ai.scorer import Score, includes, mean, model_graded_qa, scorer
    from inspect_ai.solver import generate, use_tools
    from inspect_ai.tool import tool

    @tool
    def add():
        async def execute(x: int, y: int):
            """Add two numbers.

            Args:
                x: One.
                y: The other.
            """
            return str(x + y)

        return execute

    @scorer(metrics=[mean()])
    def points():
        async def score(state, target):
            return Score(value=[1, 0.5], answer="x" * 500)

        return score

    pixel = "data:image/png;base64," + "iVBORw0KGgo" * 40
    samples = [
        Sample(
            id="picture",
            input=[ChatMessageUser(content=[ContentText(text="How many dots?"), ContentImage(image=pixel)])],
            target=["4", "four"],
        ),
        Sample(id="tool", input="Add 2 and 2 with the tool.", target="4"),
        Sample(id="letter", input="Which is even?", choices=["4", "5"], target="A"),
    ]
    log = inspect_ai.eval(
        Task(
            dataset=MemoryDataset(samples),
            solver=[use_tools(add()), generate()],
            scorer=[includes(), points(), model_graded_qa()],
            name="odd",
        ),
        model="openai-api/local/odd",
        num_choices=2,
        log_dir=folder,
        log_model_api=False,
        max_connections=1,
        log_format="eval",
        display="none",
        log_realtime=False,
        max_samples=1,
    )[0]
    return log.location


def show(files: list[str]) -> None:
    """Print, per log, what inspect_ai's own reading gives."""
    from inspect_ai.log import read_eval_log
    from inspect_ai.scorer import value_to_float

    number = value_to_float()
    said = {}
    for file in files:
        log = read_eval_log(file)
        said[Path(file).name] = {
            "tool": f"inspect_ai {version('inspect_ai')}",
            "status": log.status,
            "runs": [
                {
                    "question": str(sample.id),
                    "run": sample.epoch,
                    "text": sample.output.completion,
                    "usage": None
                    if sample.output.usage is None
                    else [
                        sample.output.usage.total_tokens - sample.output.usage.output_tokens,
                        sample.output.usage.output_tokens,
                    ],
                    "scores": {
                        name: [score.value, number(score.value)]
                        for name, score in (sample.scores or {}).items()
                        if isinstance(score.value, str)
                    },
                    "error": sample.error is not None,
                    "choices": max(1, len(sample.output.choices)),
                }
                for sample in log.samples or []
            ],
        }
    print("\n" + json.dumps(said))


if __name__ == "__main__":
    main()
