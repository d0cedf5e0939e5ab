"""Few rows that have the moments of many: all that methods of two blocks of columns need of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from gramian import lapack
from gramian.config import one_blas_thread
from gramian.engine.tiles import row_blocks
from gramian.operators.matrix import Data
from gramian.operators.moments import Moments, column_scale, moments_of
from gramian.results import Array, Matrix

#: Least share of its variance that a column must keep, given those before it, for a Cholesky factor to be trusted.
CHOLESKY_MIN_OWN_VARIANCE = 1e-4
#: Share of its variance at which the factor of nearly dependent columns ends: rounding of the sums.
FACTOR_ENDS = 8 * np.finfo(np.float64).eps
#: A column whose squares vanish beside a mean of this size is constant; beside a smaller one it may be tiny.
CONSTANT_MIN_MEAN = 1e-10
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

    @cached_property
    def squares(self) -> Array:
        """Sums of squares of the columns in their units."""
        return np.asarray(np.einsum("...ij,...ij->...j", self.rows, self.rows))

    def deviations(self) -> Array:
        """Standard deviations of the columns in their units, 1 for constant ones."""
        divisor = np.maximum(self.weight - 1, 1e-3 * self.weight)  # one row has no spread, and none to divide by
        spread = np.sqrt(self.squares / np.expand_dims(divisor, -1))
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


#: Multiplications of their scatter up to which the triangular factor of rows is taken at once where small directions
#: count: that takes as long as the scatter, its factor and the doubt. Rows of a larger table that are looked at first.
TRIANGLE_MAX_MULTIPLICATIONS, LOOKED_AT_ROWS = 2**20, 2_000
#: Entries times components up to which products with the rows are quicker than their moments, and the factor of those.
PRODUCTS_MAX_ENTRIES = 2**18


def few_products(n: int, columns: int, k: float) -> bool:
    """Whether rows need no compression: they are few, or k components that each take some products with them are."""
    return are_few(n, columns) or n * columns * k <= PRODUCTS_MAX_ENTRIES


def centred(X: Array, Y: Array, weights: Array | None = None) -> Compressed | None:
    """Rows of two views as they are, centred; None where sizes are extreme, see :func:`from_rows`."""
    n, d = X.shape
    with np.errstate(over="ignore", invalid="ignore"):
        share = np.full(n, 1 / n) if weights is None else weights / weights.sum()
        mean, rows = np.concatenate((share @ X, share @ Y), dtype=np.float64), np.empty((n, d + Y.shape[1]))
        for part, view in ((slice(d), X), (slice(d, None), Y)):
            np.subtract(view, mean[part], out=rows[:, part])
        rest = share @ rows  # rounding of the mean, which is small beside it, and need not be beside the spread
        rows -= rest
        if weights is not None:
            rows *= np.sqrt(weights)[:, None]
        weight = float(n if weights is None else weights.sum())
        found = Compressed(rows, d, weight, mean + rest, np.ones(len(mean)), "rows")
        lost = (found.squares <= weight * SQUARABLE_RANGE[0] ** 2) & (np.abs(mean) < CONSTANT_MIN_MEAN)
        if not (found.squares < weight * SQUARABLE_RANGE[1] ** 2).all() or (lost.any() and rows[:, lost].any()):
            return None
        return without_constants(found)


def triangle_at_once(n: int, columns: int) -> bool:
    """Whether a method for which directions of all sizes count takes the triangular factor without a try of moments."""
    return columns < n <= TRIANGLE_MAX_MULTIPLICATIONS / columns**2


def nearly_dependent(X: Array, Y: Array) -> bool:
    """Whether evenly spaced rows of a long table show columns that depend on others: moments of all will not do."""
    if (every := len(X) // LOOKED_AT_ROWS) < 8:
        return False
    some = moments_of(X[::every], beside=Y[::every])
    lengths = np.sqrt(np.diag(some.scatter))
    live = lengths > 0  # a column that is constant in some rows may vary in others
    return bool(live.any()) and _root(some.scatter[np.ix_(live, live)] / np.outer(lengths[live], lengths[live])) is None


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


def near_moments(moments: Moments, d: int, is_zero: Callable[[Array], bool]) -> Compressed | None:
    """Rows with these moments up to rounding, also where columns are constant or depend on others; None if extreme.

    Directions that a column has left to itself are as small as rounding then, and are what it makes of them: who uses
    them has to see what that changes. ``is_zero`` says whether some columns hold nothing but zeros: their squares look
    like those of tiny numbers.
    """
    squares, mean = np.maximum(np.diag(moments.scatter), 0.0), moments.mean
    variances, low = squares / moments.weight, SQUARABLE_RANGE[0] ** 2
    vanished = variances <= low
    lost = np.flatnonzero(vanished & (np.abs(mean) < CONSTANT_MIN_MEAN))
    if not _comfortable(variances[~vanished]) or not np.isfinite(mean).all() or (len(lost) and not is_zero(lost)):
        return None
    deviations = np.sqrt(squares / max(moments.weight - 1, 1.0))
    live = ~vanished & (column_scale(deviations, mean) == deviations)
    lengths = np.sqrt(squares[live])
    with one_blas_thread():
        factor, order, rank = lapack.pivoted_cholesky(
            moments.scatter[np.ix_(live, live)] / np.outer(lengths, lengths), FACTOR_ENDS
        )
    root = np.zeros((rank, len(lengths)))
    root[:, order] = np.tril(factor)[:, :rank].T
    rows = np.zeros((rank, len(squares)))
    rows[:, live] = root * lengths
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
    views = [Data(view, weights=weights, unit=1.0) for view, _ in pairs]
    n, weight = views[0].n, views[0].weight
    units = np.concatenate([unit for _, unit in pairs])
    means = np.concatenate([view.mean for view in views])
    few = are_few(n, columns)
    rows = np.zeros((0, columns))
    for block in [slice(0, n)] if few else row_blocks(n, columns):
        held = len(rows)
        stacked, at = np.empty((held + len(range(n)[block]), columns)), 0
        stacked[:held] = rows
        for view in views:
            view.block(block, out=stacked[held:, at : at + view.d])
            at += view.d
        rows = stacked if few else _triangle(stacked)
    found = Compressed(rows, X.shape[1], weight, means * units, units, "rows" if few else "triangular")
    return without_constants(found)


def without_constants(views: Compressed) -> Compressed:
    """The same with nothing but zeros where a column is constant up to the rounding of its mean."""
    deviations = np.sqrt(views.squares / views.weight)
    constant = (column_scale(deviations, views.mean / views.units) != deviations) | (deviations == 0)
    return replace(views, rows=np.where(constant, 0.0, views.rows)) if constant.any() else views


def _in_range(X: Matrix) -> tuple[Any, Array]:
    """Columns divided by powers of two where their largest entry is extreme, and those powers."""
    low, high = SQUARABLE_RANGE
    if sp.issparse(X):
        largest = np.asarray(abs(X).max(axis=0).todense()).ravel()
    else:
        with np.errstate(over="ignore", under="ignore"):
            squares = np.einsum("ij,ij->j", X, X, dtype=np.float64)  # one pass, a third of the time of two for extremes
        if ((squares > low**2 * len(X)) & (squares < high**2)).all():
            return X, np.ones(X.shape[1])
        largest = np.maximum(X.max(axis=0), -X.min(axis=0))
    extreme = (largest > 0) & ((largest < low) | (largest > high))
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


def triangular(views: Compressed) -> Compressed:
    """The same as the triangular factor of the rows."""
    return replace(views, rows=_triangle(views.rows), route="triangular")


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
