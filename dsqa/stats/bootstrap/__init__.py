"""The bootstrap family: resampling independent runs, for any statistic, many cells at once."""

from dsqa.stats.bootstrap.ends import BootstrapMethod
from dsqa.stats.bootstrap.intervals import bootstrap_interval, bootstrap_intervals
from dsqa.stats.bootstrap.nested import Resample, nested_interval
from dsqa.stats.bootstrap.statistics import MomentStatistic, Statistic, weighted_mean, weighted_sd

__all__ = [
    "BootstrapMethod",
    "MomentStatistic",
    "Resample",
    "Statistic",
    "bootstrap_interval",
    "bootstrap_intervals",
    "nested_interval",
    "weighted_mean",
    "weighted_sd",
]
