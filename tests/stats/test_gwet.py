"""Gwet's AC1 and AC2 against R's irrCAC on its own example, and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from dsqa.errors import StatisticsError
from dsqa.stats import agreement_interval, fleiss_kappa, gwet_ac, krippendorff_alpha

_ = np.nan
# irrCAC's cac.raw4raters: 12 units, 4 raters, 5 categories.
FOUR_RATERS = np.array([
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]).T  # fmt: skip


def test_ac1_is_that_of_irrcac():
    assert gwet_ac(FOUR_RATERS) == pytest.approx(0.77544, abs=5e-6)
    assert krippendorff_alpha(FOUR_RATERS) == pytest.approx(0.743, abs=5e-4)


def test_ac2_by_hand():
    # Marks 0, 1, 2; quadratic credit 1, 3/4, 0; pairs (0,0), (0,1), (2,2), (1,2).
    pairs = [[0, 0], [0, 1], [2, 2], [1, 2]]
    observed = (1 + 0.75 + 1 + 0.75) / 4
    shares = np.array([3, 2, 3]) / 8
    chance = (3 + 4 * 0.75) / 6 * (shares * (1 - shares)).sum()
    assert gwet_ac(pairs, weights="quadratic") == pytest.approx((observed - chance) / (1 - chance))
    linear = (1 + 0.5 + 1 + 0.5) / 4
    chance = (3 + 4 * 0.5) / 6 * (shares * (1 - shares)).sum()
    assert gwet_ac(pairs, weights="linear") == pytest.approx((linear - chance) / (1 - chance))


def test_ac1_does_not_fall_where_one_mark_is_common():
    pairs = np.array([[1, 1]] * 96 + [[1, 0], [0, 1], [1, 0], [0, 1]])
    assert fleiss_kappa(pairs) < 0
    # p_a = 0.96, π = 0.98: p_e = 2 · 0.98 · 0.02.
    assert gwet_ac(pairs) == pytest.approx((0.96 - 0.0392) / (1 - 0.0392))
    found = agreement_interval(pairs, gwet_ac)
    assert found.low < gwet_ac(pairs) < found.high <= 1


@pytest.mark.parametrize("settings", [{}, {"categories": [0, 2]}, {"weights": "cubic", "categories": [0, 1]}])
def test_what_has_no_ac_is_refused(settings):
    with pytest.raises(StatisticsError):
        gwet_ac([[1, 1], [1, 1]], **settings)


def test_equal_ratings_agree_where_other_categories_are_named():
    assert gwet_ac([[1, 1], [1, 1]], categories=[0, 1]) == 1
