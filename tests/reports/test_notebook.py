"""What notebooks show: scikit-learn's diagram, and below it a card of the fit."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import sklearn
from sklearn.base import clone

import gramian as g
from gramian.notebook import picture
from gramian.selection import how_many, trust

from .conftest import IRIS, KINDS, NASTY


def show(estimator):
    return estimator._repr_mimebundle_()["text/html"]


@pytest.mark.filterwarnings("ignore::gramian.GramianWarning")
@pytest.mark.parametrize("name", KINDS)
def test_a_fitted_estimator_shows_its_summary(name, read_page):
    model, X, y, _ = KINDS[name]
    model = clone(model)
    unfitted = model._repr_html_()
    assert "gramian-card" not in unfitted
    model = model.fit(X) if y is None else model.fit(X, y)
    estimator = model[-1] if hasattr(model, "steps") else model
    html = show(estimator)
    assert "sk-" in html  # the diagram
    assert html.count("gramian-card") == estimator._repr_html_().count("gramian-card") == 1
    card = html[html.index('<div class="gramian-card"') :]
    found = read_page(card)
    assert type(estimator).__name__ in "".join(found.words)
    assert "nan" not in card
    for drawn in found.all("svg"):
        assert drawn["role"] == "img"
        assert drawn["aria-label"]


def test_a_pipeline_shows_its_steps_without_a_warning():
    from sklearn.pipeline import make_pipeline

    class Fresh(g.KernelPCA):
        __doc__ = f"{g.KernelPCA.__doc__} "  # not read before

    assert "Fresh" in make_pipeline(g.Standardizer(), Fresh(2)).fit(IRIS.data)._repr_html_()


def test_bars_are_shares_of_the_variance():
    model = g.PCA(3).fit(IRIS.data)
    drawn = ElementTree.fromstring(picture(model._bars()))
    heights = [float(bar.get("height")) for bar in drawn.iter("{http://www.w3.org/2000/svg}rect")]
    shares = model.explained_variance_ratio_
    np.testing.assert_allclose(np.array(heights) / heights[0], shares / shares[0], atol=2e-3)


def test_the_setting_of_scikit_learn_is_honoured():
    model = g.PCA(2).fit(IRIS.data)
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert set(model._repr_mimebundle_()) == {"text/plain"}


def test_results_show_as_tables():
    X = IRIS.data
    for result in (g.PCA(2).fit(X).summary_, g.doctor(X), how_many(X), trust(g.PCA(2), X, n_boot=20)):
        html = result._repr_html_()
        assert html.startswith("<table>")
        assert html.endswith("</table>")
        ElementTree.fromstring(html)


def test_names_are_escaped(read_page):
    diagnosis = g.doctor(NASTY.assign(**{"<script>": 1.0}))
    assert "&lt;script&gt;" in diagnosis._repr_html_()
    read_page(diagnosis._repr_html_())


@pytest.mark.slow
def test_no_drawing_package_is_loaded_for_a_card():
    code = (
        "import sys, gramian; m = gramian.PCA(1).fit([[0.0, 1.0], [1.0, 3.0], [2.0, 0.0]]); m._repr_mimebundle_(); "
        "print(sorted({'matplotlib', 'plotly', 'jinja2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
