"""Random projection."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from gramian.config import format_bytes, memory_budget, pinned_if_small, within_budget
from gramian.engine.tiles import row_blocks
from gramian.estimators.base import BaseEstimator, ComputesOnRead, ProjectionTransformer, on_read, planned_fit
from gramian.estimators.fit_rows import read
from gramian.estimators.plans_linear import MEASURED_ROWS, plan_random_projection
from gramian.estimators.result_tables import ResultTable
from gramian.estimators.summary import Clock, SummaryBuilder
from gramian.estimators.table_maker import Makers, TableMaker
from gramian.estimators.validation import Table, check_components, is_auto, random_generator
from gramian.estimators.warnings import RankWarning, warn
from gramian.lapack import interruptible
from gramian.results import Array, FitSummary, Matrix, Seed, percent

#: Entries of the rows that are kept to be measured, and rows that are kept however many columns they have.
MEASURED_MAX_ENTRIES, MEASURED_LEAST_ROWS = 2**16, 16
#: Squared distances below this share of the squared lengths of both rows lose five digits or more as a difference.
NEAR_PAIR_SHARE = 1e-5


@dataclass(frozen=True)
class Distortion:
    r"""Ratios :math:`\|Rx - Ry\|^2 / \|x - y\|^2` over pairs of training rows; without pairs, not a number.

    ``float()`` gives the largest distance of a ratio from 1.

    Attributes
    ----------
    min, max, mean, root_mean_square : float
        Of the ratios.
    share_within : float
        Share of pairs whose ratio is within ``eps`` of 1.
    pairs : int
        How many were measured.
    """

    min: float
    max: float
    mean: float
    root_mean_square: float
    share_within: float
    pairs: int

    def __float__(self) -> float:
        return max(1.0 - self.min, self.max - 1.0)


class Kept(NamedTuple):
    """What distances are measured from, and told of the fit, when that is read."""

    rows: Matrix
    eps: float
    shape: tuple[int, int]
    notes: list[str]
    clock: Clock


@dataclass(frozen=True)
class RandomMap:
    """Rows times ``weights``, R' (d x k, dense or CSR), and the shortest rows that have given scores."""

    weights: Any

    @property
    def size(self) -> int:
        """Number of scores of a row."""
        return self.weights.shape[1]

    def scores(self, X: Matrix) -> Array:
        """Scores of rows, n x k, in double precision; neither X nor R is made dense."""
        if sp.issparse(X):
            found = X @ self.weights
            return found.toarray() if sp.issparse(found) else np.asarray(found)
        with pinned_if_small(X.size * self.size):
            return np.concatenate([np.asarray(X[rows] @ self.weights) for rows in row_blocks(*X.shape)])

    @cached_property
    def back(self) -> Array:
        """Transposed pseudo-inverse of R, k x d."""
        R = self.weights.toarray() if sp.issparse(self.weights) else self.weights
        return np.asarray(interruptible(np.linalg.pinv, R))

    def inverse(self, scores: Array) -> Array:
        """Shortest rows that have these scores."""
        return scores @ self.back


