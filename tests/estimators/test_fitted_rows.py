"""Rows of the fit are known again, whatever form they come in, and errors are called after the rows they are of."""

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gramian as g
from gramian import charts
from gramian.estimators import validation
from gramian.estimators.calibration_metrics import merit
from gramian.estimators.fitted_rows import of_the_fit, role, rows_of_the_fit

ESTIMATORS = [cls for cls in map(g.__dict__.get, g.__all__) if inspect.isclass(cls) and issubclass(cls, BaseEstimator)]
RNG = np.random.default_rng(3)
X = RNG.standard_normal((30, 4))
Y = X[:, :2] + 0.3 * RNG.standard_normal((30, 2))
LABELS = np.where(X[:, 0] > 0, "a", "b")


def fitted(cls, rows=X):
    model = cls(2) if cls is g.KernelKMeans else cls()
    return model.fit(rows, LABELS if is_classifier(model) else Y)


@pytest.mark.filterwarnings("ignore::gramian.HeywoodWarning")
@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_every_estimator_knows_the_rows_of_its_fit(cls):
    model = fitted(cls)
    assert role(model, X) == "fit"
    assert role(model, X[::-1]) == "fit"
    assert role(model, X + [[1e-3, 0, 0, 0]]) == "new"
    assert role(model, X[:-1]) == "fit"
    assert role(model, np.vstack([X[3:7], X[:2] + 1])) == "mixed"
    assert (
        role(make_pipeline(g.Standardizer(), clone(model)).fit(X, LABELS if hasattr(model, "classes_") else Y), X)
        == "fit"
    )


def test_they_may_come_in_another_form(tmp_path):
    model = g.PLSRegression(2).fit(X, Y)
    for rows in (pd.DataFrame(X), X.astype(np.float32), X.tolist(), np.asfortranarray(X), sp.csr_array(X)):
        assert of_the_fit(model, rows)
    g.save(model, tmp_path / "m.st")
    assert of_the_fit(g.load(tmp_path / "m.st"), X)
    gaps = X.copy()
    gaps[2, 1] = np.nan
    assert of_the_fit(g.PCA(1, missing="em").fit(gaps), gaps)
    assert not of_the_fit(g.PCA(1, missing="em").fit(gaps), X)


def test_a_fit_knows_the_rows_that_were_added():
    model = g.PCA(1).partial_fit(X)
    assert role(model, X) == "fit"
    assert role(model, X + 1) == "new"
    assert role(model.partial_fit(X + 1), X) == "fit"
    assert role(model, X + 1) == "fit"
    assert not of_the_fit(model, X)
    assert of_the_fit(model, np.vstack([X + 1, X]))
    assert role(model.fit(X), X + 1) == "new"


def test_what_is_not_known_is_not_said():
    R = np.full((4, 4), 0.5) + 0.5 * np.eye(4)
    streamed = g.PCA(1).fit(g.rows(X))  # a stream is gone when it has been read
    assert role(streamed, X) == role(streamed, X + 1) == ""
    assert role(LinearRegression().fit(X, Y), X) == ""
    assert role(g.FactorAnalysis(1).fit_correlation(R, 30), R) == ""


