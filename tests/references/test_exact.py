"""Small ill-conditioned tables in 50-digit arithmetic: what the stored doubles say, and how far a fit is from it.

Bounds are those of backward stable methods: a table that is off by some roundings, times the condition of the question.
"""

import mpmath as mp
import numpy as np
import pytest

from gramian import CCA, PCA, FactorAnalysis, KernelPCA, KernelRidge, PLSRegression

EPS = np.finfo(float).eps
N = 9
_rng = np.random.default_rng(50)
_base = _rng.standard_normal((N, 3))
TABLES = {
    "graded": _base * [1.0, 1e-4, 1e-7],
    "collinear": np.column_stack([_base[:, :2], _base[:, 0] + 1e-6 * _base[:, 2]]),
    "vandermonde": np.vander(np.linspace(1.0, 2.0, N), 4)[:, :3],
    "offset": _base + [1e6, -1e5, 1e4],
}
ALL = pytest.mark.parametrize("name", TABLES)


@pytest.fixture(autouse=True)
def _fifty_digits():
    with mp.workdps(50):
        yield


def exact(A):
    return mp.matrix(np.asarray(A, dtype=float).tolist())


def centred(A):
    """Centred columns, exactly."""
    M = exact(A)
    for j in range(M.cols):
        mean = mp.fsum(M[:, j]) / M.rows
        for i in range(M.rows):
            M[i, j] -= mean
    return M


def standardised(A):
    M = centred(A)
    for j in range(M.cols):
        deviation = mp.sqrt(mp.fsum(v * v for v in M[:, j]) / (M.rows - 1))
        for i in range(M.rows):
            M[i, j] /= deviation
    return M


def doubles(M):
    return np.array(M.tolist(), dtype=float)


def gram(X, gamma):
    """The Gaussian Gram matrix of the stored doubles."""
    M = exact(X)
    rows = [[mp.fsum((M[i, k] - M[j, k]) ** 2 for k in range(M.cols)) for j in range(M.rows)] for i in range(M.rows)]
    return mp.matrix([[mp.exp(-mp.mpf(gamma) * d2) for d2 in row] for row in rows])


def descending(values):
    return np.sort(np.array([float(v) for v in values]))[::-1]


def away(X):
    """How much larger entries are than their spread: rounding of the mean alone costs that many digits."""
    return 1 + np.abs(X).max() / X.std(axis=0).min()


@ALL
@pytest.mark.parametrize("solver", ["auto", "svd"])
def test_singular_values_of_a_table(name, solver):
    """Each to a few roundings of the largest, not of its square."""
    X = TABLES[name]
    A = centred(X)
    values = np.sqrt(descending(mp.eigsy(A.T * A / (N - 1), eigvals_only=True)))
    found = np.sqrt(PCA(solver=solver).fit(X).explained_variance_)
    np.testing.assert_allclose(found, values, rtol=0, atol=50 * EPS * values[0])


@pytest.mark.parametrize("gamma", [1e-6, 0.3, 1e3], ids=["near constant", "usual", "near identity"])
def test_eigenvalues_of_a_centred_gram_matrix(gamma):
    """Entries before centring are 1 at the most, and off by the rounding of their exponents."""
    H = mp.eye(N) - mp.ones(N, N) / N
    values = descending(mp.eigsy(H * gram(_base, gamma) * H, eigvals_only=True))
    model = KernelPCA(3, kernel=f"rbf(gamma={gamma})").fit(_base)
    np.testing.assert_allclose(
        model.eigenvalues_, values[:3], rtol=0, atol=4 * N * EPS * (1 + gamma * np.square(_base).sum(axis=1).max())
    )
    assert max(model.summary_.to_dict()["residuals"]) < 1e-6
    assert model.summary_.to_dict()["n_negative"] == 0


@ALL
def test_canonical_correlations(name):
    """They do not depend on the condition of a view with scaled columns but through its correlation matrix."""
    X = TABLES[name]
    Y = _base[:, [0, 2]] @ [[1.0, 0.3], [0.5, 1.0]] + 0.5 * np.random.default_rng(1).standard_normal((N, 2))
    A, B = standardised(X), standardised(Y)
    S11, S22, S12 = A.T * A, B.T * B, A.T * B
    M = S22**-1 * S12.T * S11**-1 * S12
    values = np.sqrt(descending(mp.re(v) for v in mp.eig(M)[0]))
    condition = np.linalg.cond(doubles(A)) * away(X)
    np.testing.assert_allclose(CCA(2).fit(X, Y).correlations_, values, rtol=0, atol=50 * EPS * condition)


@ALL
def test_first_weights_of_partial_least_squares(name):
    X, Y = TABLES[name], np.random.default_rng(2).standard_normal((N, 2)) + _base[:, :2]
    A, B = standardised(X), standardised(Y)
    U, s, _ = mp.svd_r(A.T * B)
    weights, gap = doubles(U)[:, 0], float((s[0] - s[1]) / s[0])
    found = PLSRegression(1).fit(X, Y).x_weights_[:, 0]
    np.testing.assert_allclose(found * np.sign(found @ weights), weights, rtol=0, atol=100 * EPS * away(X) / gap)


@pytest.mark.parametrize("ridge", [1e-10, 1e-3, 1.0])
@pytest.mark.parametrize("gamma", [1e-3, 0.3])
def test_dual_coefficients_of_kernel_ridge(ridge, gamma):
    K, y = gram(_base, gamma), np.random.default_rng(3).standard_normal(N)
    regular = K + mp.mpf(ridge) * mp.eye(N)
    coefficients = doubles(mp.lu_solve(regular, exact(y[:, None])))[:, 0]
    found = KernelRidge(ridge=ridge, kernel=f"rbf(gamma={gamma})").fit(_base, y).dual_coef_
    condition = float(mp.cond(regular, lambda M: mp.mnorm(M, "f")))
    np.testing.assert_allclose(
        np.ravel(found), coefficients, rtol=0, atol=10 * EPS * condition * np.abs(coefficients).max()
    )


@pytest.mark.parametrize("units", [np.ones(6), np.logspace(-6, 6, 6)], ids=["alike", "graded"])
def test_the_likelihood_of_a_factor_analysis_is_level_at_the_answer(units):
    """The gradient of log|S| + tr(R S^-1) by loadings and uniquenesses, inside their bounds, is 0."""
    rng = np.random.default_rng(4)
    factor, own = rng.standard_normal((60, 1)), rng.standard_normal((60, 6))
    X = factor @ rng.uniform(0.5, 1.0, (1, 6)) + 0.8 * own
    A = standardised(X * units)
    R = A.T * A / 59
    model = FactorAnalysis(1).fit(X * units)
    L = exact(model.loadings_)
    inverse = (L * L.T + mp.diag([mp.mpf(float(v)) for v in model.uniquenesses_])) ** -1
    slope = inverse - inverse * R * inverse
    assert model.uniquenesses_.min() > 0.01
    assert max(abs(v) for v in 2 * slope * L) < 1e-7
    assert max(abs(slope[i, i]) for i in range(6)) < 1e-7
