"""The ends of double precision: bounds on residuals and orthogonality hold, or the fit says that they do not."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy.linalg import hilbert

from gramian import PCA, KernelPCA
from gramian.kernels import parse

from .laws import EPS, Sample

REFUSED = "overflow|underflow|zero variance|double precision"
ROWS = Sample(n=20, d=4).X
_turn = np.linalg.qr(np.random.default_rng(0).standard_normal((20, 4)))[0]
TABLES = {
    "hilbert": hilbert(10),
    "laeuchli": np.vstack([np.ones(5), 1e-9 * np.eye(5)]),
    "nearly equal": (_turn - _turn.mean(axis=0)) * [1.0, 1 - 1e-13, 1 - 1e-12, 0.5],
    "graded": ROWS * 10.0 ** -np.arange(0, 40, 10),
    "denormal column": ROWS * [1.0, 1.0, 1.0, 1e-310],
}


def attempt(model, X):
    """A fit and what it said; None for rows refused by name."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            return model.fit(X), [str(one.message) for one in said]
        except ValueError as error:
            refused = error
    assert re.search(REFUSED, str(refused)), refused
    return None, []


def check_components(model, X, tolerance):
    """Directions are orthonormal, and pairs have small residuals beside the largest variance."""
    V, values = model.components_, model.explained_variance_
    np.testing.assert_allclose(V @ V.T, np.eye(len(V)), rtol=0, atol=100 * EPS)
    unit = np.abs(X).max()
    A = X / unit
    A = A - A.mean(axis=0)
    C = A.T @ A / (len(A) - 1)
    values = values / unit / unit
    size = np.linalg.norm(C, 2)
    np.testing.assert_allclose(C @ V.T, V.T * values, rtol=0, atol=tolerance * size)
    assert (np.diff(values) <= tolerance * size).all()


@pytest.mark.parametrize("solver", ["auto", "svd", "covariance", "dual", "krylov", "power", "randomized"])
@pytest.mark.parametrize("name", TABLES)
def test_hard_tables(name, solver):
    """Direct solvers to rounding; iterative ones to the residuals that their summary states."""
    model, said = attempt(PCA(2, solver=solver), TABLES[name])
    assert model is not None
    values = model.explained_variance_
    stated = max(np.asarray(model.summary_.to_dict()["residuals"]) * values) / values[0]
    assert stated < 1e-5 or any("residuals" in words for words in said)
    check_components(model, TABLES[name], 1000 * EPS + 2 * stated)


@settings(max_examples=40, derandomize=True, deadline=None, database=None, phases=[Phase.generate])
@given(power=st.integers(-320, 305), whiten=st.booleans())
def test_any_unit(power, whiten):
    """Components of rows in any unit are those of the rows, to the digits that denormal numbers have left."""
    X = ROWS * 10.0 ** max(power, -300) * 10.0 ** min(power + 300, 0)
    model, _ = attempt(PCA(2, whiten=whiten), X)
    if model is None:
        assert not -150 < power < 150
        return
    left = 5e-324 / np.abs(X).max()  # spacing of denormal numbers
    expected = PCA(2, whiten=whiten).fit(ROWS)
    np.testing.assert_allclose(model.components_, expected.components_, rtol=0, atol=1e-12 + 1000 * left)
    shares = model.explained_variance_ratio_
    np.testing.assert_allclose(shares, expected.explained_variance_ratio_, rtol=0, atol=1e-12 + 1000 * left)


@pytest.mark.parametrize("solver", ["dense", "krylov"])
@pytest.mark.parametrize("gamma", ["1e-18", "1e-14", "1e-10", "1e-5", "1e2", "1e8", "1e300"])
def test_kernels_near_a_constant_and_near_the_identity(gamma, solver):
    """Entries are off by a rounding of 1: what is left of the spectrum after centring is good to that."""
    model, said = attempt(KernelPCA(2, kernel=f"rbf(gamma={gamma})", solver=solver), ROWS)
    if model is None:
        assert float(gamma) < 1e-13
        return
    assert not any("indefinite" in words for words in said)
    K, H = parse(f"rbf(gamma={gamma})")(ROWS), np.eye(20) - 1 / 20
    values, scores = model.eigenvalues_, model.transform(ROWS)
    exact = np.linalg.eigvalsh(H @ K @ H)[::-1][: len(values)]
    noise = 20 * len(ROWS) * EPS
    stated = max(model.summary_.to_dict()["residuals"])
    np.testing.assert_allclose(values, exact, rtol=max(stated, 1e-12), atol=noise)
    worst = 2 * stated * values[0] + 10 * noise
    np.testing.assert_allclose(scores.T @ scores, np.diag(values), rtol=0, atol=worst * max(1.0, noise / values[-1]))
    assert stated * values[-1] < 1e-5 * values[0] + noise or said


@pytest.mark.parametrize("power", [-310, -160, 154, 200, 300])
def test_every_warning_is_ours(power):
    """What extremes make NumPy say is no answer to the user."""
    X = ROWS * 10.0 ** max(power, -300) * 10.0 ** min(power + 300, 0)
    with np.errstate(all="raise", under="ignore"):
        _, said = attempt(PCA(2), X)
    assert said == []
