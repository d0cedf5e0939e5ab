"""Displays: scikit-learn's convention, the artists that should be there, labels that can be read."""

import io
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.testing import assert_allclose
from sklearn.datasets import load_wine

from gramian import PCA, KernelPCA, KernelSVC, PLSRegression
from gramian.plots import (
    BiplotDisplay,
    ContoursDisplay,
    ContributionsDisplay,
    CVCurveDisplay,
    HeatDisplay,
    ImportanceDisplay,
    LoadingsDisplay,
    OutliersDisplay,
    PredictedDisplay,
    RegionsDisplay,
    ScoresDisplay,
    ScreeDisplay,
    new_figure,
)
from gramian.plots.style import COLOURS

from .gallery import PICTURES, crowd, events, meats, moons, wine
from .test_images import new


@pytest.fixture
def scores(rng):
    return np.vstack([rng.standard_normal((40, 3)) + 4 * at for at in range(3)])


LABELS = ["a"] * 40 + ["b"] * 40 + ["c"] * 40

# The convention


@pytest.mark.parametrize("name", ["scree", "scores_in_space", "contributions", "heat"])
def test_without_axes_there_is_a_figure_of_pyplot(name):
    display = PICTURES[name]()
    assert plt.get_fignums() == [display.figure_.number]
    assert display.plot() is display  # and once more, in a new figure
    assert len(plt.get_fignums()) == 2


@pytest.mark.parametrize("name", ["scree", "contributions", "contours", "reconstructions_of_spectra", "likelihood"])
def test_a_title_can_be_changed(name):
    display = PICTURES[name](new())
    again = type(display)(display.chart).plot(new(), title="mine")
    first = (getattr(again, "axes_", None) or [again.ax_])[0]
    assert first.get_title(loc="left").startswith("mine")


