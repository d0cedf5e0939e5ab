"""Components for regression: orthogonal scores, exact stops, many problems at once."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gramian.solvers import deflation
from gramian.solvers.deflation import canonical_partial_least_squares, covariance_directions


def partial_least_squares(A, B, k):
    """PLS of tables that are known to the last bit."""
    return deflation.partial_least_squares(A, B, k, np.ones(len(A)))


def principal_components(A, B, k, order="variance"):
    """Regression on components of tables that are known to the last bit."""
    return deflation.principal_components(A, B, k, np.ones(len(A)), order)


def textbook(A, B, k):
    """PLS by deflating the table itself: weights, scores, loadings and coefficients of A."""
    D, W, T, P, Q = A.copy(), [], [], [], []
    for _ in range(k):
        w = np.linalg.svd(D.T @ B)[0][:, 0]
        w = w * np.sign(w[np.abs(w).argmax()])
        t = D @ w
        p = D.T @ t / (t @ t)
        D = D - np.outer(t, p)
        W, T, P, Q = [*W, w], [*T, t], [*P, p], [*Q, B.T @ t / (t @ t)]
    return tuple(np.array(part).T for part in (W, T, P, Q))


@pytest.fixture
def problem(rng):
    A = rng.standard_normal((30, 8))
    return A, A @ rng.standard_normal((8, 3)) + rng.standard_normal((30, 3))


@pytest.mark.parametrize("q", [1, 2, 3])
def test_pls_is_the_textbook(problem, q):
    A, B = problem[0], problem[1][:, :q]
    W, T, P, Q = textbook(A, B, 5)
    found = partial_least_squares(A[None], B[None], 5).single()
    assert_allclose(found.weights, W, atol=1e-10)
    assert_allclose(A @ found.rotations, T, atol=1e-9)
    assert_allclose(found.x_loadings, P, atol=1e-10)
    assert_allclose(found.y_loadings, Q, atol=1e-10)
    assert_allclose(found.squares, (T**2).sum(axis=0), rtol=1e-10)
    assert_allclose(found.rotations, W @ np.linalg.inv(P.T @ W), atol=1e-10)


def test_more_targets_than_columns(rng):
    A = rng.standard_normal((30, 3))
    B = A @ rng.standard_normal((3, 7)) + rng.standard_normal((30, 7))
    W, T, _, _ = textbook(A, B, 3)
    found = partial_least_squares(A[None], B[None], 3).single()
    assert_allclose(found.weights, W, atol=1e-10)
    assert_allclose(A @ found.rotations, T, atol=1e-10)


@pytest.mark.parametrize("solve", [partial_least_squares, principal_components])
class TestBoth:
    def test_a_stack_is_its_problems(self, rng, solve):
        A, B = rng.standard_normal((4, 20, 6)), rng.standard_normal((4, 20, 2))
        A[2, 15:], B[2, 15:] = 0.0, 0.0  # rows of zeros change nothing
        together = solve(A, B, 4)
        for g in range(4):
            rows = 15 if g == 2 else 20
            alone = solve(A[g : g + 1, :rows], B[g : g + 1, :rows], 4)
            assert_allclose(together.path()[g], alone.path()[0], atol=1e-11)
            assert_allclose(together.squares[g], alone.squares[0], rtol=1e-10)

    def test_the_path_is_every_truncation(self, problem, solve):
        A, B = problem
        path = solve(A[None], B[None], 6).path()[0]
        for k in range(1, 7):
            one = solve(A[None], B[None], k).single()
            assert_allclose(path[k - 1], one.rotations @ one.y_loadings.T, atol=1e-11)
            assert_allclose(solve(A[None], B[None], 6).truncate(k).path()[0, -1], path[k - 1], atol=1e-14)

    def test_all_components_are_least_squares(self, problem, solve):
        A, B = problem
        assert_allclose(solve(A[None], B[None], 8).path()[0, -1], np.linalg.lstsq(A, B, rcond=None)[0], atol=1e-9)

    def test_scores_are_orthogonal_even_where_columns_nearly_repeat(self, rng, solve):
        A = rng.standard_normal((40, 5))
        A = np.hstack([A, A + 1e-5 * rng.standard_normal((40, 5))])
        found = solve(A[None], (A @ rng.standard_normal((10, 1)))[None], 8).single()
        T = A @ found.rotations
        T /= np.linalg.norm(T, axis=0)
        assert_allclose(T.T @ T, np.eye(T.shape[1]), atol=1e-6)

    @pytest.mark.parametrize("seed", range(6))
    def test_stops_at_the_rank(self, solve, seed):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((30, 4)) @ rng.standard_normal((4, 9)) * 10.0 ** rng.uniform(-3, 3)
        B = rng.standard_normal((30, 2))
        found = solve(A[None], B[None], 9)
        assert found.found[0] == 4
        wanted = np.linalg.lstsq(A, B, rcond=None)[0]
        assert_allclose(found.path()[0, -1], wanted, atol=1e-8 * np.abs(wanted).max())
        assert found.single().weights.shape == (9, 4)

    def test_nothing_to_find(self, rng, solve):
        A = rng.standard_normal((2, 10, 3))
        B = rng.standard_normal((2, 10, 1))
        A[0] = 0.0
        found = solve(A, B, 2)
        assert found.found.tolist() == [0, 2]
        assert not found.path()[0].any()
        assert np.isfinite(found.path()).all()

    @pytest.mark.parametrize("shape", [(8, 3), (2, 5)])
    @pytest.mark.parametrize("size", [1e-85, 1e-59, 1e59, 1e85])
    def test_units(self, rng, solve, size, shape):
        """Tables that are compressed without a change of units are no stranger to the solver."""
        A = rng.standard_normal((30, shape[0]))
        B = A @ rng.standard_normal(shape) + 0.1 * rng.standard_normal((30, shape[1]))
        wanted = solve(A[None], B[None], 2)
        found = solve(A[None] * size, B[None] * size, 2)
        assert_allclose(found.path(), wanted.path(), rtol=1e-6, atol=1e-9)


def test_a_target_that_one_component_explains(rng):
    A = np.linalg.qr(rng.standard_normal((20, 5)))[0]
    B = A[:, :1] * 3.0
    found = partial_least_squares(A[None], B[None], 4)
    assert found.found[0] == 1
    assert_allclose(found.path()[0, -1, :, 0], [3, 0, 0, 0, 0], atol=1e-12)


def test_contribution_orders_by_squares_of_the_target(problem):
    A, B = problem
    by_size, by_fit = (principal_components(A[None], B[None], 8, order) for order in ("variance", "contribution"))
    share = (by_size.squares * (by_size.y_loadings**2).sum(axis=1))[0]
    found = (by_fit.squares * (by_fit.y_loadings**2).sum(axis=1))[0]
    assert_allclose(found, np.sort(share)[::-1], rtol=1e-10)
    assert (np.diff(by_size.squares[0]) <= 0).all()


def test_covariance_directions_are_singular_vectors(problem):
    A, B = problem
    W, C, values = covariance_directions(A, B, 3)
    assert_allclose(A.T @ B @ C, W * values, atol=1e-10)
    assert_allclose(W.T @ W, np.eye(3), atol=1e-12)
    assert (W[np.abs(W).argmax(axis=0), range(3)] > 0).all()
    assert covariance_directions(A, np.zeros((30, 3)), 2)[2].shape == (0,)


def test_canonical_scores_are_orthogonal_and_come_from_the_views(problem):
    A, B = problem
    Wx, _, Rx, Ry, values = canonical_partial_least_squares(A, B, 3)
    for M, R in ((A, Rx), (B, Ry)):
        T = M @ R
        off = T.T @ T
        assert_allclose(off, np.diag(np.diag(off)), atol=1e-9)
    assert_allclose(np.einsum("nk,nk->k", A @ Rx, B @ Ry), values, rtol=1e-9)
    assert_allclose(Rx[:, 0], Wx[:, 0], atol=1e-13)
    assert canonical_partial_least_squares(A, np.c_[B[:, 0], B[:, 0]], 2)[4].shape == (1,)
    assert canonical_partial_least_squares(A, np.zeros((30, 2)), 2)[0].shape == (8, 0)
