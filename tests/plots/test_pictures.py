"""Pictures: the axes, names, points and colours that should be there, and no trace of pyplot."""

import io
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from gramian.plots import new_figure, plot_scores, plot_spectrum
from gramian.plots.style import COLOURS


@pytest.fixture
def scores(rng):
    return np.vstack([rng.standard_normal((40, 3)) + 4 * at for at in range(3)])


LABELS = ["a"] * 40 + ["b"] * 40 + ["c"] * 40


def test_scores_draw_every_row_in_the_colour_of_its_label(scores):
    ax = plot_scores(scores, LABELS, [0.5, 0.25, 0.01], title="three groups")
    assert ax.get_title(loc="left") == "three groups"
    assert ax.get_xlabel() == "component 1 (50 % of variance)"
    assert ax.get_ylabel() == "component 2 (25 % of variance)"
    (points,) = ax.collections
    drawn = {tuple(at): to_hex(c) for at, c in zip(points.get_offsets().data, points.get_facecolors(), strict=True)}
    assert drawn == {tuple(row[:2]): COLOURS["abc".index(label)] for row, label in zip(scores, LABELS, strict=True)}


def test_names_stand_within_their_class(scores):
    ax = plot_scores(scores, LABELS)
    assert [text.get_text() for text in ax.texts] == ["a", "b", "c"]
    for text, start in zip(ax.texts, (0, 40, 80), strict=True):
        median = np.median(scores[start : start + 40, :2], axis=0)
        assert np.linalg.norm(np.array(text.xy) - median) < 0.5


def test_names_do_not_overlap(rng):
    labels = [str(at % 10) for at in range(500)]
    ax = plot_scores(rng.standard_normal((500, 2)), labels)  # all classes in the same place
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) == 10
    assert not any(a.overlaps(b) for at, a in enumerate(boxes) for b in boxes[at + 1 :])


def test_without_labels_or_with_too_many_there_is_one_colour(scores):
    for labels in (None, [str(at) for at in range(120)], ["same"] * 120):
        ax = plot_scores(scores, labels)
        assert len(np.unique(ax.collections[0].get_facecolors(), axis=0)) == 1
        assert not ax.texts
        assert ax.get_xlabel() == "component 1"


def test_both_axes_have_one_scale(scores):
    assert plot_scores(scores).get_aspect() == 1.0


def test_no_class_is_drawn_last(scores):
    offsets = plot_scores(scores, LABELS).collections[0].get_offsets().data
    assert len({tuple(at) for at in offsets[-40:]} & {tuple(at) for at in scores[-40:, :2]}) < 30


def test_a_given_axes_is_used(scores):
    figure, (left, right) = new_figure(panels=2)
    assert plot_scores(scores, ax=right) is right
    assert not left.has_data()
    assert figure.axes == [left, right]


@pytest.mark.parametrize(
    ("scores", "labels", "complaint"),
    [
        (np.zeros((3, 1)), None, r"shape \(3, 1\); a plane needs at least two columns"),
        (np.zeros(3), None, r"shape \(3,\)"),
        (np.zeros((3, 2)), ["a"], "labels has 1 entries for 3 rows"),
    ],
)
def test_wrong_scores(scores, labels, complaint):
    with pytest.raises(ValueError, match=complaint):
        plot_scores(scores, labels)


def test_spectra_share_axes_and_differ_in_colour_and_shape():
    ax = plot_spectrum([0.5, 0.3, 0.1], name="PCA", title="spectra")
    assert plot_spectrum([0.25, 0.125], ax, name="kernel PCA") is ax
    first, second = ax.lines
    np.testing.assert_allclose(first.get_xydata(), [[1, 50], [2, 30], [3, 10]])
    np.testing.assert_allclose(second.get_xydata(), [[1, 25], [2, 12.5]])
    assert first.get_color() != second.get_color()
    assert first.get_marker() != second.get_marker()
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["PCA: 90 % in 3 components", "kernel PCA: 37.5 % in 2 components"]
    assert ax.get_ylabel() == "share of variance, %"
    assert ax.get_ylim()[0] == 0


def test_a_spectrum_needs_no_name():
    assert plot_spectrum([0.5]).get_legend() is None


@pytest.mark.parametrize("shares", [[], [[0.5]]])
def test_wrong_shares(shares):
    with pytest.raises(ValueError, match="shares has shape"):
        plot_spectrum(shares)


def test_pictures_are_saved_without_a_display_or_pyplot(scores):
    code = """
import sys, io
import numpy as np
from gramian.plots import plot_scores
file = io.BytesIO()
plot_scores(np.eye(4), list("abcd")).figure.savefig(file, format="png")
assert file.getvalue().startswith(b"\\x89PNG")
assert "matplotlib.pyplot" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={})
    assert (done.returncode, done.stdout) == (0, "")


def test_new_figure_grows_with_its_panels():
    one, two = new_figure()[0], new_figure(panels=2)[0]
    assert isinstance(one, Figure)
    assert two.get_figwidth() == 2 * one.get_figwidth()
    file = io.BytesIO()
    two.savefig(file, format="png")
    assert len(file.getvalue()) > 1000


def test_missing_matplotlib_says_what_to_install():
    code = "import sys; sys.modules['matplotlib'] = None; import gramian; import gramian.plots"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].endswith('gramian.plots needs matplotlib: pip install "gramian[plot]"')


def test_the_package_itself_loads_neither_pictures_nor_tables():
    code = """
import sys, gramian
names = "matplotlib", "typer", "gramian.tables", "gramian.plots", "gramian.cli"
print([name for name in names if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n"
