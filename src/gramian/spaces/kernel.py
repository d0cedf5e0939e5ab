"""The feature space of a kernel: directions are known by their dual coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.config import format_bytes
from gramian.engine.tiles import row_blocks
from gramian.kernels import Kernel
from gramian.lapack import interruptible, orient
from gramian.operators import Centred, KernelCentring
from gramian.operators.centering import PolynomialCentring, Polynomials, Projected, from_best_origin
from gramian.operators.gram import Anchored, gram_of
from gramian.projection import KernelProjection
from gramian.results import Array, Matrix, Mix
from gramian.solvers.eigen import DENSE_LIMIT, Solver, eigen
from gramian.spaces.base import SingularBasis


@dataclass(frozen=True, kw_only=True)
class KernelBasis(SingularBasis):
    """Singular basis with left vectors U, n x k; the directions are ``Phi'U/s``."""

    along = "vectors"

    kernel: Kernel
    anchors: Any
    vectors: Array
    centring: KernelCentring | PolynomialCentring
    origin: Array | None = None

    def scores(self) -> Array:
        return self.vectors * self.singular

    def projection(self, mix: Mix | None = None) -> KernelProjection | ConditionalProjection:  # type: ignore[override]
        V = self.vectors / self.singular
        V = V if mix is None else interruptible(np.matmul, V, mix.forward)
        return centred_projection(self.kernel, self.anchors, self.centring, V, self.origin)


class KernelSpace:
    """Centred features of the rows ``X`` by a kernel with resolved parameters; X is the matrix of a precomputed one."""

    def __init__(self, kernel: Kernel, X: Matrix) -> None:
        self.kernel, self.n = kernel, X.shape[0]
        self.X, self.origin = from_best_origin(kernel, X)

    def basis(
        self, rank: int | None, solver: str | Solver = "auto", rng: np.random.Generator | None = None
    ) -> KernelBasis:
        """Return the leading ``rank`` components with a positive eigenvalue (all of them if None)."""
        check_rank(rank, self.n)
        gram = self.centred()
        spectrum = eigen(gram, min(gram.limit, rank or self.n), solver, rng)
        total = gram.trace() if gram.positive else spectrum.absolute_sum
        return KernelBasis(
            singular=np.sqrt(spectrum.values),
            shares=None if not total else spectrum.values / total,
            n=self.n,
            limit=self.n,
            residuals=spectrum.residuals,
            trace=spectrum.trace,
            n_negative=spectrum.n_negative,
            most_negative=spectrum.most_negative,
            kernel=self.kernel,
            anchors=self.kernel.anchors(self.X),
            vectors=spectrum.vectors * orient(spectrum.vectors),
            centring=gram.centring,
            origin=self.origin,
        )

    def centred(self) -> Centred | Projected:
        """The Gram matrix beside the mean, or beside all polynomials if the kernel asks for it."""
        gram = gram_of(self.kernel, self.X)
        if not self.kernel.properly_centred:
            return Centred(gram)
        values = self.kernel.polynomial(self.X)
        if values is None:
            raise ValueError(f"centring='proper' inside the kernel {self.kernel} is not possible. Use that part alone.")
        freed = Projected(gram, Polynomials.of(values))
        if freed.vanishes():
            raise ValueError(
                f"zero variance: centring='proper' of the kernel {self.kernel} takes {self.n - freed.limit} functions "
                f"out of {self.n} rows and leaves nothing. Use more rows than columns + 1, or centring='plain'."
            )
        return freed


def centred_projection(
    kernel: Kernel, anchors: Any, centring: KernelCentring | PolynomialCentring, V: Array, origin: Array | None
) -> KernelProjection | ConditionalProjection:
    """Map of new points to scores along sums over anchors with coefficients V, n x k, the centring folded in."""
    coefficients, offset = centring.fold(V)
    if isinstance(centring, KernelCentring):
        return KernelProjection(kernel, anchors, coefficients, offset, origin=origin)
    return ConditionalProjection(kernel, anchors, coefficients, offset, centring.polynomials.shift)


def check_rank(rank: int | None, n: int) -> None:
    """Refuse to look for all components of many rows."""
    if rank is None and n > DENSE_LIMIT:
        raise ValueError(
            f"n_components=None asks for all components of {n:,} rows, a dense problem of {format_bytes(8 * n**2)}. "
            "Say how many you need, for instance n_components=10."
        )


@dataclass(frozen=True)
class ConditionalProjection(Anchored):
    r"""Scores :math:`B'k(x) + D'(p(x) - \mu)` from kernel values and polynomials :math:`p(x) = (1, x)'` of new rows.

    ``anchors``: training rows. ``coefficients`` (n, k): B. ``trend`` (p, k): D. ``shift`` (p,): :math:`\mu`.
    """

    kernel: Kernel
    anchors: Any
    coefficients: Array
    trend: Array
    shift: Array

    @property
    def size(self) -> int:
        """Number of scores of a row."""
        return self.trend.shape[1]

    def scores(self, X: Matrix) -> Array:
        """Scores of rows, m x k; kernel values are not kept."""
        out = self.similarities(X) @ self.coefficients
        for rows in row_blocks(*X.shape):
            out[rows] += (self.kernel.polynomial(X[rows]) - self.shift) @ self.trend
        return out
