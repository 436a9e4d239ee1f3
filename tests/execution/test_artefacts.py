# ruff: noqa: E501
"""What runs draw, show and write, kept from the real sandbox: what it is, caps, hostile figures, equal bytes."""

import dataclasses
import io
import json
import pickle

import pytest
from PIL import Image

from dsqa.execution import Snippet, execute
from dsqa.study.sections import ArtefactConfig, ExecutionConfig

CAPS = ArtefactConfig(cpu_seconds=2.5, figures=4, files=3, file_kb=50, total_mb=2)
LIMITS = ExecutionConfig(cpu_seconds=4, wall_seconds=120, memory_mb=512, disk_mb=8, output_kb=16, artefacts=CAPS)
PLT = "import matplotlib.pyplot as plt\nimport numpy as np\n"
BAD = (
    PLT
    + "from matplotlib.lines import Line2D\nplt.plot([1, 2])\nplt.figure()\nclass Bad(Line2D):\n    def draw(self, renderer):\n        {}\nplt.gca().add_line(Bad([0, 1], [0, 1]))\nprint('done')\n7"
)

CODES = {
    "neither saved nor shown": PLT + "plt.plot([1, 2, 4], [3, 1, 2], 'r--o', label='north')\nplt.legend(title='side')\nplt.title('T')\nplt.xlabel('length')\nplt.yscale('log')\nplt.annotate('peak', (2, 2))",
    "shown": PLT + "plt.bar(['a', 'b'], [1, 2])\nplt.show()\nplt.get_fignums()",
    "two shown one after the other": PLT + "plt.plot([1])\nplt.show()\nplt.plot([1, 2])\nplt.show()",
    "saved and closed": PLT + "plt.plot([1, 2])\nplt.savefig('a.png')\nplt.close()",
    "saved and cleared": PLT + "for i in (1, 2):\n    plt.plot([0, i])\n    plt.savefig(f'{i}.pdf')\n    plt.clf()",
    "drawn before it failed": PLT + "plt.plot([1, 2])\n1 / 0",
    "histogram": PLT + "plt.hist([1, 2, 2, 3, 3, 3], bins=[1, 2, 3, 4])",
    "step histogram": PLT + "plt.hist([1, 2, 2, 3, 3, 3], bins=[1, 2, 3, 4], histtype='step')\nplt.figure()\nplt.stairs([5, 6], [0, 1, 2])",
    "bars": PLT + "plt.barh([0, 1], [3, 4], left=1)",
    "points": PLT + "plt.scatter(np.arange(1000), np.arange(1000), c=np.arange(1000))",
    "image": PLT + "plt.imshow([[1, 2], [3, 4]])\nplt.colorbar()",
    "dates": "import pandas as pd\nimport matplotlib.pyplot as plt\nplt.plot(pd.to_datetime(['2020-01-01', '2020-02-01']), [1, 2])",
    "seaborn": "import pandas as pd, seaborn as sns\ndf = pd.DataFrame({'g': list('aabb'), 'y': [1, 2, 3, 5.0]})\nsns.boxplot(data=df, x='g', y='y').set_title('box')",
    "pandas": "import pandas as pd\npd.DataFrame({'x': [1, 2], 'y': [3, 4]}).plot(title='lines')",
    "statsmodels": "import numpy as np, statsmodels.api as sm\nsm.qqplot(np.linspace(-1, 1, 9))",
    "without pyplot": "from matplotlib.figure import Figure\nfigure = Figure()\nfigure.subplots().plot([1, 2])\nfigure",
    "polar": PLT + "plt.subplot(projection='polar').plot([0, 1], [1, 2])",
    "in three dimensions": PLT + "plt.figure().add_subplot(projection='3d').plot([1, 2], [1, 2], [5, 6])",
    "pie": PLT + "plt.pie([1, 3], labels=['a', 'b'])",
    "a backend with windows": "import matplotlib\nmatplotlib.use('TkAgg')\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show(block=True)",
    "backend switched later": PLT + "plt.switch_backend('QtAgg')\nplt.plot([1, 2])",
    "imported out of sight": "m = __import__('matplot' + 'lib.pyplot').pyplot\nm.plot([1, 2])\nm.show()\nm.plot([3, 4])\nm.close()",
    "equal figures": PLT + "for _ in range(3):\n    plt.figure()\n    plt.plot([1, 2])",
    "empty figure": PLT + "plt.figure()",
    "more figures than kept": PLT + "for i in range(9):\n    plt.figure()\n    plt.plot([0, i])",
    "no figure": "import sys\nprint('matplotlib' in sys.modules)",
    "table": "import pandas as pd\npd.DataFrame({'a': [1, 2.5, None], 'b': ['x', None, 'y' * 999], 't': pd.to_datetime(['2020-01-02', None, None]), 'i': pd.array([1, None, 3])}, index=['p', 'q', 'r'])",
    "series": "import pandas as pd\npd.Series([1, 2], name='s')",
    "tall table": "import pandas as pd\npd.DataFrame({i: range(5000) for i in range(100)})",
    "shown tables": "import pandas as pd\nfor i in range(2):\n    display(pd.DataFrame({'a': [i]}))\nprint('after')",
    "picture": "from PIL import Image\nImage.new('RGB', (3, 2), 'red')",
    "files": "open('out.csv', 'w').write('a,b\\n1,2\\n')\nimport os\nos.makedirs('sub')\nopen('sub/model.pkl', 'wb').write(b'\\x80\\x04N.')\nopen(os.environ['TMPDIR'] + '/note.txt', 'w').write('n')",
    "data file changed": "import os\nos.chmod('d.csv', 0o600)\nopen('d.csv', 'w').write('gone')",
    "large file": "open('big.bin', 'wb').write(bytes(60_000))",
    "many files": "for i in range(9):\n    open(f'{i}.txt', 'w').write('x')",
    "links": "import os\nos.symlink('/etc/hosts', 'link.txt')\nos.symlink('/usr', 'folder')\nopen('real.txt', 'w').write('r')",
    "page": "open('a.html', 'w').write('<script>')\nopen('b.svg', 'w').write('<svg xmlns=\"http://www.w3.org/2000/svg\"><script>x</script><rect width=\"1\" onclick=\"x\"/></svg>')\nopen('c.png', 'w').write('no')",
    # hostile
    "draw raises": BAD.format("raise KeyError('boo')"),
    "draw leaves": BAD.format("import os; os._exit(0)"),
    "draw breaks": BAD.format("import ctypes; ctypes.string_at(0)"),
    "draw spins": BAD.format("while True: pass"),
    "draw prints": BAD.format("print('@mean[1]', flush=True)"),
    "draw recurses": BAD.format("self.draw(renderer)"),
    "many artists": PLT + "from matplotlib.lines import Line2D\naxes = plt.gca()\naxes._children += [Line2D([0, 1], [0, 1]) for _ in range(25_000)]\nprint('done')",
    "many points": PLT + "plt.plot(np.random.default_rng(1).random(60_000), ',')",
    "everything replaced": PLT + "import matplotlib.figure as f\nf.Figure.savefig = plt.savefig = plt.show = plt.close = None\nplt.plot([1, 2])",
    "resolution": PLT + "plt.figure(dpi=100_000)\nplt.plot([1, 2])",
    "size": PLT + "plt.figure(figsize=(9000, 9000))\nplt.plot([1, 2])",
    "forged frames": "import os\nos.write(4, b'{\"kind\":\"file\",\"name\":\"../../x\\\\n\",\"parts\":[[\"file\",3]],\"facts\":{}}\\nabc{\"kind\":\"figure\",\"name\":\"f\",\"parts\":[[\"svg\",3]],\"facts\":{\"deep\":[[[1]]],\"n\":1e999}}\\nabcnonsense')",
    "forged end of run": "import os, struct\nos.write(5, struct.pack('<cd', b'f', 0.0))\nwhile True: pass",
    "forged time apart": "import os, struct\nos.write(5, struct.pack('<cd', b'b', 0.0) + struct.pack('<cd', b'e', 1e9))\nwhile True: pass",
    "afterwards": PLT + "plt.plot([1, 2])\nplt.savefig('a.png')",
}  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    (folder / "d.csv").write_text("a,b\n1,2\n")
    snippets = [Snippet(name, code, {"d.csv": folder / "d.csv"}) for name, code in CODES.items()]
    return {result.snippet_id: result for result in execute(snippets, LIMITS, workers=2)}


