"""What only size can show. Run by ``make test-slow``."""

import resource
import subprocess
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import resource
import numpy as np
from sklearn.datasets import make_blobs
import gramian
X, _ = make_blobs(40_000, n_features=20, centers=12, cluster_std=2.0, random_state=0)
X = (X - X.mean(axis=0)) / X.std(axis=0)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model = gramian.KernelPCA(10, kernel="rbf(gamma=0.05)").fit(X)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(after - before, model.summary_.facts["residuals"].max(), model.summary_.facts["solver"])
"""


def test_kernel_pca_of_forty_thousand_rows_needs_no_matrix():
    """B63, F11: the Gram matrix would take 12.8 GB; a limit of 6 GB on all memory is not met."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30)),
    )
    grown, residual, solver = done.stdout.split()
    assert solver == "krylov"
    assert float(residual) <= 1e-6
    assert int(grown) < 500_000  # kB


def test_an_explicit_dense_solver_refuses_before_it_allocates():
    """B63."""
    import gramian

    X = np.random.default_rng(0).standard_normal((200_000, 2))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match="960 GB"):
        gramian.KernelPCA(2, solver="dense").fit(X)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
