"""How many runs and questions the next study needs, simulated from a pilot."""

from dsqa.stats.planning.cells import plan_cells
from dsqa.stats.planning.comparison import plan_comparison, power_curve
from dsqa.stats.planning.pilot import Pilot, read_pilot
from dsqa.stats.planning.precision import plan_precision
from dsqa.stats.planning.summary import hardest_pair, least_power, least_precise

__all__ = [
    "Pilot",
    "hardest_pair",
    "least_power",
    "least_precise",
    "plan_cells",
    "plan_comparison",
    "plan_precision",
    "power_curve",
    "read_pilot",
]
