"""Statistics of repeated runs: named estimators on plain arrays, and the tables made with them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dsqa.stats.answers import UNPARSED, AnswerSummary, answer_interval, answer_summary
from dsqa.stats.bootstrap import (
    BootstrapMethod,
    MomentStatistic,
    Statistic,
    bootstrap_interval,
    bootstrap_intervals,
    nested_interval,
    weighted_mean,
    weighted_sd,
)
from dsqa.stats.cells import summarise_cells
from dsqa.stats.columns import CELL_COLUMNS, GROUP_COLUMNS, LEDGER_COLUMNS
from dsqa.stats.dispersion import (
    NOTABLE,
    SCORE_BOUNDS,
    decompose_instability,
    instability,
    instability_interval,
    instability_intervals,
    normalised_instability,
    population_sd,
    unseen_bound,
)
from dsqa.stats.groups import ledger, summarise_groups
from dsqa.stats.interval import Interval
from dsqa.stats.overdispersion import BetaBinomial, beta_binomial
from dsqa.stats.proportions import clopper_pearson, jeffreys, missing_bounds, proportion_bounds, wilson
from dsqa.stats.repeated import at_least, maj_at_k, pass_at_k, pass_hat_k, pass_interval, pass_table
from dsqa.stats.variance import VarianceComponents, variance_components
from dsqa.stats.verdicts import VERDICTS, headline, verdicts

if TYPE_CHECKING:
    from dsqa.stats.agreement import (
        ICC,
        Measurement,
        cohen_kappa,
        fleiss_kappa,
        icc,
        kendall_w,
        krippendorff_alpha,
        krippendorff_interval,
    )
    from dsqa.stats.drift import Drift, compare_studies
    from dsqa.stats.generalisability import GStudy, g_study
    from dsqa.stats.planning import Pilot, plan_cells, plan_comparison, plan_precision, read_pilot
    from dsqa.stats.regression import LinearFit, fit_line
    from dsqa.stats.verbosity import verbosity_fit

__all__ = [
    "CELL_COLUMNS",
    "GROUP_COLUMNS",
    "ICC",
    "LEDGER_COLUMNS",
    "NOTABLE",
    "SCORE_BOUNDS",
    "UNPARSED",
    "VERDICTS",
    "AnswerSummary",
    "BetaBinomial",
    "BootstrapMethod",
    "Drift",
    "GStudy",
    "Interval",
    "LinearFit",
    "Measurement",
    "MomentStatistic",
    "Pilot",
    "Statistic",
    "VarianceComponents",
    "answer_interval",
    "answer_summary",
    "at_least",
    "beta_binomial",
    "bootstrap_interval",
    "bootstrap_intervals",
    "clopper_pearson",
    "cohen_kappa",
    "compare_studies",
    "decompose_instability",
    "fit_line",
    "fleiss_kappa",
    "g_study",
    "headline",
    "icc",
    "instability",
    "instability_interval",
    "instability_intervals",
    "jeffreys",
    "kendall_w",
    "krippendorff_alpha",
    "krippendorff_interval",
    "ledger",
    "maj_at_k",
    "missing_bounds",
    "nested_interval",
    "normalised_instability",
    "pass_at_k",
    "pass_hat_k",
    "pass_interval",
    "pass_table",
    "plan_cells",
    "plan_comparison",
    "plan_precision",
    "population_sd",
    "proportion_bounds",
    "read_pilot",
    "summarise_cells",
    "summarise_groups",
    "unseen_bound",
    "variance_components",
    "verbosity_fit",
    "verdicts",
    "weighted_mean",
    "weighted_sd",
    "wilson",
]

# These load statsmodels and scipy.stats, half of the start-up time of a command that needs neither.
_ON_DEMAND = {
    "ICC": "agreement",
    "Measurement": "agreement",
    "cohen_kappa": "agreement",
    "Drift": "drift",
    "compare_studies": "drift",
    "GStudy": "generalisability",
    "g_study": "generalisability",
    "Pilot": "planning",
    "plan_cells": "planning",
    "plan_comparison": "planning",
    "plan_precision": "planning",
    "read_pilot": "planning",
    "fleiss_kappa": "agreement",
    "icc": "agreement",
    "kendall_w": "agreement",
    "krippendorff_alpha": "agreement",
    "krippendorff_interval": "agreement",
    "LinearFit": "regression",
    "fit_line": "regression",
    "verbosity_fit": "verbosity",
}


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        return getattr(import_module(f"dsqa.stats.{_ON_DEMAND[name]}"), name)
    raise AttributeError(f"module 'dsqa.stats' has no attribute '{name}'")
