"""``gramian show``: the tables of a model, as they are in Python; and what ``gramian fit`` says of rows left out."""

import json
import re

import numpy as np
import pytest

from gramian import KernelKMeans, KernelKNNRegressor, forecast
from gramian.cli import fit
from gramian.estimators.result_tables import TABLES
from gramian.forecasting import Forecast
from gramian.models import load
from gramian.results import duration
from gramian.tables import read_table

from . import cases


@pytest.fixture
def wine(gramian, tables):
    assert gramian("fit", "wine.csv", "-k", "3", "--scale", "--model", "m.st", "-q") == (0, "", "")
    return tables


def test_without_a_name_it_lists_what_there_is(gramian, wine):
    code, out, err = gramian("show", "m.st")
    assert (code, err) == (0, "")
    listed = {line.split()[0]: "with TABLE" in line for line in out.splitlines()}
    plain = load("m.st").tables(frames="plain")
    assert {name for name, rows in listed.items() if not rows} == set(plain)
    assert {name for name, rows in listed.items() if rows} >= {"scores", "outliers", "groups", "supplementary"}
    _, out, _ = gramian("show", "m.st", "wine.csv")
    assert {line.split()[0] for line in out.splitlines()} == set(listed) - {"supplementary"}
    assert "with TABLE" not in out
    assert set(json.loads(gramian("show", "m.st", "--json")[1])) == set(plain)


@pytest.mark.slow
@pytest.mark.parametrize("method", cases.METHODS)
def test_every_table_of_every_method_is_shown(gramian, tables, method):
    table, options, _, y = cases.METHODS[method]
    assert gramian("fit", table, "--method", method, *options, "--model", "m.st", "-q")[0] == 0
    names = list(json.loads(gramian("show", "m.st", table, "--json")[1]))
    assert set(names) <= set(TABLES)
    for name in names:
        code, out, err = gramian("show", "m.st", name, table)
        assert (code, err) == (0, ""), name
        assert out.startswith(TABLES[name])
        facts = json.loads(gramian("show", "m.st", name, table, "--json")[1])
        assert all(len(column) == len(facts["index"]) for column in facts["columns"].values())
        code, out, _ = gramian("show", "m.st", name, table, "-o", "-")
        assert code == 0
        assert len(out.splitlines()) >= len(facts["index"]) + 1
    assert y is None or {"predictions", "scores"} & set(names)


def test_numbers_are_those_of_python(gramian, wine):
    model, X = load("m.st"), read_table("wine.csv").values
    del model.feature_names_in_
    assert gramian("show", "m.st", "scores", "wine.csv", "--components", "1,3", "-o", "s.csv") == (0, "", "")
    written = read_table("s.csv", ids="row")
    assert written.columns == ("PC1", "PC3")
    assert written.row_ids[:2] == ("1", "2")
    np.testing.assert_array_equal(written.values, model.transform(X)[:, [0, 2]])
    facts = json.loads(gramian("show", "m.st", "cos2", "--json")[1])
    np.testing.assert_array_equal(np.column_stack(list(facts["columns"].values())), model.column_cos2())


def test_rows_are_sorted_cut_and_counted(gramian, wine):
    _, out, _ = gramian("show", "m.st", "loadings", "--sort", "--cut", "0.5", "--components", "1-2", "--top", "10")
    head, *lines = out.splitlines()[2:]
    assert head.split() == ["PC1", "PC2"]
    assert len(lines) == 10
    assert lines[0].split()[0] == "flavanoids"
    assert all(abs(float(cell)) >= 0.5 for line in lines for cell in line.split()[1:])
    assert any(len(line.split()) == 2 for line in lines)


def test_groups_and_further_columns_need_no_option(gramian, wine):
    assert gramian("fit", "wine.csv", "--columns", "alcohol:magnesium", "-k", "2", "--model", "f.st", "-q")[0] == 0
    groups = json.loads(gramian("show", "f.st", "groups", "wine.csv", "--json")[1])
    assert groups["index"] == ["class_0", "class_1", "class_2"]
    assert groups["columns"]["rows"] == [59, 71, 48]
    further = json.loads(gramian("show", "f.st", "supplementary", "wine.csv", "--json")[1])
    table, model = read_table("wine.csv"), load("f.st")
    del model.feature_names_in_
    scores = model.transform(table.values[:, :5])
    assert further["index"] == list(table.columns[5:])
    assert further["columns"]["PC2"][-1] == pytest.approx(np.corrcoef(scores[:, 1], table.values[:, -1])[0, 1])


REFUSED = {
    "loading": "which has no table 'loading' here. Did you mean loadings?",
    "scores": "scores needs rows: gramian show m.st scores TABLE.",
    "errors": "errors needs rows: gramian show m.st errors TABLE.",
    "loadings --components 0": "--components 0 must be numbers counted from 1, such as 1,2 or 1-3.",
    "loadings --components 4": "--components 4 is not in the table loadings: they are 1 to 3, counted from 1.",
    "-o x.csv": "-o needs the name of a table: gramian show MODEL NAME -o FILE.",
    "loadings -o - --json": "both write to standard output",
    "loadings -o m.st": "is a file that is read",
}


@pytest.mark.parametrize("command", REFUSED)
def test_what_is_refused_names_the_remedy(gramian, wine, command):
    code, out, err = gramian("show", "m.st", *command.split())
    assert (code, out) == (2, "")
    assert REFUSED[command] in err
    assert err.count("\n") == 1


