# ruff: noqa: E501
"""A snippet sees nothing of another: whatever ran before in the same warm process, equal code gives equal results."""

import re
import selectors
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsqa.execution import Snippet, detect_isolation
from dsqa.execution.classify import classify
from dsqa.execution.isolation import find_launch
from dsqa.execution.sandbox import Sandbox
from dsqa.execution.tiers import FULL
from dsqa.study.sections import ExecutionConfig

LIMITS = ExecutionConfig(cpu_seconds=5, wall_seconds=60, memory_mb=512, disk_mb=8, output_kb=64)

POLLUTION = {
    "modules": "import sys, json, types, pandas\nsys.modules['json'] = types.ModuleType('json')\nsys.modules['evil'] = sys\nsys.path.insert(0, '/evil')\npandas.read_csv = None\nimport wave, imaplib",
    "builtins": "import builtins\nbuiltins.print = builtins.len = None\nbuiltins.leaked = 1",
    "files": "import os\nopen('left.txt', 'w').write('x')\nopen(os.environ['TMPDIR'] + '/left', 'w').write('x')\nos.makedirs('json')\nopen('json/__init__.py', 'w').write('x = 1')\nopen('numpy.py', 'w').write('raise SystemExit')",
    "data": "import os\nos.chmod('d.csv', 0o600)\nopen('d.csv', 'w').write('a,b\\n9,9\\n')",
    "randomness": "import random, numpy as np\nrandom.seed(0)\nnp.random.seed(0)\nnp.random.default_rng = lambda *_: np.random.RandomState(0)",
    "generator in place": "import numpy as np, random\nnp.random.set_state(('MT19937', np.zeros(624, 'uint32'), 0))\nrandom.setstate((3, (1,) * 624 + (0,), None))",
    "plots": "import matplotlib.pyplot as plt, seaborn as sns\nsns.set_theme(style='dark', palette='husl')\nplt.style.use('ggplot')\nplt.rcParams['figure.figsize'] = (1, 1)\nplt.figure(7)\nplt.plot([1])\nplt.ion()",
    "plot functions": "import matplotlib.pyplot as plt, matplotlib.figure as f, matplotlib.axes as a\nplt.plot = plt.show = f.Figure.savefig = None\na.Axes.set_title = lambda *x: None",
    "environment": "import os\nos.environ.clear()\nos.environ['LEAK'] = '1'\nos.putenv('LEAK2', '2')\nos.umask(0o777)",
    "folder": "import os\nos.chdir('/')",
    "warnings": "import warnings, numpy as np\nwarnings.simplefilter('error')\nwarnings.warn = None\nnp.seterr(all='raise')",
    "display": "import pandas as pd, numpy as np\npd.set_option('display.precision', 1)\npd.options.display.max_rows = 2\nnp.set_printoptions(precision=1)\npd.DataFrame.mean = lambda *_, **__: 'wrong'",
    "arithmetic": "import decimal, locale, numpy as np, math\ndecimal.getcontext().prec = 2\nmath.pi = 3\nnp.mean = lambda *_: 'wrong'\nnp.pi = 4",
    "limits and signals": "import sys, signal, threading, gc\nsys.setrecursionlimit(50)\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nsignal.alarm(1)\nsys.setswitchinterval(1)\ngc.disable()\nsys.settrace(lambda *_: None)\nthreading.settrace(lambda *_: None)",
    "hooks": "import sys, atexit\nsys.excepthook = sys.displayhook = None\nsys.stdout = None\nsys.meta_path.clear()\natexit.register(lambda: None)",
    "streams": "import os\nos.close(1)\nos.close(2)\nos.dup2(0, 3)",
    "classes": "import pandas as pd, statsmodels.api as sm\npd.Series.__add__ = None\nsm.OLS = None\npd.api.extensions.register_dataframe_accessor('leak')(object)",
    "leaves": "import os\nos._exit(0)",
    "breaks": "import ctypes\nctypes.string_at(0)",
    "fails": "1 / 0",
    "memory": "x = bytearray(1 << 40)",
}  # fmt: skip

