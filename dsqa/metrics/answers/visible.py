"""What of a response may hold its answer: reasoning and code taken out."""

from __future__ import annotations

import re

__all__ = ["strip_reasoning", "without_code"]

# '<think>' and what others write: '◁think▷' Kimi, '[THINK]' Mistral, '<|START_THINKING|>' Cohere.
# Words that a text may well hold in other senses count at the beginning of a line only; in code marks none does.
_TAG = re.compile(
    r"(?<!`)(?:[<◁]\s{0,3}(/?)\s{0,3}(?:think|thinking)\s{0,3}[>▷]"
    r"|^[ \t]{0,8}(?:<(?:seed:think|thoughts?|reasoning)>|\[THINK\])"
    r"|(</(?:seed:think|thoughts?|reasoning)>|\[/THINK\])"
    r"|<\|(?:START_THINKING|(END)_THINKING)\|>"
    r"|<\|(?:begin_of_thought|(end)_of_thought)\|>)",
    re.IGNORECASE | re.MULTILINE,
)
# gpt-oss as it is written without its server's parsing: what is before the final channel is reasoning.
_CHANNEL = re.compile(r"<\|channel\|>\s{0,3}(\w{1,20})[^<]{0,200}<\|message\|>")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([^\n`]*)$")
_NO_CODE = frozenset({"text", "plaintext", "plain", "txt", "output", "answer", "markdown", "md", "console"})
_OBJECTS = frozenset({"", "json", "jsonc", "json5"})
_ANSWER_LINE = re.compile(r"^\s*[@＠][^\n\[]{1,100}\[")


_END_MARKS = (
    "<|im_end|>", "<|eot_id|>", "<|endoftext|>", "<|end|>", "<|return|>", "<end_of_turn>", "</s>", "<eos>",
    "<end_code>",
    "<|EOT|>", "<|eot|>", "<|endofturn|>", "<|eom_id|>", "<|end_of_text|>", "<|end_of_turn|>", "[EOS]", "<EOT>",
)  # fmt: skip


def _without_end_marks(text: str) -> str:
    """Return a text without the marks of its end that some servers of local models leave in."""
    for _ in range(3):
        bare = text.rstrip()
        mark = next((mark for mark in _END_MARKS if bare.endswith(mark)), None)
        if mark is None:
            break
        text = bare.removesuffix(mark)
    return text


def strip_reasoning(text: str) -> tuple[str, bool]:
    """Return the text without its ``<think>`` blocks, and whether one was left open.

    A block ends at the first closing tag. A closing tag without an opening one ends a block that began with
    the response, since some chat templates put the opening tag into the prompt. A block that is never closed
    leaves nothing: the model was still thinking, so whatever stands before it is not its answer either. Of a
    response in channels (``<|channel|>analysis<|message|>…``) the final one is left.
    """
    text = _without_end_marks(text)
    if not any(mark in text for mark in "<◁["):
        return text, False
    channels = list(_CHANNEL.finditer(text))
    if channels:
        if channels[-1][1].casefold() != "final":
            return "", True
        text = text[channels[-1].end() :]
    kept: list[str] = []
    start, inside = 0, False
    for tag in _TAG.finditer(text):
        closing = any(tag.groups())
        if closing and not inside:
            kept.clear()
        elif not closing and not inside:
            kept.append(text[start : tag.start()])
            inside = True
            continue
        elif not closing:
            continue
        start, inside = tag.end(), False
    if inside:
        return "", True
    kept.append(text[start:])
    return "".join(kept), False


def without_code(text: str) -> str:
    """Return the text without fenced blocks, save ``@name[value]`` lines.

    Models often set their final answer in a fence of its own; that is text, not code. Such lines are kept if the
    fence holds nothing else, or says that it is no code (``text``, ``output`` …); so is a JSON object that is all of
    its fence. A fence that is never closed runs to the end.
    """
    if "```" not in text and "~~~" not in text:
        return text
    kept: list[str] = []
    block: list[str] = []
    fence, language = "", ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark.group(1).startswith(fence) and not mark.group(2).strip():
                answers = [line for line in block if _ANSWER_LINE.match(line)]
                if language in _NO_CODE or len(answers) == sum(bool(line.strip()) for line in block):
                    kept.extend(answers)
                elif language in _OBJECTS and _is_object(block):
                    kept.extend(block)
                block, fence = [], ""
            else:
                block.append(line)
        elif mark:
            fence, language = mark.group(1), mark.group(2).strip().casefold()
        else:
            kept.append(line)
    return "\n".join(kept)


def _is_object(block: list[str]) -> bool:
    text = "\n".join(block).strip()
    return text.startswith("{") and text.endswith("}")
