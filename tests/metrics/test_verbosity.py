from __future__ import annotations

import pytest
from nltk.tokenize import NLTKWordTokenizer

from dsqa.metrics import count_bpe, count_tokens, ratio, words


def test_words_of_a_sentence_by_hand() -> None:
    text = "Don't panic: the data-driven mean is 1,234.5 (n = 32)!"
    assert words(text) == ["Don't", "panic", "the", "data-driven", "mean", "is", "1,234.5", "n", "32"]


def test_words_without_any() -> None:
    assert words("") == words(" … — !? []") == []


def test_words_agree_with_nltk_on_a_plain_sentence() -> None:
    text = "We read the file, drop 3 missing rows and find a mean of 20.09 miles per gallon."
    by_nltk = [token for token in NLTKWordTokenizer().tokenize(text) if any(c.isalnum() for c in token)]
    assert words(text) == by_nltk


def test_bpe_counts_known_pieces() -> None:
    # " hello" and " world" are single tokens of o200k_base, and so is each of "a", "\n".
    assert count_bpe("hello world") == 2
    assert count_bpe("") == 0
    assert count_bpe("<|endoftext|>") > 1
    assert count_bpe("a\ud800b") >= 2


def test_bpe_of_a_long_text_is_close_to_the_sum_of_its_parts() -> None:
    assert count_bpe("hello world " * 20_000) == pytest.approx(40_000, rel=0.001)


USAGE = {"prompt_tokens": 100, "completion_tokens": 40}


def test_usage_is_taken_as_it_is_where_the_response_is_all_text() -> None:
    tokens = count_tokens(USAGE, prompt="x", response="The mean is 5.", text_part="The mean is 5.")
    assert (tokens.prompt, tokens.text, tokens.total, tokens.source) == (100, 40, 40, "usage")


def test_reasoning_tokens_are_no_text() -> None:
    usage = USAGE | {"completion_tokens_details": {"reasoning_tokens": 30}}
    tokens = count_tokens(usage, prompt="x", response="Five.", text_part="Five.")
    assert (tokens.text, tokens.total, tokens.source) == (10, 40, "usage")


def test_code_takes_its_share_of_the_usage() -> None:
    response = "hello world\n```python\nhello world\n```"
    tokens = count_tokens(USAGE, prompt="x", response=response, text_part="hello world\n")
    share = 2 / count_bpe(response)
    assert tokens.text == round(40 * share)
    assert 0 < tokens.text < 20
    assert (tokens.total, tokens.source) == (40, "usage-apportioned")


def test_a_reasoning_field_without_a_count_takes_its_share() -> None:
    tokens = count_tokens(USAGE, prompt="x", response="hello world", text_part="hello world", reasoning="hello " * 6)
    whole = 2 + count_bpe("hello " * 6)
    assert (tokens.text, tokens.source) == (round(40 * 2 / whole), "usage-apportioned")


def test_without_usage_tokens_are_bpe() -> None:
    tokens = count_tokens(None, prompt="hello world", response="hello world ```x```", text_part="hello world")
    assert (tokens.prompt, tokens.text, tokens.source) == (2, 2, "bpe")
    assert tokens.total == count_bpe("hello world ```x```")


def test_half_a_usage_is_said_to_be_bpe() -> None:
    tokens = count_tokens({"completion_tokens": 9}, prompt="hello world", response="a b", text_part="a b")
    assert (tokens.prompt, tokens.text, tokens.source) == (2, 9, "bpe")


def test_code_alone_has_no_text_tokens() -> None:
    assert count_tokens(USAGE, prompt="x", response="```python\n1\n```", text_part="").text == 0


def test_nonsense_in_usage_is_not_believed() -> None:
    tokens = count_tokens({"prompt_tokens": -1, "completion_tokens": True}, prompt=None, response="hello world",
                          text_part="hello world")  # fmt: skip
    assert (tokens.prompt, tokens.text, tokens.source) == (None, 2, "bpe")


def test_ratio_is_input_by_output_and_never_infinite() -> None:
    assert ratio(30, 60) == 0.5
    assert ratio(30, 0) is None
    assert ratio(None, 5) is None
    assert ratio(5, None) is None
    assert ratio(0, 5) == 0.0
