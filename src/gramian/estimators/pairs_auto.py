"""``n_components="auto"`` of canonical correlation analysis: how many pairs are more than chance."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.criteria import Suggestion
from gramian.estimators.cca_tests import (
    basis_of,
    chance_in_words,
    p_values,
    permutation_test,
    shuffled_correlations,
    wilks_test,
)
from gramian.estimators.two_blocks import Blocks
from gramian.results import Array

#: Chance below which a canonical correlation counts.
LEVEL = 0.05
#: Permutations, and multiplications that all of them may cost.
PERMUTATIONS, PATIENCE = 999, 1e11
#: Least number of permutations, for the least p-value that they can show, 0.01, to be well below the level.
LEAST = 99
#: Hypotheses tested at first; more follow while all are refused.
FIRST = 4
PERMUTED, WILKS = "permutation test", "Wilks' test"


def choose_pairs(
    blocks: Blocks, rho: Array, ranks: tuple[int, int], ridge: tuple[float, float], *, scale: bool
) -> Suggestion:
    """Ask the permutation test, or Wilks' where rows are weighted, were not kept, or are many."""
    if any(ridge):
        return _with_ridge(blocks, rho, ridge, scale=scale)
    plain = blocks.X is not None and blocks.weights is None
    if plain and PERMUTATIONS * blocks.shape[0] * ranks[0] * ranks[1] <= PATIENCE:
        return by_permutations(blocks.X, blocks.Y, len(rho), np.random.default_rng(0))
    return by_wilks(rho, ranks, blocks.views.weight)


def _with_ridge(blocks: Blocks, rho: Array, ridge: tuple[float, float], *, scale: bool) -> Suggestion:
    if blocks.X is None or blocks.weights is not None:
        raise ValueError(
            f"n_components='auto' with ridge={ridge} needs rows without weights, all in memory. Give a number."
        )
    return by_shuffles(blocks.X, blocks.Y, rho, ridge, np.random.default_rng(0), scale=scale)


def by_shuffles(
    X: Any, Y: Any, rho: Array, ridge: tuple[float, float], rng: np.random.Generator, *, scale: bool
) -> Suggestion:
    """Pairs that correlate more, with the ridge, than the same pairs of rows paired at random."""
    x, y = basis_of(X, scale=scale), basis_of(Y, scale=scale)
    cost = len(x[0]) * len(x[1]) * len(y[1])
    count = int(np.clip(PATIENCE / max(cost, 1), LEAST, PERMUTATIONS))
    drawn = shuffled_correlations(x, y, ridge, rng.spawn(count))
    m = min(len(rho), drawn.shape[1])
    return count_pairs(PERMUTED, "Winkler et al. 2020", p_values(rho[:m], drawn[:, :m]), count)


def by_permutations(X: Any, Y: Any, most: int, rng: np.random.Generator) -> Suggestion:
    """Pairs that shuffled rows do not show; hypotheses are tested until one stands."""
    m, seed = min(FIRST, most), int(rng.integers(2**63))
    while True:
        # The same shuffles each time: what was said of the first hypotheses stays.
        p = permutation_test(X, Y, m, PERMUTATIONS, np.random.default_rng(seed)).p_values
        if m >= most or (p > LEVEL).any():
            return count_pairs(PERMUTED, "Winkler et al. 2020", p, PERMUTATIONS)
        m = min(4 * m, most)


def by_wilks(rho: Array, ranks: tuple[int, int], n: float) -> Suggestion:
    """Pairs that are more than chance under normality."""
    return count_pairs(WILKS, "Rao 1952", wilks_test(rho, ranks, n).p_values)


def count_pairs(criterion: str, reference: str, p: Array, shuffles: int | None = None) -> Suggestion:
    """Canonical correlations up to the first that chance explains; p-values may be those of permutations."""
    k = int(np.argmax(p > LEVEL)) if (p > LEVEL).any() else len(p)
    if k < len(p):
        last = f"p = {p[k]:.3g} for the next"
    else:
        last = chance_in_words(float(p.max()), shuffles)
        last = last if shuffles is not None else last.replace("p = ", "p <= ")
    return Suggestion(criterion, k, reference, last)
