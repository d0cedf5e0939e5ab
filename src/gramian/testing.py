"""Laws that every kernel, operator, solver and space obeys. Run them on your own.

Each function takes one object and raises AssertionError, with the law's name, if it is broken::

    from gramian.testing import check_kernel
    check_kernel(MyKernel())
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from gramian import mixing
from gramian.kernels import Kernel, parse
from gramian.operators import Dense, Gram, Operator
from gramian.results import Array
from gramian.solvers import eigen
from gramian.solvers.eigen import Solver

#: Checks of scikit-learn that contradict the mathematics of an estimator: class name -> {check: reason}.
EXPECTED_FAILED_CHECKS: dict[str, dict[str, str]] = {}


def check_kernel(kernel: Kernel, X: Any = None, Y: Any = None, *, text: bool = True) -> None:
    """Check a kernel: symmetry, diagonal, tiles, precision, sparse rows, parameters, text, definiteness.

    Parameters
    ----------
    kernel : Kernel
    X, Y : (n, d) arrays, optional
        Rows to try it on; some random ones, with a repeated row, if not given.
    text : bool
        Whether the kernel has a text form that parses back.

    Examples
    --------
    >>> from gramian.kernels import RBF
    >>> check_kernel(RBF(sigma=2.0))
    """
    X = sample_rows(60) if X is None else X
    Y = sample_rows(23, seed=1) if Y is None else Y
    before = X.copy()
    k = kernel.resolve(X)
    K, B = k.block(X, X), k.block(X, Y)
    size = max(1.0, float(np.abs(K).max()), float(np.abs(B).max()))
    _law("values are finite", bool(np.isfinite(K).all() and np.isfinite(B).all()))
    _close("k(x, y) = k(y, x)", B, k.block(Y, X).T, 1e-12 * size)
    _close("the diagonal is k(x, x)", k.diagonal(X), np.diag(K), 1e-10 * size)
    _close("K is symmetric", K, K.T, 1e-12 * size)
    _close("a block does not depend on its neighbours", k.block(X[:7], Y[3:9]), B[:7, 3:9], 1e-11 * size)
    _close("single precision agrees with double", k.block(X, Y, np.float32), B, 2e-4 * size)
    _law("a kernel asked for float32 answers in float32", k.block(X, Y, np.float32).dtype == np.float32)
    _close("sparse rows give the same", k.block(sp.csr_array(X), sp.csr_array(Y)), B, 1e-10 * size)
    _law("resolving twice changes nothing", k.resolve(X) == k)
    _law("the caller's rows are unchanged", np.array_equal(before, X))
    _law("a clone is equal", clone(kernel) == kernel)
    _law("parameters go round", type(kernel)(**kernel.get_params(deep=False)) == kernel)
    if text:
        _law("the text parses back", parse(str(kernel)) == kernel and parse(str(k)) == k)
    if k.positive_definite:
        lowest = float(np.linalg.eigvalsh(K).min())
        _law("a kernel called positive has no negative eigenvalue", lowest > -1e-10 * size * len(K))
    _check_abilities(k, X, B, Y, size)


def _check_abilities(k: Kernel, X: Array, B: Array, Y: Array, size: float) -> None:
    """Check what a kernel with resolved parameters says of itself beside its values, if it says so."""
    zero, apart = np.zeros((1, 1)), np.linalg.norm(X[:, None] - Y, axis=2)
    if k.falls_with_distance:
        order = np.argsort(apart, axis=None)
        of_distance = k.block(apart.reshape(-1, 1), zero).reshape(B.shape)
        _close("a kernel said to fall with the distance is a function of it", of_distance, B, 1e-6 * size)
        _law("a kernel said to fall with the distance falls", bool((np.diff(B.ravel()[order]) <= 1e-9 * size).all()))
        _close("distances in feature space", k.feature_distances(apart**2), 2 * (k.diagonal(zero) - B), 1e-6 * size)
    f = k.form
    if f is not None:
        measured = apart**2 if f.radial else X @ Y.T
        _close("the form gives the values", f.value(measured), B, 1e-8 * size)
        m = f.invert(np.linspace(0.2, 0.9, 8) * k.diagonal(zero), 1e12) if f.radial else np.linspace(0.1, 2, 8)
        if f.slope is not None and np.all(m > 0):
            step = 1e-5 * m
            numerical = np.abs(f.value(m + step) - f.value(m - step)) / (2 * step)
            left, right = (np.sqrt(m), zero) if f.radial else (m, zero + 1)
            stated = f.rate * f.slope.block(left.reshape(-1, 1), right).ravel()
            _close("the slope is the derivative", stated / numerical, np.ones_like(m), 1e-5)
    W = k.frequencies(4000, X.shape[1], np.random.default_rng(0))
    if W is not None:
        waves = np.cos((X[:, None] - Y) @ W.T).mean(axis=2) * k.diagonal(zero)
        _close("waves of its frequencies have the kernel as their mean", waves, B, 0.1 * size)


def check_operator(operator: Operator) -> None:
    """Check an operator: its products are those of its matrix, linear, symmetric, repeatable, in both precisions.

    Examples
    --------
    >>> from gramian.kernels import RBF
    >>> check_operator(Gram(RBF(sigma=2.0), sample_rows(20)))
    """
    A, rng = operator.toarray(), np.random.default_rng(0)
    V = rng.standard_normal((operator.n, 5))
    size = max(float(np.abs(A).sum(axis=1).max()), np.finfo(float).tiny)
    W = operator @ V
    _law("the matrix is square", A.shape == (operator.n, operator.n))
    _close("the matrix is symmetric", A, A.T, 1e-12 * size)
    _close("products are those of the matrix", W, A @ V, 1e-11 * size)
    _close("products are linear", operator @ (2 * V[:, :1] - V[:, 1:2]), 2 * W[:, :1] - W[:, 1:2], 1e-11 * size)
    _law("a rerun gives the same bits", np.array_equal(operator @ V, W))
    if isinstance(operator, (Dense, Gram)):
        chosen = np.array([0, operator.n // 2])
        _close("columns are those of the matrix", operator.columns(chosen), A[:, chosen], 1e-12 * size)
        _close("the diagonal is that of the matrix", operator.diagonal(), np.diag(A), 1e-11 * size)
    narrow = operator.astype(np.float32)
    _close("single precision agrees", narrow @ V.astype(np.float32), W, 1e-3 * size)
    _law("a sketch has as many rows as the operator", operator.sketch(3, rng).shape[0] == operator.n)
    if operator.positive:
        _law("positive means no negative eigenvalue", np.linalg.eigvalsh(A).min() > -1e-10 * size)


def check_solver(solver: Solver) -> None:
    """Check a solver on matrices with known spectra: values, order, orthonormality, residuals, rank, negative ones.

    Examples
    --------
    >>> from gramian.solvers import Randomized
    >>> check_solver(Randomized())
    """
    for name, values in KNOWN_SPECTRA.items():
        operator = with_spectrum(values)
        positive = np.sort(values[values > 1e-12])[::-1]
        k = min(4, len(positive))
        found = eigen(operator, k, solver)
        tolerance = 1e-7 * np.abs(values).max()
        _close(f"{name}: the largest values in order", found.values, positive[:k], tolerance)
        _close(f"{name}: orthonormal vectors", found.vectors.T @ found.vectors, np.eye(k), 1e-8)
        image = operator @ found.vectors
        honest = np.linalg.norm(image - found.vectors * found.values, axis=0) / found.values
        _close(f"{name}: residuals are what they say", found.residuals, honest, 1e-10)
        _law(f"{name}: residuals are small", found.trace.converged and bool(found.residuals.max() < 1e-5))
    few = eigen(with_spectrum(KNOWN_SPECTRA["low rank"]), 6, solver)
    _law("no more components than the rank", len(few.values) == 3)


def check_space(space: Any, X: Any, rank: int = 3) -> None:
    """Check a space: scores are orthogonal and centred, new points agree with old ones, fewer is a part of more.

    Examples
    --------
    >>> from gramian.spaces import LinearSpace
    >>> X = sample_rows(20)
    >>> check_space(LinearSpace(X), X)
    """
    basis = space.basis(rank)
    scores = basis.scores()
    size = float(basis.eigenvalues.max())
    _close("scores are orthogonal", scores.T @ scores, np.diag(basis.eigenvalues), 1e-8 * size)
    _close("scores are centred", scores.mean(axis=0), np.zeros(basis.rank), 1e-8 * size**0.5)
    projected = basis.projection().scores(X)
    _close("projecting the training rows gives their scores", projected, scores, 1e-7 * size**0.5)
    white = basis.projection(mixing.whiten(basis)).scores(X)
    _close("whitened scores have unit covariance", np.cov(white.T), np.eye(basis.rank), 1e-6)
    part = basis.truncate(rank - 1)
    _close("fewer components are a part of more", part.scores(), scores[:, : rank - 1], 1e-12 * size)
    _law("values fall", bool((np.diff(basis.singular) <= 0).all()))


KNOWN_SPECTRA: dict[str, Array] = {
    "decaying": 2.0 ** -np.arange(30),
    "low rank": np.array([5.0, 3.0, 1.0] + [0.0] * 27),
    "indefinite": np.concatenate([[9.0, 4.0, 2.0, 1.0], np.linspace(-3.0, 0.5, 26)]),
    "nearly equal": np.array([2.0, 2.0 - 1e-10, 1.0, 0.5] + [0.01] * 26),
}


def with_spectrum(values: Array, seed: int = 0) -> Dense:
    """Return a symmetric operator with these eigenvalues and random eigenvectors.

    Examples
    --------
    >>> A = with_spectrum(np.array([3.0, 1.0]))
    >>> np.linalg.eigvalsh(A.toarray()).round(6)
    array([1., 3.])
    """
    Q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))
    A = (Q * values) @ Q.T
    return Dense((A + A.T) / 2, positive=bool(values.min() >= 0))


def sample_rows(n: int, d: int = 4, seed: int = 0) -> Array:
    """Return random rows off the origin, the last two equal, one of them zero.

    Examples
    --------
    >>> X = sample_rows(5)
    >>> X.shape, bool((X[-1] == X[-2]).all())
    ((5, 4), True)
    """
    X = np.random.default_rng(seed).standard_normal((n, d)) + 0.5
    X[-1], X[0] = X[-2], 0.0
    return X


def _law(name: str, holds: bool) -> None:
    if not holds:
        raise AssertionError(f"broken law: {name}")


def _close(name: str, actual: Any, expected: Any, atol: float) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol, err_msg=f"broken law: {name}")
