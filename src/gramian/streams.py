"""Rows from anywhere, for estimators that need them once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gramian.operators import Rows
from gramian.operators.rows import ArrayRows, BlockRows, ColumnSlice, as_block, column_order, labels_of, named


def rows(
    source: Any,
    columns: Sequence[str] | None = None,
    *,
    y_columns: Sequence[str] | None = None,
    block: int | None = None,
    **reading: Any,
) -> Rows:
    """Open a stream of rows that is never loaded whole.

    The linear family fits it in one pass, with the answer of the stacked rows; so do kernel PCA, ridge, CCA and k-means
    through ``landmarks``, which are chosen among the first rows. ``transform`` and ``predict`` give another stream,
    which :func:`gramian.tables.write_rows` writes as it comes.

    Parameters
    ----------
    source : path, iterator, callable, array or Rows
        A file (.npy, .parquet, .arrow, .feather, .csv, .tsv, .txt, these three also with .gz, .h5, .hdf5, .zarr), a
        folder of such files of one kind or a pattern such as ``"day-*.parquet"``, taken in the order of their names; an
        iterator of blocks, which can be read once; a function that returns one, which can be read again; an array.
    columns : sequence of str, optional
        Columns to use, in this order: names, ranges ``"a:b"`` and patterns ``"x_*"``. All numeric ones if not given.
        For an iterator or an array: the names of all its columns. Blocks that are data frames or Arrow tables are
        stacked by the names of their columns, in the order of ``columns`` or else of the first block.
    y_columns : sequence of str, optional
        Columns that are targets or the second view: ``fit(rows)`` then needs no y.
    block : int, optional
        Rows of a block. By the memory budget if not given, 24 megabytes at the most.
    **reading
        How a file is written, as for :func:`gramian.tables.read_table`: ``separator``, ``decimal``, ``thousands``,
        ``encoding``, ``header``, ``sheet``.

    Returns
    -------
    Rows
        With ``columns``, ``n_features`` and ``blocks()``, which gives (m, d) arrays in double precision, or in single
        if they are stored so.

    Cost
    ----
    Two blocks in memory: of a file one is read by a thread while the other is worked on; blocks of an iterator are
    copied, so that it may fill one buffer again and again. A file that changes between the start and the end of a pass,
    or between two, is an error.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import PCA, rows
    >>> X = np.random.default_rng(0).standard_normal((1000, 4)) * [4, 3, 2, 1]
    >>> stream = rows(lambda: (X[at : at + 100] for at in range(0, 1000, 100)))
    >>> model = PCA(2).fit(stream)
    >>> model.explained_variance_.round(1)
    array([15.6,  8.5])
    >>> [scores.shape for scores in model.transform(stream)]
    [(1000, 2)]
    """
    if block is not None and (isinstance(block, bool) or not isinstance(block, int) or block < 1):
        raise ValueError(f"block={block!r} must be a whole number of rows, 1 or more.")
    for name, given in (("columns", columns), ("y_columns", y_columns)):
        if isinstance(given, str):
            raise TypeError(f"{name}={given!r} must be a list of names, such as [{given!r}].")
    if isinstance(source, (str, os.PathLike)):
        from gramian.tables.row_streams import open_rows

        return open_rows(source, columns, y_columns=y_columns, block=block, **reading)
    if reading:
        raise TypeError(f"{next(iter(reading))}= says how a file is written, and {type(source).__name__} is none.")
    found = _in_memory(source, None if columns is None else tuple(columns), block)
    return found if y_columns is None else _split(found, list(y_columns))


def _in_memory(source: Any, columns: tuple[str, ...] | None, block: int | None) -> Rows:
    if isinstance(source, Rows):
        return source
    if isinstance(source, (list, tuple)) or hasattr(source, "__array__") or hasattr(source, "tocsr"):
        found = labels_of(source)
        labels, names = named(found, columns)
        values = as_block(source)
        if columns is not None and len(columns) != values.shape[1]:
            raise ValueError(f"columns names {len(columns)} columns; the array has {values.shape[1]}. Name each.")
        order = column_order(labels, found, "the array")
        return ArrayRows(values if order is None else values[:, order], names, block)
    if callable(source) or isinstance(source, Iterable):
        given: Iterable[Any] | Callable[[], Iterable[Any]] = source
        return BlockRows(given, columns, block)
    raise TypeError(
        f"source is a {type(source).__name__}; a path, an iterator or function of blocks, or an array is expected."
    )


def _split(rows: Rows, y_columns: list[str]) -> Rows:
    """Two blocks of columns of one stream, the second of them last."""
    names = rows.columns or tuple(f"x{at}" for at in range(rows.n_features))
    d = len(names) - len(y_columns)
    if list(names[d:]) != y_columns or not 0 < d < len(names):
        raise ValueError(f"y_columns={y_columns!r} must be the last columns of the blocks, and not all of them.")
    return ColumnSlice(rows, slice(0, d), ColumnSlice(rows, slice(d, None)))