class RandomProjection(ComputesOnRead, ProjectionTransformer, BaseEstimator):
    r"""A few random directions, which keep distances between rows without a look at them.

    Definition
    ----------
    .. math:: t = R x, \qquad R_{ij} \sim N(0, 1/K) \quad\text{or}\quad
              R_{ij} = \pm 1 / \sqrt{sK} \text{ each with probability } s/2, \text{ else } 0

    so that :math:`E\|Rx\|^2 = \|x\|^2`. Rows are not centred: differences between them are the same either way.

    Parameters
    ----------
    n_components : int or "auto"
        Number :math:`K` of directions. "auto" takes :math:`4 \log n / (\epsilon^2/2 - \epsilon^3/3)`, with which all
        squared distances are likely to stay within :math:`1 \pm \epsilon`, but no more than d.
    eps : float
        :math:`\epsilon`, between 0 and 1.
    density : None, "gaussian", "auto" or float
        None and "gaussian" draw Gaussian entries. A number s in (0, 1] is the share of entries that are not zero;
        "auto" is :math:`1/\sqrt d`.
    random_state : int, Generator, RandomState or None
        Seed. None is a fixed seed.

    Attributes
    ----------
    components_ : (K, d) array, or CSR array if density is below 1
        R.
    density_ : float
        Share s of entries asked to be other than zero, 1 for Gaussian ones.
    distortion_ : Distortion
        What became of squared distances, over all pairs of at most 63 training rows.
    summary_ : FitSummary

    Cost
    ----
    s K d random numbers at fit, s K multiplications for each entry of X at transform. Sparse tables stay sparse.

    References
    ----------
    Li, Hastie, Church, Very sparse random projections, KDD 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.estimators.random_projection import RandomProjection
    >>> X = np.random.default_rng(0).standard_normal((100, 2000))
    >>> model = RandomProjection("auto", eps=0.3).fit(X)
    >>> model.components_.shape, float(model.distortion_) < 0.3
    ((511, 2000), True)
    """

    _plan = plan_random_projection
    _component_prefix = "RP"

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        eps: float = 0.1,
        density: float | str | None = None,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.eps = eps
        self.density = density
        self.random_state = random_state

    @planned_fit
    def fit(self, X: Table, y: object = None) -> Self:
        """Draw the directions, and some rows whose distances show, when that is read, what they do to them.

        Parameters
        ----------
        X : (n, d) array, data frame, sparse matrix or stream (:func:`gramian.rows`)
            Rows; of a stream the first block alone is looked at.
        y : ignored
        """
        clock = Clock()
        rows = read(self, X)
        if is_auto(self.n_components) and rows.n_rows is None:
            raise ValueError(
                f"n_components='auto' depends on the number of rows, which is not known of {rows.where}. Give a number."
            )
        X = rows.first()
        shape = (rows.n_rows or X.shape[0], X.shape[1])
        k, notes = self._how_many(shape)
        self.density_ = self._density(X.shape[1])
        _check_room(k, X.shape, self.density_)
        # Rows that were drawn with the same seed would be the very numbers of R: take another stream.
        rng = np.random.default_rng(random_generator(self.random_state).integers(2**62, size=4))
        R: Any = _gaussian(k, X.shape[1], rng) if self._is_gaussian else _signs(k, X.shape[1], self.density_, rng)
        self.projection_ = RandomMap(R.T.tocsr() if sp.issparse(R) else R.T)
        self.components_ = R.astype(X.dtype)
        for name in self._on_read():
            self.__dict__.pop(name, None)
        self._kept = Kept(_some_rows(X, rng), self.eps, shape, notes, clock.stop())
        return self

    @on_read
    def distortion_(self, kept: Kept) -> Distortion:
        """What became of squared distances."""
        return measure(self.projection_, kept.rows, kept.eps)

    @on_read
    def summary_(self, kept: Kept) -> FitSummary:
        """What was done, and what became of squared distances."""
        found, k = self.distortion_, self.projection_.size
        kind = "Gaussian entries" if self._is_gaussian else f"random signs, density {self.density_:.3g}"
        text = f"squared distances times {found.min:.3g} to {found.max:.3g}, mean {found.mean:.3g}, "
        text += f"{percent(found.share_within)} within {kept.eps:g} of 1 ({found.pairs:,} pairs)"
        if not found.pairs:
            text = "not measured: all rows are the same"
        write = SummaryBuilder.of_components(self, kept.shape, k, noun="direction").line(
            "route", kind, density=self.density_
        )
        return write.line("distortion", text, distortion=asdict(found)).work(kept.clock).notes(kept.notes).done()

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Return the shortest rows that have the scores ``X``, by the pseudo-inverse of R."""
        return self._inverse(X, "scores of {k} components")

    def _tables(self, make: TableMaker) -> Makers:
        return super()._tables(make) | {
            "weights": lambda: make.by_columns("weights", self._dense()),
            "distortion": self._ratios,
        }

    def _dense(self) -> Array:
        R: Any = self.components_
        return np.asarray(R.toarray() if sp.issparse(R) else R).T

    def _ratios(self) -> ResultTable:
        found = self.distortion_
        known = {"smallest": found.min, "mean": found.mean, "largest": found.max, "pairs measured": found.pairs}
        values = np.array([*map(float, known.values()), found.share_within])
        return ResultTable(
            "distortion", "of pairs", (*known, "share within the bound"), {"value": values}, formats={"value": ".4g"}
        )

    @property
    def _is_gaussian(self) -> bool:
        return self.density is None or self.density == "gaussian"

    def _how_many(self, shape: tuple[int, int]) -> tuple[int, list[str]]:
        (n, d), eps = shape, self.eps
        if isinstance(eps, (str, bool)) or not 0 < eps < 1:
            raise ValueError(f"eps={eps!r} must be a number between 0 and 1, both excluded.")
        if isinstance(self.n_components, str) and self.n_components == "auto":
            bound = max(1, int(4 * np.log(n) / (eps**2 / 2 - eps**3 / 3)))
            if bound <= d:
                return bound, [f"K = {bound:,} is the Johnson-Lindenstrauss bound for {n:,} rows and eps={eps:g}"]
            note = f"the Johnson-Lindenstrauss bound for {n:,} rows and eps={eps:g} is {bound:,}, more than d = {d:,}"
            warn(f"{note}: {d:,} components were drawn. Raise eps, or leave the columns as they are.", RankWarning)
            return d, [f"{note}, which was taken instead"]
        if self.n_components is None or isinstance(self.n_components, str):
            raise TypeError(f"n_components={self.n_components!r} must be a whole number of 1 or more, or 'auto'.")
        check_components(self.n_components, np.iinfo(np.int64).max, "what can be drawn", fractions=False)
        k = int(self.n_components)
        if k <= d:
            return k, []
        note = f"n_components={k} is more than d = {d}: the scores take more room than the rows"
        warn(f"{note}. Use n_components={d} or fewer.", RankWarning)
        return k, [note]

    def _density(self, d: int) -> float:
        if self._is_gaussian:
            return 1.0
        if isinstance(self.density, str) and self.density == "auto":
            return 1 / np.sqrt(d)
        if isinstance(self.density, (str, bool)) or not 0 < float(self.density or 0) <= 1:
            raise ValueError(f"density={self.density!r} must be a number in (0, 1], 'auto', 'gaussian' or None.")
        return float(self.density or 0)


def measure(projection: RandomMap, X: Matrix, eps: float) -> Distortion:
    """Compare squared distances before and after, over all pairs of a few rows that differ."""
    left, right = np.triu_indices(X.shape[0], 1)
    r = _ratios(projection, X[left], X[right]) if sp.issparse(X) else _ratios_of_few(projection, X, left, right)
    if not len(r):  # all rows are the same
        return Distortion(np.nan, np.nan, np.nan, np.nan, np.nan, 0)
    within = float((np.abs(r - 1) <= eps).mean())
    rms = float(np.sqrt((r**2).mean()))
    return Distortion(float(r.min()), float(r.max()), float(r.mean()), rms, within, len(r))


def _some_rows(X: Matrix, rng: np.random.Generator) -> Matrix:
    """A copy of a few rows: what is measured when it is read does not change with the table, nor keep it in memory."""
    n, d = X.shape
    count = min(n, MEASURED_ROWS, max(MEASURED_LEAST_ROWS, MEASURED_MAX_ENTRIES // d))
    chosen = np.arange(n) if count == n else rng.choice(n, count, replace=False, shuffle=False)
    return (sp.csr_array(X) if sp.issparse(X) else X)[chosen]  # for the older matrices, * is a matrix product


def _ratios_of_few(projection: RandomMap, X: Array, left: Array, right: Array) -> Array:
    """The same from the Gram matrices of all rows; pairs so near that these cancel are compared by their difference."""
    A = X - X.mean(axis=0, dtype=np.float64)
    A /= np.abs(A).max() or 1.0
    T = projection.scores(A)
    squares, sizes = [], []
    for B in (A, T):
        G = B @ B.T
        lengths = G.diagonal()
        sizes.append(lengths[left] + lengths[right])
        squares.append(sizes[-1] - 2 * G[left, right])
    near = (squares[0] <= NEAR_PAIR_SHARE * sizes[0]) | (squares[1] <= NEAR_PAIR_SHARE * sizes[1])
    ratios = squares[1][~near] / squares[0][~near]
    return np.concatenate([ratios, _ratios(projection, A[left[near]], A[right[near]])]) if near.any() else ratios


def _ratios(projection: RandomMap, rows: Matrix, others: Matrix) -> Array:
    """Squared distances after, by those before, of rows to others that are not the same."""
    # The map is linear: differences are mapped themselves, so that rows far from the origin keep their digits.
    difference = rows.astype(np.float64, copy=False) - others
    difference /= max(abs(difference.max()), abs(difference.min())) or 1.0  # the ratio is the same, squares in range
    before = np.asarray((difference * difference).sum(axis=1)).ravel()
    after = (projection.scores(difference) ** 2).sum(axis=1)
    return after[before > 0] / before[before > 0]


def _check_room(k: int, shape: tuple[int, int], density: float) -> None:
    """Refuse, before anything is drawn, a matrix and scores of the measured rows that do not fit the memory budget."""
    n, d = shape
    size = 8 * k * (2 * d * density + 3 * min(MEASURED_ROWS, n))
    if not within_budget(size):
        raise ValueError(
            f"n_components={k} needs {format_bytes(size)}, over the memory budget of {format_bytes(memory_budget())}. "
            "Use fewer components, or a lower density."
        )


def _gaussian(k: int, d: int, rng: np.random.Generator) -> Array:
    R = rng.standard_normal((k, d))
    R /= np.sqrt(k)
    return R


def _signs(k: int, d: int, density: float, rng: np.random.Generator) -> Any:
    """Entries of either sign; row by row, the number of those that are not zero first, then where they are."""
    size = 1 / np.sqrt(density * k)
    if density == 1:
        return size * rng.choice([-1.0, 1.0], size=(k, d))
    counts = rng.binomial(d, density, size=k)
    columns = [np.sort(rng.choice(d, count, replace=False, shuffle=False)) for count in counts]
    starts = np.concatenate([[0], np.cumsum(counts)])
    values = size * rng.choice([-1.0, 1.0], size=int(starts[-1]))
    return sp.csr_array((values, np.concatenate(columns), starts), shape=(k, d))
