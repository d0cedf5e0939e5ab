"""Tables with a known number of components, and what the criteria say of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product

import numpy as np

from gramian import criteria
from gramian.criteria import Suggestion, Variances
from gramian.criteria.noise_edge import noise_edge
from gramian.criteria.random_tables import component_limits, correlation_of, reduced
from gramian.operators import Moments, moments_of
from gramian.results import Array
from gramian.spaces import MomentSpace

FOLDS = 6
ROWS, COLUMNS, NOISES = (60, 200, 1000), (10, 30, 80), ("equal", "unequal")
#: Components that are there, and their variance in units of the least that can be found in infinite tables.
SIGNALS = ((0, 0.0), (1, 4.0), (3, 4.0), (3, 10.0), (5, 30.0))
#: The same for factors: rows, columns, and the number of factors with their mean loading.
FACTOR_ROWS, FACTOR_COLUMNS, FACTORS = (100, 400), (9, 18), ((0, 0.0), (1, 0.5), (1, 0.7), (3, 0.5), (3, 0.7))


@dataclass(frozen=True)
class Cell:
    """One kind of table."""

    model: str
    n: int
    d: int
    noise: str
    k: int
    strength: float
    role: str

    def draw(self, rng: np.random.Generator) -> Array:
        """A table with k components."""
        return self._factors(rng) if self.model == "factor-analysis" else self._spikes(rng)

    def _spikes(self, rng: np.random.Generator) -> Array:
        """Components in random directions, the first twice as large as the last; noise of variance one on average."""
        t = np.ones(self.d) if self.noise == "equal" else 10.0 ** np.linspace(-0.5, 0.5, self.d)
        t, gamma = t / t.mean(), self.d / self.n
        least = np.sqrt(gamma) * noise_edge(t, self.n - 1).place / (1 + np.sqrt(gamma)) ** 2
        sizes = least * self.strength * np.linspace(2, 1, self.k) if self.k else np.empty(0)
        V = np.linalg.qr(rng.standard_normal((self.d, self.k)))[0] if self.k else np.empty((self.d, 0))
        noise = rng.standard_normal((self.n, self.d)) * np.sqrt(t)
        return noise + rng.standard_normal((self.n, self.k)) * np.sqrt(sizes) @ V.T

    def _factors(self, rng: np.random.Generator) -> Array:
        """Every column loads on one factor, more or less, and a little on the others."""
        L = 0.1 * rng.standard_normal((self.d, self.k))
        for j in range(self.d if self.k else 0):
            L[j, j % self.k] = self.strength + 0.1 * rng.uniform(-1, 1)
        own = np.sqrt(np.maximum(1 - (L**2).sum(axis=1), 0.05))
        return rng.standard_normal((self.n, self.k)) @ L.T + rng.standard_normal((self.n, self.d)) * own

    def judges(self, rng: np.random.Generator) -> Judges:
        """What is the same for all tables of the cell."""
        N = self.n - 1.0
        correlated = component_limits(np.ones(self.d), N, correlation=True, seed=0)
        if self.model == "factor-analysis":
            common = component_limits(np.ones(self.d), N, correlation=True, seed=0, of=reduced)
            return Judges(correlated, correlated, common)
        # From the columns of one table: those of the others are the same but for chance.
        columns = np.var(self.draw(rng), axis=0, ddof=1)
        return Judges(component_limits(columns, N, correlation=False, seed=0), correlated)


@dataclass(frozen=True)
class Judges:
    """Random tables, drawn once for a cell, and the criteria."""

    limits: Array
    correlation_limits: Array
    factor_limits: Array | None = None

    def of(self, X: Array) -> Iterator[Suggestion]:
        """What every criterion says of a table."""
        folds = [moments_of(X[at::FOLDS]) for at in range(FOLDS)]
        total = reduce(Moments.__add__, folds)
        C = total.scatter / (total.weight - 1)
        if self.factor_limits is not None:
            yield from self._factors(C, total.weight)
            return
        found, units = Variances.of_matrix(C, total.weight), np.ones(len(C))
        for rule in (criteria.variance_share, criteria.kaiser, criteria.broken_stick, criteria.velicer):
            yield rule(found)
        yield criteria.largest_gap(found.leading())
        for rule in (criteria.gavish_donoho, criteria.minka, criteria.bic, criteria.deterministic):
            yield rule(found)
        yield criteria.stands_out(MomentSpace(total))
        yield criteria.horn(found, correlation=False, limits=self.limits)
        yield self.correlated(C, total.weight)
        yield criteria.held_out(folds, units)
        yield criteria.bi_cross_validation(folds, units)

    def correlated(self, C: Array, n: float) -> Suggestion:
        """Parallel analysis on the scale on which the default counts, whatever the scale of the analysis."""
        found = Variances.of_matrix(correlation_of(C), n)
        said = criteria.horn(found, correlation=True, limits=self.correlation_limits)
        return replace(said, criterion="parallel analysis of correlations")

    def _factors(self, C: Array, n: float) -> Iterator[Suggestion]:
        R = correlation_of(C)
        found = Variances.of_matrix(R, n)
        for rule in (criteria.kaiser, criteria.broken_stick, criteria.velicer):
            yield rule(found)
        yield criteria.largest_gap(found.leading())
        yield from criteria.factor_fits(R, n)
        yield criteria.horn(found, correlation=True, limits=self.limits)
        yield criteria.horn_factors(R, n, limits=self.factor_limits)
        yield criteria.deterministic(found)
        yield criteria.deflated(found)


def grid() -> list[Cell]:
    """All cells; neighbours on the grid, along every side of it, take turns in being for tuning and for scoring."""
    spikes = product(*(list(enumerate(side)) for side in (ROWS, COLUMNS, NOISES, SIGNALS)))
    factors = product(*(list(enumerate(side)) for side in (FACTOR_ROWS, FACTOR_COLUMNS, ("own",), FACTORS)))
    return [
        Cell(model, n, d, noise, *signal, ("tuning", "scoring")[(a + b + c + e) % 2])
        for model, kinds in (("pca", spikes), ("factor-analysis", factors))
        for (a, n), (b, d), (c, noise), (e, signal) in kinds
    ]
