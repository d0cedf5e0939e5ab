"""``gramian demo`` and the example of the help text."""

import re
import shlex

import matplotlib.image
import numpy as np
from sklearn.datasets import load_digits

from gramian import KernelPCA
from gramian.tables import read_table


def test_demo_writes_tables_and_pictures(gramian, here):
    code, out, err = gramian("demo", "--output", "new/demo")
    assert (code, err) == (0, "")
    assert len(out.splitlines()) <= 17
    files = sorted(path.name for path in (here / "new/demo").iterdir())
    assert files == ["digits.csv", "digits.png", "rings.png", "scores.csv", "spectrum.png"]
    for name in files:
        if name != "digits.csv":
            assert f"new/demo/{name}: " in out
    digits = read_table("new/demo/digits.csv")
    np.testing.assert_array_equal(digits.values, load_digits().data)
    assert digits.labels == {"digit": [f"d{digit}" for digit in load_digits().target]}
    expected = KernelPCA(20, kernel="rbf(sigma=25)").fit_transform(digits.values)
    np.testing.assert_allclose(read_table("new/demo/scores.csv").values, expected, rtol=0, atol=1e-12)
    for name, shape in {
        "digits.png": (750, 1620, 4),
        "spectrum.png": (750, 810, 4),
        "rings.png": (750, 1620, 4),
    }.items():
        picture = matplotlib.image.imread(here / "new/demo" / name)
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


def test_the_example_of_the_help_runs(gramian):
    _, text, _ = gramian("fit", "--help")
    examples = re.findall(r"^ +gramian (.*)$", text, flags=re.MULTILINE)
    assert len(examples) == 2
    for example in examples:
        assert gramian(*shlex.split(example))[0] == 0
    assert read_table("scores.csv").values.shape == (1797, 2)
