"""The front door: which methods a kernel allows, and the best of them for each point."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.kernels import Kernel
from gramian.kernels.base import as_rows
from gramian.kernels.text import as_kernel
from gramian.preimage.distances import from_distances
from gramian.preimage.fixed_point import fixed_point
from gramian.preimage.forms import Form, form
from gramian.preimage.learned import learned
from gramian.preimage.points import FeaturePoints, PreImage, dense
from gramian.results import Array

METHODS = ("auto", "fixed_point", "distance", "learned")
#: Nearest training rows that the distance method asks.
NEIGHBOURS = 10


def preimage(
    kernel: Any,
    anchors: Any,
    coefficients: Any,
    *,
    coordinates: Any = None,
    method: str = "auto",
    far: Any = None,
) -> PreImage:
    r"""Find rows whose features are near given points of a feature space.

    Definition
    ----------
    .. math:: x_i = \arg\min_x \|\phi(x) - P_i\|, \qquad P_i = \sum_q s_{iq} \sum_j a_{jq}\,\phi(x_j)

    Parameters
    ----------
    kernel : str or Kernel
        Positive definite; parameters such as "scale" are resolved on the anchors.
    anchors : (n, d) array or sparse matrix
        Rows :math:`x_j`.
    coefficients : (n, q) array
        Weights :math:`a_{jq}`: each column is a vector of the feature space.
    coordinates : (m, q) array, optional
        :math:`s_{iq}`: points as sums of those vectors. Without them the vectors are the points.
    method : {"auto", "fixed_point", "distance", "learned"}
        "fixed_point" from the nearest training row (smooth kernels of a distance or a dot product); "distance"
        (kernels that give the distance or the dot product back); "learned", a ridge map (any positive kernel); "auto"
        takes the others the kernel allows, improves the better one by the fixed point, and keeps for each point what is
        nearest in feature space.
    far : (m,) bool array, optional
        Points known to be similar to no row; they fall back, as those do of which that is found out.

    Returns
    -------
    PreImage
        Rows, their distances to the points in feature space, and what found them. A point that is similar to no
        training row has no pre-image; the nearest training row stands in for it, and is counted in ``fallbacks``.

    Cost
    ----
    A Gram product with q vectors, then what the method takes; memory for some blocks of points, never m x n.

    References
    ----------
    Kwok, Tsang, The pre-image problem in kernel methods, IEEE Transactions on Neural Networks 2004.

    Examples
    --------
    The midpoint of two neighbours in feature space is the feature of a row between them.

    >>> import numpy as np
    >>> from gramian.preimage import preimage
    >>> found = preimage("rbf(sigma=2)", [[0.0], [1.0], [9.0]], [[0.5], [0.5], [0.0]])
    >>> found.points.round(6), found.fallbacks
    (array([[0.5]]), 0)
    """
    rows = as_rows(anchors, "anchors")
    resolved = as_kernel(kernel).resolve(rows)
    check_method(resolved, method)
    weights, coords = _checked(coefficients, coordinates, rows.shape[0])
    points = FeaturePoints(resolved, rows, weights, coords)
    nearest = points.nearest()
    start = dense(rows[nearest])
    f = form(resolved)
    lost = np.zeros(points.m, dtype=bool)
    if f is not None and f.radial:
        lost = points.without_pull(nearest) | (lost if far is None else np.asarray(far, dtype=bool))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what overflows falls back below
        found, by = _best(points, f, start) if method == "auto" else _one(points, f, method, start)
    lost |= ~_placed(found)
    found[lost], by[lost] = start[lost], "nearest"
    return PreImage(found, points.residuals(found), by, lost)


def available(kernel: Kernel) -> tuple[str, ...]:
    """Methods that a kernel with resolved parameters allows; none if it is not known to be positive definite."""
    if not kernel.positive_definite:
        return ()
    f = form(kernel)
    chosen = ["fixed_point"] if f is not None and f.slope is not None else []
    chosen += ["distance"] if f is not None and f.invertible else []
    return (*chosen, "learned")


def check_method(kernel: Kernel, method: Any) -> None:
    """Refuse a method that is not known, or that the kernel does not allow."""
    if method not in METHODS:
        raise ValueError(f"preimage={method!r} is not known. Use one of: {', '.join(map(repr, METHODS))}.")
    allowed = available(kernel)
    if not allowed:
        raise ValueError(
            f"preimage={method!r}: the kernel {kernel} has no pre-images, for it is not known to be positive definite. "
            "Use a kernel such as rbf, matern, rational_quadratic, polynomial or linear, or do without: preimage=None."
        )
    if method not in ("auto", *allowed):
        others = ", ".join(map(repr, ("auto", *allowed)))
        raise ValueError(f"preimage={method!r} does not work with the kernel {kernel}. Use one of: {others}.")


def _one(points: FeaturePoints, f: Form | None, method: str, start: Array) -> tuple[Array, Array]:
    """Rows by one method."""
    if f is not None and f.slope is not None and method == "fixed_point":
        found = fixed_point(points, f.slope, start, radial=f.radial)
    elif f is not None and method == "distance":
        found = from_distances(points, f, NEIGHBOURS)
    else:
        found = learned(points)
    return found, np.full(points.m, method, dtype="<U11")


def _best(points: FeaturePoints, f: Form | None, start: Array) -> tuple[Array, Array]:
    """The nearest in feature space of what the methods find; the fixed point starts from the best of the others."""
    found, by, least = start.copy(), np.full(points.m, "nearest", dtype="<U11"), points.residuals(start)
    for method in sorted(available(points.kernel), key=lambda name: name == "fixed_point"):
        trial, _ = _one(points, f, method, found)
        trial = np.where(_placed(trial)[:, None], trial, found)
        residuals = points.residuals(trial)
        # Within rounding an exact training row stays what it is, and the fixed point, which settles, has the last word.
        margin = points.rounding() if method == "fixed_point" else -points.rounding()
        better = residuals**2 < least**2 + margin
        found[better], by[better], least[better] = trial[better], method, residuals[better]
    return found, by


def _placed(rows: Array) -> Array:
    """Whether rows are finite, and their squared distances too."""
    return np.asarray((np.abs(rows) < np.finfo(np.float64).max ** 0.45).all(axis=1))


def _checked(coefficients: Any, coordinates: Any, n: int) -> tuple[Array, Array]:
    weights = np.asarray(coefficients, dtype=np.float64)
    if weights.ndim != 2 or len(weights) != n:
        raise ValueError(f"coefficients has shape {weights.shape}; one row for each of the {n} anchors is expected.")
    if coordinates is None:
        coords = np.eye(weights.shape[1])
    else:
        coords = np.asarray(coordinates, dtype=np.float64)
        if coords.ndim != 2 or coords.shape[1] != weights.shape[1]:
            raise ValueError(
                f"coordinates has shape {coords.shape}; a column for each of the {weights.shape[1]} columns of "
                "coefficients is expected."
            )
    if not len(coords):
        raise ValueError("there are no points to look for: coordinates (or the scores) have 0 rows.")
    if not (np.isfinite(weights).all() and np.isfinite(coords).all()):
        raise ValueError("coefficients or coordinates contain NaN or infinity. Leave those points out.")
    return weights, coords