HONEST = {
    "state": (
        "import sys, os, builtins, random, warnings, signal, threading, gc, decimal, math, json\n"
        "print(sorted(set(dir(builtins)) - {'display'})[-3:], 'leaked' in dir(builtins), 'evil' in sys.modules, len(sys.modules), sys.path)\n"
        "print(sorted(os.environ.items()), os.getcwd(), os.listdir('.'), os.listdir(os.environ['TMPDIR']), os.umask(0o022))\n"
        "print([f[:3] for f in warnings.filters], signal.getsignal(signal.SIGINT), threading.active_count(), gc.isenabled())\n"
        "print(sys.getrecursionlimit(), sys.getswitchinterval(), sys.gettrace(), len(sys.meta_path), sys.excepthook, sys.displayhook)\n"
        "print(decimal.getcontext().prec, math.pi, json.dumps([1]), len('four'), open('d.csv').read())"
    ),
    "libraries": (
        "import numpy as np, pandas as pd, statsmodels.api as sm\n"
        "df = pd.read_csv('d.csv')\nprint(df.mean(), df.a / 3, np.mean([1, 2]), np.pi, np.array([1 / 3]), np.geterr())\n"
        "print(pd.options.display.max_rows, hasattr(df, 'leak'), (df.a + 1).tolist(), sm.OLS(df.b, df.a).fit().params)\n"
        "print(np.float64(1) / np.float64(0))"
    ),
    "seeded": "import random, numpy as np\nrandom.seed(3)\nnp.random.seed(3)\nprint(random.random(), np.random.rand(), np.random.default_rng(3).random())",
    "plotting": (
        "import matplotlib.pyplot as plt\nprint(plt.get_fignums(), sorted(plt.rcParams.items(), key=str), plt.isinteractive(), plt.get_backend())\n"
        "plt.plot([3, 1, 2], label='a')\nplt.title('T')\nplt.legend()"
    ),
    "seaborn": "import seaborn as sns, pandas as pd\nsns.barplot(data=pd.read_csv('d.csv'), x='a', y='b')",
    "failing": "import pandas as pd\npd.read_csv('none.csv')",
}  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "d.csv"
    path.write_text("a,b\n1,2\n3,5\n")
    return path


@pytest.fixture(scope="module")
def run(data):
    """Run snippets one after the other in one warm process."""
    assert detect_isolation().sufficient
    launch, _ = find_launch()
    with selectors.DefaultSelector() as selector:
        sandbox = Sandbox(launch, FULL, selector)

        def run_one(code):
            while not sandbox.ready:
                selector.select(0.2)
                assert sandbox.poll() == []
            snippet = Snippet("s", code, {"d.csv": data})
            sandbox.submit(snippet, LIMITS)
            deadline = time.monotonic() + 120
            while time.monotonic() < deadline:
                selector.select(0.2)
                for _, _, ending in sandbox.poll():
                    return classify(snippet, ending, LIMITS, "bubblewrap")
            raise AssertionError("did not end")

        yield run_one
        sandbox.close()


def seen(result):
    # Where an object lies in memory is no property of the code.
    value = re.sub(r"0x[0-9a-f]+", "0x", result.value or "")
    return result.outcome, result.detail, result.stdout, result.stderr, value, result.artefacts


@pytest.fixture(scope="module")
def untouched(run):
    """What the honest snippets give before anything else has run."""
    found = {name: seen(run(code)) for name, code in HONEST.items()}
    for name, result in found.items():
        assert result[0] == ("failed" if name == "failing" else "ran"), result
    return found


@pytest.mark.parametrize("name", POLLUTION)
def test_what_one_snippet_does_no_other_sees(run, untouched, name):
    run(POLLUTION[name])
    for honest in ("state", "libraries", "plotting"):
        assert seen(run(HONEST[honest])) == untouched[honest], (name, honest)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from([*POLLUTION, *HONEST]), min_size=2, max_size=6), st.sampled_from([*HONEST]))
def test_equal_code_gives_equal_results_in_any_order(run, untouched, before, last):
    for name in [*before, last]:
        result = run(POLLUTION.get(name) or HONEST[name])
        if name in HONEST:
            assert seen(result) == untouched[name], (before, name)


def test_a_seed_set_by_one_does_not_reach_another(run):
    probe = "import random, numpy as np\nprint(random.random(), np.random.rand(), np.random.default_rng().random())"
    after_seed = "import random, numpy as np\nrandom.seed(0)\nnp.random.seed(0)\nprint(random.random(), np.random.rand(), np.random.default_rng(0).random())"
    values = run(after_seed).stdout.split()
    for _ in range(3):
        drawn = run(probe).stdout.split()
        assert len(drawn) == 3
        assert not set(drawn) & set(values)
        values += drawn
