"""``n_components="auto"`` of canonical correlation analysis: how many pairs are more than chance."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.criteria import Suggestion
from gramian.estimators.cca_tests import permutation_test, wilks_test
from gramian.estimators.two_blocks import Blocks
from gramian.results import Array

#: Chance below which a canonical correlation counts.
LEVEL = 0.05
#: Permutations, and multiplications that all of them may cost.
PERMUTATIONS, PATIENCE = 999, 1e11
#: Hypotheses tested at first; more follow while all are refused.
FIRST = 4
PERMUTED, WILKS = "permutation test", "Wilks' test"


def choose_pairs(blocks: Blocks, rho: Array, ranks: tuple[int, int], ridge: tuple[float, float]) -> Suggestion:
    """Ask the permutation test, or Wilks' where rows are weighted, were not kept, or are many."""
    if any(ridge):
        raise ValueError(f"n_components='auto' is for ridge=0; this fit has ridge={ridge}. Give a number.")
    plain = blocks.X is not None and blocks.weights is None
    if plain and PERMUTATIONS * blocks.shape[0] * ranks[0] * ranks[1] <= PATIENCE:
        return by_permutations(blocks.X, blocks.Y, len(rho), np.random.default_rng(0))
    return by_wilks(rho, ranks, blocks.views.weight)


def by_permutations(X: Any, Y: Any, most: int, rng: np.random.Generator) -> Suggestion:
    """Pairs that shuffled rows do not show; hypotheses are tested until one stands."""
    m, seed = min(FIRST, most), int(rng.integers(2**63))
    while True:
        # The same shuffles each time: what was said of the first hypotheses stays.
        p = permutation_test(X, Y, m, PERMUTATIONS, np.random.default_rng(seed)).p_values
        if m >= most or (p > LEVEL).any():
            return count_pairs(PERMUTED, "Winkler et al. 2020", p)
        m = min(4 * m, most)


def by_wilks(rho: Array, ranks: tuple[int, int], n: float) -> Suggestion:
    """Pairs that are more than chance under normality."""
    return count_pairs(WILKS, "Rao 1952", wilks_test(rho, ranks, n).p_values)


def count_pairs(criterion: str, reference: str, p_values: Array) -> Suggestion:
    """Canonical correlations up to the first that chance explains."""
    k = int(np.argmax(p_values > LEVEL)) if (p_values > LEVEL).any() else len(p_values)
    last = f"p = {p_values[k]:.3g} for the next" if k < len(p_values) else f"p <= {p_values.max():.3g}"
    return Suggestion(criterion, k, reference, last)
