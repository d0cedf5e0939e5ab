"""Test rows, and supplementary rows and columns: what was not used in the fit, beside it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import gramian as g
from gramian import charts
from gramian.reports.contents import Picture, Section
from gramian.reports.subject import Beside, Subject
from gramian.reports.writing import beside, columns_of, page_of
from gramian.tables import as_table

from .planted import fitted, noise, regression

DATA = Path(__file__).parents[2] / "examples" / "data"
EVENTS = pd.read_csv(DATA / "decathlon.csv", index_col=0)
X = EVENTS.loc[:, "100m":"1500m"]
SUBJECT = columns_of(EVENTS[["Rank", "Points", "Competition"]])


def parts_of(page):
    found = {part.title: part for section in page.sections for part in section.parts}
    return {part.grid.title: part.grid for part in found.values() if part.kind == "picture"} | found


def test_supplementary_columns_have_the_correlations_of_factominer():
    """``PCA(decathlon, quanti.sup=11:12, quali.sup=13)`` prints them with three digits, but for the sign of axes."""
    parts = parts_of(page_of(fitted(g.PCA(5, scale=True), X, **SUBJECT)))
    rows = {row[0]: np.abs(row[1:3]) for row in parts["Supplementary columns"].rows}
    np.testing.assert_allclose(rows["Rank"], [0.671, 0.051], atol=6e-4)
    np.testing.assert_allclose(rows["Points"], [0.956, 0.017], atol=6e-4)
    circle = parts["Correlations of columns with components"]
    assert {"Rank", "Points"} <= {note["text"] for note in circle.figure.layout["annotations"]}
    assert "Not used in the fit: Rank and Points." in circle.says
    means = parts["Groups of Competition along the components"]
    assert [row[0] for row in means.rows] == ["Decastar", "OlympicG"]
    np.testing.assert_allclose(np.abs(means.rows[0][3]), 1.430, atol=6e-4)


def test_supplementary_rows_and_means_of_groups_stand_where_they_belong():
    new = EVENTS.iloc[:3, :10] + 0.5
    model = g.PCA(3, scale=True).fit(X)
    subject = Subject(model, X, further=beside(model, new), **SUBJECT)
    parts = parts_of(page_of(subject))
    grid = parts["Supplementary rows"]
    assert [row[0] for row in grid.rows] == ["SEBRLE", "CLAY", "KARPOV"]
    np.testing.assert_allclose([row[1:4] for row in grid.rows], model.transform(new))
    np.testing.assert_allclose([row[4:7] for row in grid.rows], model.row_cos2(new))
    drawn = {
        trace["name"]: np.column_stack([trace["x"], trace["y"]]) for trace in parts["Rows and columns"].figure.data
    }
    np.testing.assert_allclose(drawn["supplementary rows"], model.transform(new)[:, :2])
    means = pd.DataFrame(model.transform(X)[:, :2]).groupby(EVENTS["Competition"].to_numpy()).mean()
    np.testing.assert_allclose(drawn["means of Competition"], means)


def test_errors_of_test_rows_are_known_for_every_number_of_components():
    X, y = regression(0.3)
    new, truth = (part + 0.01 for part in regression(0.3, 30))
    model = g.PLSRegression(3).fit(X, y)
    chart = charts.cv_curve(model, X, y, test=(new, truth))
    for k in range(1, 4):
        some = g.PLSRegression(k).fit(X, y)
        for rows, values, errors in ((X, y, chart.calibration), (new, truth, chart.prediction)):
            np.testing.assert_allclose(errors[k, 0], np.sqrt(np.mean((some.predict(rows) - values) ** 2)), rtol=1e-9)
    np.testing.assert_allclose(chart.prediction[0, 0], np.sqrt(np.mean((truth - y.mean()) ** 2)))
    parts = parts_of(page_of(Subject(model, X, y, test=Beside(new, truth))))
    grid = parts["Errors for each number of components: numbers"]
    assert list(grid.columns[:4]) == ["components", "RMSEC", "RMSECV", "RMSEP"]
    assert {"Test rows", "Errors of test rows", "Errors in cross-validation", "Table of test rows"} <= set(parts)
    assert [row[3] for row in parts["Figures of merit"].rows] == ["RMSEC", "RMSECV", "RMSEP"]
    errors = parts["Errors of test rows"].grid
    np.testing.assert_allclose([row[3] for row in errors.rows], model.predict(new) - truth)


def test_test_rows_of_several_targets_have_errors_of_each():
    X, Y = regression(0.3, q=2)
    subject = fitted(g.PLSRegression(2), X, Y, test=Beside(*(part + 0.01 for part in regression(0.3, 30, 2))))
    grid = parts_of(page_of(subject))["Errors for each number of components: numbers"]
    assert list(grid.columns[1:7]) == [f"{kind} of y {at}" for kind in ("RMSEC", "RMSECV", "RMSEP") for at in (1, 2)]


def test_tables_find_the_columns_of_the_model_and_keep_their_ids(tmp_path):
    table = as_table({"id": list("abcdefghij"), "p": np.arange(10.0), "q": np.arange(10.0) ** 2}, ids="id")
    new = as_table({"q": [1.0, 2.0], "p": [3.0, 4.0], "id": ["new", "newer"]}, ids="id")
    model = g.tables.named(g.PCA(2).fit(table.values), table)
    found = beside(model, new)
    assert found.names == ("new", "newer")
    np.testing.assert_array_equal(found.X, [[3.0, 1.0], [4.0, 2.0]])
    g.report(model, tmp_path / "r.html", table, supplementary_rows=new, supplementary_columns={"twice": [2.0] * 10})
    assert "newer" in (tmp_path / "r.html").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="lacks 'p' of the 2 columns of the model"):
        beside(model, as_table({"q": [1.0, 2.0]}))


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: fitted(g.PCA(2), X, **columns_of({"a": [1.0]})), "a has 1 entries for 41 rows of X"),
        (lambda: fitted(g.PCA(2), X, test=Beside(X, X)), "test rows go with models that predict, and PCA does not"),
        (
            lambda: fitted(g.KernelSVC(), noise(20), list("ab") * 10, further=Beside(noise(3))),
            "that give scores",
        ),
        (
            lambda: fitted(g.PLSRegression(1), *regression(0.3), test=Beside(noise(3, 3), noise(2, 1))),
            "3 rows and 2 t",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(make, complaint):
    with pytest.raises(ValueError, match=complaint):
        page_of(make())


def test_texts_that_are_no_groups_are_refused():
    with pytest.raises(ValueError, match="'who' has 41 different texts; groups are 30 at the most"):
        columns_of({"who": list(map(str, range(41)))})


def test_a_picture_that_stands_alone_has_its_numbers_beside_it():
    page = page_of(Subject(g.PCA(1).fit(noise())))
    picture = next(part for section in page.sections for part in section.parts if part.kind == "picture")
    (alone,) = Section("one", (), [picture]).blocks
    assert [part.kind for part in alone] == ["picture", "grid"]
    (two,) = Section("two", (), [picture, picture]).blocks
    assert [part.kind for part in two] == ["picture", "picture"]
    assert isinstance(two[0], Picture)
    assert not two[0].open
