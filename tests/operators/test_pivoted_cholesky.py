"""What chosen rows leave of a kernel matrix is what elimination leaves of it."""

import numpy as np
import pytest
import scipy.linalg

from gramian.engine import vector_loops
from gramian.kernels import RBF, Laplacian
from gramian.operators.landmark_rows import PivotedCholesky


def factor(K, chosen):
    """F with ``K - F'F`` left, in double precision."""
    return scipy.linalg.solve_triangular(np.linalg.cholesky(K[np.ix_(chosen, chosen)]), K[chosen], lower=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [RBF(gamma=0.5), Laplacian(gamma=0.4)], ids=str)
@pytest.mark.parametrize("n", [40, 2100])
@pytest.mark.parametrize("worth", [0, 10**18], ids=["loops", "BLAS"])
def test_it_is_what_elimination_leaves(n, kernel, dtype, worth, monkeypatch):
    limits = dict.fromkeys(vector_loops.LOOPS_MIN_MULTIPLICATIONS, worth)
    monkeypatch.setattr(vector_loops, "LOOPS_MIN_MULTIPLICATIONS", limits)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3)).astype(dtype)
    kernel = kernel.resolve(X)
    K, w = kernel(X.astype(float)), rng.random(n)
    rest, order = PivotedCholesky(kernel, X, 32), rng.permutation(n)
    scale, before = 2e-4 if dtype == np.float32 else 1e-9, w @ K.diagonal()
    # A block that loops do not take, since none was before it; one of a few rows; and two that they take.
    for block in np.split(order[:32], [9, 12, 20]):
        core, since = rest.among(block), len(rest.chosen)
        F = factor(K, rest.chosen)[:, block] if since else np.zeros((1, len(block)))
        assert np.abs(core - K[np.ix_(block, block)] + F.T @ F).max() <= scale
        rest.choose(block, scipy.linalg.cholesky(core, lower=True))
        assert np.array_equal(rest.chosen, order[: len(rest.chosen)])
        left = K.diagonal() - np.square(factor(K, rest.chosen)).sum(axis=0)
        assert np.abs(rest.left - np.maximum(left, 0.0)).max() <= scale
        assert (rest.left[rest.chosen] == 0.0).all()
        assert abs(rest.factor.squares(since, w).sum() - (before - w @ left)) <= scale * n
        before = w @ left