def test_two_rows_of_text_columns_are_two_kinds_of_groups(gramian, here):
    lines = ["a,b,kind,place", *(f"{at},{at * at % 7},k{at % 2},p{at % 3}" for at in range(12))]
    (here / "t.csv").write_text("\n".join(lines) + "\n")
    _, out, _ = gramian("fit", "t.csv", "-k", "1", "--model", "m.st")
    assert "mean scores by group" not in out or "kind=k0" in out
    groups = json.loads(gramian("show", "m.st", "groups", "t.csv", "--json")[1])
    assert groups["index"] == ["kind=k0", "kind=k1", "place=p0", "place=p1", "place=p2"]
    groups = json.loads(gramian("show", "m.st", "groups", "t.csv", "--label", "place", "--json")[1])
    assert groups["index"] == ["p0", "p1", "p2"]


class TestRowsLeftOut:
    """Predictions are judged on rows left out if that takes seconds; what was done is said."""

    FIT = ("fit", "iris.csv", "--method", "kernel-knn", "--label", "species")

    def test_they_are_by_themselves(self, gramian, tables):
        _, out, _ = gramian(*self.FIT)
        assert "rows left out      95.3 %      143   150" in out
        assert "confusion matrix of rows left out in 5 folds" in out

    def test_not_if_it_would_take_long(self, gramian, tables, monkeypatch):
        monkeypatch.setattr(fit, "CV_MAX_SECONDS", -1)
        _, out, _ = gramian(*self.FIT)
        assert re.search(r"left out +no rows, which would take about .*; --cv does it", out)
        assert "rows left out in 5 folds" not in out
        assert "confusion matrix: true classes down" in out
        assert "rows left out in 5 folds" in gramian(*self.FIT, "--cv")[1]
        _, out, _ = gramian("fit", "diabetes.csv", "--method", "pls", "--target", "progression", "-k", "2")
        assert "RMSEC " in out
        assert "RMSECV" not in out
        assert "--cv does it" in out
        # Its leave-one-out errors cost nothing.
        _, out, _ = gramian("fit", "diabetes.csv", "--method", "kernel-ridge", "--target", "progression")
        assert "RMSECV: each row left out alone" in out

    def test_not_if_not_wanted(self, gramian, tables):
        _, out, _ = gramian(*self.FIT, "--no-cv")
        assert re.search(r"left out +no rows, as asked", out)
        facts = json.loads(gramian(*self.FIT, "--no-cv", "--json")[1])
        assert facts["left_out"] == "no rows, as asked"
        assert "cross-validation" not in facts["tables"]

    def test_not_if_there_are_very_many(self, gramian, tables, monkeypatch):
        monkeypatch.setattr("gramian.estimators.left_out.FOLDS_MAX_ROWS", 100)
        monkeypatch.setattr(fit, "FOLDS_MAX_ROWS", 100)
        _, out, _ = gramian(*self.FIT)
        assert re.search(r"left out +no rows: more than 100; --cv does it", out)
        assert "rows left out in 5 folds" in gramian(*self.FIT, "--cv")[1]

    def test_not_if_a_class_has_too_few(self, gramian, here):
        rows = [f"{at},{at % 3},{'few' if at < 3 else 'many'}" for at in range(20)]
        (here / "t.csv").write_text("\n".join(["a,b,kind", *rows]) + "\n")
        _, out, _ = gramian("fit", "t.csv", "--method", "kernel-prototypes", "--label", "kind", "--cv")
        assert re.search(r"left out +no rows: too few of them, or of a class", out)


def test_numbers_of_neighbours_are_predicted_in_ten_folds_of_every_tenth_row():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((45, 3))
    y = X[:, 0] + 0.1 * rng.standard_normal(45)
    table = KernelKNNRegressor(3).fit(X, y).tables(X, y, frames="plain")["errors"]
    guesses = np.empty(45)
    for fold in range(10):
        out = np.arange(45) % 10 == fold
        guesses[out] = KernelKNNRegressor(3).fit(X[~out], y[~out]).predict(X[out])
    assert table["RMSE"][1] == pytest.approx(np.sqrt(np.mean((guesses - y) ** 2)))


def test_means_of_clusters_are_in_the_units_of_the_table():
    X = np.vstack([np.zeros((5, 2)), np.full((5, 2), [0.0, 100.0])]) + np.random.default_rng(0).normal(size=(10, 2))
    model = KernelKMeans(2, kernel="linear").fit(X)
    table = model.tables(X, frames="plain")["means"]
    assert list(table.columns) == ["column 2", "column 1"]  # the one that differs first
    for cluster in range(2):
        np.testing.assert_allclose(table["column 1"][cluster], X[model.labels_ == cluster, 0].mean())


def test_forecasts_are_in_minutes_and_hours():
    assert [duration(seconds) for seconds in (0.5, 59, 60, 100, 600, 3600, 90_020, 400_000)] == [
        "0.5 s",
        "59 s",
        "1 min",
        "1 min 40 s",
        "10 min",
        "1 h",
        "25 h",
        "4.6 days",
    ]
    found = forecast(KernelKMeans(2), 100, 3)
    slow = Forecast(**{**{name: getattr(found, name) for name in found.__dataclass_fields__}, "seconds": 1_100.0})
    assert "about 18 min" in str(slow)
