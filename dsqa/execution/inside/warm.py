"""First calls are slow: libraries import and build things then. Make them once, before the forks."""

from __future__ import annotations

import io
import warnings

__all__ = ["warm_up"]


def warm_up(loaded: set[str]) -> None:
    """Exercise what snippets use most, leaving no figure and no seeded state behind.

    Parameters
    ----------
    loaded
        The modules that could be imported.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "pandas" in loaded:
            _pandas()
        if "matplotlib.pyplot" in loaded:
            _matplotlib()
        if "statsmodels.formula.api" in loaded:
            _statsmodels()


def _pandas() -> None:
    import pandas as pd  # noqa: PLC0415

    table = pd.read_csv(io.StringIO("a,b,c\n1,x,2.5\n2,y,\n3,x,1.5\n"))
    repr(table)
    repr(table["a"])
    table.describe()
    table.isna().sum()
    table["b"].value_counts()
    table.dropna().groupby("b")["c"].mean()
    table[["a", "c"]].mean()
    table[["a", "c"]].corr()
    table.info(buf=io.StringIO())


def _matplotlib() -> None:
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots()
    axes.plot([1, 2], [1, 2], label="a")
    axes.hist([1, 2, 2])
    axes.set_title("a")
    axes.legend()
    figure.savefig(io.BytesIO(), format="png")
    plt.close("all")


def _statsmodels() -> None:
    import pandas as pd  # noqa: PLC0415
    import statsmodels.formula.api as smf  # noqa: PLC0415

    table = pd.DataFrame({"y": [1.0, 2.0, 2.5, 4.5, 4.0], "x": [1.0, 2.0, 3.0, 4.0, 5.0]})
    str(smf.ols("y ~ x", data=table).fit().summary())
