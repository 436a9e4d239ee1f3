"""Questions the tests ask, one for each kind of ground truth."""

from __future__ import annotations

from dsqa.bank import Question


def ask(form: str, *answers: tuple[str, str], question: str = "What is it?", **extra) -> Question:
    return Question(id="q", question=question, format=form, level="easy", common_answers=answers, **extra)


QUESTIONS: dict[str, Question] = {
    "mean": ask('@mean_fare[mean_fare_value] where "mean_fare_value" is a number', ("mean_fare", "34.65")),
    "count": ask("@n_cars[n_cars] where n_cars is an integer", ("n_cars", "32")),
    "eleven": ask("@n[n]", ("n", "11")),
    "minus": ask("@x[x]", ("x", "-5")),
    "plus": ask("@x[x]", ("x", "5")),
    "big": ask("@x[x]", ("x", "123457")),
    "grouped": ask("@x[x]", ("x", "1,234,567")),
    "zero": ask("@x[x]", ("x", "0")),
    "zero2": ask("@p_value[p]", ("p_value", "0.0000")),
    "tie": ask("@x[x]", ("x", "0.13")),
    "one": ask("@x[x]", ("x", "28.0")),
    "small": ask("@x[x]", ("x", "1.2e-3")),
    "large": ask("@x[x]", ("x", "2.5e6")),
    "bound": ask("@p_value[p]", ("p_value", "<0.001")),
    "fraction": ask("@x[x]", ("x", "1/3")),
    "money": ask("@price[price]", ("price", "$5.00")),
    "length": ask("@d[d]", ("d", "5 km")),
    "percent": ask("@share[share]", ("share", "20%")),
    "proportion": ask("@p[p], a number between 0 and 1 rounded to two decimals", ("p", "0.20")),
    "percentage": ask("@missing_percentage[p], between 0 and 100", ("missing_percentage", "95.12")),
    "unclear": ask("@x[x]", ("x", "0.20")),
    "country": ask("@country[country_name]", ("country", "Nigeria")),
    "the": ask("@country[country_name]", ("country", "The Netherlands")),
    "brand": ask("@brand[brand_name]", ("brand", "Preferred Hotels & Resorts")),
    "word": ask('@addedfeature[ratio], where "ratio" is the new column', ("addedfeature", "ratio")),
    "column": ask("@column[column_name]", ("column", "bty_avg")),
    "normal": ask('@is_normal[response], "yes" or "no"', ("is_normal", "no")),
    "truth": ask("@is_normal[is_normal]", ("is_normal", "True")),
    "vector": ask("@v[v]", ("v", "[1, 2.5, 3]")),
    "thousands": ask("@v[v]", ("v", "[1234, 5678]")),
    "names": ask("@countries[c1,c2,...]", ("countries", "Benin, Togo, Chad")),
    "set": ask("@levels[levels]", ("levels", "{4, 6, 8}")),
    "anyorder": ask("@levels[levels], in any order", ("levels", "[4, 6, 8]")),
    "mapping": ask("@means[means]", ("means", "{setosa: 5.01, virginica: 6.59}")),
    "ends": ask("@ci[lower, upper]", ("ci", "(1.2, 3.4)")),
    "youth": ask("@group[group]", ("group", "under 18")),
    "range": ask("@scale[range]", ("scale", "0-1")),
    "interval": ask("@scale[range]", ("scale", "(0, 1]")),
    "date": ask("@day[day]", ("day", "2010-01-05")),
    "time": ask("@at[at]", ("at", "7:30")),
    "nan": ask("@x[x]", ("x", "NaN")),
    "none": ask("@kind[kind]", ("kind", "none")),
    "inf": ask("@x[x]", ("x", "inf")),
    "blank": ask("@outliers[list]", ("outliers", "")),
    "two": ask("@a[x], @b[y]", ("a", "34.65"), ("b", "yes")),
    "example": ask("@r[r_value] where r_value is between -1 and 1. Example: @r[-0.55].", ("r", "-0.58")),
    "rate": ask(
        '@n[count] @rate[rate]\nwhere "count" is an integer.\nwhere "rate" is a percentage rate between 0 and 100',
        ("n", "3"),
        ("rate", "78.4"),
    ),
}
