"""Canonical correlations on rows that the fit has not seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.estimators.kernel_pairs import find_pairs
from gramian.estimators.plans_kernel import ALL_FOLDS_MAX_ROWS
from gramian.kernels import Kernel
from gramian.results import Array
from gramian.spaces import KernelSpace
from gramian.spaces.kernel import wants_proper_centring

#: Pairs that are looked at: where all are asked for, most are noise.
MOST = 10


def held_out_correlations(
    X: Any,
    Y: Any,
    kernels: tuple[Kernel, Kernel],
    k: int,
    parts: list[Array],
    **how: Any,
) -> Array | None:
    r"""Return the correlations of the scores of rows that were held out; None if the others never vary.

    Definition
    ----------
    .. math:: r_k = \frac{\sum_f \sum_{i \in f} (t_{ik} - \bar t_{fk})(s_{ik} - \bar s_{fk})}
              {\sqrt{\sum_f \sum_{i \in f} (t_{ik} - \bar t_{fk})^2 \sum_f \sum_{i \in f} (s_{ik} - \bar s_{fk})^2}}

    with scores t and s of fold f from a fit to the other folds. Sums rather than means of correlations: a small fold
    then weighs little, and signs and sizes of the fits do not matter. A pair that a fit does not have adds nothing.

    Parameters
    ----------
    X, Y : rows
        Of both views; Gram matrices if a kernel is precomputed.
    kernels : pair of Kernels
        Resolved on all rows.
    k : int
        Pairs.
    parts : list of arrays
        Rows to hold out in turn.
    how
        Arguments of :func:`find_pairs`.
    """
    n, k, fits = X.shape[0], min(k, MOST), 0
    cross, x_squares, y_squares = np.zeros((3, k))
    for part in parts:
        rest = np.setdiff1d(np.arange(n), part)
        x, y = (KernelSpace(kernel, _rows(kernel, V, rest, rest)) for kernel, V in zip(kernels, (X, Y), strict=True))
        if not (_varies(x) and _varies(y)):
            continue
        fits += 1
        pairs = find_pairs(x, y, k, **how)
        found = len(pairs.values)
        if found:
            T, S = (
                to.scores(_rows(kernel, V, part, rest))
                for kernel, V, to in zip(kernels, (X, Y), (pairs.x, pairs.y), strict=True)
            )
            T, S = T - T.mean(axis=0), S - S.mean(axis=0)
            cross[:found] += np.einsum("ij,ij->j", T, S)
            x_squares[:found] += np.einsum("ij,ij->j", T, T)
            y_squares[:found] += np.einsum("ij,ij->j", S, S)
    if not fits:
        return None
    sizes = np.sqrt(x_squares) * np.sqrt(y_squares)
    return np.clip(np.divide(cross, sizes, out=np.zeros(k), where=sizes > 0), -1.0, 1.0)


def partition(n: int, folds: int | None, rng: np.random.Generator) -> tuple[list[Array], str]:
    """Return random parts of the rows to hold out, and what that is called; none if there are too few rows."""
    count = min(folds or 0, n // 3)
    if count < 2:
        return [], ""
    parts = np.array_split(rng.permutation(n), count)
    return (parts, f"{count} folds") if n <= ALL_FOLDS_MAX_ROWS else (parts[:1], f"one part of {count} held out")


def _varies(space: KernelSpace) -> bool:
    """Whether there are more rows that differ than functions the kernel leaves unpenalised."""
    functions = space.kernel.polynomial(space.X) if wants_proper_centring(space.kernel) else None
    return functions is None or len(np.unique(functions, axis=0)) > np.linalg.matrix_rank(functions)


def _rows(kernel: Kernel, X: Any, chosen: Array, training: Array) -> Any:
    """Some rows; of a precomputed matrix, their similarities to the training rows."""
    return X[chosen][:, training] if kernel.given else X[chosen]
