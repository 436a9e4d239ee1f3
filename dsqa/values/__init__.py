"""How people and programs write values: numbers, truth values, dates, vectors; read exactly."""

from dsqa.values.brackets import closing_positions
from dsqa.values.kinds import (
    Kind,
    Value,
    parse_boolean,
    parse_moment,
    parse_nothing,
    parse_range,
    parse_truth,
    split_items,
)
from dsqa.values.notation import canonical_string, plain
from dsqa.values.numbers import EXACT, Number, parse_number, with_decimal_point
from dsqa.values.times import day_comes_first, parse_time, time_text

__all__ = [
    "EXACT",
    "Kind",
    "Number",
    "Value",
    "canonical_string",
    "closing_positions",
    "day_comes_first",
    "parse_boolean",
    "parse_moment",
    "parse_nothing",
    "parse_number",
    "parse_range",
    "parse_time",
    "parse_truth",
    "plain",
    "split_items",
    "time_text",
    "with_decimal_point",
]
