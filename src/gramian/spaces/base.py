"""The singular basis: what every space gives and every mix takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from gramian.projection import Projection
from gramian.results import Array, Mix, SolverTrace


def fewest(shares: Array, share: float) -> int:
    """How many of the shares, from the first on, reach one; all of them if none do."""
    reached = np.cumsum(shares) >= share * (1 - 1e-12)
    return int(np.argmax(reached)) + 1 if reached.any() else len(shares)


@dataclass(frozen=True, kw_only=True)
class SingularBasis(ABC):
    r"""Leading part of :math:`\Phi = U\,\mathrm{diag}(s)\,V'`, the centred feature matrix of a space.

    ``singular`` (k,): singular values s, descending. ``shares`` (k,): :math:`s^2 / \|\Phi\|^2`: parts of the total
    variance; ``None`` if the total is not known. ``n``: rows, or the sum of their weights. ``limit``: most components
    the space could have. ``residuals`` (k,): certificate ``||A v - lambda v|| / lambda`` of each component.
    ``n_negative``, ``most_negative``: negative eigenvalues met (indefinite kernels), and the size of the largest of
    them.
    """

    #: The field of a subclass with a column for each component.
    along: ClassVar[str] = "directions"

    singular: Array
    shares: Array | None
    n: float
    limit: int
    residuals: Array
    trace: SolverTrace
    n_negative: int = 0
    most_negative: float = 0.0

    @cached_property
    def rank(self) -> int:
        """Number of components."""
        return len(self.singular)

    @cached_property
    def eigenvalues(self) -> Array:
        """Squares of the singular values: eigenvalues of the scatter or Gram matrix."""
        return self.singular**2

    @property
    def variances(self) -> Array:
        """Variances along the components, divisor n - 1."""
        return (self.singular / np.sqrt(self.n - 1)) ** 2

    def truncate(self, k: int) -> Self:
        """Return the first k components."""
        return replace(
            self,
            singular=self.singular[:k],
            shares=None if self.shares is None else self.shares[:k],
            residuals=self.residuals[:k],
            **{self.along: getattr(self, self.along)[:, :k]},
        )

    def reaching(self, share: float | None) -> Self:
        """Return the fewest components that reach a share of the variance; all if none is given."""
        return self if share is None or self.shares is None else self.truncate(fewest(self.shares, share))

    def smallest_gap(self) -> tuple[float, int]:
        """Smallest relative gap between neighbouring eigenvalues, and the 0-based index of the first of the two."""
        values = self.eigenvalues[self.eigenvalues > 0]
        if len(values) < 2:
            return 1.0, 0
        gaps = -np.diff(values) / values[:-1]
        return float(gaps.min()), int(gaps.argmin())

    @abstractmethod
    def scores(self) -> Array:
        """Training scores ``U diag(s)``, n x k."""

    @abstractmethod
    def projection(self, mix: Mix | None = None) -> Projection:
        """Map of new points to scores along ``V mix``; along V if there is none."""
