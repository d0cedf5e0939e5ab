"""A fit, with all that the pictures show of it."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression

from gramian import PCA
from gramian.charts.labels import shares_of
from gramian.explore.choice import MOST, Choice
from gramian.explore.datasets import Dataset
from gramian.explore.notes import heard
from gramian.results import Array, FitSummary, percent

#: Components of kernel CCA: each pair is dear.
PAIRS = 6
#: Seconds that a fit may take to be made while a slider moves: with the drawing, about two tenths.
QUICK = 0.05


@dataclass(frozen=True, eq=False)
class Fit:
    """What a fit gave.

    Attributes
    ----------
    scores : (n, K) array
        Of all rows, single precision; of the first view if there are two.
    second : (n, K) array or None
        Scores of the second view.
    spectrum : (S,) array
        Shares of variance in percent, or canonical correlations: what the scree plot shows.
    measure : str
        What the spectrum is.
    notes : tuple of str
        What the fit warned of.
    source : str
        File that the model came from, if it did.
    scaler : Standardizer or None
        What scaled the columns before the estimator saw them.
    """

    choice: Choice
    estimator: Any
    scores: Array
    second: Array | None
    spectrum: Array
    measure: str
    seconds: float
    notes: tuple[str, ...] = ()
    source: str = ""
    scaler: Any = None

    @property
    def size(self) -> int:
        """Components there are."""
        return self.scores.shape[1]

    def rebuilt(self, data: Dataset, rows: Array, k: int) -> Array | None:
        """Rows as k components tell them, in the units of the table; the second view of methods of pairs.

        None where there is no way back.
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
        with heard():
            try:
                found = np.asarray(self.estimator.inverse_transform(kept), dtype=np.float64)
            except (ValueError, NotImplementedError):
                return None  # kernels that are not positive have no pre-images
        return found if self.scaler is None else self.scaler.inverse_transform(found)

    @property
    def quick(self) -> bool:
        """Whether fits like this one are made while a slider moves."""
        return 0 < self.seconds < QUICK

    def summary(self, k: int) -> str:
        """What was done, said of the k components that are kept; more may have been fitted, for the spectrum."""
        whole: FitSummary = self.estimator.summary_
        if k >= self.size:
            return str(whole)
        shares = shares_of(self.estimator)
        title = [part for part in whole.title if not part.endswith((" components", " of variance"))]
        title.append(f"{k} component{'s' if k > 1 else ''}")
        if shares is not None:
            title.append(f"{percent(float(shares[:k].sum()))} of variance")
        fitted = ("fitted", f"{self.size} components at once, for the spectrum; the lines below are of all {self.size}")
        return str(FitSummary(tuple(title), (fitted, *whole.lines)))


def most_components(data: Dataset, choice: Choice) -> int:
    """Components to choose from."""
    n, d = data.X.shape
    if choice.pair:
        q = len(choice.second)
        return min(q, d - q) if choice.method == "cca" else min(PAIRS, n - 1)
    if choice.method == "kernel-pca":
        return min(MOST, n - 1)
    if choice.method == "factor-analysis":  # as many as leave degrees of freedom
        return max(1, min(MOST, int((2 * d + 1 - (8 * d + 1) ** 0.5) / 2)))
    if choice.method == "probabilistic-pca":
        return max(1, min(MOST, d - 1, n - 1))
    return min(MOST, d, n - 1)


def fit(data: Dataset, choice: Choice) -> Fit:
    """Fit what was chosen; nested methods with all components of the scree plot."""
    start = time.perf_counter()
    most = most_components(data, choice)
    k = most if choice.row.nested else min(choice.k, most)
    estimator = choice.row.estimator(**choice.arguments(data, k))
    with heard() as notes:
        if choice.pair:
            x, y = (view.values for view in data.views(choice.second))
            estimator.fit(x, y)
            first, second = (np.asarray(part, dtype=np.float32) for part in estimator.transform(x, y))
        else:
            rows = data.scaled if choice.standardizes else data.X
            first, second = np.asarray(estimator.fit_transform(rows), dtype=np.float32), None
        spectrum, measure = spectrum_of(data, choice, estimator)
    # More components than there are were asked for by us, not by whoever looks at the page.
    ours = re.compile(r"\b\d+ components or fewer")
    told = tuple(note for note in notes if choice.k > first.shape[1] or not ours.search(note))
    scaler = data.standardizer if choice.standardizes else None
    seconds = time.perf_counter() - start
    return Fit(choice, estimator, first, second, spectrum, measure, seconds, told, scaler=scaler)


def spectrum_of(data: Dataset, choice: Choice, estimator: Any) -> tuple[Array, str]:
    """What the scree plot shows, and what that is."""
    if choice.pair:
        what = "regularised correlation" if np.any(estimator.ridge) else "canonical correlation"
        return np.asarray(estimator.correlations_), what
    if choice.method == "kernel-pca":
        shares = getattr(estimator, "explained_variance_ratio_", None)
        if shares is not None:
            return 100 * np.asarray(shares), "share of variance in %"
        return np.asarray(estimator.eigenvalues_), "eigenvalue"
    linear = estimator if choice.method == "pca" else linear_fit(data, scaled=choice.scale)
    return 100 * np.asarray(linear.explained_variance_ratio_), "share of variance in %"


def linear_fit(data: Dataset, *, scaled: bool) -> PCA:
    """PCA of the columns, found once for each table: its spectrum stands beside all linear methods."""
    known: dict[bool, PCA] = data.__dict__.setdefault("_linear", {})
    if scaled not in known:
        n, d = data.X.shape
        known[scaled] = PCA(min(MOST, d, n - 1), scale=scaled).fit(data.X)
    return known[scaled]
