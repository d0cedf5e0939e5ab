"""``gramian demo`` and the examples of the help texts."""

import contextlib
import io
import re
import shlex
import shutil

import matplotlib.image
import numpy as np
import pytest
from sklearn.datasets import load_digits

from gramian import KernelPCA
from gramian.cli.app import app, run
from gramian.tables import read_table


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The folder that the first line of every example writes, and what it says."""
    folder = tmp_path_factory.mktemp("examples") / "new" / "demo"
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        assert run(["demo", "--output", str(folder)]) == 0
    assert err.getvalue() == ""
    return folder, out.getvalue()


@pytest.mark.slow
def test_demo_writes_tables_and_pictures(demo):
    folder, out = demo
    assert len(out.splitlines()) <= 24
    files = sorted(path.name for path in folder.iterdir())
    tables = ["diabetes.csv", "digits.csv", "iris.csv", "linnerud.csv", "wine.csv"]
    assert files == sorted([*tables, "digits.png", "rings.png", "scores.csv", "spectrum.png"])
    for name in files:
        assert f"{folder / name}: " in out
    digits = read_table(folder / "digits.csv")
    np.testing.assert_array_equal(digits.values, load_digits().data)
    assert digits.labels == {"digit": [f"d{digit}" for digit in load_digits().target]}
    expected = KernelPCA(20, kernel="rbf(sigma=25)").fit_transform(digits.values)
    np.testing.assert_allclose(read_table(folder / "scores.csv").values, expected, rtol=0, atol=1e-12)
    for name, shape in {
        "digits.png": (750, 1620, 4),
        "spectrum.png": (750, 810, 4),
        "rings.png": (750, 1620, 4),
    }.items():
        picture = matplotlib.image.imread(folder / name)
        assert picture.shape == shape
        assert picture[..., :3].std() > 0.05


def test_the_rings_are_parted_by_the_first_component(here):
    from gramian.cli.demo import draw_rings

    points = draw_rings().axes[1].collections[0]
    first, colours = points.get_offsets().data[:, 0], points.get_facecolors()
    groups = [first[(colours == colour).all(axis=1)] for colour in np.unique(colours, axis=0)]
    assert len(groups) == 2
    low, high = sorted(groups, key=np.mean)
    assert np.mean(low < (low.mean() + high.mean()) / 2) > 0.99
    assert np.mean(high > (low.mean() + high.mean()) / 2) > 0.99


COMMANDS = [
    "fit",
    "show",
    "transform",
    "inverse",
    "predict",
    "score",
    "select",
    "compare",
    "doctor",
    "inspect",
    "report",
    "demo",
]
#: They serve until they are stopped; their own tests run them.
SERVERS = ["explore"]


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_the_examples_of_the_help_run(gramian, here, demo, command):
    _, text, _ = gramian(command, "--help")
    first, *examples = re.findall(r"^ +gramian (.*?) *$", text, flags=re.MULTILINE)
    assert first == "demo --output demo"
    shutil.copytree(demo[0], here / "demo")
    for example in examples:
        code, _, err = gramian(*shlex.split(example))
        assert (code, err) == (0, ""), example
        for file in re.findall(r"(?:-o|--model) (\S+)", example):
            assert (here / file).stat().st_size > 0
    assert any(example.startswith(command) for example in [first, *examples])


def test_all_commands_have_an_example():
    names = [command.name or command.callback.__name__ for command in app.registered_commands]
    assert [name for name in names if name not in SERVERS] == COMMANDS
    assert set(SERVERS) <= set(names)
