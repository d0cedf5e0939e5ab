"""From two tables to compressed rows: what every fit of two blocks of columns begins with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian.estimators.probabilistic_pca import ProbabilisticPCA
from gramian.estimators.targets import Targets, check_targets
from gramian.estimators.validation import check_choice, check_finite, check_weights, validate
from gramian.operators import Compressed, Moments, compress, moments_of
from gramian.operators.compressed import from_moments
from gramian.results import Array

#: Columns up to which moments are kept after a fit, so that ``partial_fit`` may go on from it.
KEPT_COLUMNS = 2_000


@dataclass(frozen=True)
class Blocks:
    """Two views, compressed, and what is remembered of how they came.

    ``X`` and ``Y`` are the rows, missing entries expected; None if only moments are known.
    """

    views: Compressed
    shape: tuple[int, int]
    dtype: Any
    X: Any = None
    Y: Any = None
    weights: Array | None = None
    single: bool = False
    gaps: int = 0
    filler: Filler | None = None

    @property
    def limit(self) -> int:
        """Most components there can be."""
        rows = self.shape[0] if self.weights is None else int((self.weights > 0).sum())
        return max(1, min(self.views.d, rows - 1))

    def scaled(self, scale_x: bool, scale_y: bool) -> Scaled:
        """The two compressed views, divided by the standard deviations of their columns where asked."""
        views, d = self.views, self.views.d
        deviations = views.deviations()
        chosen = np.concatenate([np.full(d, scale_x), np.full(len(deviations) - d, scale_y)])
        scale = np.where(chosen, deviations, 1.0)
        rows, scale = views.rows / scale, scale * views.units
        return Scaled(rows[:, :d], rows[:, d:], views.mean[:d], views.mean[d:], scale[:d], scale[d:], views.weight)

    def moments(self) -> Moments | None:
        """Moments for ``partial_fit`` to go on from; None where they would be large, or hold expected entries."""
        views = self.views
        if self.gaps or len(views.mean) > KEPT_COLUMNS:
            return None
        scatter = views.rows.T @ views.rows * np.outer(views.units, views.units)
        return Moments(views.weight, views.mean, scatter)


@dataclass(frozen=True)
class Scaled:
    """Compressed rows of two views in the units a method works in, and the way back."""

    A: Array
    B: Array
    x_mean: Array
    y_mean: Array
    x_scale: Array
    y_scale: Array
    weight: float

    def original(self, coefficients: Array) -> tuple[Array, Array]:
        """Coefficients (..., d, q) of scaled columns as those of the original ones (..., q, d), with intercepts."""
        coef = np.swapaxes(coefficients * self.y_scale / self.x_scale[:, None], -1, -2)
        return coef, self.y_mean - coef @ self.x_mean


class Filler:
    """A Gaussian model of both blocks, with which missing entries are expected."""

    def __init__(self, Z: Array, d: int, weights: Array | None) -> None:
        self.d = d
        with np.errstate(invalid="ignore"):
            spread = np.nanstd(Z, axis=0)
        self.scale = np.where(np.isfinite(spread) & (spread > 0), spread, 1.0)
        n, columns = Z.shape
        # One less than the columns is a Gaussian without restriction; few rows cannot support as many directions.
        self.model = ProbabilisticPCA(max(1, min(columns - 1, n // 3)), missing="em", tol=1e-9)
        expected = self.model.fit_expectation(Z / self.scale, weights)
        self.filled = expected.filled * self.scale
        found = expected.moments
        self.moments = Moments(
            found.weight,
            found.pilot * self.scale,
            found.scatter * np.outer(self.scale, self.scale),
            found.offset * self.scale,
        )

    def fill(self, X: Array) -> Array:
        """Rows of the first block with their missing entries expected."""
        nothing = np.full((len(X), len(self.scale) - self.d), np.nan)
        Z = np.hstack([X.astype(np.float64), nothing]) / self.scale
        return (self.model.fill(Z) * self.scale)[:, : self.d].astype(X.dtype, copy=False)


def gather(estimator: Any, X: Any, Y: Any, sample_weight: Any, *, name: str = "y") -> Blocks:
    """Check both blocks, expect what is missing if that is wanted, and compress them."""
    X = read_rows(estimator, X, min_samples=2)
    targets = read_targets(Y, X.shape[0], name, missing=estimator.missing is not None)
    weights = check_weights(sample_weight, X.shape[0])
    shape, values = X.shape, targets.values
    if estimator.missing and (gaps := int(np.isnan(X).sum() + np.isnan(values).sum())):
        filler = Filler(np.hstack([X.astype(np.float64), values]), X.shape[1], weights)
        views = from_moments(filler.moments, X.shape[1])
        X, values = filler.filled[:, : filler.d].astype(X.dtype), filler.filled[:, filler.d :]
        return Blocks(views, shape, X.dtype, X, values, weights, targets.single, gaps, filler)  # type: ignore[arg-type]
    return Blocks(compress(X, values, weights), shape, X.dtype, X, values, weights, targets.single)


def gather_more(estimator: Any, X: Any, Y: Any, sample_weight: Any, *, name: str = "y") -> Blocks | None:
    """Add rows to those an estimator has seen; None while there are too few to fit anything."""
    seen: Moments | None = getattr(estimator, "moments_", None)
    if seen is None and hasattr(estimator, "summary_"):
        raise ValueError(
            "partial_fit cannot go on from this fit, of which no moments were kept (missing entries, or many columns). "
            "Give all rows to partial_fit, or clone the estimator to begin anew."
        )
    X = validate(estimator, X, reset=seen is None)
    targets = check_targets(Y, X.shape[0], name=name)
    new = moments_of(X, check_weights(sample_weight, X.shape[0], total=0.0), beside=targets.values)
    if seen is not None and seen.d != new.d:
        q = seen.d - X.shape[1]
        raise ValueError(f"{name} has {new.d - X.shape[1]} columns; the rows before had {q}.")
    estimator.moments_ = total = new if seen is None else seen + new
    if total.weight <= 1:
        return None
    views = from_moments(total, X.shape[1])
    shape = int(np.ceil(total.weight)), X.shape[1]
    return Blocks(views, shape, X.dtype, single=targets.single)  # type: ignore[arg-type]


def read_rows(estimator: Any, X: Any, *, reset: bool = True, min_samples: int = 1) -> Any:
    """Check the first block; NaN pass if the estimator expects missing entries."""
    check_choice("missing", estimator.missing, (None, "em"))
    welcome = estimator.missing is not None
    return validate(estimator, X, reset=reset, sparse=not welcome, min_samples=min_samples, missing=welcome)


def complete_rows(estimator: Any, X: Any) -> Any:
    """Check new rows of the first block; expect what they lack under the model of the fit."""
    X = read_rows(estimator, X, reset=False)
    if estimator.missing and np.isnan(X).any():
        if estimator.filler_ is None:  # nothing was missing at fit: there is no model to expect from
            check_finite(X, estimator)
        return estimator.filler_.fill(X)
    return X


def read_targets(Y: Any, n: int, name: str, *, missing: bool = False) -> Targets:
    """Check the second block; a sparse second view (``name="Y"``) keeps its zeros."""
    if not (sp.issparse(Y) and name == "Y" and not missing):
        return check_targets(Y, n, name=name, missing=missing)
    if Y.shape[0] != n:
        raise ValueError(f"X has {n} rows and {name} has {Y.shape[0]}; they must have the same number.")
    rows = Y.tocsr().astype(np.float64)
    check_targets(rows.data, rows.nnz, name=name)
    return Targets(rows, single=False)
