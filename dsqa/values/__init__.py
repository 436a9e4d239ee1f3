"""How people and programs write values: numbers, truth values, dates, vectors; read exactly."""

from dsqa.values.brackets import closing_positions
from dsqa.values.kinds import (
    Interval,
    Kind,
    Value,
    parse_boolean,
    parse_interval,
    parse_moment,
    parse_nothing,
    parse_range,
    parse_truth,
    split_items,
)
from dsqa.values.moments import ambiguous_date
from dsqa.values.notation import canonical_string, plain, undressed
from dsqa.values.numbers import EXACT, Number, parse_number, with_decimal_point
from dsqa.values.times import day_comes_first, parse_time, time_text
from dsqa.values.units import same_unit

__all__ = [
    "EXACT",
    "Interval",
    "Kind",
    "Number",
    "Value",
    "ambiguous_date",
    "canonical_string",
    "closing_positions",
    "day_comes_first",
    "parse_boolean",
    "parse_interval",
    "parse_moment",
    "parse_nothing",
    "parse_number",
    "parse_range",
    "parse_time",
    "parse_truth",
    "plain",
    "same_unit",
    "split_items",
    "time_text",
    "undressed",
    "with_decimal_point",
]
