"""Small matrices to the right of V, held against their definitions."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gramian.mixing import correlate, whiten
from gramian.results import Mix
from gramian.spaces import LinearSpace


def test_without_a_mix_scores_are_left_alone_both_ways(rng):
    basis = LinearSpace(rng.standard_normal((12, 5))).basis(3)
    plain, mixed = basis.projection(), basis.projection(Mix(np.eye(3), np.eye(3)))
    assert np.array_equal(plain.weights, mixed.weights)
    assert np.array_equal(plain.back, mixed.back)


def test_whitening_divides_by_deviations_and_leaves_what_has_none_at_zero():
    mix = whiten(SimpleNamespace(singular=np.array([6.0, 1.5, 0.0]), n=10))
    assert_allclose(mix.back, np.diag([2.0, 0.5, 0.0]), rtol=1e-15)
    assert_allclose(mix.forward, np.diag([0.5, 2.0, 0.0]), rtol=1e-15)


@pytest.mark.parametrize("ridge", [(0.0, 0.0), (0.3, 0.0), (0.1, 2.0)])
@pytest.mark.parametrize("sizes", [(4, 2), (2, 5), (3, 3)])
def test_canonical_directions_solve_their_equations(rng, sizes, ridge):
    n = 12
    X, Y = (rng.standard_normal((n, size)) * np.arange(1, size + 1) for size in sizes)
    (Ux, x, _), (Uy, y, _) = (np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False) for Z in (X, Y))
    found = correlate(x, y, Ux.T @ Uy, n, ridge)
    k = min(sizes)
    assert found.x.shape == (sizes[0], k)
    assert found.y.shape == (sizes[1], k)
    assert_allclose(found.x.T @ np.diag(x**2 / (n - 1) + ridge[0]) @ found.x, np.eye(k), atol=1e-12)
    assert_allclose(found.y.T @ np.diag(y**2 / (n - 1) + ridge[1]) @ found.y, np.eye(k), atol=1e-12)
    between = (x[:, None] * (Ux.T @ Uy) * y) / (n - 1)
    assert_allclose(found.x.T @ between @ found.y, np.diag(found.values), atol=1e-12)
    assert (np.diff(found.values) <= 0).all()
    assert found.values.max() < 1
    assert found.values.min() > 0


def test_a_correlation_is_never_above_one():
    found = correlate(np.ones(2), np.ones(2), np.diag([1 + 1e-12, 0.25]), 5, (0.0, 0.0))
    assert found.values[0] == 1.0
    assert found.values[1] == pytest.approx(0.25, rel=1e-14)


def test_each_side_has_one_ridge():
    with pytest.raises(ValueError, match="zip"):
        correlate(np.ones(2), np.ones(2), np.eye(2), 5, (0.1, 0.1, 0.1))
