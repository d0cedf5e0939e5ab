"""Exponentials of tiles: the dearest step of a Gaussian kernel, made as quick as the processor allows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian.kernels.pairwise import Pairs, Product
from gramian.kernels.vector_loops import NARROW, vector_loops
from gramian.results import Array

#: Pairs of rows from which on compiled loops are worth the fifth of a second it takes to compile them. In single
#: precision, which is for large tables anyway, they always are.
WORTH = {np.dtype(np.float32): 1, np.dtype(np.float64): 10**8}


@cache
def exponent_base(dtype: np.dtype) -> tuple[float, Callable[..., Array]]:
    """Return ``(unit, function)`` with ``function(unit * x) = exp(x)``: powers of two where those are quicker.

    NumPy has vector code for ``exp`` on most processors. Where it has it for ``exp2`` too, that takes half the time in
    single precision and a fifth less in double; where it has not, ``exp2`` is a loop over single numbers.
    """
    introspect = getattr(np.lib, "introspect", None)  # new in NumPy 2.0
    found = introspect.opt_func_info(func_name="^exp2$") if introspect else {}
    symbol = dtype.char
    targets = found.get("exp2", {}).get(symbol + symbol, {"current": "baseline"})
    return (1.0, np.exp) if targets["current"].startswith("baseline") else (float(np.log2(np.e)), np.exp2)


def _factors(inner: Pairs) -> tuple[Array, Array] | None:
    """What exponents are a product of, if it is one of narrow dense rows, laid out as the loops want them."""
    if (
        not isinstance(inner, Product)
        or inner.left.shape[1] > NARROW
        or inner.shape[0] * inner.shape[1] < WORTH[inner.dtype]
    ):
        return None
    L, R = inner.left, inner.right
    if sp.issparse(L) or sp.issparse(R) or not (L.flags.c_contiguous and R.flags.f_contiguous):
        return None
    return (L, R.T) if vector_loops(inner.dtype) else None


class Exponential(Pairs):
    """Tiles of ``exp(a m(x, y))``.

    Parameters
    ----------
    prepare : callable
        ``prepare(factor, dtype)`` returns the tiles of ``factor m(x, y)``.
    factor : float
        The number ``a``.
    dtype : dtype

    Numbers that leave the normal range cost twenty times as much as others. Where distances reach that far, such
    exponents are raised to the edge of the range and their powers, below the smallest normal number, become 0.

    Dense rows of few columns take one pass in place of two where there are :mod:`~gramian.kernels.vector_loops`.
    """

    def __init__(self, prepare: Callable[[float, Any], Pairs], factor: float, dtype: Any) -> None:
        unit, self.power = exponent_base(np.dtype(dtype))
        self.inner = prepare(factor * unit, dtype)
        self.shape, self.dtype = self.inner.shape, self.inner.dtype
        limits = np.finfo(self.dtype)
        self.edge = self.dtype.type(unit * np.log(2) * (limits.minexp + 1))
        self.far = not self.inner.reach < -self.edge
        self.smallest = self.power(self.edge)
        self.factors = _factors(self.inner) if self.power is np.exp2 else None

    def tile(self, rows: slice | Array, cols: slice, out: Array) -> Array:
        loops = vector_loops(self.dtype) if self.factors else None
        if loops and self.factors and all(map(int.__ge__, out.shape, loops.smallest)):
            left, right = self.factors
            return loops.powers_of_two(left[rows], right[:, cols], out)
        exponents = self.inner.tile(rows, cols, out)
        if not self.far or exponents.min(initial=0.0) > self.edge:
            return self.power(exponents, out=exponents)
        np.maximum(exponents, self.edge, out=exponents)
        values = self.power(exponents, out=exponents)
        values -= self.smallest
        return values
