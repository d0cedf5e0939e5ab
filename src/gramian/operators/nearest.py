"""The nearest of many rows, kept while tiles are made in turn; ties are broken by the first index, not by rounding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from gramian.engine.product import STRIPE, Pairs, Product, each_tile, to_dense
from gramian.engine.tiles import SIDE, for_each, row_blocks, spans, threads_for
from gramian.kernels import Kernel
from gramian.kernels.pairwise import PreparedRows, prepared, squared_norms
from gramian.operators.centering import column_means
from gramian.progress import part_done, track
from gramian.results import Array, Matrix

#: Candidates beyond those asked for, so that ties and rounding at the border can be resolved afterwards.
EXTRA_CANDIDATES = 8
#: Columns up to which tiles hold whole rows, so that nothing is merged; columns in a group at the most, of which the
#: least value is taken: a pass over numbers in single precision takes as long for 16 as for 8.
WHOLE_ROWS_MAX_COLUMNS, GROUP_MAX_COLUMNS = 4096, 16
#: Rows of which more than one in so many columns are within rounding are searched in double precision instead.
RECHECKED_SHARE = 16
#: Entries whose differences are squared at a time: they stay in the second-level cache.
DIFFERENCES = 2**16
#: Rounding of a squared distance, in units of the similarities it comes from.
SIMILARITY_ROUNDING = 64 * float(np.finfo(np.float64).eps)
#: Says how far pairs are exactly: row numbers, column numbers -> values.
Measure = Callable[[Array, Array], Array]


class Ranked(Pairs):
    """Tiles of ``k(y, y) - 2 k(x, y)``: squared distances but for ``k(x, x)``, which ranks nothing."""

    def __init__(self, pairs: Pairs, diagonal: Array) -> None:
        self.pairs, self.diagonal = pairs, diagonal.astype(pairs.dtype, copy=False)
        self.shape, self.dtype = pairs.shape, pairs.dtype

    def tile(self, rows: slice | Array, cols: slice, out: Array) -> Array:
        tile = self.pairs.tile(rows, cols, out)
        tile *= tile.dtype.type(-2)
        tile += self.diagonal[cols]
        return tile


def smallest(
    pairs: Pairs,
    k: int,
    *,
    own: bool = False,
    slack: Array | None = None,
    exact: Measure | None = None,
    most: int | None = None,
) -> tuple[Array, Array]:
    """Return the k smallest values of each row, ascending, and their columns; of equal ones the first columns.

    ``pairs``: tiles of values to rank, m x n. ``k``: at most n (n - 1 with ``own``). ``own``: row i and column i are
    the same point, which is not its own neighbour. ``slack`` (m,): how far values of a tile may be from exact ones,
    which ``exact`` gives for chosen pairs. Rows with more than ``most`` pairs, and more than a share of a tile, that
    only ``exact`` could tell apart are given up: their first column is -1.
    """
    m, n = pairs.shape
    values, columns = np.full((m, k), np.inf), np.full((m, k), -1, dtype=np.intp)
    once = n <= WHOLE_ROWS_MAX_COLUMNS
    side = min(SIDE, max(STRIPE, SIDE**2 // n)) if once and n else SIDE
    rows = spans(m, max(1, min(side, max(STRIPE, -(-m // threads_for(m))))))
    first = n if once else min(n, max(SIDE, k + 1))
    cols = [slice(0, first)] + [slice(s.start + first, s.stop + first) for s in spans(n - first)]
    given_up = np.zeros(m, dtype=bool)

    def look(r: slice, c: slice, tile: Array) -> None:
        if own:  # a point is not its own neighbour
            both = np.arange(max(r.start, c.start), min(r.stop, c.stop))
            tile[both - r.start, both - c.start] = np.inf
        apart = 0.0 if slack is None else slack[r]
        # Nothing to beat yet: all that could be among the k smallest of the tile, itself and its bound being off.
        limit = values[r, -1] + apart if c.start else np.nextafter(_upper_bound(tile, k) + 2 * apart, np.inf)
        if tile.dtype != limit.dtype:
            limit = np.nextafter(limit.astype(tile.dtype), np.inf, dtype=tile.dtype)
        hits = np.flatnonzero(tile < limit[:, None])
        if not len(hits):
            return
        i, j = np.divmod(hits, tile.shape[1])
        if most is not None and len(hits) > most:
            many = np.bincount(i, minlength=len(tile)) > max(most, tile.shape[1] // RECHECKED_SHARE)
            given_up[r] |= many
            kept = ~given_up[r][i]
            i, j, hits = i[kept], j[kept], hits[kept]
        found = tile.ravel()[hits] if exact is None else exact(i + r.start, j + c.start)
        _merge(values[r], columns[r], i, j + c.start, found)

    tiles = len(rows) * len(cols)
    with track("neighbours", expected=1.0):
        each_tile(pairs, [(r, cols) for r in rows], look, lambda done: part_done(done / tiles))
    columns[given_up, 0] = -1
    return values, columns


def _upper_bound(tile: Array, k: int) -> Array:
    """An upper bound of the k-th smallest value of each row, (m,): the k-th of the least values of groups of columns.

    With four groups for each of the k or more it is hardly above the k-th value, and a partition takes as long as
    twenty passes for the least values.
    """
    m, n = tile.shape
    size = max(1, min(GROUP_MAX_COLUMNS, n // (4 * k)))
    groups = n // size
    least = tile[:, : size * groups].reshape(m, size, groups).min(axis=1) if size > 1 else tile
    return np.partition(least, k - 1, axis=1)[:, k - 1].astype(np.float64)


def _merge(values: Array, columns: Array, i: Array, j: Array, found: Array) -> None:
    """Put found values (ordered by row i, then by column j) among the smallest so far, in place."""
    count = np.bincount(i, minlength=len(values))
    changed = np.flatnonzero(count)
    k, count = values.shape[1], count[changed]
    at = np.repeat(np.arange(len(changed)), count)
    place = np.arange(len(i)) - (np.cumsum(count) - count)[at]
    both = np.full((len(changed), k + int(count.max(initial=0))), np.inf)
    numbers = np.full(both.shape, -1, dtype=np.intp)
    both[:, :k], numbers[:, :k] = values[changed], columns[changed]
    both[at, place + k], numbers[at, place + k] = found, j
    order = np.argsort(both, axis=1, kind="stable")[:, :k]  # stable: the first columns first
    order += both.shape[1] * np.arange(len(changed))[:, None]
    values[changed], columns[changed] = both.ravel()[order], numbers.ravel()[order]


def nearest_in_features(
    kernel: Kernel, X: Matrix, anchors: Matrix | PreparedRows, diagonal: Array, k: int, *, own: bool = False
) -> tuple[Array, Array]:
    """Return for each row of X the k nearest anchors in feature space: ``k(y, y) - 2 k(x, y)`` and columns, m x k.

    Nothing is clipped, so an indefinite kernel ranks by its negative squared distances too. Values that differ by
    rounding only count as equal, and of equal ones the first anchors come first.
    """
    pairs = Ranked(kernel.against(X, prepared(anchors), np.float64), diagonal)
    most = pairs.shape[1] - own
    values, columns = smallest(pairs, min(k + EXTRA_CANDIDATES, most), own=own)
    # In units of each pair's own similarities: one far anchor must not blur the others.
    rounding = SIMILARITY_ROUNDING * (np.abs(diagonal)[columns] + np.abs(values))
    # Runs of values closer than rounding are one tie: within it the column decides.
    group = np.cumsum(np.diff(values, axis=1, prepend=values[:, :1]) > rounding, axis=1)
    order = np.lexsort((columns, group))[:, :k]
    ranks = np.maximum.accumulate(np.take_along_axis(values, order, axis=1), axis=1)
    return ranks, np.take_along_axis(columns, order, axis=1)


#: Rows whose largest values are closer than this part of what they were summed from are computed alone. Kernels a
#: thousand times narrower than the rows are spread, whose exponents have lost six digits, stay below it.
TIE_DOUBT = 1e-8
#: Values of rows, m x k, and the sizes of the terms they were summed from, (m,).
Sized = tuple[Array, Array]


def resolve_ties(X: Matrix, found: Sized, evaluate: Callable[[Array], Sized]) -> Array:
    """Return values whose largest, in each row, are equal if they differ by rounding only; ``argmax`` is the first.

    Products of a block of rows round otherwise than those of one row, and those of CSR rows otherwise again, so that
    rounding must not decide: exact ties are a matter of structure (a class whose weights are all zero, rows that lie
    symmetrically) and not rare. Rows with values too close to call are evaluated alone, as dense rows in double
    precision: in whatever company and storage a row comes, its values are then the same to the last digit.

    ``found`` has values of the rows X and the sizes of the terms they were summed from; ``evaluate`` gives them again.
    """
    values, sizes = found
    second, largest = np.partition(values, -2, axis=1)[:, -2:].T if values.shape[1] > 1 else np.array([[-np.inf], [0]])
    for i in np.flatnonzero(largest - second <= TIE_DOUBT * sizes):
        alone = np.array(to_dense(X[i : i + 1]), dtype=np.float64, order="C")
        values[i : i + 1], sizes[i : i + 1] = evaluate(alone)
    largest = values.max(axis=1)
    return np.where(values >= (largest - SIMILARITY_ROUNDING * sizes)[:, None], largest[:, None], values)


#: Rows searched again at a time.
RECHECKED_ROWS_PER_BLOCK = 4096


class EuclideanSearch:
    """Nearest rows by Euclidean distance, exact, ties by the first index: for all kernels that fall with it.

    Candidates are found in single precision, or by a tree: all rows that may be among the nearest, given a bound on the
    rounding of the search. Their distances are computed again from differences in double precision. Rows with many
    candidates are searched again in double precision, which leaves few.

    ``X``, ``Y``: dense or CSR, m x d and n x d; the nearest of Y, which may be prepared, are sought. ``own``: X and Y
    are the same rows, and no row is its own neighbour.
    """

    def __init__(self, X: Matrix, Y: Matrix | PreparedRows, *, own: bool = False) -> None:
        self.targets = prepared(Y)
        self.X, self.Y, self.own = X, self.targets.rows, own
        self.sparse = sp.issparse(self.Y)
        d = self.Y.shape[1]
        self.mean = self.targets.once("search mean", lambda: np.zeros(d) if self.sparse else column_means(self.Y))
        self.ny = self.targets.once("search norms", lambda: self._norms(self.Y))
        self.nx = self.ny if own else self._norms(X)
        largest = float(max(self.nx.max(), self.ny.max()))
        if not largest < np.finfo(np.float64).max / 8:
            raise ValueError(
                "squared distances overflow: the rows of X are too far apart. Divide X by a constant, or standardise "
                "its columns."
            )
        # Single precision has a smaller range: rows are measured in a unit near their own size.
        self.unit = _unit(largest)

    def find(self, k: int) -> tuple[Array, Array]:
        """Return squared distances and indices of the k nearest, m x k."""
        squares, columns = self._search(np.float32, k, most=4 * k + EXTRA_CANDIDATES)
        return self._settled(squares, columns, np.flatnonzero(columns[:, 0] < 0), k)

    def settle(self, candidates: Array, beyond: Array, k: int) -> tuple[Array, Array]:
        """Choose the k nearest of the candidates, m x c.

        Squared distances to all others are at least ``beyond``; where that does not decide, the search is repeated.
        """
        squares = self._exact(candidates)
        order = np.lexsort((candidates, squares))[:, :k]
        squares, columns = np.take_along_axis(squares, order, axis=1), np.take_along_axis(candidates, order, axis=1)
        everyone = candidates.shape[1] == self.Y.shape[0] - self.own
        doubtful = np.empty(0, np.intp) if everyone else np.flatnonzero(~(squares[:, -1] < beyond))
        return self._settled(squares, columns, doubtful, k)

    def _settled(self, squares: Array, columns: Array, doubtful: Array, k: int) -> tuple[Array, Array]:
        """The same with the doubtful rows searched in double precision."""
        for at in range(0, len(doubtful), RECHECKED_ROWS_PER_BLOCK):
            rows = doubtful[at : at + RECHECKED_ROWS_PER_BLOCK]
            squares[rows], columns[rows] = self._search(np.float64, k, rows)
        return squares, columns

    def _search(
        self, dtype: DTypeLike, k: int, rows: Array | None = None, most: int | None = None
    ) -> tuple[Array, Array]:
        """Search for some rows; whatever rounding leaves in doubt is computed from differences."""

        def exact(i: Array, j: Array) -> Array:
            i = i if rows is None else rows[i]
            squares = self._apart(i, j) / self.unit**2
            return np.where(i == j, np.inf, squares) if self.own else squares

        chosen = slice(None) if rows is None else rows
        slack = self._rounding(dtype)[chosen] / self.unit**2
        own = self.own and rows is None
        squares, columns = smallest(self._pairs(dtype, chosen), k, own=own, slack=slack, exact=exact, most=most)
        return squares * self.unit**2, columns

    def _pairs(self, dtype: DTypeLike, rows: Array | slice = slice(None)) -> Product:
        # Norms ride along as two extra columns, so one matrix product writes squared distances. The right side has a
        # unit of its own, whatever it is compared with; both are powers of two, which round nothing.
        nx, unit2, own = self.nx[rows] / self.unit**2, self.unit**2, _unit(float(self.ny.max()))
        left = self._prepared(self.X[rows], -2 * own / unit2, nx, np.full_like(nx, own**2 / unit2), dtype)

        def right() -> Matrix:
            return self._prepared(self.Y, 1 / own, np.ones_like(self.ny), self.ny / own**2, dtype)

        return Product(left, self.targets.once(("search", np.dtype(dtype)), right), dtype)

    def _prepared(self, X: Matrix, factor: float, first: Array, second: Array, dtype: DTypeLike) -> Matrix:
        if self.sparse:
            extra = sp.csr_array(np.column_stack([first, second]))
            return sp.csr_array(sp.hstack([X * factor, extra]), dtype=dtype)
        out = np.empty((X.shape[0], X.shape[1] + 2), dtype=dtype)
        for rows in row_blocks(*X.shape):
            out[rows, :-2] = (X[rows] - self.mean) * factor
        out[:, -2], out[:, -1] = first, second
        return out

    def _rounding(self, dtype: DTypeLike) -> Array:
        """How far a squared distance from such a product may be from the truth: d + 10 roundings of its parts."""
        unit_roundoff = float(np.finfo(dtype).eps) / 2
        return (self.Y.shape[1] + 10) * unit_roundoff * (np.sqrt(self.nx) + np.sqrt(self.ny.max())) ** 2

    def _norms(self, X: Matrix) -> Array:
        if self.sparse:
            return squared_norms(X.astype(np.float64, copy=False))
        with np.errstate(over="ignore", invalid="ignore"):
            return np.concatenate([squared_norms(X[rows] - self.mean) for rows in row_blocks(*X.shape)])

    def _exact(self, columns: Array) -> Array:
        """Squared distances of each row to some of the others, from differences."""
        out = np.empty(columns.shape)

        def measure(rows: slice) -> None:
            each = np.repeat(np.arange(rows.start, rows.stop), columns.shape[1])
            out[rows] = self._apart(each, columns[rows].ravel()).reshape(-1, columns.shape[1])

        for_each(spans(len(columns)), measure)
        return out

    def _apart(self, i: Array, j: Array) -> Array:
        """Squared distances of pairs."""
        out, step = np.empty(len(i)), max(1, DIFFERENCES // self.Y.shape[1])
        for at in range(0, len(i), step):
            X, Y = self.X[i[at : at + step]], self.Y[j[at : at + step]]
            X = X.astype(np.float64, copy=False)  # a copy in any case: these are chosen rows
            if self.sparse:
                X = X - Y
            else:
                X -= Y
            out[at : at + step] = squared_norms(X)
        return out


def _unit(largest: float) -> float:
    """A power of two near the root of a squared length; 1 of none."""
    return float(2.0 ** np.round(np.log2(largest) / 2)) if largest > 0 else 1.0
