"""Tables as they come: numbers where they can be read, and findings instead of refusals where they cannot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian.config import format_bytes, memory_budget
from gramian.results import Array
from gramian.selection.doctor_findings import Finding, at_rows, listed, plural, row_numbers

#: Text that stands for nothing.
BLANK = ("", "na", "n/a", "nan", "null", "none")


@dataclass(frozen=True)
class Sheet:
    """Numeric columns of a table, and what was found while it was read.

    Attributes
    ----------
    values : (n, d) array
        In double precision, with NaN and infinities where there are some.
    names : tuple of str
    unread : (d,) array
        Entries of each column that are text; they are NaN among the values.
    narrow : bool
        Whether the numbers came in single precision.
    width : int
        Columns of the table, those without numbers included.
    findings : tuple of Finding
    looked_at : tuple of str
    """

    values: Array
    names: tuple[str, ...]
    unread: Array
    narrow: bool
    width: int
    findings: tuple[Finding, ...] = ()
    looked_at: tuple[str, ...] = ()


def read(X: Any) -> Sheet:
    """Take an array, a sparse matrix, a list of rows, a data frame or a mapping of columns."""
    if sp.issparse(X):
        return _sparse(sp.csr_array(X))
    if isinstance(X, Mapping):
        return _columns([str(name) for name in X], list(X.values()))
    if hasattr(X, "columns") and not callable(X.columns) and hasattr(X, "__getitem__"):
        names = list(X.columns)
        at = X.iloc if hasattr(X, "iloc") else None  # names of pandas may be repeated
        return _columns([str(n) for n in names], [at[:, j] if at is not None else X[n] for j, n in enumerate(names)])
    array = np.ma.filled(X.astype(np.float64), np.nan) if np.ma.isMaskedArray(X) else _array(X)
    if array.ndim != 2:
        raise ValueError(
            f"X has shape {array.shape}; rows and columns are expected. Reshape your data: X.reshape(-1, 1) if it is "
            "one column, X.reshape(1, -1) if it is one row."
        )
    if 0 in array.shape:
        raise ValueError(f"X has shape {array.shape}: there is nothing to look at. Give at least one row and column.")
    if array.dtype.kind in "biuf":
        d = array.shape[1]
        narrow = array.dtype in (np.float32, np.float16)
        return Sheet(array.astype(np.float64, copy=False), _numbered(d), np.zeros(d, dtype=int), narrow, d)
    return _columns(list(_numbered(array.shape[1])), list(array.T))


def _array(X: Any) -> Array:
    try:
        array = np.asarray(X)
    except ValueError:
        raise ValueError("X has rows of different lengths. Give as many numbers in every row.") from None
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X has dtype {array.dtype}. Use X.real, X.imag or np.abs(X).")
    return array


def _numbered(d: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(d))


def _sparse(X: Any) -> Sheet:
    n, d = X.shape
    if 0 in X.shape:
        raise ValueError(f"X has shape {X.shape}: there is nothing to look at. Give at least one row and column.")
    room = max(100, memory_budget() // 4 // (8 * d))
    told: tuple[str, ...] = ()
    if n > room:
        X = X[np.sort(np.random.default_rng(0).choice(n, room, replace=False))]
        told = (f"{room:,} of {n:,} rows: as a dense table all would take {format_bytes(8.0 * n * d)}",)
    values = X.toarray().astype(np.float64)
    return Sheet(values, _numbered(d), np.zeros(d, dtype=int), X.dtype == np.float32, d, looked_at=told)


def _columns(names: list[str], columns: list[Any]) -> Sheet:
    if not columns or not len(columns[0]):
        raise ValueError(f"X has {len(columns)} columns and no rows to look at. Give at least one row and column.")
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise ValueError(f"columns of X have different lengths: {', '.join(map(str, sorted(lengths)))}.")
    findings: list[Finding] = []
    kept, unread, known, narrow = [], [], [], bool(columns)
    for name, column in zip(names, columns, strict=True):
        values, text = _numbers(column)
        narrow = narrow and getattr(column, "dtype", None) == np.float32
        if values is None:
            findings.append(_text_column(name, text))
            continue
        bad = [row for row, cell in enumerate(text) if cell is not None] if text else []
        if bad:
            findings.append(_stray_text(name, bad, [text[row] for row in bad]))
        kept.append(values)
        unread.append(len(bad))
        known.append(name)
    values = np.column_stack(kept) if kept else np.empty((len(columns[0]), 0))
    return Sheet(values, tuple(known), np.array(unread, dtype=int), narrow, len(names), tuple(findings))


def _numbers(column: Any) -> tuple[Array | None, list[Any]]:
    """Numbers of a column, and its cells that are text (None elsewhere); no numbers if most cells are text."""
    cells = np.asarray(column)
    if cells.dtype.kind in "biuf":
        return cells.astype(np.float64), []
    if cells.dtype.kind in "mM":
        return None, [str(cell) for cell in cells]
    values, text = np.full(len(cells), np.nan), [None] * len(cells)
    for row, cell in enumerate(cells):
        if cell is None or str(cell).strip().lower() in (*BLANK, "<na>"):
            continue
        try:
            values[row] = float(cell)
        except (TypeError, ValueError):
            text[row] = str(cell)  # type: ignore[call-overload]
    strays, numbers = sum(cell is not None for cell in text), np.count_nonzero(~np.isnan(values))
    return (values, text if strays else []) if strays <= numbers else (None, [c for c in text if c is not None])


def _text_column(name: str, cells: list[Any]) -> Finding:
    kinds = list(dict.fromkeys(cells))
    return Finding(
        "text_column",
        f"column {name!r} is text, with {plural(len(kinds), 'different value')}: "
        f"{listed([repr(kind) for kind in kinds])}.",
        "Leave it out, or make numbers of it: indicator columns of categories, days of dates.",
        (name,),
    )


def _stray_text(name: str, rows: list[int], cells: list[str]) -> Finding:
    kinds = list(dict.fromkeys(cells))
    return Finding(
        "text_in_numbers",
        f"column {name!r} has text among its numbers: {listed([repr(kind) for kind in kinds])}, in {at_rows(rows)}.",
        "Correct those entries, or make them missing.",
        (name,),
        row_numbers(rows),
    )
