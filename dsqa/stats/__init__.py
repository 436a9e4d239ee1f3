"""Statistics of repeated runs: named estimators on plain arrays, and the tables made with them."""

from dsqa.stats.answers import UNPARSED, AnswerSummary, answer_summary
from dsqa.stats.bootstrap import (
    BootstrapMethod,
    MomentStatistic,
    Statistic,
    bootstrap_interval,
    bootstrap_intervals,
    weighted_mean,
    weighted_sd,
)
from dsqa.stats.cells import summarise_cells
from dsqa.stats.columns import CELL_COLUMNS, GROUP_COLUMNS, LEDGER_COLUMNS
from dsqa.stats.dispersion import (
    NOTABLE,
    SCORE_BOUNDS,
    instability,
    instability_interval,
    instability_intervals,
    normalised_instability,
    population_sd,
    unseen_bound,
)
from dsqa.stats.groups import ledger, summarise_groups
from dsqa.stats.interval import Interval
from dsqa.stats.proportions import clopper_pearson, jeffreys, missing_bounds, proportion_bounds, wilson
from dsqa.stats.verdicts import VERDICTS, headline, verdicts

__all__ = [
    "CELL_COLUMNS",
    "GROUP_COLUMNS",
    "LEDGER_COLUMNS",
    "NOTABLE",
    "SCORE_BOUNDS",
    "UNPARSED",
    "VERDICTS",
    "AnswerSummary",
    "BootstrapMethod",
    "Interval",
    "MomentStatistic",
    "Statistic",
    "answer_summary",
    "bootstrap_interval",
    "bootstrap_intervals",
    "clopper_pearson",
    "headline",
    "instability",
    "instability_interval",
    "instability_intervals",
    "jeffreys",
    "ledger",
    "missing_bounds",
    "normalised_instability",
    "population_sd",
    "proportion_bounds",
    "summarise_cells",
    "summarise_groups",
    "unseen_bound",
    "verdicts",
    "weighted_mean",
    "weighted_sd",
    "wilson",
]