def kept(results, name, kind="figure"):
    return [artefact for artefact in results[name].artefacts if artefact.kind == kind]


def drawn(results, name, index=0):
    return json.loads(kept(results, name)[index].part("json").content)


def mark(results, name, index=0):
    return drawn(results, name)["axes"][0]["marks"][index]


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("neither saved nor shown", 1), ("shown", 1), ("two shown one after the other", 2), ("saved and closed", 1),
        ("saved and cleared", 2), ("drawn before it failed", 1), ("seaborn", 1), ("pandas", 1), ("statsmodels", 1),
        ("without pyplot", 1), ("polar", 1), ("in three dimensions", 1), ("a backend with windows", 1),
        ("backend switched later", 1), ("imported out of sight", 2), ("equal figures", 1), ("empty figure", 0),
        ("more figures than kept", 4), ("no figure", 0),
    ],
)  # fmt: skip
def test_every_figure_once_as_png_svg_and_data(results, name, count):
    figures = kept(results, name)
    assert len(figures) == count, results[name]
    for figure in figures:
        assert [part.media for part in figure.parts] == ["png", "svg", "json"]
        picture = Image.open(io.BytesIO(figure.part("png").content))
        picture.load()
        assert min(picture.size) > 200
        assert len(picture.convert("L").getcolors()) > 2  # something is on it
        assert figure.part("svg").content.startswith(b"<?xml")


