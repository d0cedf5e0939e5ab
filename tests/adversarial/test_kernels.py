"""Section B: kernels, Gram matrices and functions that stand in for kernels."""

import numpy as np
import pytest
from tests.cases import KERNELS, N, X, answer, fitted, targets

from gramian import KernelPCA
from gramian.kernels import RBF

from .cases import finite, finite_or_refused, refusal, same_up_to_sign

GRAM = RBF(sigma=2.0)(X)
#: Gram matrices need no second one for the view of KernelCCA: its kernel is another parameter.
OF_GRAM = [name for name in KERNELS if name != "KernelCCA"]


def changed(row, column, by):
    K = GRAM.copy()
    K[row, column] += by
    return K


@pytest.mark.parametrize("name", OF_GRAM)
@pytest.mark.parametrize(
    ("K", "words"),
    [
        pytest.param(changed(0, 1, 1e-3), "symmetric", id="A42 asymmetric"),
        pytest.param(GRAM[:20], "(20, 40)", id="A43 not square"),
        pytest.param(changed(3, 3, np.nan), "NaN", id="A45 NaN"),
    ],
)
def test_gram_matrices(name, K, words):
    assert words in refusal(ValueError, fitted, name, K, kernel="precomputed")


@pytest.mark.parametrize("name", OF_GRAM)
def test_gram_matrix_of_new_rows(name):
    """A44: too narrow, and transposed."""
    model = fitted(name, GRAM, kernel="precomputed")
    for K in (GRAM[:, :30], GRAM[:7].T):
        message = refusal(ValueError, answer, model, K)
        assert str(K.shape[1]) in message
        assert str(N) in message


def test_rounding_is_no_asymmetry():
    """A42: below 1e-8 in double and 1e-5 in single precision."""
    finite("KernelPCA", changed(0, 1, 1e-10), kernel="precomputed")
    finite("KernelPCA", changed(0, 1, 1e-6).astype(np.float32), kernel="precomputed")


def fails(A, B):
    raise ZeroDivisionError("from the user")


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(
    ("function", "kind", "words"),
    [
        pytest.param(lambda A, B: np.ones((2, 3)), ValueError, "shape", id="A46 another shape"),
        pytest.param(fails, ZeroDivisionError, "from the user", id="A47 raises"),
        pytest.param(lambda A, B: np.full((len(A), len(B)), np.nan), ValueError, "NaN", id="A48 NaN"),
        pytest.param(lambda A, B: "text", ValueError, "str", id="A49 a string"),
        pytest.param("gausian", ValueError, "Did you mean 'gaussian'?", id="A50 unknown"),
        pytest.param("rbf(gamma=-1)", ValueError, "gamma=-1", id="A51 gamma below zero"),
    ],
)
def test_kernels_that_are_none(name, function, kind, words):
    assert words in refusal(kind, fitted, name, kernel=function)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        pytest.param("rbf(gamma=0)", "rank 0", id="A52 gamma of zero"),
        pytest.param("rbf(gamma=1e300)", "never", id="A53 gamma of 1e300"),
        pytest.param("polynomial(degree=200, scale=1e3)", "degree=200", id="A54 degree of 200"),
        pytest.param("polynomial(degree=2.5, constant=0)", "fractional power", id="A55 degree of 2.5"),
    ],
)
def test_kernels_at_the_end_of_their_range(name, kernel, words):
    found = finite_or_refused(name, X - 1, words, kernel=kernel)
    if kernel.startswith("polynomial"):
        assert found is None


@pytest.mark.parametrize(
    "name", [name for name in KERNELS if name not in ("KernelKNNClassifier", "KernelKNNRegressor")]
)
def test_new_rows_far_away(name):
    """A56: similar to nothing, and all alike."""
    far = answer(fitted(name, kernel="rbf(sigma=1)"), 1e6 * np.array([[1.0] * 5, [-1.0] * 5]))
    assert np.isfinite(far).all()
    np.testing.assert_array_equal(far[0], far[1])


@pytest.mark.parametrize("solver", ["dense", "krylov"])
def test_equal_eigenvalues(solver):
    """A58: rows all equally far apart; single vectors mean nothing, inner products do."""
    model = KernelPCA(11, kernel="rbf(sigma=1)", solver=solver).fit(np.eye(12))
    scores, K = model.transform(np.eye(12)), RBF(sigma=1.0)(np.eye(12))
    H = np.eye(12) - 1 / 12
    np.testing.assert_allclose(scores @ scores.T, H @ K @ H, atol=1e-10)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.int64], ids=["B62 single precision", "B62 integers"])
def test_functions_of_other_numbers(name, dtype):
    whole = np.round(X)
    y = np.round(targets(name)) if name == "KernelCCA" else targets(name)
    narrow = finite(name, whole, y=y, kernel=lambda A, B: np.asarray(A @ B.T + 1, dtype=dtype))
    same_up_to_sign(narrow, finite(name, whole, y=y, kernel=lambda A, B: A @ B.T + 1), 1e-9)
