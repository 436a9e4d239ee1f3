"""Ground truths of the built-in bank by another route than the reference code takes, and published values."""

from __future__ import annotations

import csv
from collections import Counter
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats
from scipy.spatial import cKDTree
from scipy.special import betaln
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.tree import DecisionTreeClassifier

from dsqa.bank import builtin_bank_path, load_bank

BANK = load_bank(builtin_bank_path())
DATA = builtin_bank_path().parent / "data"

# No library routine that the reference code uses: normal equations, Newton's method, formulas, counting.


def column(file: str, name: str) -> np.ndarray:
    return pd.read_csv(DATA / file)[name].to_numpy()


def least_squares(y: np.ndarray, *xs: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
    """Coefficients, residual sum of squares and standard errors from the normal equations."""
    design = np.column_stack([np.ones(len(y)), *xs])
    inverse = np.linalg.inv(design.T @ design)
    beta = inverse @ design.T @ y
    rss = float(((y - design @ beta) ** 2).sum())
    return beta, rss, np.sqrt(np.diag(inverse) * rss / (len(y) - design.shape[1]))


def answers(question_id: str) -> dict[str, str]:
    return BANK[question_id].answers


def test_cars_by_counting_lines():
    lines = (DATA / "cars.csv").read_text().splitlines()[1:]
    dist = [int(line.split(",")[1]) for line in lines]
    assert answers("cars_rows") == {"rows": str(len(lines))}
    assert answers("cars_max_dist") == {"max_dist": str(max(dist))}
    assert answers("cars_mean_dist") == {"mean_dist": f"{sum(dist) / len(dist):.2f}"}


def test_correlation_by_its_definition():
    x, y = column("cars.csv", "speed"), column("cars.csv", "dist")
    dx, dy = x - x.mean(), y - y.mean()
    r = (dx @ dy) / np.sqrt((dx @ dx) * (dy @ dy))
    assert answers("cars_correlation") == {"correlation": f"{r:.3f}"}


def test_standard_deviation_by_its_definition_and_not_the_population_one():
    x = column("tooth_growth.csv", "len")
    squares = ((x - x.sum() / 60) ** 2).sum()
    assert answers("tooth_sd_len") == {"sd_len": f"{np.sqrt(squares / 59):.2f}"}
    assert f"{np.sqrt(squares / 60):.2f}" != answers("tooth_sd_len")["sd_len"]


def test_complete_rows_by_looking_for_na():
    lines = (DATA / "airquality.csv").read_text().splitlines()[1:]
    assert answers("airquality_complete_rows") == {"complete_rows": str(sum("NA" not in x for x in lines))}


def test_histogram_by_comparison():
    temp = column("airquality.csv", "Temp")
    counts = {start: int(((temp >= start) & (temp < start + 10)).sum()) for start in range(50, 100, 10)}
    assert sum(counts.values()) == 153
    tallest = max(counts, key=counts.get)
    assert answers("airquality_histogram") == {"bin_start": str(tallest), "bin_count": str(counts[tallest])}


def test_beauty_regression_by_the_normal_equations():
    y, x = column("evals.csv", "score"), column("evals.csv", "bty_avg")
    (intercept, slope), rss, _ = least_squares(y, x)
    r2 = 1 - rss / ((y - y.mean()) ** 2).sum()
    assert answers("evals_beauty_slope") == {
        "intercept": f"{intercept:.3f}",
        "slope": f"{slope:.3f}",
        "r_squared": f"{r2:.3f}",
    }


def test_elasticity_by_the_normal_equations():
    y, x = np.log(column("duke_forest.csv", "price")), np.log(column("duke_forest.csv", "area"))
    (_, slope), _, (_, se) = least_squares(y, x)
    half = stats.t.ppf(0.975, len(y) - 2) * se
    assert answers("duke_forest_elasticity") == {
        "slope": f"{slope:.3f}",
        "lower": f"{slope - half:.3f}",
        "upper": f"{slope + half:.3f}",
    }


def test_logistic_regression_by_newtons_method():
    births = pd.read_csv(DATA / "birthwt.csv")
    black, other = (births["race"] == 2).to_numpy(float), (births["race"] == 3).to_numpy(float)
    parts = [np.ones(len(births)), births["age"], births["lwt"], black, other, births["smoke"]]
    x, y = np.column_stack(parts).astype(float), births["low"].to_numpy(float)
    beta = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ beta))
        information = x.T @ (x * (p * (1 - p))[:, None])
        beta = beta + np.linalg.solve(information, x.T @ (y - p))
    z = beta[-1] / np.sqrt(np.linalg.inv(information)[-1, -1])
    assert answers("birthwt_logistic") == {
        "odds_ratio": f"{np.exp(beta[-1]):.2f}",
        "p_value": f"{2 * stats.norm.sf(abs(z)):.3f}",
    }


