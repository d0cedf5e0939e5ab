"""Rows of the fit are known again, whatever form they come in, and errors are called after the rows they are of."""

import inspect

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

import gramian as g
from gramian import charts
from gramian.estimators.calibration_metrics import merit
from gramian.estimators.fitted_rows import of_the_fit, role

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
    assert role(model, X[:-1]) == "new"
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


def test_more_rows_make_a_fit_that_knows_their_number_alone():
    model = g.PCA(1).partial_fit(X)
    assert role(model, X) == "fit"
    assert role(model.partial_fit(X + 1), X) == "new"
    assert role(g.PCA(1).fit(g.rows(X)), X + 1) == "fit"  # a stream is gone when it has been read
    assert role(LinearRegression().fit(X, Y), X) == ""


@pytest.mark.parametrize(
    ("rows", "error", "spread"),
    [("", "RMSE", "SEP"), ("fit", "RMSEC", "SEC"), ("left out", "RMSECV", "SECV"), ("new", "RMSEP", "SEP")],
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