def test_what_was_drawn(results):
    figure = drawn(results, "neither saved nor shown")
    (axes,) = figure["axes"]
    assert (axes["title"], axes["x"]["label"], axes["x"]["scale"], axes["y"]["scale"]) == (
        "T",
        "length",
        "linear",
        "log",
    )
    assert axes["legend"] == {"title": "side", "texts": ["north"]}
    assert axes["texts"] == [{"text": "peak", "at": [2, 2], "arrow": False}]
    low, high = axes["x"]["limits"]
    assert low < 1 < 4 < high
    assert [1.5, "1.5"] in axes["x"]["ticks"]
    (line,) = axes["marks"]
    assert {key: line[key] for key in ("kind", "label", "colours", "style", "marker", "n", "x", "y")} == {
        "kind": "line", "label": "north", "colours": ["#ff0000"], "style": "--", "marker": "o", "n": 3,
        "x": [1, 2, 4], "y": [3, 1, 2],
    }  # fmt: skip
    assert kept(results, "neither saved nor shown")[0].facts == {
        "shown": False,
        "saved_as": [],
        "axes": 1,
        "title": "T",
    }


def test_histograms_have_edges_and_counts(results):
    for name, index in (("histogram", 0), ("step histogram", 0)):
        found = mark(results, name, index)
        assert (found["kind"], found["edges"], found["counts"]) == ("histogram", [1, 2, 3, 4], [1, 2, 3]), name
    stairs = drawn(results, "step histogram", 1)["axes"][0]["marks"][0]
    assert (stairs["edges"], stairs["counts"]) == ([0, 1, 2], [5, 6])


