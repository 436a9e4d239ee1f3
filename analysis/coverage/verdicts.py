"""What docs/coverage.md says of each table, and which row of which table an interval of the package rests on."""

# ruff: noqa: E501 - sentences of the page
from __future__ import annotations

__all__ = ["DEFAULTS", "NOT_SIMULATED", "TITLES", "VERDICTS"]

_MEANS = tuple(f"mean of {measure} over questions" for measure in ("accuracy", "score", "σ̄"))
_DIFFERENCES = tuple(f"difference of {measure}" for measure in ("accuracy", "score", "σ̄"))
_JACKKNIFE_Z = "jackknife over questions, Fisher's z"
DEFAULTS: dict[str, tuple[tuple[str, ...], str]] = {
    "mean over questions": (_MEANS, "Student t"),
    "difference": (_DIFFERENCES, "Student t"),
    "difference, these questions": (
        tuple(f"difference of {measure}, these questions" for measure in ("accuracy", "score")),
        "t, variances within cells",
    ),
    "difference of σ̄, these questions": (("difference of σ̄, these questions",), "t, jackknife within cells"),
    **{
        f"correlation, {kind}": ((f"correlation, {kind}",), _JACKKNIFE_Z)
        for kind in ("pearson", "spearman", "kendall", "repeated")
    },
    "slope of a line": (("slope of a line",), "clustered, HC3"),
    "line, left out": (("slope of a line",), "jackknife over questions"),
    "slope by Theil–Sen": (("slope by Theil–Sen",), "jackknife over questions"),
    "slope of a median regression": (("slope of a median regression",), "clustered kernel errors, t"),
    "agreement": (("Cohen's κ", "Krippendorff's α", "Gwet's AC1"), _JACKKNIFE_Z),
    "ICC": (("ICC(2,1)",), _JACKKNIFE_Z),
    "cost per right answer": (("cost per right answer",), "jackknife over questions, logarithm"),
    "share of a part": (("share of a part",), "jackknife over questions"),
    "variance component": (
        tuple(f"variance component, {what}" for what in ("between questions", "question × model", "between runs")),
        "jackknife over questions, logarithm",
    ),
    "reliability of one run": (("reliability of one run",), "jackknife over questions of ln F, estimate"),
    "slope with temperature": (("slope with temperature",), "clustered, HC3"),
}
"""Kind of interval, as the package names it → the tables it rests on, and the method."""

