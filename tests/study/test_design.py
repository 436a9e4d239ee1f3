"""Conditions and cells have stable, distinct ids."""

from dsqa.study.design import Cell, Condition, conditions_of
from dsqa.study.parse import parse_study

STUDY = """\
name: s
models: [a, {name: b, request: {top_p: 0.5}}]
temperatures: [0, 1.0]
request: {max_tokens: 10}
prompt: {system: Be brief.}
"""


def test_conditions_are_model_by_temperature_with_all_parameters():
    conditions = conditions_of(parse_study(STUDY))
    assert [(c.model, c.temperature) for c in conditions] == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert conditions[2].request == {"max_tokens": 10, "top_p": 0.5}
    assert conditions[0].system == "Be brief."


def test_ids_are_readable_and_differ_with_anything_that_is_sent():
    base = Condition("default", "gpt-4o-mini", 0.2)
    assert base.id.startswith("gpt-4o-mini_t0.2_")
    others = [
        Condition("other", "gpt-4o-mini", 0.2),
        Condition("default", "gpt-4o-mini", None),
        Condition("default", "gpt-4o-mini", 0.2, "system"),
        Condition("default", "gpt-4o-mini", 0.2, None, {"top_p": 1}),
    ]
    assert len({base.id, *(c.id for c in others)}) == 5


def test_id_does_not_change_between_versions():
    # Recorded studies hold these ids: a change here orphans every run ever recorded.
    assert Condition("default", "gpt-4o-mini", 0.2).id == "gpt-4o-mini_t0.2_" + "ac539af9"


def test_round_trip():
    condition = Condition("e", "meta/llama 3:8b", 1.2, "s", {"max_tokens": 3})
    assert Condition.from_dict(condition.to_dict()) == condition
    assert "/" not in condition.id
    assert ":" not in condition.id


def test_prompt_hash_follows_the_messages_only():
    condition = Condition("default", "m", 1.0)
    messages = ({"role": "user", "content": "How many?"},)
    other = ({"role": "user", "content": "How many??"},)
    assert Cell("q1", condition, messages).prompt_hash == Cell("q2", condition, messages).prompt_hash
    assert Cell("q1", condition, messages).prompt_hash != Cell("q1", condition, other).prompt_hash
