"""``n_components="auto"``: the criterion that decides, and what it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gramian.criteria import Suggestion, Variances, deflated, kernel_criteria
from gramian.estimators.warnings import RankWarning, warn
from gramian.kernels import Kernel
from gramian.operators import Moments
from gramian.spaces import LinearBasis, MomentSpace

#: Components looked at first; more follow while all of them stand out.
FIRST = 64


def at_least_one(said: Suggestion, limit: int) -> int:
    """Components to fit: what a criterion says, but 1 with a warning if that is 0."""
    if said.k == 0:
        warn(f"{said.criterion} finds nothing that stands out of the noise: 1 component was fitted.", RankWarning)
    return min(max(said.k or 0, 1), limit)


def choose_basis(basis_of: Callable[[int], LinearBasis], limit: int) -> tuple[LinearBasis, Suggestion]:
    """As many components of a linear space as stand out of the noise."""
    asked = min(FIRST, limit)
    while True:
        basis = basis_of(asked)
        said = deflated(Variances.of(basis))
        if asked == limit or said.k is None or said.k < asked:
            return basis.truncate(at_least_one(said, basis.rank)), said
        asked = min(4 * asked, limit)


def choose_from_moments(moments: Moments, most: int, *, scale: bool = False) -> tuple[int, Suggestion]:
    """How many components of columns known by their moments stand out, at most so many."""
    said = deflated(Variances.of(MomentSpace(moments, scale=scale).basis(None)))
    return at_least_one(said, most), said


def choose_for_kernel(kernel: Kernel, X: Any) -> tuple[int, Suggestion]:
    """How many components of a kernel matrix stand out of those of shuffled columns; else before its largest gap."""
    said = next((said for said in kernel_criteria(kernel, X) if said.k is not None), None)
    if said is None:
        raise ValueError(
            f"n_components='auto' cannot be answered for {X.shape[0]} rows that the kernel {kernel} tells apart this "
            "little. Give a number."
        )
    return at_least_one(said, X.shape[0]), said
