"""From two tables to compressed rows: what every fit of two blocks of columns begins with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from gramian.estimators.base import ComputesOnRead, as_fitted, on_read
from gramian.estimators.fit_rows import FitRows, read, seen_moments
from gramian.estimators.probabilistic_pca import ProbabilisticPCA
from gramian.estimators.validation import Table, check_finite, check_targets, check_weights, validate
from gramian.operators import Compressed, Moments, moments_of
from gramian.operators.compressed import from_moments
from gramian.operators.moments import has_variance, row_count
from gramian.results import Array, Matrix
from gramian.spaces.gaussian import check_observed, observed_means

#: Columns up to which moments are kept after a fit, so that ``partial_fit`` may go on from it.
MOMENTS_MAX_COLUMNS = 2_000


class Kept(NamedTuple):
    """Compressed rows of a fit, and whether its columns of X and of Y were divided by their deviations."""

    views: Compressed
    scaling: tuple[bool, bool]

    def scaled(self) -> Scaled:
        """The two views in the units of the fit."""
        return scale_views(self.views, *self.scaling)

    def moments(self) -> Moments | None:
        """Moments for ``partial_fit`` to go on from; None where they would be large."""
        views = self.views
        if len(views.mean) > MOMENTS_MAX_COLUMNS or (views.units != 1).any():
            return None
        return Moments(views.weight, views.mean, views.rows.T @ views.rows)


class BlockInput(ComputesOnRead):
    """What estimators of two blocks tell scikit-learn of their input, and when they count as fitted."""

    missing: str | None
    n_features_in_: int
    filler_: Filler | None
    n_components: Any
    _kept_parameters: ClassVar[tuple[str, ...]] = ("missing",)
    #: Whether a component takes a few products with the rows, rather than a decomposition of all of them.
    _takes_products: ClassVar[bool] = False
    #: Whether directions of every size count, and no noise can show how many digits of them moments have.
    _inverts: ClassVar[bool] = False

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "summary_")  # moments of a first row alone are no fit

    def _products(self, d: int) -> float:
        """Components that each take a few products with rows of d columns; infinite if the method needs more."""
        k = d if self.n_components is None else self.n_components
        return float(k) if self._takes_products and isinstance(k, (int, np.integer)) else np.inf

    @property
    def _imputes(self) -> bool:
        return as_fitted(self, "missing") is not None and self.filler_ is not None

    @on_read
    def moments_(self, kept: Kept) -> Moments | None:
        """Moments of all rows, for ``partial_fit``."""
        return kept.moments()

    def _keep_blocks(self, blocks: Blocks, scaling: tuple[bool, bool]) -> None:
        """Keep what attributes are computed from when they are read; at once where that takes much room."""
        self.n_samples_, self._single, self.filler_ = blocks.views.weight, blocks.single, blocks.filler
        self._kept = Kept(blocks.views, scaling)
        for name in self._on_read():
            if name != "moments_" or blocks.X is not None:  # otherwise they came with moments, which are there already
                vars(self).pop(name, None)
        wide = len(blocks.views.mean) > MOMENTS_MAX_COLUMNS
        if blocks.gaps or (wide and blocks.X is not None):  # imputed entries are not to be gone on from
            self.moments_ = None
        if blocks.views.rows.nbytes > 8 * MOMENTS_MAX_COLUMNS**2 or all(name in vars(self) for name in self._on_read()):
            self._complete()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = self.missing is None
        tags.input_tags.allow_nan = self.missing is not None
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


@dataclass(frozen=True)
class Blocks:
    """Two views, compressed, and what is remembered of how they came.

    ``X`` and ``Y`` are the rows, missing entries imputed; None if only moments are known. ``exact`` gives views that
    lost nothing by squaring, where those that are there may have: see :func:`doubled`.
    """

    views: Compressed
    shape: tuple[int, int]
    X: Any = None
    Y: Any = None
    weights: Array | None = None
    single: bool = False
    gaps: int = 0
    filler: Filler | None = None
    exact: Callable[[], Compressed] | None = None

    def settled(self) -> Blocks:
        """The same with views that lost nothing by squaring."""
        return self if self.exact is None else replace(self, views=self.exact(), exact=None)

    @property
    def limit(self) -> int:
        """Most components there can be."""
        rows = self.shape[0] if self.weights is None else int((self.weights > 0).sum())
        return max(1, min(self.views.d, rows - 1))

    def scaled(self, scale_x: bool, scale_y: bool) -> Scaled:
        """The two compressed views in the units a method works in."""
        return scale_views(self.views, scale_x, scale_y)


@dataclass(frozen=True)
class Scaled:
    """Compressed rows of two views in the units a method works in, and the way back.

    A column of X is one of A times ``x_scale`` (a standard deviation, or 1) times ``x_unit`` (a power of two for
    extreme data, or 1). ``x_blur`` says how much coarser than its spread a column is known: rows at 1,000 with a spread
    of 1 have three digits less to tell directions apart with.
    """

    A: Array
    B: Array
    x_mean: Array
    y_mean: Array
    x_scale: Array
    y_scale: Array
    x_unit: float
    y_unit: float
    x_blur: float
    y_blur: float
    weight: float

    def original(self, coefficients: Array) -> tuple[Array, Array]:
        """Coefficients (..., d, q) of scaled columns as those of the original ones (..., q, d), with intercepts."""
        ratio = self.y_unit / self.x_unit
        coef = np.swapaxes(coefficients * (self.y_scale * ratio) / self.x_scale[:, None], -1, -2)
        return coef, self.y_mean - coef @ self.x_mean


def scale_views(views: Compressed, scale_x: bool, scale_y: bool) -> Scaled:
    """The two compressed views, or stacks of them, divided by the standard deviations of their columns where asked."""
    d, deviations = views.d, views.deviations()
    blur = 1 + np.abs(views.mean / views.units / deviations)
    number: Any = float if views.rows.ndim == 2 else np.asarray
    sides: list[Any] = []
    for part, scale in ((np.s_[..., :d], scale_x), (np.s_[..., d:], scale_y)):
        units = views.units[part]
        # Where columns keep their sizes, they share a unit.
        common = np.ones(units.shape[:-1]) if scale else units.max(axis=-1)
        with np.errstate(over="ignore"):
            lengths = deviations[part] if scale else common[..., None] / units
        if not np.isfinite(lengths).all():
            raise ValueError(
                f"columns of {'XY'[len(sides)]} differ in size by more than double precision spans. Use scale=True, or "
                "divide them by constants."
            )
        if (lengths * units < np.finfo(np.float64).tiny).any():
            raise ValueError(f"columns of {'XY'[len(sides)]} vary by less than 2.2e-308. Multiply them by a constant.")
        rows = views.rows[part] / (lengths if lengths.ndim == 1 else lengths[:, None, :])
        sides.append((rows, lengths * units / common[..., None], number(common), number(blur[part].max(axis=-1))))
    (A, x_scale, x_unit, x_blur), (B, y_scale, y_unit, y_blur) = sides
    x_mean, y_mean = views.mean[..., :d], views.mean[..., d:]
    return Scaled(A, B, x_mean, y_mean, x_scale, y_scale, x_unit, y_unit, x_blur, y_blur, views.weight)


#: Squares that noise adds to those of a column, of 1: ten thousand roundings, and little enough to count as small.
NOISE = 1e-11
#: Rows of noise: one may by chance be at right angles to what matters.
NOISE_ROWS = 4
#: Change of an answer by noise up to which it has ten digits: rounding of the scatter, 1e-15, does 1e-4 of it.
NOISE_MAX_CHANGE = 1e-7


def doubled(scaled: Scaled) -> tuple[Array, Array]:
    """Both views twice, as a stack: as they are, and with some rows of noise.

    Rounding of a scatter matrix is what such rows change in it, ten thousand times smaller. A method that solves both
    sees how much of its answer is rounding, whatever the way from one to the other.
    """
    rng, sides = np.random.default_rng(0), []
    for M in (scaled.A, scaled.B):
        both = np.zeros((2, len(M) + NOISE_ROWS, M.shape[1]))
        both[:, : len(M)] = M
        size = np.sqrt(NOISE / NOISE_ROWS * np.einsum("ij,ij->j", M, M))
        both[1, len(M) :] = rng.standard_normal((NOISE_ROWS, M.shape[1])) * size
        sides.append(both)
    return sides[0], sides[1]


def is_settled(found: Iterable[Array], other: Iterable[Array]) -> bool:
    """Whether noise changed the columns of some arrays, or the entries of vectors, in their last digits only."""
    for a, b in zip(found, other, strict=True):
        if a.shape != b.shape or not np.isfinite(b).all():
            return False
        change, size = (np.abs(each) if a.ndim == 1 else np.abs(each).max(axis=0, initial=0.0) for each in (a - b, a))
        if (change > NOISE_MAX_CHANGE * size).any():
            return False
    return True


class Filler:
    """A Gaussian model of both blocks, with which missing entries are imputed."""

    def __init__(self, Z: Array, d: int, weights: Array | None) -> None:
        self.d, self.mean = d, observed_means(Z, weights)
        self.model: ProbabilisticPCA | None = None
        spread = np.nanstd(Z, axis=0)
        self.live = spread > 10 * np.finfo(np.float64).eps * np.abs(self.mean)
        self.scale = spread[self.live]
        self.filled = np.where(np.isnan(Z), self.mean, Z)
        self.moments = moments_of(self.filled, weights)
        if self.live.any():
            self._expect(Z, weights)

    def _expect(self, Z: Array, weights: Array | None) -> None:
        """Fit the model to the columns that vary; those that do not are known."""
        live, rows = self.live, Z[:, self.live] / self.scale
        # One less than the columns is a Gaussian without restriction; few rows cannot support as many directions, and
        # columns that depend on others leave no noise to them.
        failure: ValueError | None = None
        for k in range(min(rows.shape[1] - 1, max(1, len(Z) // 3)), 0, -1):
            model = ProbabilisticPCA(k, missing="em", tol=1e-9)
            try:
                expected = model.fit_expectation(rows, weights)
            except ValueError as error:
                failure = error
                continue
            self.model = model
            self.filled[:, live] = expected.filled * self.scale
            found, whole = expected.moments, self.moments
            pilot, offset, scatter = whole.mean.copy(), np.zeros(len(live)), np.zeros_like(whole.scatter)
            pilot[live], offset[live] = found.pilot * self.scale, found.offset * self.scale
            scatter[np.ix_(live, live)] = found.scatter * np.outer(self.scale, self.scale)
            self.moments = Moments(found.weight, pilot, scatter, offset)
            return
        if failure is not None:
            raise ValueError(
                "missing entries cannot be imputed: the columns that vary repeat one another. Drop the copies."
            ) from failure

    def fill(self, X: Array) -> Array:
        """Rows of the first block with their missing entries imputed."""
        nothing = np.full((len(X), len(self.live) - self.d), np.nan)
        return self._expected(np.hstack([X, nothing]))[:, : self.d].astype(X.dtype, copy=False)

    def fill_second(self, Y: Array) -> Array:
        """Rows of the second block with their missing entries imputed."""
        return self._expected(np.hstack([np.full((len(Y), self.d), np.nan), Y]))[:, self.d :]

    def _expected(self, Z: Array) -> Array:
        Z = Z.astype(np.float64)
        if self.model is not None:
            Z[:, self.live] = self.model.fill(Z[:, self.live] / self.scale) * self.scale
        return np.where(np.isnan(Z), self.mean, Z)


def read_blocks(
    estimator: BlockInput, X: Table, Y: Table | None, sample_weight: Table | None, *, name: str = "y"
) -> FitRows:
    """Check both blocks."""

    def loses(moments: Moments) -> bool:
        return from_moments(moments, estimator.n_features_in_, careful=True) is None

    return read(estimator, X, sample_weight, Y, name=name, loses=loses)


def gather(estimator: BlockInput, rows: FitRows, *, name: str = "y") -> Blocks:
    """Impute what is missing if the estimator does that, and compress both blocks."""
    if rows.gaps:
        check_observed(rows.X, "X", rows=False)
        check_observed(rows.Y, name, rows=False)
        filler = Filler(np.hstack([rows.X.astype(np.float64), rows.Y]), rows.d, rows.weights)
        views = from_moments(filler.moments, rows.d)
        X, Y = filler.filled[:, : rows.d].astype(rows.dtype), filler.filled[:, rows.d :]
        return Blocks(views, rows.shape, X, Y, rows.weights, rows.single, rows.gaps, filler)  # type: ignore[arg-type]
    views, exact = rows.compressed(estimator._products(rows.d), inverts=estimator._inverts), None
    if views is None and not estimator._inverts:
        views, exact = rows.near(), rows.exact
    if views is None:
        views, exact = rows.exact(), None
    blocks = Blocks(views, rows.shape, rows.X, rows.Y, rows.weights, rows.single, exact=exact)
    if rows.X is None:
        estimator.moments_ = Kept(blocks.views, (False, False)).moments()
    return blocks


def gather_more(
    estimator: BaseEstimator, X: Table, Y: Table, sample_weight: Table | None, *, name: str = "y"
) -> Blocks | None:
    """Add rows to those an estimator has seen; None while there are too few to fit anything."""
    seen = seen_moments(estimator)
    X = validate(estimator, X, reset=seen is None, more=True)
    targets = check_targets(Y, X.shape[0], name=name)
    new = moments_of(X, check_weights(sample_weight, X.shape[0], variance=False), beside=targets.values)
    if not np.isfinite(new.scatter).all() or any(_vanishes(view) for view in (X, targets.values)):
        raise ValueError(
            f"squares of the columns of X or {name} leave double precision, and partial_fit keeps nothing but squares. "
            "Divide the columns by constants, or use fit."
        )
    if seen is not None and seen.d != new.d:
        q = seen.d - X.shape[1]
        raise ValueError(f"{name} has {new.d - X.shape[1]} columns; the rows before had {q}.")
    estimator.moments_ = total = new if seen is None else seen + new
    if not has_variance(total.weight):
        return None
    views = from_moments(total, X.shape[1])
    shape = row_count(total.weight), X.shape[1]
    return Blocks(views, shape, single=targets.single)  # type: ignore[arg-type]


def _vanishes(view: Matrix) -> bool:
    """Whether a column is so small that its squares have lost digits, or are zero."""
    largest = abs(view).max(axis=0)
    largest = np.asarray(largest.todense()).ravel() if sp.issparse(largest) else largest
    return bool(((largest > 0) & (largest < 1e-150)).any())


def complete_rows(estimator: BaseEstimator, X: Table) -> Any:
    """Check new rows of the first block; impute what they lack under the model of the fit."""
    welcome = as_fitted(estimator, "missing") is not None
    X = validate(estimator, X, reset=False, sparse=not welcome, missing=welcome)
    if welcome and np.isnan(X).any():
        if estimator.filler_ is None:  # nothing was missing at fit: there is no model to impute from
            check_finite(X, estimator, fitted=True)
        return estimator.filler_.fill(X)
    return X
