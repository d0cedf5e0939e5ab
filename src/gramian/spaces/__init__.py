"""Spaces: where rows become features, and the one verb ``basis(rank, solver)``.

::

    LinearSpace(X)          columns themselves         V explicit
    MomentSpace(moments)    the same, without rows     V explicit
    KernelSpace(kernel, X)  features of a kernel       V = Phi'U/s
"""

from gramian.spaces.base import SingularBasis
from gramian.spaces.kernel import KernelBasis, KernelSpace
from gramian.spaces.linear import LinearBasis, LinearSpace, MomentSpace

__all__ = ["KernelBasis", "KernelSpace", "LinearBasis", "LinearSpace", "MomentSpace", "SingularBasis"]
