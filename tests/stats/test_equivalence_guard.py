"""A t test over questions is refused where a handful of them carries all the spread."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dsqa.errors import StatisticsError
from dsqa.stats.comparison.equivalence import equivalence_test, smallest_detectable


@pytest.mark.parametrize("moved", [1, 4])
def test_a_few_questions_that_differ_say_nothing(moved: int) -> None:
    differences = np.zeros(41)
    differences[:moved] = 0.1
    # |t| is at most about the root of `moved`: 1 of 41 can never be significant, whatever its size.
    assert moved > 1 or stats.ttest_1samp(differences, 0).pvalue > 0.3
    for refused in (lambda: equivalence_test(differences, 0.05), lambda: smallest_detectable(differences)):
        with pytest.raises(StatisticsError, match=f"only {moved} of 41 questions"):
            refused()


def test_five_will_do_and_small_studies_are_as_before() -> None:
    differences = np.zeros(41)
    differences[:5] = [0.1, -0.1, 0.2, 0.1, 0.1]
    assert smallest_detectable(differences) > 0
    assert equivalence_test([0.01, 0.02, 0.02], 0.5).verdict == "equivalent"
