"""Are canonical correlations more than chance? Wilks' test, and a permutation test that assumes no distribution."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.stats
from sklearn.utils.validation import check_is_fitted

from gramian import mixing
from gramian.criteria import Suggestion
from gramian.criteria.random_tables import each
from gramian.estimators.base import as_fitted
from gramian.estimators.two_blocks import Blocks
from gramian.estimators.validation import Table, random_generator
from gramian.lapack import interruptible
from gramian.operators import Data
from gramian.results import Array, Matrix, Seed, at_most

#: Chance below which a canonical correlation counts.
SIGNIFICANCE_LEVEL = 0.05
#: Permutations, and multiplications that all of them may cost.
PERMUTATIONS, PERMUTATION_MULTIPLICATIONS = 999, 1e11
#: Least number of permutations, for the least p-value that they can show, 0.01, to be well below the level.
LEAST_PERMUTATIONS = 99
#: Hypotheses tested at first; more follow while all are refused.
FIRST_TESTED = 4
PERMUTED, WILKS = "permutation test", "Wilks' test"


@dataclass(frozen=True)
class CanonicalTest:
    """Tests of the hypotheses that the k-th and all later canonical correlations are zero, k = 1, 2, ...

    Attributes
    ----------
    correlations : (m,) array
    wilks : (m,) array
        Lambda, the product of ``1 - rho^2`` from the k-th on.
    statistic, df1, df2 : (m,) arrays or None
        Rao's F and its degrees of freedom (Wilks' test).
    p_values : (m,) array
    method : str
    shuffles : int or None
        Permutations behind the p-values: none is below ``1 / (shuffles + 1)``.
    """

    correlations: Array
    wilks: Array
    p_values: Array
    method: str
    statistic: Array | None = None
    df1: Array | None = None
    df2: Array | None = None
    shuffles: int | None = None

    def __str__(self) -> str:
        """A table with one line for each hypothesis."""
        lines = [self.method, f"{'pairs from':>10} {'correlation':>12} {'Wilks':>10} {'F':>10} {'df':>14} {'p':>10}"]
        for k, rho in enumerate(self.correlations):
            F = df = ""
            if self.statistic is not None and self.df1 is not None and self.df2 is not None:
                F, df = f"{self.statistic[k]:.4g}", f"{self.df1[k]:.0f}, {self.df2[k]:.1f}"
            lines.append(f"{k + 1:>10} {rho:>12.4f} {self.wilks[k]:>10.4g} {F:>10} {df:>14} {self._chance(k):>10}")
        least = 0.0 if self.shuffles is None else least_chance(self.shuffles)
        if self.shuffles and (self.p_values <= least).any():
            lines.append(f"<= {at_most(least, 3)}: no permutation of {self.shuffles:,} did as well")
        return "\n".join(lines)

    def _chance(self, k: int) -> str:
        floor = self.shuffles is not None and self.p_values[k] <= least_chance(self.shuffles)
        return f"<= {at_most(self.p_values[k], 3)}" if floor else f"{self.p_values[k]:.3g}"


def least_chance(shuffles: int) -> float:
    """Least p-value that so many permutations can show."""
    return (1 + 1e-12) / (shuffles + 1)


def chance_in_words(p: float, shuffles: int | None) -> str:
    """A p-value; one that is the least that the permutations can show is said to be that.

    >>> chance_in_words(0.002, 499), chance_in_words(0.032, 499)
    ('p <= 0.002 (no shuffle of 499 did as well)', 'p = 0.032')
    """
    if shuffles is not None and p <= least_chance(shuffles):
        return f"p <= {at_most(p, 3)} (no shuffle of {shuffles:,} did as well)"
    return f"p = {p:.3g}"


class CanonicalTests(ABC):
    """Tests of a fitted CCA."""

    ridge: Any
    rank_: tuple[int, int]
    n_samples_: float
    all_correlations_: Array

    def wilks_test(self) -> CanonicalTest:
        r"""Test the correlations under normality, with Rao's F approximation.

        Definition
        ----------
        .. math:: \Lambda_k = \prod_{i \ge k} (1 - \rho_i^2), \qquad
                  F = \frac{1 - \Lambda^{1/t}}{\Lambda^{1/t}} \cdot \frac{\nu_2}{\nu_1}

        Needs ridge = 0 and more rows than the ranks of both views together.

        References
        ----------
        Rao, Advanced Statistical Methods in Biometric Research, 1952.
        """
        check_is_fitted(self)
        self._refuse_ridge("Wilks' test")
        return wilks_test(self.all_correlations_, self.rank_, self.n_samples_)

    def permutation_test(
        self, X: Table, Y: Table, *, n_permutations: int = 999, n_tested: int | None = None, random_state: Seed = None
    ) -> CanonicalTest:
        r"""Test the correlations by pairing the rows of X with shuffled rows of Y; no distribution is assumed.

        Each hypothesis is tested on what the pairs before it leave of both views, and a p-value is never below an
        earlier one. The smallest possible is ``1 / (n_permutations + 1)``.

        Parameters
        ----------
        X, Y : (n, d), (n, q) arrays
            Rows of both views, as for ``fit``.
        n_permutations : int
        n_tested : int, optional
            Hypotheses to test, from the first on; all of them if not given.
        random_state : int, Generator, RandomState or None
            Seed. None is a fixed seed.

        Cost
        ----
        ``n r_x r_y`` multiplications for each permutation, shared by all cores, and a small decomposition for each
        hypothesis.

        References
        ----------
        Winkler, Renaud, Smith, Nichols, Permutation inference for canonical correlation analysis, NeuroImage 2020.
        """
        check_is_fitted(self)
        self._refuse_ridge("the permutation test")
        for name, value in (("n_permutations", n_permutations), ("n_tested", n_tested or 1)):
            if not isinstance(value, (int, np.integer)) or value < 1:
                raise ValueError(f"{name}={value!r} must be a whole number of 1 or more.")
        most = len(self.all_correlations_) if n_tested is None else min(n_tested, len(self.all_correlations_))
        return permutation_test(*self._both(X, Y), most, n_permutations, random_generator(random_state))

    def _refuse_ridge(self, what: str) -> None:
        ridge = as_fitted(self, "ridge")
        if np.any(ridge):
            raise ValueError(f"{what} is for ridge=0; this fit has ridge={ridge!r}.")

    @abstractmethod
    def _both(self, X: Table, Y: Table) -> tuple[Any, Any]:
        """Check the rows of both views."""


def wilks_test(rho: Array, ranks: tuple[int, int], n: float) -> CanonicalTest:
    """Wilks' test of all canonical correlations of views of given ranks."""
    p, q = ranks
    if n - 1 <= p + q:
        raise ValueError(f"Wilks' test needs more rows than {p + q + 1}, the ranks and one; there are {n:.0f}.")
    k = np.arange(len(rho))
    a, b = p - k, q - k
    wilks = np.cumprod((1 - rho**2)[::-1])[::-1]
    inner = a**2 + b**2 - 5
    t = np.where(inner > 0, np.sqrt(np.maximum(a**2 * b**2 - 4, 0) / np.where(inner > 0, inner, 1)), 1.0)
    df1 = (a * b).astype(float)
    df2 = (n - 1 - k - (a + b + 1) / 2) * t - df1 / 2 + 1
    root = wilks ** (1 / t)
    with np.errstate(divide="ignore"):
        F = (1 - root) / root * df2 / df1
    return CanonicalTest(rho, wilks, scipy.stats.f.sf(F, df1, df2), "Wilks' test (Rao's F)", F, df1, df2)


