"""The nearest of many rows, kept while tiles are made in turn; ties are broken by the first index, not by rounding."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gramian.engine.product import Pairs, to_dense
from gramian.engine.tiles import SIDE, Meter, run, share, spans, threads_for
from gramian.kernels import Kernel
from gramian.progress import part_done, track
from gramian.results import Array, Matrix

#: Candidates beyond those asked for, so that ties and rounding at the border can be resolved afterwards.
EXTRA_CANDIDATES = 8
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
    bound: Array | None = None,
    slack: Array | None = None,
    exact: Measure | None = None,
) -> tuple[Array, Array]:
    """Return the k smallest values of each row, ascending, and their columns; of equal ones the first columns.

    ``pairs``: tiles of values to rank, m x n. ``k``: at most n (n - 1 with ``own``). ``own``: row i and column i are
    the same point, which is not its own neighbour. ``bound`` (m,): known upper bounds of the k-th values. ``slack``
    (m,): how far values of a tile may be from exact ones, which ``exact`` gives for chosen pairs.

    Cost
    ----
    Beyond the tiles, one comparison of each value with the k-th smallest so far; few pass. Memory: one tile a thread.
    """
    m, n = pairs.shape
    values, columns = np.full((m, k), np.inf), np.full((m, k), -1, dtype=np.intp)
    rows = spans(m, min(SIDE, max(64, -(-m // threads_for(m)))))
    first = min(n, max(SIDE, k + 1))
    cols = [slice(0, first)] + [slice(s.start + first, s.stop + first) for s in spans(n - first)]
    side = max(r.stop - r.start for r in rows) * max(c.stop - c.start for c in cols)

    def work(panels: Sequence[int], meter: Meter) -> None:
        buffer = np.empty(side, dtype=pairs.dtype)
        for r in (rows[p] for p in panels):
            for c in cols:
                shape = r.stop - r.start, c.stop - c.start
                tile = pairs.tile(r, c, buffer[: shape[0] * shape[1]].reshape(shape))
                if own:
                    _exclude_own(tile, r, c)
                limit = values[r, -1]
                if c.start == 0 and exact is None:  # nothing to beat yet: all that are among the k smallest of the tile
                    limit = np.nextafter(np.partition(tile, k - 1, axis=1)[:, k - 1].astype(np.float64), np.inf)
                if bound is not None:
                    limit = np.minimum(limit, np.nextafter(bound[r], np.inf))
                if slack is not None:
                    limit = limit + slack[r]
                hits = np.flatnonzero(tile < limit[:, None])
                if len(hits):
                    i, j = np.divmod(hits, shape[1])
                    found = tile.ravel()[hits] if exact is None else exact(i + r.start, j + c.start)
                    _merge(values[r], columns[r], i, j + c.start, found)
                meter.tick()

    tiles = len(rows) * len(cols)
    with track("neighbours", expected=1.0):
        run(work, share(len(rows), threads_for(len(rows))), lambda done: part_done(done / tiles))
    return values, columns


def _exclude_own(tile: Array, rows: slice, cols: slice) -> None:
    """Put what a point is to itself out of the running."""
    both = np.arange(max(rows.start, cols.start), min(rows.stop, cols.stop))
    tile[both - rows.start, both - cols.start] = np.inf


def _merge(values: Array, columns: Array, i: Array, j: Array, found: Array) -> None:
    """Put found values (ordered by row i, then by column j) among the smallest so far, in place."""
    changed, start, count = np.unique(i, return_index=True, return_counts=True)
    at, place = np.repeat(np.arange(len(changed)), count), np.arange(len(i)) - np.repeat(start, count)
    new_values = np.full((len(changed), int(count.max())), np.inf)
    new_columns = np.full(new_values.shape, -1, dtype=np.intp)
    new_values[at, place], new_columns[at, place] = found, j
    new_values = np.hstack([values[changed], new_values])
    new_columns = np.hstack([columns[changed], new_columns])
    order = np.argsort(new_values, axis=1, kind="stable")[:, : values.shape[1]]  # stable: the first columns first
    values[changed] = np.take_along_axis(new_values, order, axis=1)
    columns[changed] = np.take_along_axis(new_columns, order, axis=1)


def nearest_in_features(
    kernel: Kernel, X: Matrix, anchors: Matrix, diagonal: Array, k: int, *, own: bool = False
) -> tuple[Array, Array]:
    r"""Return for each row of X the k nearest anchors in feature space: ranks and columns, both m x k.

    Definition
    ----------
    .. math:: \|\phi(x) - \phi(y)\|^2 - k(x, x) = k(y, y) - 2 k(x, y)

    Nothing is clipped, so an indefinite kernel ranks by its negative squared distances too. Values that differ by
    rounding only count as equal, and of equal ones the first anchors come first.
    """
    pairs = Ranked(kernel.pairs(X, anchors, np.float64), diagonal)
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

    ``X`` (m, d): rows. ``found`` (m, k): values of the rows, and the sizes of the terms they were summed from.
    ``evaluate``: rows -> values and sizes.

    Cost
    ----
    One evaluation of one row for each row in doubt.
    """
    values, sizes = found
    second, largest = np.partition(values, -2, axis=1)[:, -2:].T if values.shape[1] > 1 else np.array([[-np.inf], [0]])
    for i in np.flatnonzero(largest - second <= TIE_DOUBT * sizes):
        alone = np.array(to_dense(X[i : i + 1]), dtype=np.float64, order="C")
        values[i : i + 1], sizes[i : i + 1] = evaluate(alone)
    largest = values.max(axis=1)
    return np.where(values >= (largest - SIMILARITY_ROUNDING * sizes)[:, None], largest[:, None], values)
