"""Pre-images by fixed-point iteration: the row is a mean of training rows, weighted by what it resembles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from gramian.engine.tiles import Meter, run, share, threads_for
from gramian.kernels import Kernel
from gramian.operators import CrossGram
from gramian.preimage.points import FeaturePoints
from gramian.progress import part_done, track
from gramian.results import Array

#: Steps at the most; each is one block of kernel values.
STEPS = 200
#: Movement at which a row has settled, relative to the size of the training rows.
STILL = 1e-7
#: Longest step, in units of the plain iteration: it creeps where the optimum is flat.
STRIDE = 8.0
#: Longest step in units of the row and of the training rows: a denominator may be next to nothing.
LEAP = 1e3


def fixed_point(points: FeaturePoints, slope: Kernel, start: Array, *, radial: bool) -> Array:
    r"""Rows that minimise the distance in feature space, from given ones downhill.

    Definition
    ----------
    With :math:`c_j` the weights of P on the training rows and :math:`s = |f'|` the slope of the kernel

    .. math:: x \leftarrow \frac{\sum_j c_j\, s(x, x_j)\, x_j}{\sum_j c_j\, s(x, x_j)} \text{ (distances)}, \qquad
              x \leftarrow \frac{\sum_j c_j\, s(x, x_j)\, x_j}{s(x, x)} \text{ (dot products)}

    Both are steps downhill. A step is shortened until the distance falls and lengthened while it does; where the
    denominator is not positive nothing pulls, and the row stays.

    Cost
    ----
    Some 10 to 100 steps of ``n (d + q)`` multiplications and n kernel values a point.

    References
    ----------
    Mika, Schoelkopf, Smola, Mueller, Scholz, Raetsch, Kernel PCA and de-noising in feature spaces, NIPS 1998.
    """
    out, blocks, finished = start.copy(), points.blocks(), []

    def work(panels: Sequence[int], meter: Meter) -> None:
        for rows in (blocks[i] for i in panels):
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # each thread has its own state
                C = points.coordinates[rows] @ points.weights.T
                _descend(points, partial(_pull, points, slope, radial), C, out[rows], meter)
            finished.append(rows)

    with track("pre-images", expected=1):
        run(work, share(len(blocks), threads_for(len(blocks))), lambda _: part_done(len(finished) / len(blocks)))
    return out


def _descend(points: FeaturePoints, pull: Callable[..., Array], C: Array, out: Array, meter: Meter) -> None:
    """Lead a block of rows downhill, in place; those that have settled leave it."""
    still, at, Z = STILL * points.size, np.arange(len(out)), out.copy()
    K = _block(points.kernel, Z, points)
    J, length = _objective(points, C, K, Z), np.ones(len(Z))
    for _ in range(STEPS):
        meter.tick()
        move = pull(C, K, Z)
        trial = Z + length[:, None] * move
        K_trial = _block(points.kernel, trial, points)
        J_trial = _objective(points, C, K_trial, trial)
        better = J_trial <= J
        Z[better], K[better], J[better] = trial[better], K_trial[better], J_trial[better]
        out[at] = Z
        going = np.linalg.norm(length[:, None] * move, axis=1) > still
        length = np.where(better, np.minimum(1.5 * length, STRIDE), 0.25 * length)
        if not going.all():
            at, Z, K, J, C, length = at[going], Z[going], K[going], J[going], C[going], length[going]
        if not len(at):
            return


def _pull(points: FeaturePoints, slope: Kernel, radial: bool, C: Array, K: Array, Z: Array) -> Array:
    """The step of the plain iteration; none where its denominator is not positive."""
    W = C * (K if slope is points.kernel else _block(slope, Z, points))
    D = W.sum(axis=1) if radial else slope.diagonal(Z)
    move = W @ points.anchors / np.where(D > 0, D, np.inf)[:, None] - Z
    far, limit = np.linalg.norm(move, axis=1), LEAP * (np.linalg.norm(Z, axis=1) + points.size)
    usable = (D > 0) & np.isfinite(far) & (far > 0)
    return np.where(usable[:, None], move * np.minimum(1.0, limit / np.where(usable, far, 1.0))[:, None], 0.0)


def _objective(points: FeaturePoints, C: Array, K: Array, Z: Array) -> Array:
    """``||phi(x) - P||^2`` but for ``||P||^2``."""
    return points.kernel.diagonal(Z) - 2 * np.einsum("ij,ij->i", C, K)


def _block(kernel: Kernel, Z: Array, points: FeaturePoints) -> Array:
    return CrossGram(kernel, Z, points.anchors).toarray()
