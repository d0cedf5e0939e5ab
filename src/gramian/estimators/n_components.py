"""``n_components="auto"``: the criterion that decides, and what it says."""

from __future__ import annotations

import numpy as np

from gramian.criteria import Suggestion, kernel_criteria, stands_out
from gramian.criteria.noise_edge import DEFLATED_FIRST_COMPONENTS
from gramian.estimators.warnings import RankWarning, warn
from gramian.kernels import Kernel
from gramian.operators import Moments
from gramian.results import Matrix
from gramian.solvers.eigen import Solver
from gramian.spaces import LinearBasis, LinearSpace, MomentSpace
from gramian.spaces.linear import StreamSpace


def at_least_one(said: Suggestion, limit: int) -> int:
    """Components to fit: what a criterion says, but 1 with a warning if that is 0."""
    if said.k == 0:
        warn(f"by {said.criterion} nothing stands out of the noise: 1 component was fitted.", RankWarning)
    return min(max(said.k or 0, 1), limit)


def choose_basis(
    space: LinearSpace | MomentSpace | StreamSpace, solver: str | Solver, rng: np.random.Generator | None
) -> tuple[LinearBasis, Suggestion]:
    """As many components of a linear space as stand out of the noise."""
    basis = space.basis(min(DEFLATED_FIRST_COMPONENTS, space.limit), solver, rng)
    said = stands_out(space)
    k = at_least_one(said, space.limit)
    if k > basis.rank:
        basis = space.basis(k, solver, rng)
    return basis.truncate(k), said


def choose_from_moments(moments: Moments, most: int) -> tuple[int, Suggestion]:
    """How many components of columns known by their moments stand out, at most so many."""
    said = stands_out(MomentSpace(moments))
    return at_least_one(said, most), said


def choose_for_kernel(kernel: Kernel, X: Matrix) -> tuple[int, Suggestion]:
    """How many components of a kernel matrix stand out of those of shuffled columns; else before its largest gap."""
    said = next((said for said in kernel_criteria(kernel, X) if said.k is not None), None)
    if said is None:
        raise ValueError(
            f"n_components='auto' cannot be answered for {X.shape[0]} rows that the kernel {kernel} tells apart this "
            "little. Give a number."
        )
    return at_least_one(said, X.shape[0]), said
