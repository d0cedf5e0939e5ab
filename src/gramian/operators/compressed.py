"""Few rows that have the moments of many: what methods of two views work on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from gramian import lapack
from gramian.config import one_blas_thread
from gramian.engine.tiles import row_blocks
from gramian.operators.matrix import Data, column_scale
from gramian.operators.moments import Moments, moments_of
from gramian.results import Array, Matrix

#: Least share of its variance that a column must keep, given those before it, for a Cholesky factor to be trusted.
CHOLESKY_MIN_OWN_VARIANCE = 1e-4
#: Numbers in this range can be squared, and squared again, without leaving double precision.
SQUARABLE_RANGE = (1e-30, 1e30)


@dataclass(frozen=True)
class Compressed:
    r"""At most d + q rows with the mean and scatter of all rows of ``[X Y]``.

    Definition
    ----------
    .. math:: A'A = \sum_i w_i (z_i - \mu)(z_i - \mu)', \qquad z_i = (x_i, y_i)

    A is the Cholesky factor of the scatter where that is well conditioned, and the triangular factor of the centred
    rows themselves where it is not: no digits are lost by squaring. What a method finds from A is what it would find
    from the rows.

    ``rows`` (r, d + q): A, each column divided by its unit. ``d``: columns of the first view. ``weight``: number of
    rows, or the sum of their weights. ``mean``: (d + q,). ``units`` (d + q,): powers of two that keep extreme data in
    range; ones as a rule. ``route``: "moments", "rows" (there were few) or "triangular".
    """

    rows: Array
    d: int
    weight: float
    mean: Array
    units: Array
    route: str

    def deviations(self) -> Array:
        """Standard deviations of the columns in their units, 1 for constant ones."""
        divisor = max(self.weight - 1, 1e-3 * self.weight)  # a single row has no spread, and none to divide by
        spread = np.sqrt(np.einsum("ij,ij->j", self.rows, self.rows) / divisor)
        return np.where(spread > 0, spread, 1.0)

    def __sizeof__(self) -> int:
        """Bytes, so that the workers of a cluster know what they hold and send."""
        return int(self.rows.nbytes + self.mean.nbytes + self.units.nbytes)

    def __add__(self, other: Compressed) -> Compressed:
        """Both sets of rows together; a last row holds the distance between their means."""
        weight = self.weight + other.weight
        if not self.weight or not other.weight:
            return self if self.weight else other
        units = np.maximum(self.units, other.units)
        shift = np.sqrt(self.weight * other.weight / weight) * ((other.mean - self.mean) / units)
        stacked = np.vstack([part.rows * (part.units / units) for part in (self, other)] + [shift])
        mean = self.mean + (other.mean - self.mean) * (other.weight / weight)
        rows = _triangle(stacked) if len(stacked) > stacked.shape[1] else stacked
        return Compressed(rows, self.d, weight, mean, units, self.route)


def compress(X: Matrix, Y: Matrix, weights: Array | None = None) -> Compressed:
    """Compress the rows of two views.

    ``X``, ``Y`` (n, d): finite rows. ``weights`` (n,): frequencies.

    Cost
    ----
    One pass and ``n (d + q)^2 / 2`` multiplications; four times that and a second pass for ill-conditioned columns.
    Where n is at most d + q, the centred rows themselves.
    """
    if not are_few(X.shape[0], X.shape[1] + Y.shape[1]):
        moments = moments_of(X, weights, beside=Y)
        factored = from_moments(moments, X.shape[1], careful=True)
        if factored is not None:
            return factored
    return from_rows(X, Y, weights)


def are_few(n: int, columns: int) -> bool:
    """Whether n rows are so few that they need no compression."""
    return n <= columns


def from_moments(moments: Moments, d: int, *, careful: bool = False) -> Compressed | None:
    """Rows with these moments; None, if ``careful``, where the moments do not hold enough digits of them."""
    squares = np.diag(moments.scatter).copy()
    divisor = max(moments.weight - 1, 1.0)
    mean = moments.mean
    scale = column_scale(np.sqrt(squares / divisor), mean)
    live = squares / divisor >= scale**2 / 2  # a constant column has a scale of 1 and no squares
    if careful and not _comfortable(squares / moments.weight):
        return None
    lengths = np.sqrt(squares[live])
    C = moments.scatter[np.ix_(live, live)] / np.outer(lengths, lengths)
    root = _root(C)
    if root is None and careful:
        return None
    rows = np.zeros((len(C), len(squares)))
    rows[:, live] = (_eigen_root(C) if root is None else root) * lengths
    return Compressed(rows, d, moments.weight, mean, np.ones(len(squares)), "moments")


def _comfortable(variances: Array) -> bool:
    """Whether no square was near either end of the range; 0 may be a constant, or the square of a tiny number."""
    low, high = SQUARABLE_RANGE[0] ** 2, SQUARABLE_RANGE[1] ** 2
    return bool(np.isfinite(variances).all() and (variances > low).all() and (variances < high).all())


def _root(C: Array) -> Array | None:
    """Upper Cholesky factor of a correlation matrix, if every column has something of its own."""
    with one_blas_thread():
        try:
            factor = lapack.cholesky(C)
        except np.linalg.LinAlgError:
            return None
    return factor if not len(C) or np.diag(factor).min() ** 2 >= CHOLESKY_MIN_OWN_VARIANCE else None


def _eigen_root(C: Array) -> Array:
    """A root of a correlation matrix that may be singular: directions without variance are cut off."""
    with one_blas_thread():
        values, vectors = lapack.eigh(C)
    # Sums over many rows leave some tens of units in the last place; their root would look like a direction.
    kept = values > 50 * len(C) * np.finfo(np.float64).eps * values.max(initial=0.0)
    return np.where(kept, np.sqrt(np.where(kept, values, 0.0)), 0.0)[:, None] * vectors.T


def from_rows(X: Matrix, Y: Matrix = None, weights: Array | None = None) -> Compressed:
    """Compress rows without squaring anything: the rows themselves if they are few, else their triangular factor."""
    given = [X] if Y is None else [X, Y]
    columns = sum(view.shape[1] for view in given)
    if weights is not None and not weights.all():
        heavy = np.flatnonzero(weights)
        given, weights = [view[heavy] for view in given], weights[heavy]
    if given[0].shape[0] == 0:
        return Compressed(np.zeros((0, columns)), X.shape[1], 0.0, np.zeros(columns), np.ones(columns), "rows")
    pairs = [_in_range(view) for view in given]
    views = [Data(view, weights=weights) for view, _ in pairs]
    n, weight = views[0].n, views[0].weight
    units = np.concatenate([unit for _, unit in pairs])
    means = np.concatenate([view.mean for view in views])
    few = are_few(n, columns)
    rows = np.zeros((0, columns))
    for block in [slice(0, n)] if few else row_blocks(n, columns):
        rows = np.vstack([rows, np.hstack([view.block(block) for view in views])])
        rows = rows if few else _triangle(rows)
    found = Compressed(rows, X.shape[1], weight, means * units, units, "rows" if few else "triangular")
    return without_constants(found)


def without_constants(views: Compressed) -> Compressed:
    """The same with nothing but zeros where a column is constant up to the rounding of its mean."""
    deviations = np.sqrt(np.einsum("ij,ij->j", views.rows, views.rows) / views.weight)
    constant = (column_scale(deviations, views.mean / views.units) != deviations) | (deviations == 0)
    return replace(views, rows=np.where(constant, 0.0, views.rows))


def _in_range(X: Matrix) -> tuple[Any, Array]:
    """Columns divided by powers of two where their largest entry is extreme, and those powers."""
    if sp.issparse(X):
        largest = np.asarray(abs(X).max(axis=0).todense()).ravel()
    else:
        largest = np.maximum(X.max(axis=0), -X.min(axis=0))
    extreme = (largest > 0) & ((largest < SQUARABLE_RANGE[0]) | (largest > SQUARABLE_RANGE[1]))
    if not extreme.any():
        return X, np.ones(X.shape[1])
    exponents = np.where(extreme, np.frexp(np.where(extreme, largest, 1.0))[1], 0)
    units = np.ldexp(1.0, exponents)
    if sp.issparse(X):
        return sp.csr_array(X.astype(np.float64) @ sp.diags_array(1 / units)), units
    return np.ldexp(X.astype(np.float64), -exponents), units


def _triangle(rows: Array) -> Array:
    with one_blas_thread():
        return np.asarray(lapack.interruptible(np.linalg.qr, rows, mode="r"))


Part = TypeVar("Part", Moments, Compressed)


def complements(parts: Sequence[Part]) -> Iterator[Part]:
    """For each part, the sum of all the others.

    Halves are added to what lies outside them, level by level: nothing is subtracted, so nothing cancels, and G parts
    cost G log G additions.
    """

    def walk(inside: Sequence[Part], outside: Part | None) -> Iterator[Part]:
        if len(inside) == 1:
            yield outside  # type: ignore[misc]
            return
        halves = inside[: len(inside) // 2], inside[len(inside) // 2 :]
        sums = [reduce(lambda a, b: a + b, half) for half in halves]
        for half, other in zip(halves, reversed(sums), strict=True):
            yield from walk(half, other if outside is None else outside + other)

    return walk(parts, None)
