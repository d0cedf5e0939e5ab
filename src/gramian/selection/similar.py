"""Criteria of kernel PCA."""

from __future__ import annotations

from typing import Any

from gramian.criteria import kernel_criteria
from gramian.criteria.kernel import SHUFFLED
from gramian.estimators import KernelPCA
from gramian.estimators.base import random_generator
from gramian.estimators.kernel_input import resolve_weighted
from gramian.estimators.validation import validate
from gramian.kernels import as_kernel
from gramian.selection.answer import HowMany, decide


def how_many_kernel(X: Any, *, method: str, random_state: Any = None, kernel: Any = "rbf") -> HowMany:
    """Compare the spectrum of the kernel matrix with those of shuffled tables."""
    named = as_kernel(kernel)
    X = validate(KernelPCA(kernel=kernel), X, min_samples=4, gram=named)
    resolved = resolve_weighted(named, X, None)
    seed = int(random_generator(random_state).integers(2**31))
    table = list(kernel_criteria(resolved, X, seed))
    return decide(method, X.shape, str(resolved), table, (SHUFFLED, "largest gap"))
