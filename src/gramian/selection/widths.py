"""The width of a Gaussian kernel: rules on the distances, and the error of rows left out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gramian.estimators import KernelRidge
from gramian.estimators.base import random_generator
from gramian.estimators.targets import check_labels, check_targets
from gramian.estimators.validation import validate
from gramian.kernels import RBF
from gramian.kernels.pairwise import median_width, scale_width, squared_euclidean
from gramian.progress import track
from gramian.results import Array

#: Rows whose distances are looked at, and rows for which kernel ridge is solved.
DISTANCES, SOLVED = 2000, 800
#: Widths tried, and how far they reach beyond the 10 % and 90 % quantiles of the distances.
WIDTHS, REACH = 11, 4.0
LEFT_OUT, MEDIAN = "rows left out", "median distance"


@dataclass(frozen=True)
class Width:
    """What one rule says: its name, the width, author and year, and the figures behind it."""

    criterion: str
    sigma: float
    reference: str
    detail: str = ""


@dataclass(frozen=True)
class Bandwidth:
    """Widths of a Gaussian kernel; prints as a table.

    Attributes
    ----------
    sigma : float
        What the deciding rule says.
    decided_by : str
        Its name.
    table : tuple of Width
        Every rule: ``criterion``, ``sigma``, ``reference``, ``detail``.
    path : tuple of dict
        With y: for every width tried its best ``ridge``, the mean squared leave-one-out ``error`` and ``r2``.
    ridge : float or None
        The ridge that goes with the width, if rows left out decide.

    Examples
    --------
    >>> from gramian.selection import bandwidth
    >>> found = bandwidth([[0.0], [1.0], [2.0], [4.0]])
    >>> found.decided_by, found.sigma > 0, found.ridge
    ('median distance', True, None)
    """

    sigma: float
    decided_by: str
    table: tuple[Width, ...]
    path: tuple[dict[str, float], ...] = ()
    ridge: float | None = None

    @property
    def kernel(self) -> RBF:
        """The kernel of that width."""
        return RBF(sigma=self.sigma)

    def __str__(self) -> str:
        """A line for each rule; a star marks the one that decides."""
        rows = [
            (f"{'*' if line.criterion == self.decided_by else ' '} {line.criterion}", f"{line.sigma:.4g}", line.detail)
            for line in self.table
        ]
        rows.insert(0, ("  criterion", "sigma", ""))
        name, number = (max(len(row[at]) for row in rows) for at in range(2))
        return "\n".join(f"{a:<{name}}  {b:>{number}}  {c}".rstrip() for a, b, c in rows)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain Python values."""
        return asdict(self)


def bandwidth(X: Any, y: Any = None, *, random_state: Any = None) -> Bandwidth:
    """Suggest a width for a Gaussian kernel.

    Without y the median distance decides, and a range is shown; with y the width and the ridge of kernel ridge
    regression under which rows left out are predicted best. Distances are computed once for all widths, and one
    eigendecomposition serves all ridges.

    Parameters
    ----------
    X : (n, d) array, data frame or sparse matrix
        Rows.
    y : (n,) or (n, q) array, optional
        Targets; labels that are not numbers are predicted as indicators.
    random_state : int, Generator, RandomState or None
        Seed of the sample of rows. None is a fixed seed.

    Returns
    -------
    Bandwidth

    Cost
    ----
    Distances of at most 2,000 rows; with y eleven eigendecompositions for at most 800 rows.

    References
    ----------
    Caputo, Sim, Furesjo, Smola, Appearance-based object recognition using SVMs: which kernel should I use?, 2002
    (quantiles); Allen, The relationship between variable selection and data augmentation, Technometrics 1974.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.selection import bandwidth
    >>> X = np.random.default_rng(0).uniform(0, 6, (200, 1))
    >>> bandwidth(X, np.sin(4 * X[:, 0])).sigma < bandwidth(X, X[:, 0]).sigma
    True
    """
    X = validate(KernelRidge(), X, min_samples=4)
    n = X.shape[0]
    rows = random_generator(random_state).permutation(n)[:DISTANCES]
    squares = _squared_distances(X[rows])
    apart = np.sqrt(squares[np.triu_indices(len(rows), 1)])
    apart = apart[apart > 0]
    if not len(apart):
        raise ValueError("all rows of X are equal: there is no distance to take a width from.")
    low, high = np.quantile(apart, [0.1, 0.9])
    table = [
        Width(MEDIAN, median_width(X), "Caputo et al. 2002"),
        Width("low quantile", float(low), "Caputo et al. 2002", "10 % of the distances are shorter"),
        Width("high quantile", float(high), "Caputo et al. 2002", "10 % of the distances are longer"),
        Width("scale", scale_width(X) / np.sqrt(2), "scikit-learn", "gamma = 1 / (d var X)"),
    ]
    if y is None:
        return Bandwidth(table[0].sigma, MEDIAN, tuple(table))
    rows = rows[:SOLVED]
    path = _path(squares[: len(rows), : len(rows)], _targets(y, n)[rows], low / REACH, high * REACH)
    best = min(path, key=lambda line: line["error"])
    detail = f"ridge {best['ridge']:.3g}, R2 {best['r2']:.4f}" + (f", {len(rows):,} rows" if len(rows) < n else "")
    table.append(Width(LEFT_OUT, best["sigma"], "Allen 1974", detail))
    return Bandwidth(best["sigma"], LEFT_OUT, tuple(table), tuple(path), best["ridge"])


def _squared_distances(A: Any) -> Array:
    every = slice(0, A.shape[0])
    return np.maximum(squared_euclidean(A, A).tile(every, every, np.empty((A.shape[0], A.shape[0]))), 0.0)


def _targets(y: Any, n: int) -> Array:
    """Numbers to predict; indicators of labels, if they are no numbers."""
    if np.asarray(y).dtype.kind in "fiu":
        return check_targets(y, n).values
    classes, codes = check_labels(y, n, least=2)
    return np.eye(len(classes))[codes]


def _path(squares: Array, Y: Array, low: float, high: float) -> list[dict[str, float]]:
    """The best ridge of every width, judged by rows left out."""
    found, model = [], KernelRidge(kernel="precomputed", fit_intercept=True)
    widths = np.geomspace(low, high, WIDTHS)
    with track("widths", WIDTHS) as tracker:
        for sigma in widths:
            path = model.path(np.exp(-squares / (2 * sigma**2)), Y)
            at = path.best_index
            line = {"sigma": sigma, "ridge": path.ridges[at], "error": path.errors[at], "r2": path.r2[at]}
            found.append({name: float(value) for name, value in line.items()})
            tracker.advance(WIDTHS)
    return found
