"""What a fit found, as tables whose rows and columns have names; each is computed when it is read.

An estimator, or a mixin, says in ``_tables`` which it has: the command line, reports and ``tables()`` take them from
there.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from gramian.results import Array, html_table, text_table

#: Table -> what is in it.
TABLES = {
    "eigenvalues": "what each component accounts for",
    "correlations": "correlation of each pair of scores",
    "covariances": "covariance of each pair of scores",
    "loadings": "columns along the components",
    "structure": "correlation of each column with the scores",
    "cross-loadings": "correlation of each column with the scores of the other view",
    "weights": "what columns are multiplied by to give scores",
    "rotations": "what scaled columns are multiplied by to give scores",
    "y-loadings": "targets along the components",
    "contributions": "share of each column in each component",
    "cos2": "share of the variance of each column that each component holds",
    "communalities": "share of the variance of each column that the factors explain",
    "factor-correlations": "correlations of the factors",
    "fit-indices": "how well the model fits",
    "redundancy": "share of the variance of a view that each score of the other accounts for",
    "test": "Wilks' test of the correlations",
    "supplementary": "correlation of further columns with the scores",
    "groups": "mean scores of groups of rows, with v-tests",
    "vip": "importance of each column in the projection",
    "selectivity-ratio": "variance of each column that predictions explain, over what they leave",
    "coefficients": "coefficients of each column, in original units",
    "path": "errors for each number of components",
    "errors": "errors of the predictions of each target",
    "accuracy": "share of rows whose class is predicted correctly",
    "confusion": "true classes against predicted ones",
    "cross-validation": "true classes against those predicted of rows left out",
    "support": "support vectors and their coefficients",
    "classes": "the classes",
    "clusters": "sizes of the clusters",
    "means": "mean of each column in each cluster",
    "labels": "cluster of each row of the fit",
    "distances": "distance of each row to each cluster",
    "distortion": "squared distances after the projection, as multiples of those before",
    "columns": "mean and standard deviation of each column",
    "scores": "place of each row along the components",
    "row-contributions": "share of each row in each component",
    "row-cos2": "share of the squared distance of each row from the mean that each component holds",
    "outliers": "distance of each row within the components (T2) and from them (Q)",
    "predictions": "what is predicted of each row",
    "leave-one-out": "error of each row under the fit without it",
    "summary": "what was done",
}
#: Tables that need rows; those that need targets, labels or the second view beside them.
OF_ROWS = ("scores", "row-contributions", "row-cos2", "outliers", "predictions", "distances", "means")
OF_TARGETS = ("errors", "accuracy", "confusion", "cross-validation", "path")
#: How a column of numbers is written: a share as percent, all others with so many digits as the largest needs.
PERCENT, P_VALUE = "%", ".3g"
#: Characters of a line of a table on the screen.
LINE_WIDTH = 120


@dataclass(frozen=True)
class ResultTable:
    """Numbers and words in rows and columns that have names.

    Attributes
    ----------
    name : str
        What the table is called.
    of : str
        What a row of the table is: a column of the data, a component, a row, a class ...
    index : tuple of str
        Names of the rows.
    columns : dict of str to (n,) array
        Numbers or words by the name of their column; NaN where there is nothing to say.
    note : str
        What the numbers are.
    components : dict of str to int
        Names of rows or columns that are components, with their numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA
    >>> table = PCA(2).fit(load_iris(as_frame=True).data).tables(frames="plain")["loadings"]
    >>> print(table.sorted().cut(0.3))
                         PC1    PC2
    petal length (cm)  1.762
    sepal length (cm)  0.743  0.323
    petal width (cm)   0.737
    sepal width (cm)          0.360
    """

    name: str
    of: str
    index: tuple[str, ...]
    columns: Mapping[str, Array]
    note: str = ""
    components: Mapping[str, int] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, column: str) -> Array:
        return self.columns[column]

    @property
    def words(self) -> str:
        """What is in the table."""
        return TABLES.get(self.name, self.name)

    @property
    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Name and cells of each row, as plain values; None where there is nothing."""
        cells = [[_plain(cell) for cell in values.tolist()] for values in self.columns.values()]
        return zip(self.index, *cells, strict=True)

    @property
    def head_of_names(self) -> str:
        """Head of the column of names, where they stand in a column: one that no other column has."""
        return self.of if self.of not in self.columns else f"name of {self.of}"

    def pick(self, numbers: Sequence[int]) -> ResultTable:
        """Of the rows and columns that are components, those with these numbers, counted from one."""
        known = sorted(set(self.components.values()))
        if strange := sorted(set(numbers) - set(known)):
            there = f"they are {known[0]} to {known[-1]}" if known else "this table has none"
            raise ValueError(f"components={strange[0]} is not in the table {self.name}: {there}, counted from 1.")
        chosen = [name for name, number in self.components.items() if number in set(numbers)]
        kept = [at for at, name in enumerate(self.index) if name not in self.components or name in chosen]
        heads = [name for name in self.columns if name not in self.components or name in chosen]
        return replace(self._taken(kept), columns={name: self.columns[name][kept] for name in heads})

    def sorted(self) -> ResultTable:
        """Rows by the column of their largest number, then by its size."""
        heads = [name for name in self.components if name in self.columns] or list(self.columns)
        found = [np.abs(self.columns[name]) for name in heads if self.columns[name].dtype.kind in "iuf"]
        if not found:
            return self
        size = np.nan_to_num(np.column_stack(found))
        return self._taken(np.lexsort((-size.max(axis=1), size.argmax(axis=1))))

    def largest(self, count: int) -> ResultTable:
        """So many rows that hold the largest numbers of any column, in the order of the table."""
        heads = [name for name in self.components if name in self.columns] or list(self.columns)
        sizes = np.column_stack([np.abs(np.nan_to_num(self.columns[name])) for name in heads])
        places = np.argsort(np.argsort(-sizes, axis=0, kind="stable"), axis=0).min(axis=1)
        first = np.lexsort((-sizes.max(axis=1), places))[:count]
        return self._taken(np.sort(first))

    def ordered(self, column: str, *, falling: bool = True) -> ResultTable:
        """Rows by the numbers of a column."""
        values = self.columns[column]
        return self._taken(np.argsort(-values if falling else values, kind="stable"))

    def where(self, column: str, value: object) -> ResultTable:
        """Rows that have this value in a column."""
        return self._taken(np.flatnonzero(self.columns[column] == value))

    def head(self, count: int) -> ResultTable:
        """The first rows."""
        return self._taken(np.arange(min(count, len(self))))

    def cut(self, limit: float) -> ResultTable:
        """Leave out numbers of less than this size."""
        found = {}
        for name, values in self.columns.items():
            small = values.dtype.kind == "f" and np.abs(np.nan_to_num(values)) < limit
            found[name] = np.where(small, np.nan, values) if values.dtype.kind == "f" else values
        return replace(self, columns=found)

    def beside(self, other: ResultTable, *names: str) -> ResultTable:
        """The same with columns of another table of the same rows."""
        more = {name: other.columns[name] for name in names}
        return replace(self, columns={**self.columns, **more}, formats={**self.formats, **other.formats})

    def _taken(self, rows: Sequence[int] | Array) -> ResultTable:
        index = tuple(self.index[int(at)] for at in rows)
        return replace(self, index=index, columns={name: part[rows] for name, part in self.columns.items()})

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int = LINE_WIDTH) -> str:
        """Write the table in columns, below each other those that do not fit into a line."""
        first = used = max(map(len, self.index), default=0)
        blocks: list[list[str]] = [[]]
        for name, written in self.cells.items():
            size = 2 + max(len(name), *map(len, written), 0)
            if blocks[-1] and used + size > width:
                blocks.append([])
                used = first
            blocks[-1].append(name)
            used += size
        return "\n\n".join(map(self._block, blocks))

    @cached_property
    def cells(self) -> dict[str, list[str]]:
        """The columns as text; numbers of components have the same number of digits."""
        across = [name for name in self.columns if name in self.components and self.columns[name].dtype.kind == "f"]
        same = _decimals(np.concatenate([self.columns[name] for name in across])) if across else None
        return {
            name: _written(values, self.formats.get(name) or (same if name in across else None))
            for name, values in self.columns.items()
        }

    def _block(self, heads: Sequence[str]) -> str:
        lines = [
            *([("", *heads)] if heads else []),
            *zip(self.index, *(self.cells[name] for name in heads), strict=True),
        ]
        right = tuple(at + 1 for at, name in enumerate(heads) if self.columns[name].dtype.kind in "iuf")
        return text_table(lines, right)

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        return html_table(self.words, zip(self.index, *self.cells.values(), strict=True), (self.of, *self.columns))

    def to_csv(self) -> str:
        """The table as CSV text, all digits."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([self.head_of_names, *self.columns])
        writer.writerows(["" if cell is None else cell for cell in row] for row in self.rows)
        return text.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """The table as plain values: names of the rows, then each column."""
        cells = {name: [_plain(cell) for cell in values.tolist()] for name, values in self.columns.items()}
        return {"of": self.of, "index": list(self.index), "columns": cells}

    def frame(self, kind: str) -> Any:
        """The table as a data frame of pandas, with names as its index, or of polars, with names as first column."""
        if kind == "plain":
            return self
        if kind == "pandas":
            import pandas as pd  # type: ignore[import-untyped]

            return pd.DataFrame(dict(self.columns), index=pd.Index(self.index, name=self.of))
        import polars as pl

        return pl.DataFrame({self.head_of_names: list(self.index), **self.columns})


class ResultTables(Mapping[str, Any]):
    """Tables by name, computed when they are read; prints as a list of what there is.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA
    >>> tables = PCA(2).fit(load_iris(as_frame=True).data).tables()
    >>> list(tables)[:2]
    ['eigenvalues', 'loadings']
    >>> tables["eigenvalues"].round(3)  # doctest: +NORMALIZE_WHITESPACE
               eigenvalue  share of variance  cumulative share
    component
    PC1             4.228              0.925             0.925
    PC2             0.243              0.053             0.978
    """

    def __init__(self, makers: Mapping[str, Callable[[], ResultTable]], kind: str = "plain") -> None:
        self._makers, self._kind = dict(makers), kind

    def __getitem__(self, name: str) -> Any:
        if name not in self._makers:
            raise KeyError(self._missing(name))
        return self._makers[name]().frame(self._kind)

    def _missing(self, name: str) -> str:
        if name in OF_ROWS:
            return f"{name} are of rows: give them with tables(X)"
        if name in OF_TARGETS:
            return f"{name} needs rows and what is true of them: tables(X, y)"
        return f"no table is called {name}; there are {', '.join(self)}"

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __str__(self) -> str:
        return text_table([(name, TABLES.get(name, "")) for name in self]) if len(self) else "no tables"

    __repr__ = __str__


def _plain(cell: Any) -> Any:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _decimals(values: Array) -> str:
    """How numbers are written: four digits of the largest, and no more than three after the point from 0.1 on."""
    found = values[np.isfinite(values)]
    largest = float(np.abs(found).max(initial=0.0))
    if not largest:
        return ".0f"
    if not 1e-4 <= largest < 1e7:
        return ".3g"
    if (found == np.round(found)).all():
        return ",.0f"
    size = math.floor(math.log10(largest))
    return f",.{max(0, 3 - max(size, 0)) if size >= -1 else 2 - size}f"


def _written(values: Array, how: str | None = None) -> list[str]:
    """Cells of a column as text."""
    if values.dtype.kind in "iu":
        return [f"{cell:,}" for cell in values.tolist()]
    if values.dtype.kind != "f":
        return ["" if cell is None else str(cell) for cell in values.tolist()]
    if how == PERCENT:
        return ["" if math.isnan(cell) else f"{100 * cell:.1f} %" for cell in values.tolist()]
    how = how or _decimals(values)
    return ["" if math.isnan(cell) else _unsigned(f"{cell:{how}}") for cell in values.tolist()]


def _unsigned(text: str) -> str:
    """Zero without a sign.

    >>> _unsigned("-0.000"), _unsigned("-0.100")
    ('0.000', '-0.100')
    """
    return text[1:] if text.startswith("-") and not text.strip("-0.,") else text
