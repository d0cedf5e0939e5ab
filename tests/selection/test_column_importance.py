"""What a component depends on is what it was made of."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from gramian import PCA, KernelPCA
from gramian.selection import column_importance

SMOOTH = [
    "rbf(sigma=2)",
    "linear",
    "polynomial(degree=3)",
    "matern(nu=2.5)",
    "rational_quadratic",
    "rbf(sigma=2)*rbf(sigma=3)",
]


@pytest.mark.parametrize("kernel", SMOOTH)
def test_slopes_are_derivatives(kernel, rng):
    X = rng.standard_normal((60, 3)) * [1, 2, 0.5] + 1
    model = KernelPCA(2, kernel=kernel).fit(X)
    found = column_importance(model, X, method="slopes")
    step, parts = 1e-5, np.empty((3, 2))
    for j in range(3):
        up, down = X.copy(), X.copy()
        up[:, j] += step
        down[:, j] -= step
        slopes = (model.transform(up) - model.transform(down)) / (2 * step)
        parts[j] = np.mean(slopes**2, axis=0) * X[:, j].var()
    np.testing.assert_allclose(found.shares, parts / parts.sum(axis=0), rtol=1e-4)


@pytest.mark.parametrize(
    "kernel", ["rbf(sigma=2)[0:2]", "laplacian[0:2]", lambda A, B: np.exp(-np.abs(A[:, :1] - B[:, :1].T))]
)
def test_columns_that_a_kernel_does_not_see_have_no_share(kernel, rng):
    X = rng.standard_normal((80, 4))
    found = column_importance(KernelPCA(2, kernel=kernel).fit(X), X)
    assert found.method == "shuffled"
    assert (found.shares[2:] == 0).all()
    np.testing.assert_allclose(found.shares.sum(axis=0), 1.0)


def test_slopes_and_shuffling_agree_on_what_matters(rng):
    X = rng.standard_normal((300, 5)) * [3, 1, 1, 1, 0.1]
    model = KernelPCA(1, kernel="rbf(sigma=6)").fit(X)
    slopes, shuffled = (column_importance(model, X, method=method) for method in ("slopes", "shuffled"))
    assert slopes.shares[:, 0].argmax() == shuffled.shares[:, 0].argmax() == 0
    assert min(slopes.shares[0, 0], shuffled.shares[0, 0]) > 0.9
    assert "x0" in str(shuffled)
    assert json.loads(json.dumps(shuffled.to_dict()))["rows"] == 300


def test_importance_takes_linear_methods_and_sparse_rows(rng):
    X = sp.random_array((100, 4), density=0.5, random_state=rng, format="csr")
    for model in (PCA(2), KernelPCA(2)):
        assert column_importance(model.fit(X), X).method == "shuffled"
