"""Pre-images from distances: those of the feature space give those of the rows, and these give the row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gramian.engine.tiles import Meter, run, share, threads_for
from gramian.kernels.base import Form
from gramian.kernels.pairwise import squared_norms
from gramian.preimage.points import FeaturePoints, dense
from gramian.results import Array


def from_distances(points: FeaturePoints, form: Form, neighbours: int) -> Array:
    r"""Rows whose distances to the nearest training rows are those the points have in feature space.

    Definition
    ----------
    .. math:: f(\|x - x_j\|^2) = k(x, x) - \tfrac{1}{2} \|P - \phi(x_j)\|^2, \qquad
              x = \bar x + \tfrac{1}{2} Z^+ (|z_j|^2 - \|x - x_j\|^2)_j

    over the nearest rows :math:`x_j = \bar x + z_j`; those without similarity are left out, for their distances are not
    known. A kernel :math:`f(x'x_j)` gives dot products, and these the distances but for a constant that the second
    step does not see.

    Cost
    ----
    ``n q`` multiplications a point, and a few small eigenproblems. No kernel values.

    References
    ----------
    Kwok, Tsang, The pre-image problem in kernel methods, IEEE Transactions on Neural Networks 2004.
    """
    X, count = points.anchors, min(neighbours, points.n)
    reach = _reach(points, form)
    out, blocks = np.empty((points.m, X.shape[1])), points.blocks()

    def work(panels: Sequence[int], meter: Meter) -> None:
        for rows in (blocks[i] for i in panels):
            meter.tick()
            d2 = points.squared_distances(rows)
            chosen = _smallest(d2, count)
            near = dense(X[chosen.ravel()]).reshape(*chosen.shape, -1)
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # each thread has its own state
                out[rows] = _place(near, *_measured(points, form, rows, chosen, near, reach))

    run(work, share(len(blocks), threads_for(len(blocks))))
    return out


def _smallest(d2: Array, count: int) -> Array:
    """Indices of the smallest entries of each row, in order."""
    few = np.sort(np.argpartition(d2, count - 1, axis=1)[:, :count], axis=1)  # so that of equal ones the first leads
    return np.take_along_axis(few, np.argsort(np.take_along_axis(d2, few, axis=1), axis=1, kind="stable"), axis=1)


def _measured(
    points: FeaturePoints, form: Form, rows: slice, chosen: Array, near: Array, reach: float
) -> tuple[Array, Array]:
    """Squared distances to the neighbours (but for a constant if ``f`` takes dot products), and which of them count."""
    own = points.diagonal[chosen]
    similar = np.take_along_axis(points.similarities(rows), chosen, axis=1)
    if not form.radial:
        return np.sum(near**2, axis=2) - 2 * form.invert(similar, reach), np.ones(chosen.shape, dtype=bool)
    similar = np.minimum((own - points.squares[rows, None]) / 2 + similar, own)
    known = similar > np.finfo(np.float64).eps ** 0.5 * own
    known[:, 0] = True
    return form.invert(similar, reach), known


def _place(near: Array, u: Array, known: Array) -> Array:
    """Rows with squared distances ``u`` to their neighbours (b x c x d), by least squares; of least norm if several."""
    count = known.sum(axis=1, keepdims=True)
    mean = np.sum(near, axis=1, where=known[:, :, None]) / count
    Z = np.where(known[:, :, None], near - mean[:, None], 0.0)
    right = (np.sum(Z**2, axis=2) - u) / 2
    right = np.where(known, right - np.sum(right, axis=1, keepdims=True, where=known) / count, 0.0)
    inverse = np.linalg.pinv(Z @ Z.transpose(0, 2, 1), rcond=1e-10, hermitian=True)
    return mean + ((right[:, None, :] @ inverse) @ Z)[:, 0]


def _reach(points: FeaturePoints, form: Form) -> float:
    """How far to look: four times the extent of the training rows."""
    tiny = float(np.finfo(np.float64).tiny)
    if form.radial:
        return 4**2 * max(4 * float(points.spread.max()), tiny)
    return 4 * max(float(squared_norms(points.anchors).max()), tiny)