def test_bars_categories_points_images_dates_wedges(results):
    bars = mark(results, "bars")
    assert (bars["kind"], bars["upright"], bars["at"], bars["heights"], bars["base"]) == (
        "bars",
        False,
        [0, 1],
        [3, 4],
        [1, 1],
    )
    axes = drawn(results, "shown")["axes"][0]
    assert axes["x"]["values"] == "categories"
    assert axes["x"]["ticks"] == [[0, "a"], [1, "b"]]
    points = mark(results, "points")
    assert (points["kind"], points["n"], len(points["x"]), points["x_range"]) == ("points", 1000, 200, [0, 999])
    assert (points["colour_map"], points["colour_limits"]) == ("viridis", [0, 999])
    image = mark(results, "image")
    assert (image["kind"], image["shape"], image["values"]) == ("image", [2, 2], [[1, 2], [3, 4]])
    assert [axes["colorbar"] for axes in drawn(results, "image")["axes"]] == [False, True]
    assert drawn(results, "dates")["axes"][0]["x"]["values"] == "dates"
    assert mark(results, "dates")["x"] == ["2020-01-01T00:00:00", "2020-02-01T00:00:00"]
    assert [mark(results, "pie", index)["share"] for index in (0, 1)] == [0.25, 0.75]
    assert drawn(results, "polar")["axes"][0]["kind"] == "polar"
    assert drawn(results, "in three dimensions")["axes"][0]["z"]["limits"][0] < 5


def test_shown_saved_and_ended_as_in_a_notebook(results):
    assert results["shown"].value == "[]"
    assert [figure.facts["shown"] for figure in kept(results, "two shown one after the other")] == [True, True]
    assert kept(results, "saved and closed")[0].facts["saved_as"] == ["a.png"]
    cleared = [drawn(results, "saved and cleared", index) for index in (0, 1)]
    assert [figure["saved_as"] for figure in cleared] == [["1.pdf"], ["2.pdf"]]
    assert [figure["axes"][0]["marks"][0]["y"] for figure in cleared] == [[0, 1], [0, 2]]
    assert results["a backend with windows"].stderr == ""
    assert results["drawn before it failed"].detail.startswith("ZeroDivisionError at line 4")


def test_a_snippet_that_draws_nothing_loads_nothing_and_keeps_nothing(results):
    found = results["no figure"]
    assert (found.stdout, found.artefacts, found.artefact_notes) == ("False\n", (), ())


def test_tables_with_types_and_missing_values(results):
    (table,) = kept(results, "table", "table")
    assert table.facts == {"type": "DataFrame", "shape": [3, 4], "source": "value"}
    whole = json.loads(table.part("json").content)
    assert whole["columns"] == ["a", "b", "t", "i"]
    assert whole["index"] == ["p", "q", "r"]
    assert [whole["dtypes"][i] for i in (0, 3)] == ["float64", "Int64"]
    assert whole["rows"][:2] == [[1, "x", "2020-01-02T00:00:00", 1], [2.5, None, None, None]]
    assert len(whole["rows"][2][1]) == 200
    series = json.loads(kept(results, "series", "table")[0].part("json").content)
    assert (series["type"], series["columns"], series["rows"]) == ("Series", ["s"], [[1], [2]])
    tall = json.loads(kept(results, "tall table", "table")[0].part("json").content)
    assert (tall["shape"], len(tall["rows"]), len(tall["rows"][0])) == ([5000, 100], 60, 40)
    shown = kept(results, "shown tables", "table")
    assert [(table.name, table.facts["source"]) for table in shown] == [
        ("table 1", "display"),
        ("table 2", "display"),
    ]
    assert results["shown tables"].stdout == "   a\n0  0\n   a\n0  1\nafter\n"
    (image,) = kept(results, "picture", "image")
    assert Image.open(io.BytesIO(image.part("png").content)).size == (3, 2)


def test_files_written(results):
    files = {file.name: file for file in kept(results, "files", "file")}
    assert set(files) == {"out.csv", "sub/model.pkl", "tmp/note.txt"}
    assert files["out.csv"].part("csv").content == b"a,b\n1,2\n"
    assert files["sub/model.pkl"].parts[0].media == "bin"
    (changed,) = kept(results, "data file changed", "file")
    assert (changed.name, changed.facts["changed"], changed.parts[0].content) == ("d.csv", True, b"gone")
    (large,) = kept(results, "large file", "file")
    assert (large.parts, large.facts["size"], len(large.facts["sha256"])) == ((), 60_000, 64)
    assert results["large file"].artefact_notes == (
        "file big.bin: 60,000 bytes, more than the limit of 50 kB for one",
    )
    assert len(kept(results, "many files", "file")) == 3
    assert "more than 3 files written: the rest are left out" in results["many files"].artefact_notes
    assert [file.name for file in kept(results, "links", "file")] == ["real.txt"]