def test_welch_by_its_formula():
    tooth = pd.read_csv(DATA / "tooth_growth.csv")
    a, b = (tooth.loc[tooth["supp"] == s, "len"].to_numpy() for s in ("OJ", "VC"))
    va, vb = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    t = (a.mean() - b.mean()) / np.sqrt(va + vb)
    df = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    p = 2 * stats.t.sf(abs(t), df)
    assert answers("tooth_welch") == {"t": f"{t:.3f}", "p_value": f"{p:.3f}", "reject": "no"}


def test_anova_of_the_balanced_design_by_sums_of_squares():
    tooth = pd.read_csv(DATA / "tooth_growth.csv")
    cube = np.array([[g["len"] for _, g in part.groupby("dose")] for _, part in tooth.groupby("supp")])
    assert cube.shape == (2, 3, 10)
    cell, grand = cube.mean(axis=2), cube.mean()
    interaction = cell - cell.mean(axis=1, keepdims=True) - cell.mean(axis=0, keepdims=True) + grand
    f = (10 * (interaction**2).sum() / 2) / (((cube - cell[:, :, None]) ** 2).sum() / 54)
    assert answers("tooth_anova") == {"f_interaction": f"{f:.3f}", "p_value": f"{stats.f.sf(f, 2, 54):.3f}"}


def penguin_scores() -> tuple[np.ndarray, np.ndarray]:
    penguins = pd.read_csv(DATA / "penguins.csv")
    columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    x = penguins[columns].to_numpy()
    keep = ~np.isnan(x).any(axis=1)
    # The population divisor, where the reference code takes the sample one: neither answer may depend on it.
    return (x[keep] - x[keep].mean(axis=0)) / x[keep].std(axis=0), penguins["species"].to_numpy()[keep]


def test_pca_by_the_eigenvalues_of_the_correlation_matrix():
    z, _ = penguin_scores()
    values = np.sort(np.linalg.eigvalsh(z.T @ z / len(z)))[::-1] / 4
    assert values[:2].sum() < 0.9 < values[:3].sum()
    assert answers("penguins_pca") == {"pc1_percent": f"{100 * values[0]:.1f}", "components": "3"}


def test_clusters_by_merging_where_the_sum_of_squares_grows_least():
    z, species = penguin_scores()
    sizes = np.ones(len(z))
    members = [[i] for i in range(len(z))]
    squared = ((z[:, None] - z[None]) ** 2).sum(axis=2) / 2  # growth of the sum of squares when two merge
    np.fill_diagonal(squared, np.inf)
    for _ in range(len(z) - 3):
        i, j = np.unravel_index(np.argmin(squared), squared.shape)
        # Lance and Williams' update for Ward's criterion.
        total = sizes + sizes[i] + sizes[j]
        new = ((sizes + sizes[i]) * squared[i] + (sizes + sizes[j]) * squared[j] - sizes * squared[i, j]) / total
        squared[i], squared[:, i] = new, new
        squared[j], squared[:, j] = np.inf, np.inf
        squared[i, i] = np.inf
        sizes[i] += sizes[j]
        members[i] += members[j]
        members[j] = []
    clusters = sorted((m for m in members if m), key=len)
    most = Counter(species[clusters[-1]]).most_common(1)[0][0]
    assert answers("penguins_clusters") == {
        "largest_size": str(len(clusters[-1])),
        "smallest_size": str(len(clusters[0])),
        "largest_species": most,
    }


