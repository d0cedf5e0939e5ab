"""Rotations keep what the model implies, and no rotation drawn at random is simpler."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gramian.solvers.rotation import ROTATIONS, oblimin, promax, quartimax, varimax

ORTHOGONAL = [varimax, quartimax]
OBLIQUE = [promax, oblimin]


@pytest.fixture
def loadings(rng):
    return rng.standard_normal((12, 4)) * [1.0, 0.8, 0.6, 0.4]


def orthogonal(rng, k):
    return np.linalg.qr(rng.standard_normal((k, k)))[0]


def pattern(rng, d=20, k=4):
    """Each row on one factor alone."""
    L = np.zeros((d, k))
    L[np.arange(d), np.arange(d) % k] = rng.uniform(0.4, 0.9, d)
    return L


@pytest.mark.parametrize("rotate", [*ORTHOGONAL, *OBLIQUE])
class TestLaws:
    def test_what_the_model_implies_stays(self, rotate, loadings):
        found = rotate(loadings)
        assert found.converged
        assert_allclose(found.loadings @ found.correlation @ found.loadings.T, loadings @ loadings.T, atol=1e-10)
        assert_allclose(loadings @ found.matrix, found.loadings, atol=1e-12)
        assert_allclose(np.linalg.inv(found.matrix.T @ found.matrix), found.correlation, atol=1e-10)
        assert_allclose(np.diag(found.correlation), 1, atol=1e-12)

    def test_order_and_sign(self, rotate, loadings):
        found = rotate(loadings).loadings
        assert (np.diff(np.sum(found**2, axis=0)) <= 0).all()
        assert (found[np.abs(found).argmax(axis=0), np.arange(4)] > 0).all()

    def test_one_factor_is_left_as_it_is(self, rotate, loadings):
        L = np.abs(loadings[:, :1])
        found = rotate(L)
        assert np.array_equal(found.loadings, L)
        assert np.array_equal(found.correlation, [[1.0]])

    def test_where_one_starts_does_not_matter(self, rotate, rng):
        # Only near simple structure: elsewhere these criteria have several local optima.
        L = pattern(rng) + 0.05 * rng.standard_normal((20, 4))
        assert_allclose(rotate(L @ orthogonal(rng, 4)).loadings, rotate(L).loadings, atol=1e-6)

    def test_orthogonal_simple_structure_is_found(self, rotate, rng):
        L = pattern(rng)
        order = np.argsort(-np.sum(L**2, axis=0))
        assert_allclose(rotate(L @ orthogonal(rng, 4)).loadings, L[:, order], atol=1e-6)

    def test_empty_rows_and_columns_do_no_harm(self, rotate, loadings):
        L = loadings.copy()
        L[3], L[:, 2] = 0, 0
        found = rotate(L)
        assert np.isfinite(found.loadings).all()
        assert_allclose(found.loadings @ found.correlation @ found.loadings.T, L @ L.T, atol=1e-9)

    def test_the_input_is_not_written_to(self, rotate, loadings):
        before = loadings.copy()
        loadings.setflags(write=False)
        rotate(loadings)
        np.testing.assert_array_equal(loadings, before)


def variance_of_squares(L):
    return np.sum(L**4) - np.sum(np.sum(L**2, axis=0) ** 2) / len(L)


def overlap(L):
    S = L.T**2 @ L**2
    return (S.sum() - np.trace(S)) / 4


@pytest.mark.parametrize(("rotate", "criterion"), [(varimax, variance_of_squares), (quartimax, lambda L: np.sum(L**4))])
@pytest.mark.parametrize("normalize", [True, False])
def test_no_random_orthogonal_rotation_is_better(rotate, criterion, normalize, loadings, rng):
    found = rotate(loadings, normalize=normalize)
    A = loadings / np.linalg.norm(loadings, axis=1, keepdims=True) if normalize else loadings
    assert found.criterion == pytest.approx(criterion(A @ found.matrix), rel=1e-10)
    assert_allclose(found.matrix.T @ found.matrix, np.eye(4), atol=1e-12)
    assert np.array_equal(found.correlation, np.eye(4))
    for _ in range(50):
        assert criterion(A @ orthogonal(rng, 4)) <= found.criterion + 1e-12
        near = np.linalg.qr(np.eye(4) + 0.01 * rng.standard_normal((4, 4)))[0]
        assert criterion(A @ found.matrix @ near) <= found.criterion + 1e-12


def leaning(rng, T, size):
    """T with its columns moved and scaled back to unit length: correlations keep their diagonal of ones."""
    moved = T + size * rng.standard_normal(T.shape)
    return moved / np.linalg.norm(moved, axis=0)


@pytest.mark.parametrize("normalize", [True, False])
def test_no_random_oblique_rotation_is_better(loadings, rng, normalize):
    found = oblimin(loadings, normalize=normalize)
    A = loadings / np.linalg.norm(loadings, axis=1, keepdims=True) if normalize else loadings
    assert found.criterion == pytest.approx(overlap(A @ found.matrix), rel=1e-9)
    T = np.linalg.inv(found.matrix).T
    for _ in range(50):
        for other in (leaning(rng, T, 0.01), leaning(rng, T, 1.0)):
            assert overlap(A @ np.linalg.inv(other).T) >= found.criterion * (1 - 1e-9)
    assert found.criterion < quartimax_overlap(A)


def quartimax_overlap(A):
    return overlap(quartimax(A).loadings)


def test_leaning_factors_are_found_with_their_correlations(rng):
    L = pattern(rng, 20, 4)
    L = L[:, np.argsort(-np.sum(L**2, axis=0))]
    B = rng.standard_normal((4, 12))
    B /= np.linalg.norm(B, axis=1, keepdims=True)
    correlation = B @ B.T
    assert np.abs(correlation - np.eye(4)).max() > 0.2
    found = oblimin(L @ np.linalg.cholesky(correlation) @ orthogonal(rng, 4))
    assert_allclose(found.loadings, L, atol=1e-6)
    assert_allclose(found.correlation, correlation, atol=1e-6)
    assert found.criterion < 1e-10


def test_kaiser_normalisation_gives_every_row_the_same_say(loadings, rng):
    weights = rng.uniform(0.2, 5, (12, 1))
    plain, scaled = varimax(loadings), varimax(loadings * weights)
    assert_allclose(plain.criterion, scaled.criterion, rtol=1e-9)
    assert (
        abs(varimax(loadings, normalize=False).criterion - varimax(loadings * weights, normalize=False).criterion) > 0.1
    )


def test_a_rotation_that_is_cut_short_says_so(loadings):
    assert not varimax(loadings, max_iter=1).converged
    assert not oblimin(loadings, max_iter=1).converged


def test_the_names_users_write():
    assert set(ROTATIONS) == {"varimax", "quartimax", "promax", "oblimin"}
