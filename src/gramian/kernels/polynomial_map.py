"""The explicit features of the polynomial kernel."""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement
from math import comb, factorial, prod

import numpy as np

from gramian.config import format_bytes, memory_budget
from gramian.results import Array


def monomials(X: Array, degree: int, scale: float, constant: float) -> Array:
    r"""Weighted monomials of the columns, of every degree k up to p (of p alone if c = 0).

    Definition
    ----------
    .. math:: \phi_\alpha(x) = \sqrt{\tfrac{p!}{(p-k)!\,\alpha_1! \cdots \alpha_d!}\, c^{p-k} a^k}\; x^\alpha,
              \qquad |\alpha| = k
    """
    n, d = X.shape
    degrees = range(degree + 1) if constant else [degree]
    width = sum(comb(d + k - 1, k) for k in degrees)
    if (size := 8 * n * width) > memory_budget():
        raise ValueError(
            f"the feature map of degree {degree} has {width:,} columns for {d} columns of X: {format_bytes(size)}, "
            f"over the memory budget of {format_bytes(memory_budget())}. Use the kernel, which needs none of them."
        )
    features = np.empty((n, width))
    column = 0
    for k in degrees:
        for chosen in combinations_with_replacement(range(d), k):
            powers = prod(factorial(times) for times in Counter(chosen).values())
            weight = factorial(degree) / (factorial(degree - k) * powers) * constant ** (degree - k) * scale**k
            features[:, column] = weight**0.5 * X[:, list(chosen)].prod(axis=1)
            column += 1
    return features
