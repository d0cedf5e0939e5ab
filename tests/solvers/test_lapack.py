"""A few eigenvectors beside all eigenvalues are those of the whole decomposition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gramian import lapack
from gramian.kernels import RBF

EPS = np.finfo(np.float64).eps


def matrices():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 3))
    Q = np.linalg.qr(rng.standard_normal((90, 90)))[0]
    pairs = np.kron(np.eye(30), np.full((3, 3), 0.4) + 0.6 * np.eye(3))  # 30 and 60 equal eigenvalues
    return {
        "kernel": RBF(sigma=2.0)(X),
        "indefinite": (A := rng.standard_normal((90, 90))) + A.T,
        "equal": np.eye(90),
        "one beside equal ones": np.eye(90) + 0.5,
        "blocks": pairs,
        "equal and turned": Q @ np.diag(np.repeat([3.0, 2.0, 1.0], 30)) @ Q.T,
        "two close": Q @ np.diag(np.concatenate([np.linspace(0, 1, 88), [2.0, 2.0 + 1e-14]])) @ Q.T,
        "rank 2": X[:, :2] @ X[:, :2].T,
        "nothing": np.zeros((90, 90)),
        "negative": -RBF(sigma=2.0)(X),
        "large": 1e200 * RBF(sigma=2.0)(X),
        "small": 1e-200 * RBF(sigma=2.0)(X),
    }


@pytest.mark.parametrize("k", [1, 2, 5, 22, 23, 90])
@pytest.mark.parametrize("name", matrices())
def test_few_vectors_are_eigenvectors_of_the_largest_values(name, k):
    A = matrices()[name]
    A = (A + A.T) / 2
    kept, size = A.copy(), np.abs(A).max()
    values, V = lapack.leading_eigenpairs(A, k)
    assert np.array_equal(A, kept)
    assert V.shape == (90, k)
    assert_allclose(values, np.linalg.eigvalsh(A), atol=90 * EPS * 90 * size, rtol=0)
    assert_allclose(A @ V, V * values[90 - k :], atol=90 * EPS * 90 * size, rtol=0)
    assert_allclose(V.T @ V, np.eye(k), atol=90 * EPS)


def test_few_vectors_take_the_short_way_unless_they_belong_to_equal_values(monkeypatch):
    asked = []
    monkeypatch.setattr(lapack, "eigh", lambda A, **_: asked.append(len(A)) or np.linalg.eigh(A))
    found = {name: lapack.leading_eigenpairs((A + A.T) / 2, 3) and len(asked) for name, A in matrices().items()}
    assert found["kernel"] == found["indefinite"] == 0
    assert found["rank 2"] > found["two close"]  # the third vector belongs to the null space


def test_few_rows_and_single_precision_go_to_divide_and_conquer():
    A = RBF(sigma=1.0)(np.random.default_rng(0).standard_normal((90, 3)))
    assert np.array_equal(lapack.leading_eigenpairs(A[:30, :30], 2)[1], np.linalg.eigh(A[:30, :30])[1][:, -2:])
    assert lapack.leading_eigenpairs(A.astype(np.float32), 2)[1].dtype == np.float32
