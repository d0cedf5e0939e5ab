"""Intervals hold the truth as often as they say."""

import numpy as np
import pytest

from gramian import CCA, PCA
from gramian.selection import trust


@pytest.mark.slow
def test_intervals_cover():
    """95 % intervals of separate eigenvalues, and of the entries of their directions, hold the truth near 95 %."""
    lam, n, samples = np.array([16.0, 8, 4, 2, 1, 0.5]), 200, 150
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    values, entries = np.zeros(4), np.zeros((6, 4))
    for _ in range(samples):
        found = trust(PCA(4), rng.standard_normal((n, 6)) * np.sqrt(lam) @ Q.T, n_boot=60)
        values += (found.values.low <= lam[:4]) & (lam[:4] <= found.values.high)
        V = Q[:, :4] * np.sign((Q[:, :4] * found.vectors.estimate).sum(axis=0))
        entries += (found.vectors.low <= V) & (found.vectors.high >= V)
    assert (values / samples >= 0.88).all()
    assert (values / samples <= 0.99).all()
    assert 0.91 <= entries.mean() / samples <= 0.98


@pytest.mark.slow
def test_intervals_of_correlations_cover():
    rng, samples, hits = np.random.default_rng(2), 120, 0
    for _ in range(samples):
        u = rng.standard_normal((200, 1))
        X, Y = (np.hstack([u + 0.75 * rng.standard_normal((200, 1)), rng.standard_normal((200, 2))]) for _ in "xy")
        found = trust(CCA(1), X, Y, n_boot=60)
        hits += bool(found.values.low[0] <= 0.64 <= found.values.high[0])
    assert 0.88 <= hits / samples <= 0.99
