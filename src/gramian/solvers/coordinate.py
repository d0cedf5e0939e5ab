"""Compiled coordinate steps for quadratic problems in a box; imported on first use, because numba is slow to import."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from gramian.results import Array

#: Lanes in which the largest violation is searched: a compiler vectorises an elementwise maximum, not a running one.
LANES = 256
#: The error model of NumPy: a division that is checked for zero is not vectorised.
NUMBA_FLAGS: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"nnan", "nsz", "reassoc", "contract"},
    "boundscheck": False,
    "error_model": "numpy",
}


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function; keep the machine code on disk where there is a place for it."""
    try:
        return numba.njit(cache=True, **NUMBA_FLAGS)(function)
    except RuntimeError:  # no writable cache directory: compiled again in every process
        return numba.njit(**NUMBA_FLAGS)(function)


@compiled
def _advance(first: Array, s: float, second: Array, t: float, g: Array, up: Array, down: Array, top: Array) -> None:
    """Update a stretch of the gradient and keep each lane's largest violation; no branches, so it vectorises."""
    for k in range(g.shape[0]):
        value = g[k] + s * first[k] + t * second[k]
        g[k] = value
        rise = -value * up[k]
        fall = value * down[k]
        violation = rise if rise > fall else fall
        best = top[k]
        top[k] = violation if violation > best else best


@compiled
def _weigh(
    row: Array, slope: float, scale: float, curvature: Array, g: Array, up: Array, down: Array, top: Array
) -> None:
    """Keep each lane's largest gain of a coordinate that moves together with the one whose row this is."""
    for k in range(g.shape[0]):
        rest = g[k] - row[k] * slope
        rise = -rest * up[k]
        fall = rest * down[k]
        violation = rise if rise > fall else fall
        bend = curvature[k] - row[k] * row[k] * scale
        floor = curvature[k] * g.dtype.type(1e-6)
        gain = violation * violation / (bend if bend > floor else floor)
        best = top[k]
        top[k] = gain if gain > best else best


@compiled
def _lane(top: Array) -> int:
    """Lane with the largest value."""
    lane = 0
    for k in range(LANES):
        if top[k] > top[lane]:
            lane = k
    return lane


@compiled
def _move(
    first: Array, s: float, second: Array, t: float, g: Array, up: Array, down: Array, top: Array
) -> tuple[float, int]:
    """Add two rows to the gradient; return the largest violation then, and where it is."""
    m = g.shape[0]
    top[:] = 0
    for c in range((m + LANES - 1) // LANES):
        a = c * LANES
        z = min(a + LANES, m)
        _advance(first[a:z], s, second[a:z], t, g[a:z], up[a:z], down[a:z], top)
    lane = _lane(top)
    best, at = top[lane] - top[lane], lane
    for k in range(lane, m, LANES):
        violation = max(-g[k] * up[k], g[k] * down[k])
        if violation > best:
            best, at = violation, k
    return best, at


@compiled
def _partner(i: int, row: Array, curvature: Array, g: Array, up: Array, down: Array, top: Array) -> int:
    """Return the coordinate that gains most when it moves together with ``i``."""
    m = g.shape[0]
    scale = g.dtype.type(1) / curvature[i]  # a whole number on top would make it double, and the loop slow
    slope = g[i] * scale
    top[:] = 0
    for c in range((m + LANES - 1) // LANES):
        a = c * LANES
        z = min(a + LANES, m)
        _weigh(row[a:z], slope, scale, curvature[a:z], g[a:z], up[a:z], down[a:z], top)
    lane = _lane(top)
    best, at = -1.0, i
    for k in range(lane, m, LANES):
        rest = g[k] - row[k] * slope
        violation = max(-rest * up[k], rest * down[k])
        gain = violation * violation / max(curvature[k] - row[k] * row[k] * scale, curvature[k] * 1e-6)
        if gain > best and k != i and curvature[k] > 0:
            best, at = gain, k
    return at


@compiled
def _clip(value: float, lower: float, upper: float) -> float:
    return min(max(value, lower), upper)


@compiled
def _pair(
    p: float, q: float, gp: float, gq: float, kp: float, kq: float, k: float, lp: float, up: float, lq: float, uq: float
) -> tuple[float, float]:
    """Best steps of two coordinates in their box: inside, or on the best of the four edges."""
    det = kp * kq - k * k
    if det > 1e-12 * kp * kq:
        s = (k * gq - kq * gp) / det
        t = (k * gp - kp * gq) / det
        if lp <= p + s <= up and lq <= q + t <= uq:
            return s, t
    best, best_s, best_t = 0.0, 0.0, 0.0
    for edge in range(4):
        if edge < 2:
            s = (lp if edge == 0 else up) - p
            t = _clip(q - (gq + k * s) / kq, lq, uq) - q
        else:
            t = (lq if edge == 2 else uq) - q
            s = _clip(p - (gp + k * t) / kp, lp, up) - p
        value = gp * s + gq * t + 0.5 * (kp * s * s + kq * t * t) + k * s * t
        if value < best:
            best, best_s, best_t = value, s, t
    return best_s, best_t


@compiled
def descend(
    K: Array, curvature: Array, g: Array, b: Array, lower: Array, upper: Array, tol: float, limit: int
) -> tuple[int, float]:
    """Minimise over two coordinates at a time: the one with the largest violation, and the one that gains most with it.

    ``g`` (in the precision of ``K``) and ``b`` are changed in place; returns the steps taken and the largest violation
    left. A coordinate without curvature goes to the end of its interval, alone.
    """
    m = g.shape[0]
    up, down = np.zeros_like(g), np.zeros_like(g)
    top = np.zeros(LANES, dtype=g.dtype)
    for i in range(m):
        up[i] = b[i] < upper[i]
        down[i] = b[i] > lower[i]
    step = np.zeros(2, dtype=g.dtype)  # scalars in the precision of K, or every product would be widened
    best, i = _move(K[0], step[0], K[0], step[1], g, up, down, top)
    steps = 0
    while best > tol and steps < limit:
        j = i
        s, t = 0.0, 0.0
        if curvature[i] > 0:
            j = _partner(i, K[i], curvature, g, up, down, top)
        if j != i:
            s, t = _pair(
                b[i], b[j], g[i], g[j], curvature[i], curvature[j], K[i, j], lower[i], upper[i], lower[j], upper[j]
            )
        if s == 0 and t == 0:  # no partner, or none that helps
            if curvature[i] > 0:
                s = _clip(b[i] - g[i] / curvature[i], lower[i], upper[i]) - b[i]
            else:
                s = (upper[i] if g[i] < 0 else lower[i]) - b[i]
        old_i, old_j = b[i], b[j]
        b[i] = _clip(old_i + s, lower[i], upper[i])
        step[0] = b[i] - old_i
        step[1] = 0
        if j != i:
            b[j] = _clip(old_j + t, lower[j], upper[j])
            step[1] = b[j] - old_j
        for k in (i, j):
            up[k] = b[k] < upper[k]
            down[k] = b[k] > lower[k]
        best, i = _move(K[i], step[0], K[j], step[1], g, up, down, top)
        steps += 1
    return steps, best
