"""NaN are refused with a remedy of this library, and the remedy works: the tests apply what the message says."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from tests.adversarial.cases import refusal
from tests.cases import ESTIMATORS, TARGETED, D, N, answer, estimator, fitted, targets
from tests.cases import X as COMPLETE

import gramian
from gramian import PCA, ProbabilisticPCA

X = COMPLETE.copy()
X[[1, 7, 20], [0, 3, 4]] = np.nan
SPARSE = [name for name, (model, _) in ESTIMATORS.items() if not name.startswith("FactorAnalysis")]


def applied(message, name, **given):
    """The estimator and its arguments as a message asks for: with ``missing="em"``, imputed, or with fewer rows."""
    assert "sklearn" not in message
    assert "drop" in message.lower()
    assert message.endswith(".")
    if option := re.search(r'Use (\w+)\(missing="em"\)(?: with (\w+)\.toarray\(\))?, which imputes them', message):
        model = estimator(name, missing="em")
        assert option[1] == type(model).__name__
        return model, {key: value.toarray() if sp.issparse(value) else value for key, value in given.items()}
    model, view = estimator(name), re.search(r"Input (\w)", message)[1]
    if offered := re.search(r"Impute them.*?, (ProbabilisticPCA.*\)), or drop", message):
        names = {"ProbabilisticPCA": ProbabilisticPCA, "X_train": X, **given}
        return model, {**given, view: eval(offered[1], names)}
    kept = np.isfinite(given[view]).all(axis=1) if given[view].ndim == 2 else np.isfinite(given[view])
    return model, {key: value[kept] for key, value in given.items()}


def works(message, name, **given):
    model, given = applied(message, name, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gramian.GramianWarning)
        model.fit(*given.values())
    assert np.isfinite(answer(model, given["X"])).all()


def arguments(name, X, y=None):
    y = targets(name) if y is None else y
    return {"X": X} if y is None else {"X": X, ("Y" if name in TWO_VIEWS else "y"): y}


TWO_VIEWS = ("PLSCanonical", "PLSSVD", "CCA", "CCA ridge", "KernelCCA")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_rows_to_fit(name):
    given = arguments(name, X)
    message = refusal(ValueError, estimator(name).fit, *given.values())
    assert 'missing="em"' in message
    works(message, name, **given)


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_rows_to_fit(name):
    given = arguments(name, sp.csr_array(X))
    message = refusal((ValueError, TypeError), estimator(name).fit, *given.values())
    if "NaN" in message:  # others take no sparse rows at all
        works(message, name, **given)


@pytest.mark.parametrize("name", TARGETED["numbers"] + TARGETED["view"])
def test_targets_and_second_views(name):
    y = targets(name).copy()
    y[[3, 30]] = np.nan
    if y.ndim == 2:
        y[3, 0], y[30, 1] = 1.0, 2.0
    given = arguments(name, COMPLETE, y)
    works(refusal(ValueError, estimator(name).fit, *given.values()), name, **given)


@pytest.mark.parametrize("name", TWO_VIEWS)
def test_sparse_second_views(name):
    y = targets(name).copy()
    y[3, 0] = np.nan
    given = arguments(name, COMPLETE, sp.csr_array(y))
    works(refusal(ValueError, estimator(name).fit, *given.values()), name, **given)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_new_rows(name):
    """A fitted estimator cannot be told to impute: the message says how to impute from the rows of its fit."""
    model = fitted(name)
    message = refusal(ValueError, answer, model, X)
    assert "X_train" in message
    _, given = applied(message, name, X=X)
    assert np.isfinite(answer(model, given["X"])).all()
    if "missing" in model.get_params():
        able = fitted(name, missing="em")  # nothing was missing: some have no model to impute from
        try:
            found = answer(able, X)
        except ValueError as error:
            found = answer(able, applied(str(error), name, X=X)[1]["X"])
        assert np.isfinite(found).all()


def test_a_gram_matrix_is_not_imputed():
    K = COMPLETE @ COMPLETE.T
    K[3, 4] = K[4, 3] = np.nan
    message = refusal(ValueError, gramian.KernelPCA(2, kernel="precomputed").fit, K)
    assert message.endswith("drop the rows and columns of those that cannot be compared.")


def test_imputed_rows_keep_what_was_observed():
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = ProbabilisticPCA(2, missing="em").fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model.impute(frame)
    assert found.shape == (N, D)
    assert np.isfinite(found).all()
    known = ~np.isnan(X)
    assert np.array_equal(found[known], X[known])
    assert refusal(ValueError, ProbabilisticPCA(2).fit(COMPLETE).impute, X)
    assert np.allclose(PCA(2, missing="em").fit(X).transform(found), PCA(2, missing="em").fit(X).transform(X))
