"""Between equals the first: which of several values is the largest, where rounding could decide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian.operators.nearest import ROUNDING
from gramian.results import Array

#: Rows whose largest values are closer than this part of what they were summed from are computed alone. Kernels a
#: thousand times narrower than the rows are spread, whose exponents have lost six digits, stay below it.
DOUBT = 1e-8
#: Values of rows, m x k, and the sizes of the terms they were summed from, (m,).
Sized = tuple[Array, Array]


def settled(X: Any, found: Sized, evaluate: Callable[[Array], Sized]) -> Array:
    """Return values whose largest, in each row, are equal if they differ by rounding only; ``argmax`` is the first.

    Products of a block of rows round otherwise than those of one row, and those of CSR rows otherwise again, so that
    rounding must not decide: exact ties are a matter of structure (a class whose weights are all zero, rows that lie
    symmetrically) and not rare. Rows with values too close to call are evaluated alone, as dense rows in double
    precision: in whatever company and storage a row comes, its values are then the same to the last digit.

    Parameters
    ----------
    X : (m, d) array or CSR matrix
        Rows.
    found : (m, k) and (m,) arrays
        Values of the rows, and the sizes of the terms they were summed from.
    evaluate : callable
        Rows -> values and sizes.

    Cost
    ----
    One evaluation of one row for each row in doubt.
    """
    values, sizes = found
    second, largest = np.partition(values, -2, axis=1)[:, -2:].T if values.shape[1] > 1 else np.array([[-np.inf], [0]])
    for i in np.flatnonzero(largest - second <= DOUBT * sizes):
        row = X[i : i + 1]
        alone = np.array(row.toarray() if sp.issparse(row) else row, dtype=np.float64, order="C")
        values[i : i + 1], sizes[i : i + 1] = evaluate(alone)
    largest = values.max(axis=1)
    return np.where(values >= (largest - ROUNDING * sizes)[:, None], largest[:, None], values)