FORMS = {
    "as it is": lambda rows: rows,
    "float32": lambda rows: rows.astype(np.float32),
    "sparse": sp.csr_array,
    "list": lambda rows: rows.tolist(),
    "column by column": np.asfortranarray,
    "frame": lambda rows: pd.DataFrame(rows, columns=list("abcd")),
    "columns in another order": lambda rows: pd.DataFrame(rows, columns=list("abcd"))[list("dbac")],
    "written and read": lambda rows: np.array([[float(repr(float(entry))) for entry in row] for row in rows]),
    "float32, written and read": lambda rows: np.array(
        [[float(str(entry)) for entry in row] for row in rows.astype(np.float32)]
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@given(
    scale=st.sampled_from([1.0, 1e-20, 1e20, 1e-100, 1e100]),
    whole=st.booleans(),
    taken=st.lists(st.integers(0, 39), min_size=1, max_size=60),
)
@settings(max_examples=25, deadline=None)
def test_any_choice_of_rows_is_told_row_by_row(form, dtype, scale, whole, taken):
    rng = np.random.default_rng(len(taken))
    rows = rng.integers(-9, 10**9, (40, 4)) * 1.0 if whole else rng.standard_normal((40, 4))
    scale = 1.0 if (dtype is np.float32 or "float32" in form) and abs(np.log10(scale)) > 20 else scale
    rows[1, 2] = -0.0
    rows = (rows * scale).astype(dtype)
    model = g.Standardizer().fit(pd.DataFrame(rows[:20], columns=list("abcd")))
    known = rows_of_the_fit(model, FORMS[form](rows[taken]))
    assert known.tolist() == [at < 20 for at in taken]
    assert of_the_fit(model, FORMS[form](rows[:20][::-1]))


def test_a_hash_takes_8_bytes_and_large_fits_keep_sums(monkeypatch):
    assert g.PCA(1).fit(X)._rows_of_fit[1].nbytes == 8 * len(X)
    monkeypatch.setattr(validation, "HASHED_MAX_ROWS", 29)
    model = g.PCA(1).fit(X)
    assert len(model._rows_of_fit) == 4
    assert (role(model, X), role(model, X[:9]), role(model, X + 1)) == ("fit", "", "")
    assert of_the_fit(model, X[::-1])


def test_rows_of_large_tables_are_told_one_by_one_where_something_is_predicted():
    rows = np.random.default_rng(0).standard_normal((validation.HASHED_ALWAYS_MAX_ENTRIES // 4 + 1, 4))
    parts = rows[:9], rows[:9] + 1
    assert [role(g.PLSRegression(1).fit(rows, rows[:, 0]), part) for part in parts] == ["fit", "new"]
    for known_as_a_whole in (g.PCA(1), g.Standardizer()):
        model = known_as_a_whole.fit(rows)
        assert of_the_fit(model, rows[::-1])
        assert not of_the_fit(model, rows + 1)
        assert [role(model, part) for part in parts] == ["", ""]
    piped = make_pipeline(g.Standardizer(), g.PLSRegression(1)).fit(rows, rows[:, 0])
    assert [role(piped, part) for part in parts] == ["fit", "new"]


def test_steps_of_others_before_are_gone_through():
    model = make_pipeline(StandardScaler(), g.PCA(1)).fit(X)
    assert [role(model, rows) for rows in (X[4:9], X + 1, np.vstack([X, X + 1]))] == ["fit", "new", "mixed"]


@pytest.mark.parametrize(
    ("rows", "error", "spread"),
    [
        ("", "RMSE", "SEP"),
        ("mixed", "RMSE", "SEP"),
        ("fit", "RMSEC", "SEC"),
        ("left out", "RMSECV", "SECV"),
        ("new", "RMSEP", "SEP"),
    ],
)
def test_errors_are_called_after_their_rows(rows, error, spread):
    text = str(merit(Y[:, 0], X[:, 0], rows))
    assert f"   {error} " in text
    assert f"   {spread} " in text


def test_charts_and_estimators_say_which_rows_they_show():
    model = g.PLSRegression(2).fit(X, Y[:, 0])
    assert model.merit(X, Y[:, 0])[0].error_name == "RMSEC"
    assert model.merit(X + 1, Y[:, 0])[0].error_name == "RMSEP"
    shown = [charts.predicted(model, X, Y[:, 0], left_out=out) for out in (False, True)]
    assert [chart.merit.error_name for chart in shown] == ["RMSEC", "RMSECV"]
    assert [chart.title.partition(", ")[2] for chart in shown] == ["rows of the fit", "rows left out"]
    assert charts.predicted(model, X + 1, Y[:, 0]).title.endswith(", new rows")


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_a_model_that_keeps_its_rows_knows_them_again(kernel):
    rows = X @ X.T if kernel == "precomputed" else X
    model = g.KernelKNNRegressor(2, kernel=kernel).fit(rows, X[:, 0])
    assert ("_rows_of_fit" in vars(model)) == (kernel == "precomputed")  # it keeps no rows of a matrix
    for known in (model, pickle.loads(pickle.dumps(model))):
        assert (role(known, rows), role(known, rows[::-1]), role(known, rows + 1)) == ("fit", "fit", "new")
        assert of_the_fit(known, rows)