@pytest.mark.slow
def test_pictures_are_drawn_without_a_display_or_pyplot():
    code = """
import io, sys
import numpy as np
from gramian.plots import ScoresDisplay, new_figure
figure, (ax,) = new_figure()
ScoresDisplay.from_scores(np.eye(4), colour=list("abcd"), ax=ax)
file = io.BytesIO()
figure.savefig(file, format="png")
assert file.getvalue().startswith(b"\\x89PNG")
assert "matplotlib.pyplot" not in sys.modules
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": ":".join(sys.path)}
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_axes_of_the_wrong_kind(scores):
    with pytest.raises(ValueError, match=r"ax is not 3-D.*projection.*3d"):
        ScoresDisplay.from_scores(scores, components=(1, 2, 3), ax=new())
    with pytest.raises(ValueError, match="ax is not 2-D"):
        ScoresDisplay.from_scores(scores, ax=new(space=True))
    with pytest.raises(ValueError, match="ax has no place in a grid of subplots"):
        ContributionsDisplay.from_estimator(PCA(2).fit(scores), ax=Figure().add_axes((0, 0, 1, 1)))


# Scores


def test_scores_draw_every_row_in_the_colour_of_its_label(scores):
    ax = ScoresDisplay.from_scores(scores, [0.5, 0.25, 0.01], colour=LABELS, ax=new(), title="three groups").ax_
    assert ax.get_title(loc="left") == "three groups"
    assert ax.get_xlabel() == "component 1 (50 % of variance)"
    assert ax.get_ylabel() == "component 2 (25 % of variance)"
    (points,) = ax.collections
    drawn = {tuple(at): to_hex(c) for at, c in zip(points.get_offsets().data, points.get_facecolors(), strict=True)}
    assert drawn == {tuple(row[:2]): COLOURS["abc".index(label)] for row, label in zip(scores, LABELS, strict=True)}


def test_names_stand_within_their_class(scores):
    texts = ScoresDisplay.from_scores(scores, colour=LABELS, ax=new()).texts_
    assert [text.get_text() for text in texts] == ["a", "b", "c"]
    for text, start in zip(texts, (0, 40, 80), strict=True):
        median = np.median(scores[start : start + 40, :2], axis=0)
        assert np.linalg.norm(np.array(text.get_position()) - median) < 0.5


def overlapping(display):
    """Pairs of texts of which one covers another."""
    display.figure_.draw_without_rendering()
    boxes = [(text.get_text(), text.get_window_extent()) for text in display.texts_]
    return [(a, b) for at, (a, one) in enumerate(boxes) for b, other in boxes[at + 1 :] if one.overlaps(other)]


@pytest.mark.slow
def test_names_do_not_overlap(rng):
    labels = [str(at % 10) for at in range(500)]
    crowded = ScoresDisplay.from_scores(rng.standard_normal((500, 2)), colour=labels, ax=new())  # all in one place
    assert len(crowded.texts_) == 10
    assert not overlapping(crowded)
    assert not overlapping(ScoresDisplay.from_estimator(PCA(2, scale=True).fit(events()), events(), ax=new()))
    assert not overlapping(LoadingsDisplay.from_estimator(PCA(2, scale=True).fit(wine()[0]), ax=new()))


@pytest.mark.slow
@pytest.mark.parametrize("table", [events(), wine()[0], meats()[0]], ids=["events", "wine", "meats"])
def test_labels_of_a_biplot_do_not_overlap(table):
    display = BiplotDisplay.from_estimator(PCA(2, scale=True).fit(table), table, ax=new())
    assert len(display.texts_) >= 10
    assert not overlapping(display)


@pytest.mark.slow
def test_labels_stay_inside_the_axes():
    display = BiplotDisplay.from_estimator(PCA(2, scale=True).fit(events()), events(), ax=new())
    display.figure_.draw_without_rendering()
    frame = display.ax_.get_window_extent()
    for text in display.texts_:
        box = text.get_window_extent()
        assert frame.x0 - 1 <= box.x0 <= box.x1 <= frame.x1 + 1, text.get_text()
        assert frame.y0 - 1 <= box.y0 <= box.y1 <= frame.y1 + 1, text.get_text()


def test_without_labels_or_with_too_many_there_is_one_colour(scores):
    for labels in (None, [str(at) for at in range(120)], ["same"] * 120):
        display = ScoresDisplay.from_scores(scores, colour=labels, ax=new())
        assert len(np.unique(display.scatter_.get_facecolors(), axis=0)) == 1
        assert display.ax_.get_xlabel() == "component 1"


def test_both_axes_have_one_scale_unless_the_picture_is_flat(scores):
    assert ScoresDisplay.from_scores(scores, ax=new()).ax_.get_aspect() == 1.0
    assert ScoresDisplay.from_scores(scores * [1, 100, 1], ax=new()).ax_.get_aspect() == "auto"


def test_no_class_is_drawn_last(scores):
    offsets = ScoresDisplay.from_scores(scores, colour=LABELS, ax=new()).scatter_.get_offsets().data
    assert len({tuple(at) for at in offsets[-40:]} & {tuple(at) for at in scores[-40:, :2]}) < 30


@pytest.mark.slow
def test_many_rows_are_a_density_and_the_file_stays_small():
    X, group = crowd(200_000)
    display = ScoresDisplay.from_estimator(PCA(2).fit(X), X, colour=group, ax=new())
    assert display.image_ is not None
    assert len(display.scatter_.get_offsets()) < 200  # the row far outside and its like
    file = io.BytesIO()
    display.figure_.savefig(file, format="svg")
    assert len(file.getvalue()) < 500_000


def test_wrong_scores():
    with pytest.raises(ValueError, match=r"shape \(3, 1\); a plane needs"):
        ScoresDisplay.from_scores(np.zeros((3, 1)))
    with pytest.raises(ValueError, match="colour has shape"):
        ScoresDisplay.from_scores(np.zeros((3, 2)), colour=["a"])


# Spectra


def test_screes_share_axes_and_differ_in_colour_and_shape(scores):
    ax = new()
    first = ScreeDisplay.from_estimator(PCA().fit(scores), ax=ax, name="PCA")
    second = ScreeDisplay.from_estimator(KernelPCA(2).fit(scores), ax=ax, name="kernel PCA")
    assert_allclose(first.line_.get_ydata(), 100 * PCA().fit(scores).explained_variance_ratio_)
    assert first.line_.get_color() != second.line_.get_color()
    assert first.line_.get_marker() != second.line_.get_marker()
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names[0] == "PCA: 100 % in 3 components"
    assert names[1].startswith("kernel PCA: ")
    assert ax.get_ylim()[0] == 0
    assert ax.get_ylim()[1] >= 1.05 * max(first.line_.get_ydata())


def test_a_scree_lists_what_every_criterion_says():
    X = load_wine().data
    display = ScreeDisplay.from_estimator(PCA(3, scale=True).fit(X), X, ax=new())
    text = display.suggestions_.get_text()
    for line in display.chart.suggestions:
        assert line.criterion in " ".join(text.split())
    assert "3  deflated parallel analysis (decides)" in text
    assert display.band_ is not None
    plain = ScreeDisplay.from_estimator(PCA(3).fit(X), ax=new())
    assert (plain.band_, plain.suggestions_, plain.ax_.get_legend()) == (None, None, None)


# The others


def test_the_curve_says_what_is_recommended():
    display = CVCurveDisplay.from_estimator(PLSRegression("auto").fit(*meats()), ax=new())
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"recommended: {display.chart.recommended} components" in names
    assert_allclose(display.limit_.get_ydata()[0], display.chart.limit)


def test_predictions_that_are_there_already():
    display = PredictedDisplay.from_predictions([1.0, 2.0, 3.0], [1.1, 2.1, 3.3], unit="g", ax=new())
    assert display.ax_.get_ylabel() == "predicted (g)"
    assert "n = 3" in display.text_.get_text()
    assert display.ax_.get_xlim() == display.ax_.get_ylim()


def test_rows_beyond_the_limits_are_named():
    display = OutliersDisplay.from_estimator(PCA(3, scale=True).fit(events()), events(), ax=new())
    assert {text.get_text() for text in display.texts_} == {events().index[at] for at in display.chart.beyond}


@pytest.mark.slow
def test_a_row_far_out_is_seen_beside_the_others():
    X = wine()[0].copy()
    model = PCA(3, scale=True).fit(X)
    X.iloc[5, 2] *= 30
    display = OutliersDisplay.from_estimator(model, X, ax=new())
    assert (display.ax_.get_xscale(), display.ax_.get_yscale()) == ("log", "log")
    assert "6" in {text.get_text() for text in display.texts_}
    display.figure_.draw_without_rendering()
    far = display.ax_.transData.transform(display.chart.points.at[5])
    assert display.ax_.get_window_extent().contains(*far)
    assert not display.ax_.get_legend().get_window_extent().contains(*far)


def test_support_vectors_have_rings():
    X, y = moons()
    model = KernelSVC(10, kernel="rbf(sigma=0.5)").fit(X, y)
    display = RegionsDisplay.from_estimator(model, X, y, grid=40, ax=new())
    assert_allclose(display.support_.get_offsets(), X[model.support_])


def test_panels_of_contours_say_which_component_they_show():
    X, _ = moons()
    display = ContoursDisplay.from_estimator(KernelPCA(4, kernel="rbf(sigma=0.5)").fit(X), X, grid=20, ax=new())
    titles = [ax.get_title(loc="left") for ax in display.axes_]
    assert [title.split(" (")[0] for title in titles] == [f"component {at}" for at in (1, 2, 3, 4)]


def test_many_columns_without_an_order_show_the_largest():
    gene = np.random.default_rng(0).standard_normal((50, 80))
    names = [f"{'xyz'[j % 3]}{j}" for j in range(80)]
    model = PLSRegression(2).fit(gene, gene[:, 0])
    display = ImportanceDisplay.from_estimator(model, names=names, ax=new())
    assert len(display.bars_) == 30
    assert display.ax_.get_yticklabels()[0].get_text() == "x0"
    assert display.ax_.get_title(loc="right") == "the largest 30 of 80"


def test_new_figure_grows_with_its_panels():
    one, two = new_figure()[0], new_figure(panels=2)[0]
    assert isinstance(one, Figure)
    assert two.get_figwidth() == 2 * one.get_figwidth()


@pytest.mark.slow
def test_missing_matplotlib_says_what_to_install():
    code = "import sys; sys.modules['matplotlib'] = None; import gramian, gramian.charts; import gramian.plots"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].endswith('gramian.plots needs matplotlib: pip install "gramian[plot]"')


@pytest.mark.slow
def test_names_with_dollars_are_written_as_they_are():
    X = events().head(12).rename(columns=lambda name: rf"${name} \frac$")
    X.index = [rf"$\sqrt{name}$" for name in X.index]
    kinds = np.array([r"$\nonsense{", "$b$"])[np.arange(len(X)) % 2]
    model, regression = PCA(2, scale=True).fit(X), PLSRegression("auto").fit(X, X.iloc[:, 0])
    displays = [
        ScoresDisplay.from_estimator(model, X, colour=kinds, ax=new()),
        BiplotDisplay.from_estimator(model, X, ax=new()),
        LoadingsDisplay.from_estimator(model, ax=new()),
        HeatDisplay.from_estimator(model, ax=new()),
        ContributionsDisplay.from_estimator(model, X, of="rows", ax=new()),
        OutliersDisplay.from_estimator(model, X, colour=kinds, ax=new()),
        ImportanceDisplay.from_estimator(regression, kind="coefficients", ax=new()),
        PredictedDisplay.from_estimator(regression, X, X.iloc[:, 0], colour=kinds, unit="$ in $", ax=new()),
        RegionsDisplay.from_estimator(KernelSVC().fit(X.iloc[:, :2], kinds), X.iloc[:, :2], kinds, grid=20, ax=new()),
    ]
    for display in displays:
        display.figure_.draw_without_rendering()  # which reads all text
        written = [text.get_text() for text in display.figure_.findobj(Text)]
        assert any("$" in text for text in written), type(display).__name__


@pytest.mark.parametrize("rows", [2, pytest.param(3, marks=pytest.mark.slow), 10])
def test_few_rows(rows):
    X = wine()[0][:rows]
    model = PCA(1 if rows == 2 else 2).fit(X)
    if rows > 2:
        for display in (ScoresDisplay, BiplotDisplay, OutliersDisplay):
            drawn = display.from_estimator(model, X, ax=new())
            drawn.figure_.draw_without_rendering()
            assert len(drawn.scatter_.get_offsets()) == rows
    for display in (ScreeDisplay, ContributionsDisplay):
        drawn = display.from_estimator(model, ax=new())
        drawn.figure_.draw_without_rendering()
        assert any(ax.has_data() for ax in drawn.figure_.axes)


def test_more_groups_than_colours_differ_in_shape(rng):
    X, groups = rng.standard_normal((120, 2)), [f"group {at % 12:02}" for at in range(120)]
    display = ScoresDisplay.from_scores(X, colour=groups, ax=new())
    offsets, paths = display.scatter_.get_offsets(), display.scatter_.get_paths()
    group = {tuple(row): at % 12 for at, row in enumerate(X)}
    corners = [
        {len(path.vertices) for at, path in zip(offsets, paths, strict=True) if group[tuple(at)] == g} for g in (0, 10)
    ]
    assert len(corners[0]) == len(corners[1]) == 1
    assert corners[0] != corners[1]
