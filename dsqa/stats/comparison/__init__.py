"""Comparison of models, temperatures or anything else, paired by question: `compare_models` has it all in one."""

from dsqa.stats.adjust import Adjustment, adjust_p
from dsqa.stats.comparison.best import probability_best
from dsqa.stats.comparison.compare import COMPARISON_COLUMNS, MARGINS, ModelComparison, compare_models
from dsqa.stats.comparison.effects import Effect, cohens_h, hedges_g, odds_ratio, rank_biserial, risk_difference
from dsqa.stats.comparison.equivalence import Equivalence, equivalence_test, inside_margin, smallest_detectable
from dsqa.stats.comparison.friedman import Friedman, friedman_pairs, friedman_test
from dsqa.stats.comparison.layout import Measure, Paired, pair_by_question
from dsqa.stats.comparison.mcnemar import McNemar, PairKind, mcnemar, mcnemar_test
from dsqa.stats.comparison.paired import (
    SignedRankTest,
    SignFlipTest,
    paired_interval,
    resampled_means,
    sign_flip_test,
    signed_rank_test,
)

__all__ = [
    "COMPARISON_COLUMNS",
    "MARGINS",
    "Adjustment",
    "Effect",
    "Equivalence",
    "Friedman",
    "McNemar",
    "Measure",
    "ModelComparison",
    "PairKind",
    "Paired",
    "SignFlipTest",
    "SignedRankTest",
    "adjust_p",
    "cohens_h",
    "compare_models",
    "equivalence_test",
    "friedman_pairs",
    "friedman_test",
    "hedges_g",
    "inside_margin",
    "mcnemar",
    "mcnemar_test",
    "odds_ratio",
    "pair_by_question",
    "paired_interval",
    "probability_best",
    "rank_biserial",
    "resampled_means",
    "risk_difference",
    "sign_flip_test",
    "signed_rank_test",
    "smallest_detectable",
]
