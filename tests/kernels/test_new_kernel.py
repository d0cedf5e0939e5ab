"""The kernel of CONTRIBUTING.md, in a file of its own, is a full citizen of the library."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gramian import KernelKNNClassifier, KernelPCA, RandomFeatures
from gramian.kernels import parse
from gramian.kernels.base import REGISTRY
from gramian.preimage import available
from gramian.selection import column_importance, doctor
from gramian.testing import check_kernel

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"


@pytest.fixture(scope="module")
def cauchy(tmp_path_factory):
    """The class, from one new file."""
    before, file = dict(REGISTRY), tmp_path_factory.mktemp("package") / "cauchy.py"
    section = PAGE.read_text(encoding="utf-8").split("## Add a kernel")[1].split("\n## ")[0]
    file.write_text(re.search(r"```python\n(.*?)```", section, re.DOTALL)[1], encoding="utf-8")
    spec = importlib.util.spec_from_file_location("cauchy", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module.Cauchy
    REGISTRY.clear()
    REGISTRY.update(before)


@pytest.fixture
def rows(rng):
    return rng.standard_normal((120, 3))


@pytest.mark.parametrize("text", ["cauchy", "cauchy(sigma=2)", "2*cauchy(sigma=3) + linear", "cauchy*rbf(sigma=2)"])
def test_it_obeys_the_laws(cauchy, text):
    check_kernel(parse(text))


def test_its_neighbours_are_the_euclidean_ones(cauchy, rows):
    model = KernelKNNClassifier(5, kernel="cauchy(sigma=2)").fit(rows, np.arange(len(rows)) % 2)
    assert model.kernel_.keeps_neighbours
    distances, found = model.kneighbors(rows)
    squares = ((rows[:, None] - rows) ** 2).sum(axis=2)
    assert_allclose(np.take_along_axis(squares, found, axis=1), np.sort(squares, axis=1)[:, :5], atol=1e-12)
    assert_allclose(distances, np.sqrt(2 - 2 / (1 + np.sort(squares, axis=1)[:, :5] / 4)), atol=1e-7)


def test_it_has_random_features(cauchy, rows):
    waves = KernelPCA(2, kernel="cauchy(sigma=2)", landmarks=RandomFeatures(4000, random_state=0)).fit(rows)
    assert_allclose(waves.eigenvalues_, KernelPCA(2, kernel="cauchy(sigma=2)").fit(rows).eigenvalues_, rtol=0.05)


@pytest.mark.parametrize("method", ["fixed_point", "distance", "learned", "auto"])
def test_it_has_preimages(cauchy, rows, method):
    assert available(cauchy(sigma=2.0)) == ("fixed_point", "distance", "learned")
    model = KernelPCA(100, kernel="cauchy(sigma=4)", preimage=method).fit(rows)
    assert_allclose(model.inverse_transform(model.transform(rows)), rows, atol=1e-2)


def test_it_has_slopes_and_a_width(cauchy, rows):
    assert column_importance(KernelPCA(2, kernel="cauchy(sigma=2)").fit(rows), rows).method == "slopes"
    advice = [finding.remedy for finding in doctor(rows, kernel="cauchy(sigma=1000)").findings]
    assert any("try cauchy(sigma=" in remedy for remedy in advice)


def test_the_explorer_lists_it_with_a_slider(cauchy):
    pytest.importorskip("dash")
    from gramian.explore.choice import Choice
    from gramian.explore.datasets import preset
    from gramian.explore.layout import page

    assert '"Cauchy"' in str(page().to_plotly_json()).replace("'", '"')
    assert cauchy.sliders == ("width",)
    data = preset("rings")
    narrow, wide = (parse(Choice("kernel-pca", kernel="cauchy", width=at).kernels(data)[0]) for at in (-1.0, 1.0))
    assert wide.sigma == pytest.approx(4 * narrow.sigma, rel=1e-3)
