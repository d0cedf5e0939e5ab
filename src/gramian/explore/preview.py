"""Pictures while a slider moves: few landmarks, distances that are kept, single precision."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg

from gramian.config import one_blas_thread
from gramian.explore.choice import MOST
from gramian.explore.datasets import Dataset
from gramian.kernels import Kernel
from gramian.preimage import preimage
from gramian.results import Array

#: Rows drawn while a slider moves, and landmarks that stand for them.
ROWS, LANDMARKS = 5000, 128
#: Tables of which distances are kept.
KEPT = 8


@dataclass(frozen=True, eq=False)
class Glimpse:
    """Components of low rank.

    Attributes
    ----------
    rows : (p,) array
        Which rows of the table.
    scores : (p, K) array
    shares : (K,) array
        Of the variance, in percent.
    """

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
        self.rows = np.arange(n) if n <= ROWS else np.linspace(0, n - 1, ROWS).astype(int)
        chosen = np.sort(np.random.default_rng(0).choice(len(self.rows), min(LANDMARKS, len(self.rows)), replace=False))
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
            k = min(MOST, r)
            variances, V = scipy.linalg.eigh(scatter, subset_by_index=[r - k, r - 1])
            variances, V = variances[::-1], V[:, ::-1]
            scores = F @ V.astype(np.float32)
            total = float(kernel.diagonal(self.X).sum() - len(F) * (mean.astype(np.float64) @ mean))
            weights = to_features @ V
            centre = to_features @ mean.astype(np.float64)
        return Glimpse(self.rows, scores, 100 * variances / total, self.Z, kernel, weights, centre)

    def _similarities(self, kernel: Kernel) -> tuple[Array, Array]:
        """Similarities of the rows to the landmarks, and among those."""
        if kernel.split is None:
            return kernel(self.X, self.Z).astype(np.float32), kernel(self.Z, self.Z).astype(np.float32)
        measure, value = kernel.split
        with self._lock:
            name = measure.func if isinstance(measure, partial) else measure
            if name not in self._measures:
                self._measures[name] = self._measured(measure, self.X), self._measured(measure, self.Z)
            far, near = self._measures[name]
        return value(far), value(near)

    def _measured(self, measure: Any, X: Array) -> Array:
        n, m = len(X), len(self.Z)
        return measure(X, self.Z).tile(slice(0, n), slice(0, m), np.empty((n, m))).astype(np.float32)


class GlimpseCache:
    """Glimpses of the tables used last."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[int, bool], Glimpses] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, data: Dataset, *, scaled: bool) -> Glimpses:
        """Glimpses of a dataset, made when first asked for."""
        key = (data.serial, scaled)
        with self._lock:
            if key not in self._known:
                self._known[key] = Glimpses(data.scaled if scaled else data.X)
            self._known.move_to_end(key)
            while len(self._known) > KEPT:
                self._known.popitem(last=False)
            return self._known[key]
