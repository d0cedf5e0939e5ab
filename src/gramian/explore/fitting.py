"""A fit, with all that the pictures show of it; a fit of low rank while a slider moves."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression

from gramian import PCA
from gramian.charts.names import noun_of, shares_of
from gramian.config import one_blas_thread
from gramian.explore.choice import CACHED_TABLES, MAX_COMPONENTS, Choice, most_components
from gramian.explore.datasets import Dataset
from gramian.explore.notes import collected
from gramian.kernels import Kernel
from gramian.preimage import preimage
from gramian.results import Array, FitSummary, percent, plural

#: Seconds that a fit may take to be made while a slider moves: with the drawing, about two tenths.
QUICK_FIT_SECONDS = 0.05
#: The measure of spectra that are in percent.
SHARE_OF_VARIANCE = "share of variance in %"


@dataclass(frozen=True, eq=False)
class Fit:
    """What a fit gave.

    ``scores`` (n x K, single precision) are of the first view if there are two, ``second`` those of the other;
    ``spectrum`` is what the scree plot shows and ``measure`` what that is; ``notes`` are its warnings, ``source`` the
    file that the model came from, ``scaler`` what scaled the columns before the estimator saw them.
    """

    choice: Choice
    estimator: Any
    scores: Array
    second: Array | None
    spectrum: Array
    measure: str
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    source: str = ""
    scaler: Any = None

    @property
    def size(self) -> int:
        return self.scores.shape[1]

    def rebuilt(self, data: Dataset, rows: Array, k: int) -> Array | None:
        """Rows reconstructed from k components, in the units of the table; None where there is no way back.

        For methods of two views: the second view, predicted from the first.
        """
        choice = self.choice
        if choice.pair:
            if not hasattr(self.estimator, "predict"):
                return None
            # A fit of k pairs predicts the second view by least squares on k scores of the first.
            T, y = self.scores[:, :k].astype(np.float64), data.views(choice.second)[1].values
            return LinearRegression().fit(T, y).predict(T[rows]).reshape(len(rows), -1)
        kept = self.scores[rows].astype(np.float64)
        kept[:, k:] = 0.0
        with collected():
            try:
                found = np.asarray(self.estimator.inverse_transform(kept), dtype=np.float64)
            except (ValueError, NotImplementedError):
                return None  # kernels that are not positive have no pre-images
        return found if self.scaler is None else self.scaler.inverse_transform(found)

    @property
    def quick(self) -> bool:
        """Whether fits like this one are made while a slider moves."""
        return 0 < self.seconds < QUICK_FIT_SECONDS

    def summary(self, k: int) -> str:
        """What was done, said of the k components that are kept; more may have been fitted, for the spectrum."""
        whole: FitSummary = self.estimator.summary_
        if k >= self.size:
            return str(whole)
        shares = shares_of(self.estimator)
        noun = noun_of(self.estimator)
        title = [part for part in whole.title if not part.endswith((f" {noun}s", " of variance"))]
        title.append(plural(k, noun))
        if shares is not None:
            title.append(f"{percent(float(shares[:k].sum()))} of variance")
        fitted = ("fitted", f"{self.size} {noun}s at once, for the spectrum; the lines below are of all {self.size}")
        return str(FitSummary(tuple(title), (fitted, *whole.lines)))


def fit(data: Dataset, choice: Choice) -> Fit:
    """Fit what was chosen; nested methods with all components of the scree plot."""
    start = time.perf_counter()
    most = most_components(data, choice)
    k = most if choice.row.nested else min(choice.k, most)
    estimator = choice.row.estimator(**choice.arguments(data, k))
    scaler = data.standardizer if choice.standardizes else None
    with collected() as notes:
        found = applied(data, choice, estimator, scaler, fits=True)
    # More components than there are were asked for here, not by the user of the page.
    ours = re.compile(r"\b\d+ components or fewer")
    told = tuple(note for note in notes if choice.k > found.size or not ours.search(note))
    return replace(found, notes=told, seconds=time.perf_counter() - start)


def applied(data: Dataset, choice: Choice, estimator: BaseEstimator, scaler: Any, *, fits: bool = False) -> Fit:
    """What an estimator makes of a table, after a fit to it if it ``fits``."""
    if choice.pair:
        x, y = (view.values for view in data.views(choice.second))
        scores = (estimator.fit(x, y) if fits else estimator).transform(x, y)
    else:
        rows = data.X if scaler is None else data.scaled if fits else scaler.transform(data.X)
        scores = [(estimator.fit_transform if fits else estimator.transform)(rows), None]
    first, second = (None if part is None else np.asarray(part, dtype=np.float32) for part in scores)
    assert first is not None
    return Fit(choice, estimator, first, second, *spectrum_of(data, choice, estimator), scaler=scaler)


def spectrum_of(data: Dataset, choice: Choice, estimator: BaseEstimator) -> tuple[Array, str]:
    """What the scree plot shows, and what that is."""
    if choice.pair:
        what = "regularised correlation" if np.any(estimator.ridge) else "canonical correlation"
        return np.asarray(estimator.correlations_), what
    if choice.row.has("kernel") and hasattr(estimator, "eigenvalues_"):
        shares = getattr(estimator, "explained_variance_ratio_", None)
        if shares is not None:
            return 100 * np.asarray(shares), SHARE_OF_VARIANCE
        return np.asarray(estimator.eigenvalues_), "eigenvalue"
    linear = estimator if isinstance(estimator, PCA) else linear_fit(data, scaled=choice.scale)
    return 100 * np.asarray(linear.explained_variance_ratio_), SHARE_OF_VARIANCE


@lru_cache(CACHED_TABLES)
def linear_fit(data: Dataset, *, scaled: bool) -> PCA:
    """PCA of the columns: its spectrum stands beside all linear methods."""
    n, d = data.X.shape
    return PCA(min(MAX_COMPONENTS, d, n - 1), scale=scaled).fit(data.X)


#: Rows drawn while a slider moves, and landmarks that stand for them.
PREVIEW_ROWS, PREVIEW_LANDMARKS = 5000, 128


@dataclass(frozen=True, eq=False)
class Glimpse:
    """Components of low rank: scores (p x K) of some ``rows`` of the table, and shares of the variance in percent."""

    rows: Array
    scores: Array
    shares: Array
    landmarks: Array
    kernel: Kernel
    weights: Array
    mean: Array

    def rebuilt(self, at: Array, k: int) -> Array | None:
        """Pre-images of the scores of some of ``rows``, on k components."""
        if not self.kernel.positive_definite:
            return None
        points = self.scores[at, :k].astype(np.float64)
        vectors = np.column_stack([self.weights[:, :k], self.mean])
        coordinates = np.column_stack([points, np.ones(len(points))])
        return preimage(self.kernel, self.landmarks, vectors, coordinates=coordinates, method="fixed_point").points


class Glimpses:
    """Low-rank kernel PCA of one table for many kernels.

    Cost
    ----
    Distances once for each measure: p x m. Then p x m similarities and 2 p m^2 multiplications for each kernel.
    """

    def __init__(self, X: Array) -> None:
        n = len(X)
        self.rows = np.arange(n) if n <= PREVIEW_ROWS else np.linspace(0, n - 1, PREVIEW_ROWS).astype(int)
        p = len(self.rows)
        chosen = np.sort(np.random.default_rng(0).choice(p, min(PREVIEW_LANDMARKS, p), replace=False))
        self.X = X[self.rows]
        self.Z = self.X[chosen]
        self._measures: dict[Any, tuple[Array, Array]] = {}
        self._lock = threading.Lock()

    def glimpse(self, kernel: Kernel) -> Glimpse:
        """Components for a kernel whose parameters are numbers."""
        with one_blas_thread():
            A, B = self._similarities(kernel)
            values, U = np.linalg.eigh(B.astype(np.float64))
            kept = values > 1e-6 * values.max()
            to_features = U[:, kept] / np.sqrt(values[kept])
            F = A @ to_features.astype(np.float32)
            mean = F.mean(axis=0)
            F -= mean
            scatter = (F.T @ F).astype(np.float64)
            r = len(scatter)
            k = min(MAX_COMPONENTS, r)
            variances, V = scipy.linalg.eigh(scatter, subset_by_index=[r - k, r - 1])
            variances, V = variances[::-1], V[:, ::-1]
            scores = F @ V.astype(np.float32)
            total = float(kernel.diagonal(self.X).sum() - len(F) * (mean.astype(np.float64) @ mean))
            weights = to_features @ V
            centre = to_features @ mean.astype(np.float64)
        return Glimpse(self.rows, scores, 100 * variances / total, self.Z, kernel, weights, centre)

    def _similarities(self, kernel: Kernel) -> tuple[Array, Array]:
        if kernel.split is None:
            return kernel(self.X, self.Z).astype(np.float32), kernel(self.Z, self.Z).astype(np.float32)
        measure, value = kernel.split
        with self._lock:
            name = measure.func if isinstance(measure, partial) else measure
            if name not in self._measures:
                self._measures[name] = self._measured(measure, self.X), self._measured(measure, self.Z)
            far, near = self._measures[name]
        return value(far), value(near)

    def _measured(self, measure: Callable[[Array, Array], Any], X: Array) -> Array:
        n, m = len(X), len(self.Z)
        return measure(X, self.Z).tile(slice(0, n), slice(0, m), np.empty((n, m))).astype(np.float32)


@lru_cache(CACHED_TABLES)
def glimpses_of(data: Dataset, *, scaled: bool) -> Glimpses:
    """Glimpses of a dataset, made when first asked for."""
    return Glimpses(data.scaled if scaled else data.X)
