# ruff: noqa: E501
"""scikit-learn, joblib and OpenMP work in the sandbox, in processes forked from one that has them loaded."""

from dsqa.execution import Snippet, execute
from dsqa.study.sections import ExecutionConfig

DATA = "import numpy as np\nrng = np.random.default_rng(0)\nX = rng.normal(size=(60, 3))\ny = (X[:, 0] > 0).astype(int)\n"
CODES = {
    "kmeans": "from sklearn.cluster import KMeans\nprint(KMeans(2, n_init=2, random_state=0).fit(X).n_iter_ > 0)",
    "forest": "from sklearn.ensemble import RandomForestClassifier as F\n"
    "print(F(10, n_jobs=-1, random_state=0).fit(X, y).score(X, y) > 0.9)",
    "search": "from sklearn.model_selection import GridSearchCV\nfrom sklearn.tree import DecisionTreeClassifier as T\n"
    "print(GridSearchCV(T(random_state=0), {'max_depth': [1, 2]}, n_jobs=4, cv=3).fit(X, y).best_score_ > 0.9)",
    "boosting": "from sklearn.ensemble import HistGradientBoostingClassifier as H\n"
    "print(H(max_iter=5).fit(X, y).score(X, y) > 0.5)",
    "joblib": "from joblib import Parallel, delayed\nprint(Parallel(n_jobs=4)(delayed(abs)(i) for i in (-1, 2)) == [1, 2])",
    "threads": "from threadpoolctl import threadpool_limits\nfrom sklearn.cluster import KMeans\n"
    "with threadpool_limits(4):\n    print(KMeans(2, n_init=1, random_state=0).fit(X).n_iter_ > 0)",
    "pipeline": "from sklearn.pipeline import make_pipeline as p\nfrom sklearn.preprocessing import StandardScaler as S\n"
    "from sklearn.linear_model import LogisticRegression as L\nprint(p(S(), L()).fit(X, y).score(X, y) > 0.9)",
}


def test_scikit_learn_runs_and_the_next_one_does_too():
    # Twice each: OpenMP that hangs after a fork would show in the second.
    snippets = [Snippet(f"{name} {i}", DATA + code) for i in (1, 2) for name, code in CODES.items()]
    for result in execute(snippets, ExecutionConfig(cpu_seconds=20), workers=2):
        assert (result.outcome, result.stdout) == ("ran", "True\n"), result
