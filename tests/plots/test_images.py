"""Every Display looks as it did when it was last looked at."""

import dataclasses

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_wine

import gramian.plots
from gramian import PCA, charts
from gramian.plots import HeatDisplay, OutliersDisplay, ScoresDisplay, ScreeDisplay

from .gallery import PICTURES, scree, wine
from .images import FOLDER, assert_same, bare, compare, distance, kept, render


def new(space=False):
    """Axes of a figure of its own, without pyplot."""
    figure = Figure(layout="constrained")
    return figure.add_subplot(projection="3d" if space else None)


#: Pictures whose columns or rows say themselves what they are.
UNNAMED = ("heat", "contributions", "reconstructions", "coefficients")


#: Of each Display one picture always; those of other data are compared by the slow tests.
COMPARED = [pytest.param(name, marks=[pytest.mark.slow] * ("_of_" in name)) for name in PICTURES]


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPARED)
def test_the_picture_is_the_one_that_was_kept_drawn_where_it_should_be(name):
    ax = new(space=name == "scores_in_space")
    display = PICTURES[name](ax)
    assert (display.ax_, display.figure_) == (ax, ax.figure)
    assert plt.get_fignums() == []  # pyplot is left alone
    shown = getattr(display, "axes_", None) or [ax]
    assert name in UNNAMED or (shown[-1].get_xlabel() and shown[0].get_ylabel())
    compare(name, display.figure_)


def test_every_display_has_a_picture_and_every_picture_a_test():
    drawn = {draw.__annotations__["return"] for draw in PICTURES.values()}
    assert drawn == {name for name in gramian.plots.__all__ if name.endswith("Display")}
    assert {path.stem for path in FOLDER.glob("*.png")} == set(PICTURES)


def test_kept_images_are_small():
    sizes = [path.stat().st_size for path in FOLDER.glob("*.png")]
    assert max(sizes) < 25_000
    assert sum(sizes) < 1_000_000


@pytest.mark.parametrize(
    "name", ["scores", "biplot", "loadings_circle", "predicted", "regions", "outliers", "likelihood"]
)
def test_another_rasteriser_draws_the_same(name):
    """Drawn twice as fine and shrunk, lines have other grey edges; that must not count. (Bars and marks of lines, which
    are snapped to whole pixels, may move by one.)"""
    figure = bare(PICTURES[name](new()).figure_)
    assert_same(render(figure), render(figure, fine=2))


def scores_without_a_group():
    X, y = wine()
    return ScoresDisplay.from_estimator(PCA(2, scale=True).fit(X[y < 2]), X[y < 2], colour=y[y < 2], ax=new()), "scores"


def scores_in_other_colours():
    X, y = wine()
    return ScoresDisplay.from_estimator(PCA(2, scale=True).fit(X), X, colour=2 - y, ax=new()), "scores"


def scores_upside_down():
    X, y = wine()
    display = ScoresDisplay.from_estimator(PCA(2, scale=True).fit(X), X, colour=y, ax=new())
    display.ax_.invert_yaxis()
    return display, "scores"


def scree_without_its_band():
    chart = dataclasses.replace(scree(new()).chart, low=None, middle=None, high=None)
    return ScreeDisplay(chart).plot(new()), "scree"


def scree_with_a_suggestion_less():
    chart = scree(new()).chart
    fewer = tuple(line for line in chart.suggestions if line.k != 12)
    return ScreeDisplay(dataclasses.replace(chart, suggestions=fewer)).plot(new()), "scree"


def outliers_without_a_limit():
    chart = dataclasses.replace(PICTURES["outliers"](new()).chart, q_limit=None)
    return OutliersDisplay(chart).plot(new()), "outliers"


def heat_in_another_order():
    chart = PICTURES["heat"](new()).chart
    return HeatDisplay(dataclasses.replace(chart, values=chart.values[::-1])).plot(new()), "heat"


@pytest.mark.parametrize(
    "wrong",
    [
        scores_without_a_group,
        scores_in_other_colours,
        scores_upside_down,
        scree_without_its_band,
        scree_with_a_suggestion_less,
        outliers_without_a_limit,
        heat_in_another_order,
    ],
    ids=lambda draw: draw.__name__,
)
def test_a_wrong_picture_is_found(wrong):
    display, right = wrong()
    with pytest.raises(AssertionError, match="the pictures differ by"):
        assert_same(render(bare(display.figure_)), kept(right))


@pytest.mark.slow
def test_fonts_do_not_matter():
    from matplotlib import rc_context

    X = load_wine(as_frame=True).data
    chart = charts.biplot(PCA(2, scale=True).fit(X), X)
    images = []
    for family in ("sans-serif", "serif", "monospace"):
        with rc_context({"font.family": family, "font.size": 10 + 3 * len(images)}):
            images.append(render(bare(gramian.plots.BiplotDisplay(chart).plot(new()).figure_)))
    assert_same(images[0], images[1])
    assert_same(images[0], images[2])


def test_the_distance_is_one(rng):
    image = rng.uniform(size=(300, 400, 3))
    assert distance(image, image) == (0, 0)
    white, black = np.ones((300, 400, 3)), np.zeros((300, 400, 3))
    assert distance(white, black) == (1, 1)