TITLES = {
    "accuracy": "Accuracy of a cell",
    "pass@5": "pass@5",
    "pass^5": "pass^5 (all five right)",
    "instability": "Normalised instability σ̄ of a cell",
    "modal_share": "Share of the commonest answer",
    "entropy": "Entropy of the answers",
    "gini_simpson": "Gini–Simpson index of the answers",
    "pooled accuracy": "Accuracy pooled over questions",
}
_T = (
    "Default: **Student's t over questions** (`dsqa/stats/over_questions.py`), refused for two questions, equal values "
    "and a handful of many that differ."
)
VERDICTS = {
    "accuracy": (
        "Default: **Wilson**. Wilson and Jeffreys are both within a point of 95 % on average over all rates at "
        "every N, and neither is better throughout; Wilson needs no prior. At the rates tried it falls to 90 %; at "
        "the worst rates between them, close to 0 and 1, its coverage is 83 to 86 %, as with any interval that is not "
        "conservative, since only a few counts are possible there (p = 0.18/N, where 0 right is nearly certain and "
        "the interval of 1 right begins just above p). Clopper–Pearson never falls below 95 % and is the choice where "
        "that must be promised. The bootstraps know nothing of runs that are all alike and are not used."
    ),
    "pass@5": "Wilson mapped through a monotone function: the coverage is that of the interval for p.",
    "pass^5": "As pass@5.",
    "instability": (
        "Default: **exact for two distinct scores, BCa for more, the upper end raised to what unseen outcomes "
        "allow** (`dsqa/stats/dispersion.py`). It errs on the side of saying too little: above 97 % for cells "
        "that hardly vary, where no interval from a few runs can do better without claiming to know outcomes that "
        "it has not seen. The bare bootstraps fall far below 95 % there, which is why none of them is the "
        "default."
    ),
    "modal_share": (
        "Default: **Clopper–Pearson, and an exact bound where all answers are equal** (`dsqa/stats/answers.py`). "
        "Conservative, since the commonest answer is chosen after the fact."
    ),
    "entropy": (
        "No interval here keeps 95 % at N below 30: the entropy of few runs is too low, since answers that did "
        "not come are not in it. Read it as a description there."
    ),
    "gini_simpson": (
        "Default: basic bootstrap, with an exact bound where all answers are equal. Below 95 % at small N, as the "
        "entropy but less so."
    ),
    "pooled accuracy": (
        "The beta-binomial is for questions that differ; Wilson on all runs pretends that they do not, and fails. "
        "Slightly below 95 % with 20 questions: the profile likelihood is a large-sample interval."
    ),
    "mean of accuracy over questions": (
        f"{_T} The narrowest of those that keep [93, 97] % on average; with questions at the ends of the scale and "
        "fewer than ten of them single distributions fall below, as with every interval here that does not cover 98 % "
        "elsewhere. The studentised bootstrap, the default before, is wider throughout. Text similarity is such a mean."
    ),
    "mean of score over questions": _T,
    "mean of σ̄ over questions": f"{_T} The truth is the mean of σ̄ of cells with as many runs.",
    "difference of accuracy": (
        f"{_T} Between models, temperatures or any other conditions, for questions like those asked. BCa, the default "
        "before, and the percentile bootstrap are far too narrow with few questions. A difference that one question in "
        "ten makes (or one in five) is the hard case: few studies see enough of it."
    ),
    "difference of score": _T,
    "difference of σ̄": f"{_T} The truth is that of cells with as many runs; see also the change of σ̄ below.",
    "difference of accuracy, these questions": (
        "Default: **t on the variances within cells** (`dsqa/stats/these_questions.py`): the change between two studies, "
        "and the second interval of a comparison. Resampling runs has the variance too small by (N − 1)/N; MOVER is too "
        "narrow at rates of one half and too wide at 0 and 1. With few questions and rare runs the t on few degrees of "
        "freedom is wide."
    ),
    "difference of score, these questions": "As accuracy.",
    "difference of σ̄, these questions": (
        "No change; cells of five runs or more. Too narrow with two or three questions, where the interval carries a "
        "note. The change of σ̄ between two studies takes Student's t over questions."
    ),
    "change of σ̄, unequal numbers of runs": (
        "No change, scores 1½ and 3. σ̄ of few runs is too low, so an interval for the difference as it is misses 0; "
        "comparisons put the larger cell at the smaller number of runs (`dsqa/stats/comparison/equal_runs.py`)."
    ),
    "slope of a line": (
        "Default: **clustered, HC3** (t on clusters − 1), for the exponent of the verbosity line and any line by "
        "`fit_line`. Errors that take runs as independent are printed beside it to see what that costs. The line with "
        "whole cells or questions left out takes the jackknife, which is the same but for (G − 1)/G in the variance. "
        "A skewed predictor with few questions is the hard case: a single question with a large value decides the slope."
    ),
    "slope of a median regression": "By `quantile_line`: t on clusters − 1.",
    "slope by Theil–Sen": "Default: **jackknife over questions**.",
    "correlation, pearson": (
        "Default: **jackknife over questions on Fisher's z** (`dsqa/stats/jackknife.py`). The percentile bootstrap over "
        "questions, the default before, is too narrow below forty. Fisher's z over runs is printed beside it only for "
        "the repeated-measures correlation."
    ),
    "correlation, spearman": "As Pearson's. Bootstraps of ranks are not tried again.",
    "correlation, kendall": "As Pearson's.",
    "correlation, repeated": "As Pearson's, of deviations from the question's mean.",
    "Cohen's κ": (
        "Default: **jackknife over questions on Fisher's z**; runs of a question are left out together. It is too "
        "narrow with three questions or where one mark is rare, and carries a note there."
    ),
    "Krippendorff's α": "As Cohen's κ.",
    "Gwet's AC1": "As Cohen's κ.",
    "ICC(2,1)": (
        "Default: **jackknife over questions on Fisher's z**. The F interval, the default before, takes runs as "
        "independent and is far too narrow where runs of a question are alike. Three raters are what both know of raters."
    ),
    "cost per right answer": "Default: **jackknife over questions on the logarithm**.",
    "share of a part": "Default: **jackknife over questions**.",
    "variance component, between questions": (
        "Default: **jackknife over questions on the logarithm**, about the estimate; the mean of the pseudo-values, the centre before, covers less with five to forty. Not available where an estimate touches "
        "0, which few questions often bring about: coverage is of those that are given."
    ),
    "variance component, question × model": "As between questions.",
    "variance component, between runs": "As between questions.",
    "reliability of one run": "Default: **jackknife over questions of ln F**, about the estimate.",
    "slope with temperature": "Default: **clustered, HC3**, of a line within questions (`dose_response`).",
    "plan: half-width promised for nine in ten studies": (
        "Nominal 90 %: the share of studies of 40 questions × 10 runs whose half-width is no more than the plan's "
        "`half_width_90`, from a pilot of so many questions × 5 runs; the lowest is of the distributions, not of the "
        "pilots. A pilot of few questions promises now too much and now too little: the promise is not kept, and more questions in the pilot help."
    ),
    "plan: power, realised minus promised": (
        "Difference of shares in points: how often studies of 40 questions × 10 runs find a difference of 0.1, less "
        "what the plan promised, on average over pilots. Both conditions have the same rates here, which a plan that draws their cells independently does not suppose: it promises far too little."
    ),
}
NOT_SIMULATED = """\
- **Sequential intervals** hold at every look at once: [stopping.md](stopping.md).
- **Newcombe's interval** of a single question's change and **Clopper–Pearson's** of rates with equal values are in the
  literature; both rest on the intervals of the first table.
- **Risk difference, odds ratio, Cohen's h, Hedges' g**: t over questions, linearised; the risk difference is the
  difference above, the others are functions of the same two means.
- **Equivalence and the smallest detectable difference** invert Student's t of the differences.
- **Variance components of crossed facets** have standard errors and no interval. Those of a facet with two levels (two
  models, two temperatures) rest on one difference: their errors, by leaving out questions, say nothing of other models,
  and the page says so.
- **Ranks and the probability of being best** are shares of resamples, no confidence intervals."""