def permutation_test(X: Matrix, Y: Matrix, m: int, n_permutations: int, rng: np.random.Generator) -> CanonicalTest:
    """Permutation test of the first m canonical correlations of checked rows."""
    Ux, Uy = basis_of(X, scale=True)[0], basis_of(Y, scale=True)[0]
    A, rho, Bt = interruptible(np.linalg.svd, Ux.T @ Uy, full_matrices=True)
    Sx, Sy = Ux @ A, Uy @ Bt.T
    m = min(len(rho), m)
    observed = np.cumsum(_logarithms(rho)[::-1])[::-1][:m]
    seeds = rng.spawn(n_permutations)

    def exceeded(i: int) -> Array:
        C = Sx.T @ Sy[seeds[i].permutation(len(Sy))]
        values = [_logarithms(np.linalg.svd(C[k:, k:], compute_uv=False)).sum() for k in range(m)]
        return np.array(values) <= observed + 1e-12 * np.abs(observed)

    counts = each(exceeded, n_permutations).sum(axis=0)
    p = np.maximum.accumulate((1 + counts) / (n_permutations + 1))
    return CanonicalTest(
        rho[:m], np.exp(observed), p, f"permutation test ({n_permutations:,} permutations)", shuffles=n_permutations
    )


def shuffled_correlations(
    x: tuple[Array, Array], y: tuple[Array, Array], ridge: tuple[float, float], seeds: Sequence[np.random.Generator]
) -> Array:
    """Regularised correlations of views whose rows are paired at random, one line for each seed.

    A view is given as its left singular vectors and singular values: to shuffle its rows is to shuffle those of the
    vectors, so that no shuffle takes a fit.
    """
    (Ux, sx), (Uy, sy) = x, y
    n = len(Ux)

    def shuffled(i: int) -> Array:
        return mixing.correlate(sx, sy, Ux.T @ Uy[seeds[i].permutation(n)], n, ridge).values

    return each(shuffled, len(seeds))


