"""One table written in two ways: repeated rows or weights, single or double precision, dense or sparse."""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp

from .laws import EPS, fit_and_answer, law, same
from .table import ESTIMATORS, EXEMPT


@law("weights")
def test_weights(case, sample):
    """Weights are frequencies: a row of weight 2 is there twice, one of weight 0 not at all."""
    X, Z, y = sample.for_case(case)
    times = sample.rng.integers(0, 4, sample.n)
    often = np.repeat(np.arange(sample.n), times)
    expected = fit_and_answer(case, X[often], None if y is None else y[often], Z)
    same(fit_and_answer(case, X, y, Z, sample_weight=times), expected, case.exact)


@pytest.mark.parametrize("estimator", EXEMPT["weights"])
def test_no_weights(estimator):
    assert "sample_weight" not in inspect.signature(ESTIMATORS[estimator].model.fit).parameters


@law("single precision")
def test_single_precision(case, sample):
    """Rows in single precision are computed with in double: only the answer is rounded.

    A low-rank map of such rows is computed in single precision too, to its rounding of the distance to the origin.
    """
    X, Z, y = (None if A is None else A.astype(np.float32) if A.dtype.kind == "f" else A for A in sample.for_case(case))
    wide = [None if A is None else A.astype(float) if A.dtype.kind == "f" else A for A in (X, y, Z)]
    single = float(np.finfo(np.float32).eps)
    lost = 100 * single * (1 + np.abs(X).max() / X.std(axis=0).min()) if case.narrow else single
    same(fit_and_answer(case, X, y, Z), fit_and_answer(case, *wide), case.exact + lost)


@law("sparse")
def test_sparse(case, sample):
    X, Z, y = sample.for_case(case)
    X, Z = (np.where(np.abs(A) < 0.3 * np.abs(A).mean(), 0.0, A) for A in (X, Z))
    found = fit_and_answer(case, sp.csr_array(X), y, sp.csr_array(Z))
    same(found, fit_and_answer(case, X, y, Z), case.exact)


@law("sparse origin")
def test_sparse_far_from_the_origin(case, sample):
    """Sums of squares of sparse rows are centred at their end; columns far away must not cancel for it."""
    X, Z, y = sample.for_case(case)
    lost = 1e6 * EPS / X.std(axis=0).min()
    found = fit_and_answer(case, sp.csr_array(X + 1e6), y, sp.csr_array(Z + 1e6))
    same(found, fit_and_answer(case, X + 1e6, y, Z + 1e6), case.exact + 100 * lost)