def newton_logit(y: np.ndarray, *xs: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Coefficients, standard errors and log-likelihood of an unpenalised logistic regression."""
    x = np.column_stack([np.ones(len(y)), *xs]).astype(float)
    beta = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ beta))
        information = x.T @ (x * (p * (1 - p))[:, None])
        beta = beta + np.linalg.solve(information, x.T @ (y - p))
    p = 1 / (1 + np.exp(-x @ beta))
    return beta, np.sqrt(np.diag(np.linalg.inv(information))), float(np.log(np.where(y == 1, p, 1 - p)).sum())


def table(file: str) -> pd.DataFrame:
    return pd.read_csv(DATA / file)


# Values that others have published for the same data, typed in from there.
PUBLISHED = [
    # R: summary(lm(dist ~ speed, data = cars)): -17.5791, 3.9324, residual standard error 15.38.
    ("cars_line", {"intercept": "-17.58", "slope": "3.93"}),
    ("cars_residual_error", {"residual_se": "15.38"}),
    # R: mantelhaen.test(UCBAdmissions) gives 1.4269 with continuity correction, common odds ratio 0.9046968.
    ("ucb_stratified", {"odds_ratio": "0.905"}),
    # R: summary(glm(breaks ~ wool + tension, data = warpbreaks, family = quasipoisson)): dispersion 4.261537.
    ("warpbreaks_poisson", {"dispersion": "4.26"}),
    # Bates et al. (2015): lmer(Reaction ~ Days + (1 | Subject), sleepstudy): 10.467, 37.12, 30.99.
    ("sleepstudy_random_intercept", {"slope": "10.47", "sd_subject": "37.12", "sd_residual": "30.99"}),
    # James et al., An Introduction to Statistical Learning, on USArrests: 62.0 % and 24.7 % (62.01 + 24.74).
    ("us_arrests_pca", {"pc1_percent": "62.0", "two_percent": "86.8"}),
    # R: t.test(len ~ supp, data = ToothGrowth): t = 1.9153, p = 0.06063.
    ("tooth_welch", {"t": "1.915", "p_value": "0.061"}),
    # Bickel et al. (1975) print 4,526 applicants; chi-squared of the collapsed table 92.2.
    ("ucb_applicants", {"applicants": "4526", "admitted_percent": "38.8"}),
]


@pytest.mark.parametrize(("question_id", "values"), PUBLISHED, ids=[q for q, _ in PUBLISHED])
def test_published_values(question_id, values):
    assert {name: answers(question_id)[name] for name in values} == values


def test_cmh_trap_is_the_value_that_r_prints_by_default():
    assert BANK["ucb_stratified"].traps["with continuity correction"] == {"statistic": "1.427", "p_value": "0.232"}


def test_cmh_by_its_formula():
    cells = {(r.Dept, r.Gender, r.Admit): r.Freq for r in table("ucb_admissions.csv").itertuples()}
    excess = variance = above = below = 0.0
    for d in "ABCDEF":
        a, b = cells[d, "Male", "Admitted"], cells[d, "Male", "Rejected"]
        c, e = cells[d, "Female", "Admitted"], cells[d, "Female", "Rejected"]
        n = a + b + c + e
        excess += a - (a + b) * (a + c) / n
        variance += (a + b) * (c + e) * (a + c) * (b + e) / (n**2 * (n - 1))
        above, below = above + a * e / n, below + b * c / n
    statistic = excess**2 / variance
    assert answers("ucb_stratified") == {
        "statistic": f"{statistic:.3f}",
        "p_value": f"{stats.chi2.sf(statistic, 1):.3f}",
        "odds_ratio": f"{above / below:.3f}",
    }


def test_chi_squared_by_its_formula():
    ucb = table("ucb_admissions.csv")
    observed = ucb.groupby(["Gender", "Admit"])["Freq"].sum().unstack().to_numpy(float)
    expected = observed.sum(1, keepdims=True) * observed.sum(0, keepdims=True) / observed.sum()
    assert answers("ucb_chi_squared")["chi_squared"] == f"{((observed - expected) ** 2 / expected).sum():.2f}"


def test_random_intercept_by_the_sums_of_squares_of_the_balanced_design():
    sleep = table("sleepstudy.csv")
    y = np.array([rows.sort_values("Days")["Reaction"] for _, rows in sleep.groupby("Subject")])
    assert y.shape == (18, 10)
    days = np.arange(10) - 4.5
    slope = (y.mean(0) @ days) / (days @ days)
    residual = y - y.mean(1, keepdims=True) - slope * days
    within = (residual**2).sum() / (180 - 18 - 1)
    between = 10 * y.mean(1).var(ddof=1)
    assert answers("sleepstudy_random_intercept") == {
        "slope": f"{slope:.2f}",
        "sd_subject": f"{np.sqrt((between - within) / 10):.2f}",
        "sd_residual": f"{np.sqrt(within):.2f}",
    }


def test_likelihood_ratio_by_newtons_method():
    b = table("birthwt.csv")
    base = [b["age"], b["lwt"], b["smoke"]]
    *_, smaller = newton_logit(b["low"].to_numpy(float), *base)
    *_, larger = newton_logit(b["low"].to_numpy(float), *base, b["race"] == 2, b["race"] == 3)
    g = 2 * (larger - smaller)
    assert answers("birthwt_likelihood_ratio") == {
        "statistic": f"{g:.3f}",
        "p_value": f"{np.exp(-g / 2):.3f}",  # chi-squared with two degrees of freedom
        "deviance": f"{-2 * larger:.2f}",
    }


def test_women_odds_by_counting():
    t = table("titanic.csv")
    saved = {sex: (rows["survived"] == "yes").sum() for sex, rows in t.groupby("sex")}
    lost = {sex: (rows["survived"] == "no").sum() for sex, rows in t.groupby("sex")}
    ratio = saved["female"] * lost["male"] / (lost["female"] * saved["male"])
    share = saved["female"] / (saved["female"] + lost["female"])
    assert answers("titanic_women_odds") == {"odds_ratio": f"{ratio:.2f}", "probability": f"{share:.3f}"}


def test_age_odds_by_newtons_method():
    t = table("titanic.csv").dropna(subset=["age"])
    xs = [t["age"], t["sex"] == "female", t["passengerClass"] == "2nd", t["passengerClass"] == "3rd"]
    beta, se, _ = newton_logit((t["survived"] == "yes").to_numpy(float), *xs)
    low, high = (10 * (beta[1] + sign * 1.959963984540054 * se[1]) for sign in (-1, 1))
    assert answers("titanic_age_odds") == {
        "ten_years": f"{np.exp(10 * beta[1]):.3f}",
        "lower": f"{np.exp(low):.3f}",
        "upper": f"{np.exp(high):.3f}",
        "third_class": f"{np.exp(beta[4]):.3f}",
    }


def test_auc_by_ranks_and_newtons_method():
    p = table("pima.csv").dropna(subset=["bmi"])
    y = (p["type"] == "Yes").to_numpy(float)
    beta, *_ = newton_logit(y, p["glu"], p["bmi"], p["age"])
    score = np.column_stack([np.ones(len(p)), p["glu"], p["bmi"], p["age"]]) @ beta
    ones, zeros = y.sum(), (1 - y).sum()
    auc = (stats.rankdata(score)[y == 1].sum() - ones * (ones + 1) / 2) / (ones * zeros)
    said = score >= np.log(0.3 / 0.7)
    assert answers("pima_auc") == {
        "auc": f"{auc:.3f}",
        "sensitivity": f"{said[y == 1].mean():.3f}",
        "specificity": f"{(~said[y == 0]).mean():.3f}",
    }


def test_held_out_by_newtons_method():
    p = table("pima.csv")
    columns = ["glu", "bmi", "ped", "age"]
    y = (p["type"] == "Yes").to_numpy(float)
    beta, *_ = newton_logit(y[:200], *(p[c][:200] for c in columns))
    later = p[200:].dropna(subset=["bmi"])
    probability = 1 / (1 + np.exp(-(beta[0] + later[columns].to_numpy() @ beta[1:])))
    yes = (later["type"] == "Yes").to_numpy()
    loss = -np.log(np.where(yes, probability, 1 - probability)).mean()
    right = ((probability > 0.5) == yes).mean()
    assert answers("pima_held_out") == {
        "tested": str(len(later)),
        "accuracy": f"{right:.3f}",
        "log_loss": f"{loss:.3f}",
    }


def test_race_f_test_by_the_normal_equations():
    b = table("birthwt.csv")
    base = [b[c].to_numpy(float) for c in ("lwt", "smoke", "ht", "ui")]
    y = b["bwt"].to_numpy(float)
    _, small, _ = least_squares(y, *base)
    beta, large, _ = least_squares(y, *base, (b["race"] == 2).to_numpy(float), (b["race"] == 3).to_numpy(float))
    f = (small - large) / 2 / (large / (len(y) - 7))
    assert answers("birthwt_race_f_test") == {
        "smoke": f"{beta[2]:.1f}",
        "f": f"{f:.3f}",
        "p_value": f"{stats.f.sf(f, 2, len(y) - 7):.4f}",
    }


def test_interaction_by_two_separate_lines():
    e = table("evals.csv")
    parts = {}
    for gender, rows in e.groupby("gender"):
        beta, rss, _ = least_squares(rows["score"].to_numpy(), rows["bty_avg"].to_numpy())
        parts[gender] = beta[1], rss, ((rows["bty_avg"] - rows["bty_avg"].mean()) ** 2).sum()
    (women, r1, s1), (men, r2, s2) = parts["female"], parts["male"]
    t = (men - women) / np.sqrt((r1 + r2) / (len(e) - 4) * (1 / s1 + 1 / s2))
    assert answers("evals_interaction") == {
        "slope_women": f"{women:.3f}",
        "slope_men": f"{men:.3f}",
        "p_value": f"{2 * stats.t.sf(abs(t), len(e) - 4):.3f}",
        "significant": "yes",
    }


def test_collinearity_by_the_inverse_of_the_correlation_matrix():
    m = table("mpg.csv")
    inverse = np.linalg.inv(np.corrcoef(m[["displ", "cyl", "year"]].to_numpy(float).T))
    xs = [m[c].to_numpy(float) for c in ("displ", "cyl", "year")]
    _, _, se = least_squares(m["hwy"].to_numpy(float), *xs)
    _, _, alone = least_squares(m["hwy"].to_numpy(float), xs[0], xs[2])
    assert answers("mpg_collinearity") == {
        "vif": f"{inverse[0, 0]:.2f}",
        "se_with": f"{se[1]:.3f}",
        "se_without": f"{alone[1]:.3f}",
    }


def test_cooks_distance_by_leaving_each_row_out():
    x, y = column("cars.csv", "speed").astype(float), column("cars.csv", "dist").astype(float)
    beta, rss, _ = least_squares(y, x)
    design = np.column_stack([np.ones(50), x])
    without = [least_squares(np.delete(y, i), np.delete(x, i))[0] for i in range(50)]
    distance = [((design @ (beta - b)) ** 2).sum() / (2 * rss / 48) for b in without]
    row = int(np.argmax(distance))
    assert answers("cars_influence") == {
        "row": str(row + 1),
        "cook": f"{distance[row]:.3f}",
        "slope_without": f"{without[row][1]:.3f}",
    }


def test_leave_one_out_by_fitting_each_time():
    air = table("airquality.csv").dropna()
    y = air["Ozone"].to_numpy(float)

    def error(columns):
        x = np.column_stack([np.ones(len(air)), *(air[c] for c in columns)])
        missed = []
        for i in range(len(y)):
            beta = np.linalg.lstsq(np.delete(x, i, 0), np.delete(y, i), rcond=None)[0]
            missed.append(y[i] - x[i] @ beta)
        return np.sqrt(np.mean(np.square(missed)))

    truth = answers("airquality_cross_validation")
    assert truth["cv_small"] == f"{error(['Temp']):.2f}"
    assert truth["cv_large"] == f"{error(['Temp', 'Wind', 'Solar.R']):.2f}"


def test_ridge_by_least_squares_on_added_rows():
    homes = table("duke_forest.csv").dropna(subset=["lot"])
    x = homes[["area", "bed", "bath", "lot"]].to_numpy(float)
    z = (x - x.mean(0)) / x.std(0)
    y = (homes["price"] - homes["price"].mean()).to_numpy() / 1000
    ridge = np.linalg.lstsq(np.vstack([z, np.sqrt(50) * np.eye(4)]), np.append(y, np.zeros(4)), rcond=None)[0]
    plain = np.linalg.lstsq(z, y, rcond=None)[0]
    assert answers("duke_forest_ridge") == {
        "area": f"{ridge[0]:.2f}",
        "factor": f"{(ridge @ ridge) / (plain @ plain):.3f}",
    }


def test_lasso_by_its_optimality_conditions():
    e = table("evals.csv")
    names = ["bty_avg", "age", "cls_perc_eval", "cls_students", "cls_did_eval"]
    z = e[names].to_numpy(float)
    z = (z - z.mean(0)) / z.std(0)
    y = (e["score"] - e["score"].mean()).to_numpy()
    gram, c = z.T @ z / len(y), z.T @ y / len(y)
    beta = np.zeros(5)
    for _ in range(20_000):  # proximal gradient
        step = beta - 0.4 * (gram @ beta - c)
        beta = np.sign(step) * np.maximum(np.abs(step) - 0.4 * 0.03, 0)
    largest = int(np.abs(beta).argmax())
    assert answers("evals_lasso") == {
        "nonzero": str((beta != 0).sum()),
        "largest": names[largest],
        "slope": f"{beta[largest]:.4f}",
    }


def test_beta_binomial_by_the_finite_sum():
    b = table("birthwt.csv")
    a1, n1 = int(b.loc[b["smoke"] == 1, "low"].sum()), int((b["smoke"] == 1).sum())
    a0, n0 = int(b.loc[b["smoke"] == 0, "low"].sum()), int((b["smoke"] == 0).sum())
    # P(p1 > p0) for integer parameters, a sum over i < a1 + 1.
    f1, f0 = n1 - a1 + 1, n0 - a0 + 1
    terms = [
        np.exp(betaln(a0 + 1 + i, f0 + f1) - np.log(f1 + i) - betaln(1 + i, f1) - betaln(a0 + 1, f0))
        for i in range(a1 + 1)
    ]
    truth = answers("birthwt_beta_binomial")
    assert truth["higher"] == f"{sum(terms):.3f}"
    assert truth["mean"] == f"{(a1 + 1) / (n1 + 2):.3f}"
    # The end points: where the binomial tail says so.
    for name, tail in (("lower", 0.025), ("upper", 0.975)):
        end = optimize.brentq(lambda p, t=tail: stats.binom.sf(a1, n1 + 1, p) - t, 1e-6, 1 - 1e-6, xtol=1e-12)
        assert truth[name] == f"{end:.3f}"


def test_poisson_by_newtons_method():
    w = table("warpbreaks.csv")
    y = w["breaks"].to_numpy(float)
    x = np.column_stack([np.ones(54), w["wool"] == "B", w["tension"] == "M", w["tension"] == "H"]).astype(float)
    beta = np.array([np.log(y.mean()), 0, 0, 0])
    for _ in range(50):
        mean = np.exp(x @ beta)
        beta = beta + np.linalg.solve(x.T @ (x * mean[:, None]), x.T @ (y - mean))
    mean = np.exp(x @ beta)
    assert answers("warpbreaks_poisson") == {
        "rate_ratio": f"{np.exp(beta[3]):.3f}",
        "dispersion": f"{((y - mean) ** 2 / mean).sum() / 50:.2f}",
    }


def test_clustered_errors_by_the_sandwich():
    e = table("evals.csv")
    x = np.column_stack([np.ones(len(e)), e["bty_avg"]])
    y = e["score"].to_numpy()
    inverse = np.linalg.inv(x.T @ x)
    residual = y - x @ (inverse @ x.T @ y)
    scores = pd.DataFrame(x * residual[:, None]).groupby(e["prof_id"].to_numpy()).sum().to_numpy()
    n, g = len(e), len(scores)
    robust = np.sqrt((inverse @ scores.T @ scores @ inverse)[1, 1] * g / (g - 1) * (n - 1) / (n - 2))
    usual = np.sqrt(inverse[1, 1] * (residual @ residual) / (n - 2))
    assert answers("evals_clustered_errors") == {
        "usual": f"{usual:.4f}",
        "clustered": f"{robust:.4f}",
        "factor": f"{robust / usual:.2f}",
    }


def test_discriminant_analysis_by_scikit_learn():
    columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    p = table("penguins.csv").dropna(subset=columns)
    wrong = {
        name: (LinearDiscriminantAnalysis().fit(p[of], p["species"]).predict(p[of]) != p["species"]).sum()
        for name, of in (("errors", columns), ("errors_bill", columns[:2]))
    }
    assert {name: answers("penguins_discriminant")[name] for name in wrong} == {k: str(v) for k, v in wrong.items()}


def test_tree_split_by_scikit_learn():
    p = table("pima.csv")
    tree = DecisionTreeClassifier(max_depth=1).fit(p[["glu"]], p["type"]).tree_
    impurity = tree.impurity[1:] @ tree.n_node_samples[1:] / len(p)
    assert answers("pima_tree_split") == {"threshold": f"{tree.threshold[0]:.1f}", "impurity": f"{impurity:.4f}"}


def test_gini_by_the_ordered_values():
    world = table("gapminder.csv")
    income = np.sort(world.loc[world["year"] == 2007, "gdpPercap"])
    n = len(income)
    gini = ((2 * np.arange(1, n + 1) - n - 1) * income).sum() / (n * income.sum())
    assert answers("gapminder_gini")["gini"] == f"{gini:.3f}"


def test_largest_fall_by_hand():
    rows = list(csv.reader((DATA / "gapminder.csv").read_text().splitlines()))[1:]
    falls = [(float(a[3]) - float(b[3]), b[0], b[2]) for a, b in pairwise(rows) if a[0] == b[0]]
    fall, country, year = max(falls)
    assert answers("gapminder_largest_fall") == {"country": country, "year": year, "fall": f"{fall:.2f}"}


def test_kmeans_cannot_be_improved_by_many_other_starts():
    x = table("us_arrests.csv").drop(columns="State").to_numpy(float)
    z = (x - x.mean(0)) / x.std(0, ddof=1)
    rng = np.random.default_rng(5)
    best = np.inf
    for _ in range(120):  # Lloyd's algorithm
        centres = z[rng.choice(50, 4, replace=False)]
        for _ in range(30):
            label = ((z[:, None] - centres) ** 2).sum(2).argmin(1)
            centres = np.array([z[label == k].mean(0) if (label == k).any() else centres[k] for k in range(4)])
        best = min(best, ((z - centres[label]) ** 2).sum())
    assert answers("us_arrests_kmeans")["within_ss"] == f"{best:.1f}"


def test_nearest_neighbour_by_a_tree():
    z, species = penguin_scores()
    _, nearest = cKDTree(z).query(z, k=2)
    wrong = species[species[nearest[:, 1]] != species]
    assert answers("penguins_nearest_neighbour") == {
        "errors": str(len(wrong)),
        "most_errors": Counter(wrong).most_common(1)[0][0],
    }
