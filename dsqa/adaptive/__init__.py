"""Enough runs and no more: ask a little, mark, look, and go on only where the runs do not suffice.

Above sampling, outcomes and stats, which know nothing of it.
"""

from dsqa.adaptive.marks import Marks
from dsqa.adaptive.run import AdaptiveSampling, Look, sample_until_precise

__all__ = ["AdaptiveSampling", "Look", "Marks", "sample_until_precise"]
