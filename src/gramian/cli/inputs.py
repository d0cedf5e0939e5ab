"""From files to what an estimator takes: rows, and targets, a second view or labels beside them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian.cli.request import FitRequest
from gramian.operators import Rows
from gramian.results import Array
from gramian.tables import Table, TableError, read_table, read_views


@dataclass(frozen=True)
class Inputs:
    """Rows for an estimator.

    Attributes
    ----------
    table : Table
        The rows, with the labels and remarks of all files.
    y : (n,) or (n, q) array or None
        Targets, the second view, or labels.
    targets : tuple of str
        Names of what y holds.
    """

    table: Table
    y: Any = None
    targets: tuple[str, ...] = ()

    @property
    def X(self) -> Any:
        """The rows, or the stream of them."""
        return self.table.values

    @property
    def streamed(self) -> bool:
        """Whether the rows are not in memory."""
        return isinstance(self.X, Rows)

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What ``fit`` is called with."""
        return (self.X,) if self.y is None else (self.X, self.y)


def reading(request: FitRequest) -> dict[str, Any]:
    """Arguments of the reader beside the columns."""
    given: dict[str, Any] = {}
    if request.encode is not None:
        given["categories"] = request.encode
    if request.dates is not None:
        given["dates"] = request.dates
    if request.label is not None:
        given["labels" if request.y_table is None else "y_labels"] = [request.label]
    if request.ids is not None:
        given["ids"] = request.ids
    if request.missing is not None:
        given["missing"] = "keep" if request.missing == "em" else "drop"
    return {**given, **request.dialect}


def gather(request: FitRequest) -> Inputs:
    """Read what a fit needs; of methods that can expect missing values, say so where some are."""
    try:
        return _gather(request)
    except TableError as error:
        if not request.row.has("missing"):
            raise
        raise TableError(str(error).replace("Fill them, drop", "Expect them (missing='keep'), drop")) from error


def _gather(request: FitRequest) -> Inputs:
    given = reading(request)
    if request.targets is None and request.y_table is None:
        return _labelled(request, read_table(request.table, request.columns, **given))
    x, y = read_views(request.table, request.y_table, x_columns=request.columns, y_columns=request.targets, **given)
    remarks = (*x.dropped, *(remark for remark in y.dropped if remark not in x.dropped))
    table = replace(x, labels={**y.labels, **x.labels}, dropped=remarks)
    if not request.row.takes("target"):
        return _labelled(request, table)
    return Inputs(table, y.values[:, 0] if single(request, y) else y.values, y.columns)


def _labelled(request: FitRequest, table: Table) -> Inputs:
    if request.row.needs != "label":
        return Inputs(table)
    return Inputs(table, labels_of(table, str(request.label)), (str(request.label),))


def single(request: FitRequest, y: Table) -> bool:
    """Whether targets are a vector, as predictions of one target are; a view stays a matrix."""
    return request.row.needs == "target" and len(y.columns) == 1


def labels_of(table: Table, name: str) -> Array:
    """Labels to predict, as an array of text."""
    if name not in table.labels:
        known = ", ".join(table.labels) or "none"
        raise TableError(f"{table.source}: there is no column of labels {name!r}; text columns are: {known}.")
    cells = table.labels[name]
    empty = next((at for at, cell in enumerate(cells) if not cell), None)
    if empty is not None:
        raise TableError(f"{table.source}: row {empty} (counted from 0) has no {name!r}. Fill it or drop the row.")
    return np.array(cells)
