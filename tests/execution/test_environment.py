"""What snippets see is what the study declares; what they miss is named by the package that provides it."""

import subprocess
import sys
import venv

import pytest
from pydantic import ValidationError

from dsqa.errors import ExecutionRefusedError
from dsqa.execution import Snippet, asked_version, environment_of, execute
from dsqa.execution.interpreter import Environment, changed_packages, find_environment
from dsqa.execution.missing import explain_missing
from dsqa.study.sections import ExecutionConfig

HERE = Environment("3.12.1", "CPython", "python", (), (), {"numpy": "2.0.0", "scikit-learn": "1.5.0", "odd-one": "1"})


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("plotly.express", "needs plotly"),
        ("seaborn", "needs seaborn"),
        ("cv2", "needs opencv-python-headless (import cv2)"),
        ("imblearn.over_sampling", "needs imbalanced-learn (import imblearn.over_sampling)"),
        ("mpl_toolkits.basemap", "needs basemap (import mpl_toolkits.basemap)"),
        ("pandas_datareader", "needs pandas-datareader (import pandas_datareader)"),
        ("sklearn.cross_validation", "needs sklearn.cross_validation, which scikit-learn 1.5.0 lacks"),
        ("odd_one.part", "needs odd_one.part, which odd_one 1 lacks"),
        ("pandsa", "needs pandsa (no package that dsqa knows; perhaps pandas is meant)"),
        ("sns", "needs sns (no package that dsqa knows; perhaps seaborn is meant)"),
        ("zzqx", "needs zzqx (no package that dsqa knows)"),
        ("distutils.core", "needs distutils.core (of the standard library, taken out in Python 3.12)"),
        ("tkinter", "needs tkinter (of the standard library, not in this build of Python 3.12.1)"),
    ],
)
def test_a_missing_import_is_explained(module, expected):
    assert explain_missing(module, "", HERE, ()) == expected


def test_the_version_comes_from_the_study_then_from_the_code():
    code = "# !pip install -q 'seaborn==0.12.2' plotly\nimport seaborn"
    assert explain_missing("seaborn", code, HERE, ()) == "needs seaborn==0.12.2"
    assert explain_missing("seaborn", code, HERE, ("seaborn>=0.13",)) == "needs seaborn>=0.13"
    assert explain_missing("seaborn", "# pip install seaborn", HERE, ()) == "needs seaborn"


def test_the_version_in_an_installation_command_beside_the_code():
    response = "First:\n```bash\npip install plotly==5.22 pandas\n```\nThen ..."
    assert asked_version("needs plotly at line 1", response) == "needs plotly==5.22 at line 1"
    assert asked_version("needs plotly at line 1", "pip install plotly") == "needs plotly at line 1"
    assert asked_version("ZeroDivisionError at line 1", response) == "ZeroDivisionError at line 1"


def test_a_declared_package_that_is_absent_or_of_another_version_stops_before_anything_runs():
    limits = ExecutionConfig(packages=("numpy==0.1", "surely-not-here", "pandas"))
    with pytest.raises(ExecutionRefusedError) as refused:
        execute([Snippet("a", "print(1)")], limits)
    assert "'numpy==0.1' is installed as " in str(refused.value)
    assert "'surely-not-here' is not installed" in str(refused.value)
    assert "pandas" not in str(refused.value)


def test_what_is_declared_and_there_runs():
    (result,) = execute([Snippet("a", "print(1)")], ExecutionConfig(packages=("NumPy>=1", "scikit_learn")))
    assert (result.outcome, result.stdout) == ("ran", "1\n")
    assert result.environment == environment_of(ExecutionConfig()).fingerprint


def test_settings_say_what_is_wrong():
    with pytest.raises(ValidationError, match="'sea born' is no package"):
        ExecutionConfig(packages=("sea born",))
    with pytest.raises(ValidationError, match="whole path"):
        ExecutionConfig(python="venv/bin/python")


def test_a_python_that_is_not_there(tmp_path):
    with pytest.raises(ExecutionRefusedError, match="no Python here"):
        environment_of(ExecutionConfig(python=str(tmp_path)))
    (tmp_path / "python").write_text("#!/bin/sh\necho no\n")
    (tmp_path / "python").chmod(0o755)
    with pytest.raises(ExecutionRefusedError, match="does not answer as a Python interpreter"):
        environment_of(ExecutionConfig(python=str(tmp_path / "python")))


def test_the_fingerprint_is_of_versions_not_of_places():
    moved = Environment("3.12.1", "CPython", "/other/python", ("/x",), ("/y",), dict(HERE.packages))
    assert moved.fingerprint == HERE.fingerprint
    newer = Environment("3.12.1", "CPython", "python", (), (), {**HERE.packages, "numpy": "2.0.1"})
    assert newer.fingerprint != HERE.fingerprint
    assert changed_packages(HERE.to_dict(), newer.to_dict()) == "numpy 2.0.0 → 2.0.1"


def test_snippets_run_in_another_virtual_environment(tmp_path):
    # A module of that environment alone is there; what only dsqa's environment has is missing.
    home = tmp_path / "other"
    venv.create(home, with_pip=False, symlinks=True)
    site = next(home.glob("lib/python*/site-packages"))
    (site / "only_there.py").write_text("value = 42\n")
    info = site / "only_there-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: only-there\nVersion: 1.2\n")
    limits = ExecutionConfig(python=str(home), packages=("only-there==1.2",))
    snippets = [Snippet("there", "import only_there\nprint(only_there.value)"), Snippet("not", "import pandas")]
    there, absent = execute(snippets, limits)
    assert (there.outcome, there.stdout) == ("ran", "42\n")
    assert (absent.outcome, absent.detail) == ("missing package", "needs pandas at line 1")
    assert there.environment != environment_of(ExecutionConfig()).fingerprint
    assert find_environment(str(home)).packages == {"only-there": "1.2"}


def test_describing_another_interpreter_gives_what_it_is():
    same = find_environment(sys.executable)
    asked = [sys.executable, "-c", "import platform; print(platform.python_version())"]
    version = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    assert same.version == version
    assert same.fingerprint == find_environment("").fingerprint
