"""What decides about a plan: its least precise condition, its hardest pair of conditions."""

from __future__ import annotations

import pandas as pd

__all__ = ["hardest_pair", "least_power", "least_precise"]


def least_precise(plans: pd.DataFrame) -> pd.DataFrame:
    """Return each plan's least precise condition, of a table that `plan_precision` made: a row per plan."""
    keys = ["questions", "runs"]
    return (
        plans.groupby(keys, as_index=False)
        .agg(
            half_width=("half_width", "max"),
            half_width_90=("half_width_90", "max"),
            assurance=("assurance", "min"),
            standard_error=("standard_error", "max"),
        )
        .sort_values(keys, ignore_index=True)
    )


def hardest_pair(plans: pd.DataFrame) -> pd.DataFrame:
    """Return each plan's pair that is hardest to tell apart, of a table that `plan_comparison` made."""
    hardest = plans.loc[plans.groupby(["questions", "runs"])["smallest_difference"].idxmax()]
    return hardest.drop(columns="requests").reset_index(drop=True)


def least_power(curves: pd.DataFrame) -> pd.DataFrame:
    """Return each plan's least power at each difference, of a table that `power_curve` made."""
    return curves.groupby(["questions", "runs", "difference"])["power"].min().reset_index()
