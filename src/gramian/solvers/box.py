"""A quadratic problem in a box whose matrix is kept: coordinate steps, shrinking, a Newton step on what is free."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg

from gramian.config import one_blas_thread
from gramian.operators import Dense
from gramian.results import Array

#: Free coordinates up to which a Newton step (a Cholesky factor of their block) is worth its price.
NEWTON = 2000
#: A smaller copy is made once fewer than this share of the coordinates can still move.
SHRINK = 0.7
#: Multiplications in one call of the compiled loop: under a second, so that an interrupt is heard.
CALL = 4e8


def violation(g: Array, b: Array, lower: Array, upper: Array) -> Array:
    """How much each coordinate breaks the optimality conditions: its gradient where it can still go downhill."""
    return np.maximum(np.where(b < upper, -g, 0), np.where(b > lower, g, 0))


def settled(g: Array, b: Array, lower: Array, upper: Array, margin: float) -> Array:
    """Coordinates at an end of their interval, pressed against it by more than ``margin``."""
    return ((b <= lower) & (g > margin)) | ((b >= upper) & (g < -margin))


def minimise(
    K: Array, g: Array, b: Array, lower: Array, upper: Array, tol: float, limit: int, tick: Callable[[], None]
) -> int:
    r"""Minimise :math:`\tfrac12 b'Kb - y'b` in the box, from ``b`` with gradient ``g``, both changed in place.

    Parameters
    ----------
    K : (m, m) array
        Symmetric, in single or double precision.
    g : (m,) array
        Gradient ``Kb - y`` in the precision of ``K``.
    b, lower, upper : (m,) arrays
        Point and bounds in double precision.
    tol : float
        Largest violation to leave.
    limit : int
        Coordinate steps at the most.
    tick : callable
        Called between stretches of steps; may raise to stop.

    Returns
    -------
    int
        Coordinate steps taken.

    Cost
    ----
    Two passes over m numbers a step, each of which moves two coordinates.

    References
    ----------
    Steinwart, Hush, Scovel, Training SVMs without offset, Journal of Machine Learning Research 2011.
    """
    from gramian.solvers.coordinate import descend

    m, steps = len(b), 0
    curvature = np.ascontiguousarray(K.diagonal())
    stretch = int(max(min(max(m, 1000), CALL / m), 50))
    while steps < limit:
        tick()
        worst = float(violation(g, b, lower, upper).max())
        if worst <= tol:
            break
        active = np.flatnonzero(~settled(g, b, lower, upper, 2 * worst))
        if m > 256 and len(active) < SHRINK * m:
            steps += _shrunk(K, g, b, lower, upper, max(tol, 0.1 * worst), limit - steps, tick, active)
            continue
        done, _ = descend(K, curvature, g, b, lower, upper, tol, stretch)
        steps += max(done, 1)
    return steps


def newton(K: Array, g: Array, b: Array, lower: Array, upper: Array) -> bool:
    """Solve for the free coordinates as if there were no bounds; go there as far as the box and the descent allow."""
    free = np.flatnonzero((b > lower) & (b < upper))
    if not 0 < len(free) <= NEWTON:
        return False
    A = K[np.ix_(free, free)].astype(np.float64)
    A[np.diag_indices(len(free))] += 8 * np.finfo(K.dtype).eps * max(A.trace(), 0.0)
    try:
        with one_blas_thread():
            factor = scipy.linalg.cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
            aim = b[free] - scipy.linalg.cho_solve(factor, g[free].astype(np.float64), check_finite=False)
    except scipy.linalg.LinAlgError:  # negative curvature: coordinate steps cope with it
        return False
    step = np.zeros_like(b)
    step[free] = np.clip(aim, lower[free], upper[free]) - b[free]
    slope = float(g.astype(np.float64) @ step)
    if not slope < 0:
        return False
    image = _times(K, step)
    curvature = float(step @ image)
    length = 1.0 if curvature <= -slope else -slope / curvature
    np.clip(b + length * step, lower, upper, out=b)
    g += g.dtype.type(length) * image
    return True


def _shrunk(
    K: Array,
    g: Array,
    b: Array,
    lower: Array,
    upper: Array,
    tol: float,
    limit: int,
    tick: Callable[[], None],
    active: Array,
) -> int:
    """Go on with the coordinates that can still move, on a copy of their block; then bring the gradient up to date."""
    part = np.empty((len(active), len(active)), dtype=K.dtype)
    for i, row in enumerate(active):
        np.take(K[row], active, out=part[i])
    inner = b[active]
    steps = minimise(part, g[active], inner, lower[active], upper[active], tol, limit, tick)
    step = np.zeros_like(b)
    step[active] = inner - b[active]
    b[active] = inner
    g += _times(K, step)
    return max(steps, 1)


def _times(K: Array, v: Array) -> Array:
    return (Dense(K, positive=True) @ v.astype(K.dtype)[:, None])[:, 0]
