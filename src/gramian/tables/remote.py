"""Files that the workers of a cluster read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

from gramian.operators.remote import Remote
from gramian.operators.rows import ColumnRange
from gramian.results import Array


def remote_rows(
    source: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    *,
    y_columns: Sequence[str] | None = None,
    **reading: Any,
) -> Remote:
    """Open files as rows that the workers of a dask cluster read, a file at a time.

    Every worker must see the files under the same names. A task reads a whole file: a table is better written as many
    files of some ten to hundred megabytes than as one. Without a cluster dask's threads read them.

    Parameters
    ----------
    source : path
        A file, a folder or a pattern such as ``"day-*.parquet"``, as for :func:`gramian.rows`.
    columns, y_columns : sequence of str, optional
        Columns to use, and those that are targets or the second view.
    **reading
        How a file is written, as for :func:`gramian.tables.read_table`.

    Returns
    -------
    Rows
        For ``fit``, ``transform`` and ``predict`` of every estimator; ``.y`` holds the targets.

    Cost
    ----
    Nothing until a fit asks for it, beside a look at the head of each file.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> from gramian import PCA
    >>> from gramian.tables import remote_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for at in range(3):
    ...         rows = np.random.default_rng(at).standard_normal((100, 4)) * [4, 3, 2, 1]
    ...         np.save(os.path.join(folder, f"part{at}.npy"), rows)
    ...     PCA(2).fit(remote_rows(folder)).explained_variance_.round(1)
    array([15.5,  7.7])
    """
    from gramian.operators.dask_rows import made_rows
    from gramian.tables.streams import open_rows

    known: Any = open_rows(source, columns, y_columns=y_columns, **reading)
    if not isinstance(known, ColumnRange):
        return made_rows(*_described(known, known, reading))
    found = made_rows(*_described(known.parent, known, reading))
    found.y = made_rows(*_described(known.parent, known.y, reading))
    return found


def _described(whole: Any, part: Any, reading: dict[str, Any]) -> tuple[Any, ...]:
    """Readers of all files, their numbers of rows, names of columns, whether they have names, and where from."""
    # A worker's own folder is another.
    readers = [partial(read_part, os.path.abspath(file.path), part.names, reading) for file in whole.files]
    return readers, [file.n_rows for file in whole.files], part.names, part.columns is not None, whole.source


def read_part(path: str, columns: Sequence[str], reading: dict[str, Any]) -> Array:
    """Read some columns of a file."""
    from gramian.tables.streams import open_rows

    return open_rows(path, list(columns), **reading).toarray()
