"""What criteria look at, and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gramian import lapack
from gramian.operators.moments import row_count
from gramian.results import Array
from gramian.spaces import LinearBasis


@dataclass(frozen=True)
class Suggestion:
    """What one criterion says.

    Attributes
    ----------
    criterion : str
        Its name.
    k : int or None
        Number of components; None where the criterion cannot say.
    reference : str
        Author and year.
    detail : str
        The figures behind it, or why there is no number.
    """

    criterion: str
    k: int | None
    reference: str
    detail: str = ""


@dataclass(frozen=True)
class Variances:
    r"""Variances along components and columns, divisor n - 1; columns without variance are left out.

    Attributes
    ----------
    values : (m,) array
        Variances :math:`\lambda` along the leading components, descending; all of them for criteria that say so.
    directions : (d, m) array
        Directions V, as columns.
    columns : (d,) array
        Variances of the columns; they sum to the total.
    n : float
        Number of rows.
    """

    values: Array
    directions: Array
    columns: Array
    n: float

    @classmethod
    def of(cls, basis: LinearBasis) -> Self:
        """Take them from a basis."""
        kept = basis.column_variances > 0
        return cls(basis.variances, basis.directions[kept], basis.column_variances[kept], basis.n)

    @classmethod
    def of_matrix(cls, C: Array, n: float) -> Self:
        """Take all of them from a covariance or correlation matrix."""
        kept = np.flatnonzero(np.diag(C) > 0)
        values, V = lapack.interruptible(np.linalg.eigh, C[np.ix_(kept, kept)])
        return cls(np.maximum(values[::-1], 0.0), V[:, ::-1], np.diag(C)[kept].copy(), n)

    @property
    def d(self) -> int:
        """Columns that vary."""
        return len(self.columns)

    @property
    def freedom(self) -> float:
        """Rows less one: degrees of freedom of a variance."""
        return self.n - 1

    @property
    def total(self) -> float:
        """Variance of all columns together."""
        return float(self.columns.sum())

    @property
    def limit(self) -> int:
        """Most components that could have a variance."""
        return min(self.d, row_count(self.n) - 1)

    def leading(self) -> Array:
        """Variances that could be there: no more than the limit."""
        return self.values[: self.limit]


def run_length(passed: Array) -> int:
    """How many hold before the first that does not.

    >>> run_length(np.array([True, True, False, True]))
    2
    """
    return len(passed) if passed.all() else int(np.argmin(passed))
