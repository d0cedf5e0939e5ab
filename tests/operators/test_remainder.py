"""What chosen rows leave of a kernel matrix is what elimination leaves of it."""

import numpy as np
import pytest
import scipy.linalg

from gramian.kernels import RBF, Laplacian, vector_loops
from gramian.operators.remainder import Remainder


def eliminated(K, chosen):
    """The matrix that is left, in double precision."""
    return K - K[:, chosen] @ scipy.linalg.solve(K[np.ix_(chosen, chosen)], K[chosen], assume_a="pos")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [RBF(gamma=0.5), Laplacian(gamma=0.4)], ids=str)
@pytest.mark.parametrize("n", [40, 60, 2500])
@pytest.mark.parametrize("worth", [0, 10**18], ids=["loops", "BLAS"])
def test_it_is_what_elimination_leaves(n, kernel, dtype, worth, monkeypatch):
    monkeypatch.setattr(vector_loops, "WORTH", dict.fromkeys(vector_loops.WORTH, worth))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3)).astype(dtype)
    kernel = kernel.resolve(X)
    K, w = kernel(X.astype(float)), rng.random(n)
    rest, order = Remainder(kernel, X, 32), rng.permutation(n)
    scale, before = 2e-4 if dtype == np.float32 else 1e-9, float(w @ K.diagonal())
    # A block that loops do not take, since none was before it; one of a few rows; and two that they take.
    for block in np.split(order[:32], [9, 12, 20]):
        core, since = rest.among(block), len(rest.chosen)
        left = eliminated(K, rest.chosen) if since else K
        assert np.abs(core - left[np.ix_(block, block)]).max() <= scale * K.max()
        rest.choose(block, scipy.linalg.cholesky(core, lower=True))
        left = eliminated(K, rest.chosen)
        assert np.array_equal(rest.chosen, order[: len(rest.chosen)])
        assert np.abs(rest.left - np.maximum(left.diagonal(), 0.0)).max() <= scale * K.max()
        assert (rest.left[rest.chosen] == 0.0).all()
        after = float(w @ left.diagonal())
        assert abs(rest.taken(since, w).sum() - (before - after)) <= scale * K.max() * n
        before = after