def test_what_could_run_elsewhere_is_stored_as_nothing_that_does(results):
    page, drawing, picture = kept(results, "page", "file")
    assert page.parts[0].media == "bin"
    assert drawing.parts[0].media == "svg"
    assert b"script" not in drawing.parts[0].content
    assert b"onclick" not in drawing.parts[0].content
    assert picture.parts[0].media == "bin"


@pytest.mark.parametrize(
    "name", ["draw raises", "draw leaves", "draw breaks", "draw spins", "draw prints", "draw recurses"]
)
def test_a_figure_that_attacks_its_drawing_changes_nothing_else(results, name):
    found = results[name]
    assert (found.outcome, found.stdout, found.value, found.stderr) == ("ran", "done\n", "7", ""), found
    assert found.cpu_seconds < 2
    assert found.artefact_cpu_seconds < CAPS.cpu_seconds + 2
    good = kept(results, name)[0]  # the figure before it
    assert [part.media for part in good.parts] == ["png", "svg", "json"]
    if name != "draw prints":
        assert found.artefact_notes


def test_drawing_has_a_limit_of_its_own(results):
    spins = results["draw spins"]
    assert "drawing stopped at its CPU limit of 2.5 s" in spins.artefact_notes
    # 2.5 s of drawing would be more than half of the snippet's limit of 4 s.
    assert spins.artefact_cpu_seconds > 1.5
    assert spins.cpu_seconds < 1.5
    many = results["many artists"]
    assert (many.outcome, many.stdout) == ("ran", "done\n")
    assert many.artefacts or many.artefact_notes


def test_many_points_are_an_image_in_the_svg(results):
    (figure,) = kept(results, "many points")
    assert len(figure.part("svg").content) < 500_000
    assert b"data:image/png;base64" in figure.part("svg").content
    assert mark(results, "many points")["n"] == 60_000


@pytest.mark.parametrize("name", ["everything replaced", "resolution", "size"])
def test_figures_that_would_be_huge_or_lost_are_kept_at_a_bearable_size(results, name):
    (figure,) = kept(results, name)
    assert max(Image.open(io.BytesIO(figure.part("png").content)).size) <= 2500


def test_forged_frames_are_only_what_they_are(results):
    found = results["forged frames"]
    file, figure = found.artefacts
    assert file.name == "../../x�"  # a name, never a path
    assert file.parts[0].media == "bin"
    assert (figure.parts, figure.facts) == ((), {"deep": [], "n": None})
    assert "figure f: what it gave as svg is none" in found.artefact_notes


def test_time_cannot_be_talked_away(results):
    assert results["forged end of run"].outcome == "blocked"
    assert results["forged time apart"].detail == "CPU limit of 4 s"
    assert results["forged time apart"].wall_seconds > 1


def test_the_next_run_is_as_ever(results):
    found = results["afterwards"]
    assert [artefact.kind for artefact in found.artefacts] == ["figure", "file"]
    assert found.artefacts[0].part("svg").sha256 == kept(results, "saved and closed")[0].part("svg").sha256


def test_equal_code_gives_equal_bytes_in_other_sandboxes(results):
    names = ("neither saved nor shown", "image", "seaborn", "points", "dates", "in three dimensions")
    noise = Snippet("noise", "import uuid\nx = [uuid.uuid4().hex for _ in range(9999)]\n" + CODES["pie"])
    again = {r.snippet_id: r for r in execute([noise, *(Snippet(n, CODES[n]) for n in names)], LIMITS, workers=1)}
    for name in names:
        assert again[name].artefacts == results[name].artefacts, name


def test_results_can_be_sent_to_another_process(results):
    found = results["saved and closed"]
    assert pickle.loads(pickle.dumps(found)) == found
    assert dataclasses.asdict(found)["artefacts"][0]["parts"][0]["content"].startswith(b"\x89PNG")