def basis_of(view: Matrix, *, scale: bool) -> tuple[Array, Array]:
    """Left singular vectors of the centred (and scaled) rows of a view that have variance, and singular values."""
    data = Data(view, scale=scale)
    A = data.toarray() * data.unit
    U, s, _ = interruptible(np.linalg.svd, A, full_matrices=False)
    kept = s > max(A.shape) * np.finfo(np.float64).eps * s.max(initial=0.0)
    return U[:, kept], s[kept]


def p_values(observed: Array, drawn: Array) -> Array:
    """Chance of values as large as those observed among those drawn; never below that of an earlier pair."""
    beaten = (drawn >= observed - 1e-12).sum(axis=0)
    return np.maximum.accumulate((1 + beaten) / (len(drawn) + 1))


def _logarithms(rho: Array) -> Array:
    """Terms of log Lambda; a correlation of 1 counts as one that leaves nothing but rounding."""
    return np.log(np.maximum(1 - np.minimum(rho, 1.0) ** 2, np.finfo(np.float64).eps))


def choose_pairs(
    blocks: Blocks, rho: Array, ranks: tuple[int, int], ridge: tuple[float, float], *, scale: bool
) -> Suggestion:
    """Ask the permutation test, or Wilks' where rows are weighted, were not kept, or are many."""
    if any(ridge):
        if blocks.X is None or blocks.weights is not None:
            raise ValueError(
                f"n_components='auto' with ridge={ridge} needs rows without weights, all in memory. Give a number."
            )
        return by_shuffles(blocks.X, blocks.Y, rho, ridge, np.random.default_rng(0), scale=scale)
    plain = blocks.X is not None and blocks.weights is None
    if plain and PERMUTATIONS * blocks.shape[0] * ranks[0] * ranks[1] <= PERMUTATION_MULTIPLICATIONS:
        return by_permutations(blocks.X, blocks.Y, len(rho), np.random.default_rng(0))
    return by_wilks(rho, ranks, blocks.views.weight)


def by_shuffles(
    X: Matrix, Y: Matrix, rho: Array, ridge: tuple[float, float], rng: np.random.Generator, *, scale: bool
) -> Suggestion:
    """Pairs that correlate more, with the ridge, than the same pairs of rows paired at random."""
    x, y = basis_of(X, scale=scale), basis_of(Y, scale=scale)
    cost = len(x[0]) * len(x[1]) * len(y[1])
    count = int(np.clip(PERMUTATION_MULTIPLICATIONS / max(cost, 1), LEAST_PERMUTATIONS, PERMUTATIONS))
    drawn = shuffled_correlations(x, y, ridge, rng.spawn(count))
    m = min(len(rho), drawn.shape[1])
    return count_pairs(PERMUTED, "Winkler et al. 2020", p_values(rho[:m], drawn[:, :m]), count)


def by_permutations(X: Matrix, Y: Matrix, most: int, rng: np.random.Generator) -> Suggestion:
    """Pairs that shuffled rows do not show; hypotheses are tested until one stands."""
    m, seed = min(FIRST_TESTED, most), int(rng.integers(2**63))
    while True:
        # The same shuffles each time: what was said of the first hypotheses stays.
        p = permutation_test(X, Y, m, PERMUTATIONS, np.random.default_rng(seed)).p_values
        if m >= most or (p > SIGNIFICANCE_LEVEL).any():
            return count_pairs(PERMUTED, "Winkler et al. 2020", p, PERMUTATIONS)
        m = min(4 * m, most)


def by_wilks(rho: Array, ranks: tuple[int, int], n: float) -> Suggestion:
    """Pairs that are more than chance under normality."""
    return count_pairs(WILKS, "Rao 1952", wilks_test(rho, ranks, n).p_values)


def count_pairs(criterion: str, reference: str, p: Array, shuffles: int | None = None) -> Suggestion:
    """Canonical correlations up to the first that chance explains; p-values may be those of permutations."""
    k = int(np.argmax(p > SIGNIFICANCE_LEVEL)) if (p > SIGNIFICANCE_LEVEL).any() else len(p)
    if k < len(p):
        last = f"p = {p[k]:.3g} for the next"
    else:
        last = chance_in_words(float(p.max()), shuffles)
        last = last if shuffles is not None else last.replace("p = ", "p <= ")
    return Suggestion(criterion, k, reference, last)
