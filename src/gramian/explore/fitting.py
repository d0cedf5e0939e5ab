"""A fit, with all that the pictures show of it; a fit of low rank while a slider moves."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from gramian import PCA
from gramian.charts import CVCurve, NoChart, Predicted, Regions, cv_curve, predicted, regions
from gramian.charts.names import label_of, noun_of, shares_of
from gramian.config import one_blas_thread
from gramian.construction import steps_of
from gramian.estimators.labels import component_names
from gramian.estimators.result_tables import ResultTable, ResultTables
from gramian.estimators.table_maker import TableMaker
from gramian.explore.choice import CACHED_TABLES, MAX_COMPONENTS, Choice, most_components
from gramian.explore.datasets import Dataset
from gramian.explore.notes import collected
from gramian.kernels import Kernel
from gramian.preimage import preimage
from gramian.results import Array, FitSummary, percent, plural

#: Seconds that a fit may take to be made while a slider moves: with the drawing, about two tenths.
QUICK_FIT_SECONDS = 0.05
#: The measures of spectra that are in percent, and of errors for each number of components.
SHARE_OF_VARIANCE, ERRORS = "share of variance in %", "RMSECV"
NO_ROWS = np.empty(0, dtype=int)


@dataclass(frozen=True, eq=False)
class Fit:
    """What a fit gave.

    ``scores`` (n x K, single precision) are of the first view if there are two, ``second`` those of the other; of
    methods without scores places on a map of the rows. ``titles`` are those of the axes, ``spectrum`` is what the scree
    plot shows (None if nothing) and ``measure`` what that is; ``notes`` are its warnings, ``source`` the file that the
    model came from, ``made`` its tables, with the rows.
    """

    choice: Choice
    estimator: Any
    scores: Array
    second: Array | None
    titles: list[str]
    spectrum: Array | None
    measure: str
    made: TableMaker
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    source: str = ""

    @property
    def size(self) -> int:
        """Components that there are to choose from."""
        return self.scores.shape[1] if self.spectrum is None else len(self.spectrum)

    @property
    def score_names(self) -> list[str]:
        """Names of the scores of a row, of both views if there are two; none of a map."""
        names = [] if self.choice.maps else list(component_names(self.estimator, self.scores.shape[1]))
        return names if self.second is None else [f"{view}_{name}" for view in "xy" for name in names]

    @cached_property
    def tables(self) -> ResultTables:
        """What was found, as tables."""
        return self.made.tables()

    @cached_property
    def guesses(self) -> Array | None:
        """What is predicted of each row: numbers, classes or clusters."""
        if not (self.choice.predicts or self.choice.row.clusters):
            return None
        found = np.asarray(self.made.model.predict(self.made.X))
        return found.astype(object) if found.dtype.kind == "U" else found

    @cached_property
    def wrong(self) -> Array:
        """Rows whose class is predicted wrongly, when they are left out if that is known."""
        if self.choice.row.needs != "label":
            return NO_ROWS
        guesses = self.made.left_out_classes if self.left_out else self.guesses
        return np.flatnonzero(guesses != np.asarray(self.made.y).astype(object))

    @property
    def left_out(self) -> bool:
        """Whether predictions of classes are of rows left out."""
        return "cross-validation" in self.tables

    @property
    def confusion(self) -> ResultTable:
        """True classes against predicted ones."""
        found: ResultTable = self.tables["cross-validation" if self.left_out else "confusion"]
        return found

    @cached_property
    def predicted(self) -> Predicted | None:
        """Predictions of numbers against what was measured, of rows left out if that is known."""
        if self.choice.row.needs != "target":
            return None
        rows = (self.made.model, self.made.X, self.made.y)
        try:
            return predicted(*rows, left_out=True, names=self.made.row_names)
        except NoChart:
            return predicted(*rows, names=self.made.row_names)

    @cached_property
    def curve(self) -> CVCurve | None:
        """Errors of rows left out over ridges, of a method that has them and not too many rows."""
        most = self.choice.row.refits_max_rows
        if not self.choice.predicts or self.spectrum is not None or len(self.made.X) > (most or 0):
            return None
        try:
            return cv_curve(self.made.model, self.made.X, self.made.y)
        except (NoChart, ValueError):  # landmarks leave no row out
            return None

    @cached_property
    def regions(self) -> Regions | None:
        """Classes or clusters over the plane of two columns."""
        flat = self.scores.shape[1] == 2 == np.shape(self.made.X)[1]
        if not (flat and self.choice.maps and self.choice.row.needs != "target"):
            return None
        return regions(self.made.model, self.made.X, self.made.y)

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
        if choice.maps or not hasattr(self.estimator, "inverse_transform"):
            return None
        kept = self.scores[rows].astype(np.float64)
        kept[:, k:] = 0.0
        with collected():
            try:
                found = np.asarray(self.estimator.inverse_transform(kept), dtype=np.float64)
            except (ValueError, NotImplementedError):
                return None  # kernels that are not positive have no pre-images
        steps = steps_of(self.made.model)
        return found if len(steps) == 1 else steps[0].inverse_transform(found)

    @property
    def quick(self) -> bool:
        """Whether fits like this one are made while a slider moves."""
        return 0 < self.seconds < QUICK_FIT_SECONDS

    def summary(self, k: int) -> str:
        """What was done, said of the k components that are kept; more may have been fitted, for the spectrum."""
        whole: FitSummary = self.estimator.summary_
        if k >= self.size or not self.choice.row.nested:
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
    X, y = choice.inputs(data)
    estimator = choice.row.estimator(**choice.arguments(data, k))
    seen = choice.seen(data)
    with collected() as notes:
        estimator.fit(*((seen.scaled if choice.standardizes else X), *(() if y is None else (y,))))
        model = make_pipeline(seen.standardizer, estimator) if choice.standardizes else estimator
        found = applied(data, choice, model)
        for part in ("wrong", "predicted", "curve", "regions"):
            getattr(found, part)  # in the worker, where it can be cancelled; pictures take them from there
    # More components than there are were asked for here, not by the user of the page.
    ours = re.compile(r"\b\d+ components or fewer")
    told = tuple(note for note in notes if choice.k > found.scores.shape[1] or not ours.search(note))
    return replace(found, notes=told, seconds=time.perf_counter() - start)


def applied(data: Dataset, choice: Choice, model: Any) -> Fit:
    """What a fitted model makes of a table."""
    X, y = choice.inputs(data)
    seen, estimator = choice.seen(data), steps_of(model)[-1]
    second, columns = None, [name for name in data.table.columns if name not in choice.taken]
    if choice.pair:
        scores, second = model.transform(X, y)
    else:
        scores = map_of(seen, scaled=choice.scale) if choice.maps else model.transform(X)
    labels = [] if choice.maps else [label_of(estimator, at) for at in range(scores.shape[1])]
    titles = labels or map_titles(seen, scaled=choice.scale)
    first, other = (None if part is None else np.asarray(part, dtype=np.float32) for part in (scores, second))
    assert first is not None
    made = TableMaker(model, X, y, columns, choice.taken or None, data.names)
    return Fit(choice, estimator, first, other, titles, *spectrum_of(data, choice, estimator), made)


def spectrum_of(data: Dataset, choice: Choice, estimator: BaseEstimator) -> tuple[Array | None, str]:
    """What the scree plot shows, and what that is."""
    if choice.pair:
        if not hasattr(estimator, "correlations_"):
            return np.asarray(estimator.covariances_), "covariance"
        what = "regularised correlation" if np.any(getattr(estimator, "ridge", 0.0)) else "canonical correlation"
        return np.asarray(estimator.correlations_), what
    if hasattr(estimator, "cross_validate"):
        return errors_by_size(data, replace(choice, k=most_components(data, choice))), ERRORS
    if choice.maps:
        return None, ""
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


@lru_cache(CACHED_TABLES)
def errors_by_size(data: Dataset, choice: Choice) -> Array:
    """Errors of rows left out for each number of components."""
    model = choice.row.estimator(**choice.arguments(data))
    return np.asarray(model.cross_validate(*choice.inputs(data)).rmsecv[1:, 0])


def map_of(data: Dataset, *, scaled: bool) -> Array:
    """Places of rows where a method has no scores: the plane of two columns, principal components of more."""
    return data.X if data.X.shape[1] == 2 else linear_fit(data, scaled=scaled).transform(data.X)


def map_titles(data: Dataset, *, scaled: bool) -> list[str]:
    """Names of the axes of the map."""
    if data.X.shape[1] == 2:
        return list(data.table.columns)
    linear = linear_fit(data, scaled=scaled)
    return [f"principal {label_of(linear, at)}" for at in range(len(linear.explained_variance_ratio_))]


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
