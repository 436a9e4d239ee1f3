"""Statistics of repeated runs: named estimators on plain arrays, and the tables made with them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dsqa.stats.answer_intervals import agreement_at_k, agreement_intervals, answer_interval
from dsqa.stats.answers import UNPARSED, AnswerSummary, answer_summary
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
from dsqa.stats.parts import score_parts
from dsqa.stats.proportions import clopper_pearson, jeffreys, missing_bounds, proportion_bounds, wilson
from dsqa.stats.repeated import at_least, maj_at_k, pass_at_k, pass_hat_k, pass_interval, pass_table
from dsqa.stats.variance import VarianceComponents, variance_components
from dsqa.stats.verdicts import VERDICTS, headline, threshold_calls, verdicts

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
    from dsqa.stats.comparison import (
        Adjustment,
        ModelComparison,
        adjust_p,
        cohens_h,
        compare_models,
        equivalence_test,
        friedman_pairs,
        friedman_test,
        hedges_g,
        mcnemar,
        mcnemar_test,
        odds_ratio,
        pair_by_question,
        paired_interval,
        probability_best,
        rank_biserial,
        risk_difference,
        sign_flip_test,
        signed_rank_test,
        smallest_detectable,
    )
    from dsqa.stats.correlation import (
        correlation_matrix,
        correlation_table,
    )
    from dsqa.stats.correlation_levels import CORRELATION_LEVELS, correlation_levels, level_tables
    from dsqa.stats.curves import (
        cell_curves,
        curve_means,
        maj_interval,
    )
    from dsqa.stats.drift import Drift, compare_studies
    from dsqa.stats.generalisability import GStudy, g_study
    from dsqa.stats.line_bootstrap import BootstrappedLine, bootstrap_line
    from dsqa.stats.missing import (
        FOUR_WAYS,
        four_way_ledger,
        lost_run_bounds,
        missing_case_bounds,
    )
    from dsqa.stats.models import (
        ClusteredFit,
        gee,
        glmm,
        likelihood_ratio,
    )
    from dsqa.stats.planning import Pilot, plan_cells, plan_comparison, plan_precision, read_pilot
    from dsqa.stats.regression import LinearFit, fit_line
    from dsqa.stats.robust_lines import (
        quantile_line,
        theil_sen_line,
    )
    from dsqa.stats.stability import (
        LAYERS,
        stability_layers,
        summarise_stability,
    )
    from dsqa.stats.temperature_response import (
        DoseResponse,
        dose_response,
    )
    from dsqa.stats.variance_jackknife import component_intervals
    from dsqa.stats.verbosity import (
        verbosity_fit,
        verbosity_table,
    )

__all__ = [
    "CELL_COLUMNS",
    "CORRELATION_LEVELS",
    "FOUR_WAYS",
    "GROUP_COLUMNS",
    "ICC",
    "LAYERS",
    "LEDGER_COLUMNS",
    "NOTABLE",
    "SCORE_BOUNDS",
    "UNPARSED",
    "VERDICTS",
    "Adjustment",
    "AnswerSummary",
    "BetaBinomial",
    "BootstrapMethod",
    "BootstrappedLine",
    "ClusteredFit",
    "DoseResponse",
    "Drift",
    "GStudy",
    "Interval",
    "LinearFit",
    "Measurement",
    "ModelComparison",
    "MomentStatistic",
    "Pilot",
    "Statistic",
    "VarianceComponents",
    "adjust_p",
    "agreement_at_k",
    "agreement_intervals",
    "answer_interval",
    "answer_summary",
    "at_least",
    "beta_binomial",
    "bootstrap_interval",
    "bootstrap_intervals",
    "bootstrap_line",
    "cell_curves",
    "clopper_pearson",
    "cohen_kappa",
    "cohens_h",
    "compare_models",
    "compare_studies",
    "component_intervals",
    "correlation_levels",
    "correlation_matrix",
    "correlation_table",
    "curve_means",
    "decompose_instability",
    "dose_response",
    "equivalence_test",
    "fit_line",
    "fleiss_kappa",
    "four_way_ledger",
    "friedman_pairs",
    "friedman_test",
    "g_study",
    "gee",
    "glmm",
    "headline",
    "hedges_g",
    "icc",
    "instability",
    "instability_interval",
    "instability_intervals",
    "jeffreys",
    "kendall_w",
    "krippendorff_alpha",
    "krippendorff_interval",
    "ledger",
    "level_tables",
    "likelihood_ratio",
    "lost_run_bounds",
    "maj_at_k",
    "maj_interval",
    "mcnemar",
    "mcnemar_test",
    "missing_bounds",
    "missing_case_bounds",
    "nested_interval",
    "normalised_instability",
    "odds_ratio",
    "pair_by_question",
    "paired_interval",
    "pass_at_k",
    "pass_hat_k",
    "pass_interval",
    "pass_table",
    "plan_cells",
    "plan_comparison",
    "plan_precision",
    "population_sd",
    "probability_best",
    "proportion_bounds",
    "quantile_line",
    "rank_biserial",
    "read_pilot",
    "risk_difference",
    "score_parts",
    "sign_flip_test",
    "signed_rank_test",
    "smallest_detectable",
    "stability_layers",
    "summarise_cells",
    "summarise_groups",
    "summarise_stability",
    "theil_sen_line",
    "threshold_calls",
    "unseen_bound",
    "variance_components",
    "verbosity_fit",
    "verbosity_table",
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
    "Adjustment": "comparison",
    "ModelComparison": "comparison",
    "adjust_p": "comparison",
    "cohens_h": "comparison",
    "compare_models": "comparison",
    "equivalence_test": "comparison",
    "friedman_pairs": "comparison",
    "friedman_test": "comparison",
    "hedges_g": "comparison",
    "mcnemar": "comparison",
    "mcnemar_test": "comparison",
    "odds_ratio": "comparison",
    "pair_by_question": "comparison",
    "paired_interval": "comparison",
    "probability_best": "comparison",
    "rank_biserial": "comparison",
    "risk_difference": "comparison",
    "sign_flip_test": "comparison",
    "signed_rank_test": "comparison",
    "smallest_detectable": "comparison",
    "correlation_matrix": "correlation",
    "correlation_table": "correlation",
    "CORRELATION_LEVELS": "correlation_levels",
    "correlation_levels": "correlation_levels",
    "level_tables": "correlation_levels",
    "BootstrappedLine": "line_bootstrap",
    "bootstrap_line": "line_bootstrap",
    "component_intervals": "variance_jackknife",
    "cell_curves": "curves",
    "curve_means": "curves",
    "maj_interval": "curves",
    "DoseResponse": "temperature_response",
    "dose_response": "temperature_response",
    "FOUR_WAYS": "missing",
    "four_way_ledger": "missing",
    "lost_run_bounds": "missing",
    "missing_case_bounds": "missing",
    "ClusteredFit": "models",
    "gee": "models",
    "glmm": "models",
    "likelihood_ratio": "models",
    "quantile_line": "robust_lines",
    "theil_sen_line": "robust_lines",
    "LAYERS": "stability",
    "stability_layers": "stability",
    "summarise_stability": "stability",
    "verbosity_table": "verbosity",
}


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        return getattr(import_module(f"dsqa.stats.{_ON_DEMAND[name]}"), name)
    raise AttributeError(f"module 'dsqa.stats' has no attribute '{name}'")
