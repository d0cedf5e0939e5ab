"""Pre-images: rows whose features are near a given point of the feature space.

::

    fixed_point   smooth kernels of a distance or a dot product    downhill from the nearest training row
    distance      kernels that give distances or dot products back multidimensional scaling among neighbours
    learned       any positive kernel                              a ridge map from the feature space to rows
    auto          the best of them for each point, by its distance in feature space
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from gramian.config import memory_budget, pinned_if_small, thread_count
from gramian.engine.product import Rows, is_sparse, to_dense
from gramian.engine.tiles import Meter, for_each, run, share, spans, threads_for
from gramian.kernels import Kernel
from gramian.kernels.base import Form, as_rows
from gramian.kernels.pairwise import squared_norms
from gramian.kernels.parsing import as_kernel
from gramian.lapack import interruptible
from gramian.operators import CrossGram, Gram
from gramian.operators.centering import centre_columns, column_means
from gramian.progress import part_done, track
from gramian.results import Array, Matrix

__all__ = ["PreImage", "available", "check_method", "preimage"]

#: Kernel values of a block of points held at a time by each thread.
PREIMAGE_BLOCK_VALUES = 2**20
#: Steps at the most; each is one block of kernel values.
FIXED_POINT_MAX_STEPS = 200
#: Movement at which a row has settled, relative to the size of the training rows.
SETTLED_RELATIVE_MOVE = 1e-7
#: Longest step, in units of the plain iteration: it creeps where the optimum is flat.
LONGEST_STEP = 8.0
#: Longest step in units of the row and of the training rows: a denominator may be next to nothing.
LONGEST_RELATIVE_MOVE = 1e3
#: Ridges tried, relative to the largest eigenvalue; the leave-one-out error decides.
LEARNED_RIDGES = 10.0 ** np.arange(-12, 1)
#: Training rows, evenly spread, whose errors decide.
LEARNED_CHECK_ROWS = 2_000
PREIMAGE_METHODS = ("auto", "fixed_point", "distance", "learned")
#: Nearest training rows that the distance method asks.
DISTANCE_NEIGHBOURS = 10


@dataclass(frozen=True)
class PreImage:
    r"""Rows whose features are near given points, and how near.

    Attributes
    ----------
    points : (m, d) array
        Rows x.
    residuals : (m,) array
        Distances :math:`\|\phi(x) - P\|` in feature space. Squares cancel in them: below 1e-8 times the size of
        :math:`\phi(x)` they are rounding.
    methods : (m,) array of str
        What found each row: "fixed_point", "distance", "learned", or "nearest" (the nearest training row).
    fell_back : (m,) bool array
        Points that no method could place; their nearest training row stands in.

    Examples
    --------
    >>> from gramian.preimage import preimage
    >>> found = preimage("rbf(sigma=2)", [[0.0], [1.0], [9.0]], [[0.5], [0.5], [0.0]])
    >>> found.points.round(4), found.fallbacks
    (array([[0.5]]), 0)
    """

    points: Array
    residuals: Array
    methods: Array
    fell_back: Array

    @property
    def fallbacks(self) -> int:
        """Number of points that fell back to the nearest training row."""
        return int(self.fell_back.sum())


class FeaturePoints:
    r"""Points of a feature space and what can be known of them without their rows.

    .. math:: P_i = \sum_q s_{iq} \sum_j a_{jq}\,\phi(x_j), \qquad
              \langle P_i, \phi(x_j) \rangle = (S (KA)')_{ij}, \quad \|P_i\|^2 = (S A'KA S')_{ii}

    with directions A (``weights``, n x q) and points S along them (``coordinates``, m x q). Costs one product of the
    Gram matrix with q vectors.
    """

    def __init__(self, kernel: Kernel, anchors: Rows, weights: Array, coordinates: Array) -> None:
        self.kernel, self.anchors, self.weights, self.coordinates = kernel, anchors, weights, coordinates
        self.n, self.m = anchors.shape[0], len(coordinates)
        self.images = Gram(kernel, anchors) @ weights
        self.metric = weights.T @ self.images
        self.metric = (self.metric + self.metric.T) / 2
        with np.errstate(over="ignore", invalid="ignore"):
            self.squares = np.maximum(np.einsum("iq,iq->i", coordinates @ self.metric, coordinates), 0)
        if not np.isfinite(self.squares).all():
            raise ValueError(
                "points of the feature space overflow: their squared norms are not finite. Scale them down."
            )
        self.diagonal = kernel.diagonal(anchors)
        mean = column_means(anchors)
        # |x - mean|^2, without making sparse rows dense
        self.spread = np.maximum(squared_norms(anchors) - 2 * (anchors @ mean) + mean @ mean, 0)

    @property
    def size(self) -> float:
        """Root mean square distance of the anchors to their mean."""
        return float(np.sqrt(self.spread.mean()))

    def blocks(self) -> list[slice]:
        """Cut the points so that a few blocks of kernel values fit the memory budget."""
        entries = min(PREIMAGE_BLOCK_VALUES, memory_budget() // (8 * 8 * thread_count()))
        return spans(self.m, max(1, min(512, entries // max(self.n, 1))))

    def similarities(self, rows: slice) -> Array:
        """``<P, phi(x_j)>`` of some points and all anchors."""
        return self.coordinates[rows] @ self.images.T

    def squared_distances(self, rows: slice) -> Array:
        """``||P - phi(x_j)||^2`` of some points and all anchors; rounding may leave it a little below zero."""
        return self.diagonal - 2 * self.similarities(rows) + self.squares[rows, None]

    def nearest(self) -> Array:
        """The nearest anchor of each point; the lowest index if several are."""
        return np.concatenate([self.squared_distances(rows).argmin(axis=1) for rows in self.blocks()])

    def without_pull(self, nearest: Array) -> Array:
        """Whether a point is similar to nothing: no more than rounding to its nearest anchor, or less than nothing."""
        terms = self.coordinates * self.images[nearest]
        return terms.sum(axis=1) <= np.finfo(np.float64).eps ** 0.5 * np.abs(terms).sum(axis=1)

    def rounding(self) -> Array:
        """Size of the rounding of ``||phi(x) - P||^2``."""
        return 16 * np.finfo(np.float64).eps * (self.squares + self.diagonal.max())

    def residuals(self, points: Array) -> Array:
        """``||phi(x) - P||`` of one row for each point."""
        similar = np.sum((CrossGram(self.kernel, points, self.anchors) @ self.weights) * self.coordinates, axis=1)
        return np.sqrt(np.maximum(self.kernel.diagonal(points) - 2 * similar + self.squares, 0))


def dense(rows: Rows) -> Array:
    """Rows as a dense array in double precision."""
    return np.asarray(to_dense(rows), dtype=np.float64)


def fixed_point(points: FeaturePoints, slope: Kernel, start: Array, *, radial: bool) -> Array:
    r"""Rows that minimise the distance in feature space, from given ones downhill; 10 to 100 steps.

    With :math:`c_j` the weights of P on the training rows and :math:`s = |f'|` the slope of the kernel

    .. math:: x \leftarrow \frac{\sum_j c_j\, s(x, x_j)\, x_j}{\sum_j c_j\, s(x, x_j)} \text{ (distances)}, \qquad
              x \leftarrow \frac{\sum_j c_j\, s(x, x_j)\, x_j}{s(x, x)} \text{ (dot products)}

    Both are steps downhill. A step is shortened until the distance falls and lengthened while it does; where the
    denominator is not positive nothing pulls, and the row stays. Reference: Mika et al., NIPS 1998.
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
    still, at, Z = SETTLED_RELATIVE_MOVE * points.size, np.arange(len(out)), out.copy()
    K = _block(points.kernel, Z, points)
    J, length = _objective(points, C, K, Z), np.ones(len(Z))
    for _ in range(FIXED_POINT_MAX_STEPS):
        meter.tick()
        move = pull(C, K, Z)
        trial = Z + length[:, None] * move
        K_trial = _block(points.kernel, trial, points)
        J_trial = _objective(points, C, K_trial, trial)
        better = J_trial <= J
        Z[better], K[better], J[better] = trial[better], K_trial[better], J_trial[better]
        out[at] = Z
        going = np.linalg.norm(length[:, None] * move, axis=1) > still
        length = np.where(better, np.minimum(1.5 * length, LONGEST_STEP), 0.25 * length)
        if not going.all():
            at, Z, K, J, C, length = at[going], Z[going], K[going], J[going], C[going], length[going]
        if not len(at):
            return


def _pull(points: FeaturePoints, slope: Kernel, radial: bool, C: Array, K: Array, Z: Array) -> Array:
    """The step of the plain iteration; none where its denominator is not positive."""
    W = C * (K if slope is points.kernel else _block(slope, Z, points))
    D = W.sum(axis=1) if radial else slope.diagonal(Z)
    move = W @ points.anchors / np.where(D > 0, D, np.inf)[:, None] - Z
    far, limit = np.linalg.norm(move, axis=1), LONGEST_RELATIVE_MOVE * (np.linalg.norm(Z, axis=1) + points.size)
    usable = (D > 0) & np.isfinite(far) & (far > 0)
    return np.where(usable[:, None], move * np.minimum(1.0, limit / np.where(usable, far, 1.0))[:, None], 0.0)


def _objective(points: FeaturePoints, C: Array, K: Array, Z: Array) -> Array:
    """``||phi(x) - P||^2`` but for ``||P||^2``."""
    return points.kernel.diagonal(Z) - 2 * np.einsum("ij,ij->i", C, K)


def _block(kernel: Kernel, Z: Array, points: FeaturePoints) -> Array:
    return CrossGram(kernel, Z, points.anchors).toarray()


def from_distances(points: FeaturePoints, form: Form, neighbours: int) -> Array:
    r"""Rows whose distances to the nearest training rows are those the points have in feature space.

    .. math:: f(\|x - x_j\|^2) = k(x, x) - \tfrac{1}{2} \|P - \phi(x_j)\|^2, \qquad
              x = \bar x + \tfrac{1}{2} Z^+ (|z_j|^2 - \|x - x_j\|^2)_j

    over the nearest rows :math:`x_j = \bar x + z_j`; those without similarity are left out, for their distances are not
    known. A kernel :math:`f(x'x_j)` gives dot products, and these the distances but for a constant that the second
    step does not see. Reference: Kwok, Tsang, IEEE Transactions on Neural Networks 2004.
    """
    X, count = points.anchors, min(neighbours, points.n)
    reach = _reach(points, form)
    out = np.empty((points.m, X.shape[1]))

    def place(rows: slice) -> None:
        chosen = _smallest(points.squared_distances(rows), count)
        near = dense(X[chosen.ravel()]).reshape(*chosen.shape, -1)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # each thread has its own state
            out[rows] = _place(near, *_measured(points, form, rows, chosen, near, reach))

    for_each(points.blocks(), place)
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


def learned(points: FeaturePoints) -> Array:
    r"""Rows by the linear map of the feature space that gives the training rows back best.

    .. math:: \hat x = \bar x + W'(z - \bar z), \qquad
              W = \arg\min \|X_c - Z_c W\|^2 + \rho \|W\|^2

    with z the coordinates of a point in an orthonormal basis of the span of the directions, and the ridge :math:`\rho`
    of the smallest leave-one-out error. Reference: Bakir, Weston, Schoelkopf, NIPS 2004.
    """
    X, basis = points.anchors, _orthonormal(points.metric)
    F, mean = points.images @ basis, column_means(points.anchors)
    with pinned_if_small(F.shape[0] * F.shape[1] ** 2):
        Fc = centre_columns(F)
        g, Q = interruptible(np.linalg.eigh, Fc.T @ Fc)
        Z, g = Fc @ Q, np.maximum(g, 0)
        T = np.asarray((X.T @ Z).T)  # Z'X is Z'Xc, for the columns of Z sum to zero
        judges = np.linspace(0, points.n - 1, min(points.n, LEARNED_CHECK_ROWS)).astype(int)
        ridge = _best_ridge(Z[judges], g, T, dense(X[judges]) - mean, points.n)
        new = (points.coordinates @ (points.metric @ basis) - F.mean(axis=0)) @ Q
        return mean + new @ (T / (g + ridge)[:, None])


def _orthonormal(metric: Array) -> Array:
    """Coefficients of an orthonormal basis of the span: ``E'ME = I``, without the null space of ``M``."""
    values, vectors = interruptible(np.linalg.eigh, metric)
    kept = values > len(values) * np.finfo(np.float64).eps * np.abs(values).max(initial=0.0)
    return vectors[:, kept] / np.sqrt(values[kept])


def _best_ridge(Z: Array, g: Array, T: Array, Xc: Array, n: int) -> float:
    """The ridge with the smallest leave-one-out error: one eigenproblem serves all of them."""
    largest = max(float(g.max(initial=0.0)), float(np.finfo(np.float64).tiny))
    errors = []
    for ridge in LEARNED_RIDGES * largest:
        share = 1 / (g + ridge)
        leverage = np.minimum(1 / n + Z**2 @ share, 1 - 1e-9)
        misfit = Xc - Z @ (share[:, None] * T)
        errors.append(np.mean(np.sum(misfit**2, axis=1) / (1 - leverage) ** 2))
    return float(LEARNED_RIDGES[int(np.argmin(errors))] * largest)


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
