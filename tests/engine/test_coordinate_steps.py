"""Compiled coordinate steps are those that plain NumPy takes."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gramian.engine import vector_loops
from gramian.engine.coordinate_steps import coordinate_steps

DTYPES = [np.dtype(np.float32), np.dtype(np.float64)]
#: Rows that fill no register, some, and several of each size with others beside them.
SIZES = [1, 2, 7, 33, 64, 131, 300]


@cache
def compiled(bits, dtype):
    return coordinate_steps(vector_loops.REGISTERS[bits], dtype)


@pytest.fixture(params=sorted(vector_loops.REGISTERS))
def bits(request, monkeypatch):
    monkeypatch.setattr(vector_loops, "_coordinate_steps", lambda dtype: compiled(request.param, dtype))


def plain(K, g, b, lower, upper, tol, limit):
    """The same steps, each written out."""
    curvature, steps = K.diagonal(), 0
    while steps < limit:
        v = np.maximum(-g * (b < upper), g * (b > lower))
        i = int(v.argmax())
        if v[i] <= tol:
            break
        j, options = i, []
        if curvature[i] > 0:
            rest = g - K[i] * g[i] / curvature[i]
            v = np.maximum(-rest * (b < upper), rest * (b > lower))
            with np.errstate(all="ignore"):
                gain = v**2 / np.maximum(curvature - K[i] ** 2 / curvature[i], 1e-6 * curvature)
            gain[(curvature <= 0) | (np.arange(len(b)) == i)] = 0
            j = int(gain.argmax()) if gain.max() > 0 else i
        if j != i:
            A, p = K[np.ix_([i, j], [i, j])], b[[i, j]]
            low, high, slope = lower[[i, j]] - p, upper[[i, j]] - p, g[[i, j]]
            if np.linalg.det(A) > 1e-12 * A[0, 0] * A[1, 1]:
                inside = np.linalg.solve(A, -slope)
                options = [inside] if (low <= inside).all() and (inside <= high).all() else []
            if not options:
                for one in (0, 1):
                    for edge in (low[one], high[one]):
                        other = np.clip(
                            -(slope[1 - one] + A[0, 1] * edge) / A[1 - one, 1 - one], low[1 - one], high[1 - one]
                        )
                        options.append(np.array([edge, other] if one == 0 else [other, edge]))
            options = [s for s in options if slope @ s + s @ A @ s / 2 < 0]
        if options:
            slope = g[[i, j]]
            move = min(options, key=lambda s: slope @ s + s @ A @ s / 2)
        elif curvature[i] > 0:
            j, move = i, np.array([np.clip(b[i] - g[i] / curvature[i], lower[i], upper[i]) - b[i]])
        else:
            j, move = i, np.array([(upper[i] if g[i] < 0 else lower[i]) - b[i]])
        for k, s in zip((i, j), move, strict=False):
            before = b[k]
            b[k] = np.clip(b[k] + s, lower[k], upper[k])
            g += K[k] * (b[k] - before)
        steps += 1
    return steps


def problem(n, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, 3)), np.where(rng.random(n) < 0.5, 1.0, -1.0)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 4)
    C = rng.uniform(0.5, 1.5, n)
    return K, y, np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)


@pytest.mark.usefixtures("bits")
@pytest.mark.parametrize("n", SIZES)
def test_steps_are_those_of_plain_numpy(n):
    K, y, lower, upper = problem(n)
    g, b, plain_g, plain_b = -y, np.zeros(n), -y, np.zeros(n)
    steps, left = vector_loops.descend(K, K.diagonal().copy(), g, b, lower, upper, 1e-6, 10_000)
    assert steps == plain(K, plain_g, plain_b, lower, upper, 1e-6, 10_000)
    assert left <= 1e-6
    assert_allclose(b, plain_b, atol=1e-12)
    assert_allclose(g, plain_g, atol=1e-12)


@pytest.mark.usefixtures("bits")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", SIZES)
def test_the_end_meets_the_conditions_of_an_optimum_and_the_gradient_is_that_of_the_point(n, dtype):
    K, y, lower, upper = problem(n, seed=1)
    K = K.astype(dtype)
    g, b = (-y).astype(dtype), np.zeros(n)
    _, left = vector_loops.descend(K, K.diagonal().copy(), g, b, lower, upper, 1e-3, 10_000)
    assert_allclose(g, K.astype(float) @ b - y, atol=400 * np.finfo(dtype).eps)
    assert ((lower <= b) & (b <= upper)).all()
    assert left == np.maximum(np.where(b < upper, -g, 0), np.where(b > lower, g, 0)).max() <= 1e-3


@pytest.mark.usefixtures("bits")
def test_a_limit_ends_the_steps_and_coordinates_without_curvature_go_to_a_bound():
    K, y, lower, upper = problem(40)
    K[3], K[:, 3], K[17], K[:, 17] = 0.0, 0.0, 0.0, 0.0
    g, b = -y, np.zeros(40)
    assert vector_loops.descend(K, K.diagonal().copy(), g, b, lower, upper, 1e-6, 5)[0] == 5
    steps, _ = vector_loops.descend(K, K.diagonal().copy(), g, b, lower, upper, 1e-6, 10_000)
    plain_g, plain_b = -y, np.zeros(40)
    assert steps + 5 == plain(K, plain_g, plain_b, lower, upper, 1e-6, 10_000)
    assert_allclose(b, plain_b, atol=1e-12)
    assert (b[[3, 17]] == np.where(y > 0, upper, lower)[[3, 17]]).all()
