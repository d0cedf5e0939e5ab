"""The front door: which methods a kernel allows, and the best of them for each point."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gramian.engine.product import Rows, is_sparse
from gramian.kernels import Kernel
from gramian.kernels.base import Form, as_rows
from gramian.kernels.text import as_kernel
from gramian.preimage.methods import FeaturePoints, PreImage, dense, fixed_point, from_distances, learned
from gramian.results import Array, Matrix

PREIMAGE_METHODS = ("auto", "fixed_point", "distance", "learned")
#: Nearest training rows that the distance method asks.
DISTANCE_NEIGHBOURS = 10


def preimage(
    kernel: str | Kernel,
    anchors: ArrayLike | Matrix,
    coefficients: ArrayLike | Matrix,
    *,
    coordinates: ArrayLike | Matrix | None = None,
    method: str = "auto",
    far: ArrayLike | None = None,
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
        Points known to be similar to no row; they fall back, as do those detected to be so.

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
    rows = _checked_rows(anchors)
    resolved = as_kernel(kernel).resolve(rows)
    check_method(resolved, method)
    weights, coords = _checked(coefficients, coordinates, rows.shape[0])
    points = FeaturePoints(resolved, rows, weights, coords)
    nearest = points.nearest()
    start = dense(rows[nearest])
    f = resolved.form
    lost, known = np.zeros(points.m, dtype=bool), _checked_far(far, points.m)
    if f is not None and f.radial:
        lost = points.without_pull(nearest) | known
    by = np.full(points.m, method, dtype="<U11")
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what overflows falls back below
        found, by = _best(points, f, start) if method == "auto" else (_one(points, f, method, start), by)
        lost |= ~_placed(points, found)
    found[lost], by[lost] = start[lost], "nearest"
    return PreImage(found, points.residuals(found), by, lost)


def available(kernel: Kernel) -> tuple[str, ...]:
    """Methods that a kernel with resolved parameters allows; none if it is not known to be positive definite.

    Examples
    --------
    >>> from gramian.kernels import Cosine, RBF
    >>> available(RBF(sigma=1.0)), available(Cosine())
    (('fixed_point', 'distance', 'learned'), ('learned',))
    """
    if not kernel.positive_definite:
        return ()
    f = kernel.form
    chosen = ["fixed_point"] if f is not None and f.slope is not None else []
    chosen += ["distance"] if f is not None and f.invertible else []
    return (*chosen, "learned")


def check_method(kernel: Kernel, method: str) -> None:
    """Refuse a method that is not known, or that the kernel does not allow.

    Examples
    --------
    >>> from gramian.kernels import RBF
    >>> check_method(RBF(sigma=1.0), "distance")
    >>> check_method(RBF(sigma=1.0), "guess")
    Traceback (most recent call last):
        ...
    ValueError: preimage='guess' is not known. Use one of: 'auto', 'fixed_point', 'distance', 'learned'.
    """
    if method not in PREIMAGE_METHODS:
        raise ValueError(f"preimage={method!r} is not known. Use one of: {', '.join(map(repr, PREIMAGE_METHODS))}.")
    allowed = available(kernel)
    if not allowed:
        raise ValueError(
            f"preimage={method!r}: the kernel {kernel} has no pre-images, for it is not known to be positive definite. "
            "Use a kernel such as rbf, matern, rational_quadratic, polynomial or linear, or do without: preimage=None."
        )
    if method not in ("auto", *allowed):
        others = ", ".join(map(repr, ("auto", *allowed)))
        raise ValueError(f"preimage={method!r} does not work with the kernel {kernel}. Use one of: {others}.")


def _one(points: FeaturePoints, f: Form | None, method: str, start: Array) -> Array:
    """Rows by one method, which the kernel allows."""
    if f is not None and f.slope is not None and method == "fixed_point":
        return fixed_point(points, f.slope, start, radial=f.radial)
    return from_distances(points, f, DISTANCE_NEIGHBOURS) if f is not None and method == "distance" else learned(points)


def _best(points: FeaturePoints, f: Form | None, start: Array) -> tuple[Array, Array]:
    """The nearest in feature space of what the methods find; the fixed point starts from the best of the others."""
    found, by, least = start.copy(), np.full(points.m, "nearest", dtype="<U11"), points.residuals(start)
    for method in sorted(available(points.kernel), key=lambda name: name == "fixed_point"):
        trial = _one(points, f, method, found)
        trial = np.where(_placed(points, trial)[:, None], trial, found)
        residuals = points.residuals(trial)
        # Within rounding an exact training row stays what it is, and the fixed point, which settles, has the last word.
        margin = points.rounding() if method == "fixed_point" else -points.rounding()
        better = residuals**2 < least**2 + margin
        found[better], by[better], least[better] = trial[better], method, residuals[better]
    return found, by


def _placed(points: FeaturePoints, rows: Array) -> Array:
    """Whether rows are finite, and their squared distances and kernel values too."""
    near = (np.abs(rows) < np.finfo(np.float64).max ** 0.5 / (8 * rows.shape[1] ** 0.5)).all(axis=1)
    return np.asarray(near & _has_values(points.kernel, np.where(near[:, None], rows, 0.0)))


def _has_values(kernel: Kernel, rows: Array) -> Array:
    """Whether ``k(x, x)``, and with it all other values of a row, are in range; a kernel may refuse all for one."""
    try:
        return np.isfinite(kernel.diagonal(rows))
    except ValueError:
        half = len(rows) // 2
        parts = [_has_values(kernel, part) for part in (rows[:half], rows[half:]) if half]
        return np.concatenate(parts) if parts else np.zeros(len(rows), dtype=bool)


def _checked_rows(anchors: ArrayLike | Matrix) -> Rows:
    rows = as_rows(anchors, "anchors")
    if not rows.shape[0]:
        raise ValueError(f"anchors has shape {rows.shape}; at least one row is needed.")
    if not np.isfinite(rows.data if is_sparse(rows) else rows).all():
        raise ValueError("anchors contain NaN or infinity. Drop those rows, or fill them.")
    return rows


def _checked_far(far: ArrayLike | None, m: int) -> Array:
    known = np.zeros(m, dtype=bool) if far is None else np.asarray(far)
    if known.shape != (m,) or known.dtype != bool:
        raise ValueError(
            f"far has shape {known.shape} and dtype {known.dtype}; a boolean for each of the {m} points is expected."
        )
    return known


def numbers(values: ArrayLike | Matrix, name: str) -> Array:
    """Take a table of real numbers in double precision; what NumPy would misread is refused."""
    if np.ma.isMaskedArray(values):
        raise ValueError(f"{name} is a masked array, whose mask would be lost. Fill it or drop rows.")
    array = values.toarray() if is_sparse(values) else np.asarray(values)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} has dtype {array.dtype}. Use its real part.")
    try:
        table = array.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} holds values that are not numbers (dtype {array.dtype}).") from None
    if not np.isfinite(table).all():
        raise ValueError(f"{name} contains NaN or infinity. Leave those points out.")
    return table


def _checked(coefficients: ArrayLike | Matrix, coordinates: ArrayLike | Matrix | None, n: int) -> tuple[Array, Array]:
    weights = numbers(coefficients, "coefficients")
    if weights.ndim != 2 or len(weights) != n:
        raise ValueError(f"coefficients has shape {weights.shape}; one row for each of the {n} anchors is expected.")
    if coordinates is None:
        coords = np.eye(weights.shape[1])
    else:
        coords = numbers(coordinates, "coordinates")
        if coords.ndim != 2 or coords.shape[1] != weights.shape[1]:
            raise ValueError(
                f"coordinates has shape {coords.shape}; a column for each of the {weights.shape[1]} columns of "
                "coefficients is expected."
            )
    if not len(coords):
        raise ValueError("there are no points to look for: coordinates (or the scores) have 0 rows.")
    return weights, coords
