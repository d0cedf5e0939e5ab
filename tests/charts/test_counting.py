"""Components, columns, targets and rows are asked for by the numbers that the axes show, from one; zero is refused."""

import inspect
import re

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_linnerud

from gramian import CCA, PCA, KernelKMeans, KernelKNNClassifier, KernelPCA, PLSRegression, charts, plots
from gramian.estimators.labels import places

X, y = load_iris(return_X_y=True)
TWO = load_linnerud(return_X_y=True)
pca, kernel, cca = PCA(3).fit(X), KernelPCA(3, kernel="rbf(sigma=1)").fit(X), CCA(2).fit(*TWO)
pls, near = PLSRegression(2).fit(*TWO), KernelKNNClassifier(3).fit(X, y)

#: (function, argument) -> a call that takes the value of the argument, and the words in which the picture has it.
NUMBERS = {
    ("scores", "components"): (lambda k: charts.scores(pca, X, components=(k, 1)), lambda c: c.xlabel),
    ("from_scores", "components"): (lambda k: charts.from_scores(X, components=(k, 1)), lambda c: c.xlabel),
    ("biplot", "components"): (lambda k: charts.biplot(pca, X, components=(k, 1)), lambda c: c.xlabel),
    ("loadings", "components"): (lambda k: charts.loadings(pca, components=(k, 1)), lambda c: c.labels[0]),
    ("contours", "components"): (lambda k: charts.contours(kernel, X, components=[k], grid=5), lambda c: c.labels[0]),
    ("contours", "columns"): (lambda k: charts.contours(kernel, X, columns=(k, 1), grid=5), lambda c: c.xlabel),
    ("regions", "columns"): (lambda k: charts.regions(near, X, y, columns=(k, 1), grid=5), lambda c: c.xlabel),
    ("contributions", "component"): (lambda k: charts.contributions(pca, component=k), lambda c: c.title),
    ("paired", "pair"): (lambda k: charts.paired(cca, *TWO, pair=k), lambda c: c.xlabel),
    ("importance", "target"): (lambda k: charts.importance(pls, kind="coefficients", target=k), None),
    ("predicted", "target"): (lambda k: charts.predicted(pls, *TWO, target=k), None),
    ("reconstructions", "rows"): (lambda k: charts.reconstructions(pca, X, rows=[k]), None),
}
FUNCTIONS = {name: found for name in charts.__all__ if inspect.isfunction(found := getattr(charts, name))}
COUNTED = {"components", "component", "pair", "target", "columns", "rows"}


def test_every_chart_that_takes_numbers_is_tried_here():
    taken = {
        (name, argument)
        for name, function in FUNCTIONS.items()
        for argument in COUNTED & inspect.signature(function).parameters.keys()
    }
    assert taken - {("from_values", "rows")} == set(NUMBERS)  # there it says which rows, in a word


@pytest.mark.parametrize("case", NUMBERS, ids=" ".join)
def test_numbers_are_those_of_the_axes_and_zero_is_refused(case):
    call, word = NUMBERS[case]
    if word is not None:
        assert re.search(r"\b2\b", word(call(2)))
    with pytest.raises(
        ValueError, match=rf"{case[1]}=.*0.*: numbers count from 1. To begin with the first: .*=\(?\[?1"
    ):
        call(0)
    with pytest.raises(ValueError, match="numbers count from 1"):
        call(-1)
    with pytest.raises(charts.NoChart, match=r"there is no (\w+) 999; the last is \d+. Choose others"):
        call(999)


def test_targets_and_rows_are_those_of_their_numbers():
    (_, Y), first = TWO, charts.predicted(pls, *TWO)
    np.testing.assert_array_equal(first.points.at[:, 0], Y[:, 0])
    np.testing.assert_array_equal(charts.predicted(pls, *TWO, target=3).points.at[:, 0], Y[:, 2])
    np.testing.assert_array_equal(charts.importance(pls, kind="coefficients", target=2).values, pls.coef_[1])
    np.testing.assert_array_equal(charts.reconstructions(pca, X, rows=[5, 2]).originals, X[[4, 1]])


def test_what_is_asked_for_if_nothing_is_said_begins_with_one():
    for name, function in FUNCTIONS.items():
        for argument in COUNTED & inspect.signature(function).parameters.keys():
            default = inspect.signature(function).parameters[argument].default
            if default not in (None, ""):
                assert places(default, argument)[0] == 0, (name, argument)


def words(display):
    """Texts and ticks of all axes of a picture."""
    display.figure_.draw_without_rendering()
    for ax in display.figure_.axes:
        yield from (tick.get_text() for axis in ax._axis_map.values() for tick in axis.get_ticklabels())
        yield from (text.get_text() for text in ax.texts)


def test_rows_without_names_are_numbered_from_one_in_pictures():
    outlying = np.vstack([[50.0, 0, 0, 0], X])
    for display in (
        plots.OutliersDisplay.from_estimator(PCA(2).fit(outlying), outlying, ax=plots.new_figure()[1][0]),
        plots.ReconstructionsDisplay.from_estimator(pca, X, shape=(2, 2), rows=[1, 7], ax=plots.new_figure()[1][0]),
    ):
        assert "1" in set(words(display))
    rows = charts.contributions(PCA(2).fit(outlying), outlying, of="rows")
    assert rows.names[0] == "row 1"


def test_clusters_are_called_as_in_tables():
    chart = charts.regions(KernelKMeans(3).fit(X), X, grid=5)
    assert chart.classes == ("Cluster1", "Cluster2", "Cluster3")
    assert set(chart.points.colouring.groups) == set(chart.classes)


def test_tables_of_cross_validation_name_targets_from_one():
    head = str(pls.cross_validate(*TWO)).partition("\n")[0]
    assert re.findall(r"RMSECV (y \d)", head) == ["y 1", "y 2", "y 3"]
