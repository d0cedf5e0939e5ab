"""A basis with explicit directions, and what every route does with what it found: complete, orient, judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.lapack import interruptible
from gramian.projection import LinearProjection
from gramian.results import Array, Mix
from gramian.solvers.eigen import orient
from gramian.spaces.base import SingularBasis

#: An eigenproblem of A'A keeps about ``eps / ratio`` of an eigenvalue; below this ratio, half the digits are gone.
ILL_CONDITIONED = 1e-8


@dataclass(frozen=True, kw_only=True)
class LinearBasis(SingularBasis):
    """Singular basis with explicit directions V, d x k.

    ``squared_variances`` is the sum of all squared variances, those left out included, if it is known; ``rows`` are
    what the basis came from, if they are at hand.
    """

    mean: Array
    scale: Array
    column_variances: Array
    squared_variances: float | None
    directions: Array
    rows: Any = None

    @property
    def total_variance(self) -> float:
        """Variance of the whole space, divisor n - 1."""
        return float(self.column_variances.sum())

    def scores(self) -> Array:
        if self.rows is None:
            raise ValueError("the rows were not kept: project them with basis.projection(mix).scores(X).")
        plain = np.eye(self.rank)
        return self.projection(Mix(plain, plain)).scores(self.rows)

    def projection(self, mix: Mix) -> LinearProjection:
        return LinearProjection(
            mean=self.mean,
            weights=interruptible(np.matmul, self.directions, mix.forward) / self.scale[:, None],
            back=interruptible(np.matmul, mix.back, self.directions.T) * self.scale,
        )

    def _truncated(self, k: int) -> dict[str, Any]:
        return {"directions": self.directions[:, :k]}


def finished(
    values: Array, V: Array, k: int, *, column_squares: Array, fourth: float | None, unit: float = 1.0, **rest: Any
) -> LinearBasis:
    """Make a basis of k oriented directions from those found; what is missing has no variance.

    ``column_squares`` are sums of squares of the columns, ``fourth`` the sum of fourth powers of all singular values,
    both in units of ``unit``.
    """
    total = float(column_squares.sum())
    with np.errstate(over="ignore", under="ignore"):
        squared = np.inf if fourth is None else fourth * np.square(np.float64(unit) ** 2 / (rest["n"] - 1))
    V = _complete(V, k)
    values = np.concatenate([values, np.zeros(k - len(values))])
    singular = np.sqrt(values) * unit
    _check_range(singular, values, rest["n"])
    return LinearBasis(
        singular=singular,
        shares=values / total if total > 0 else np.zeros(k),
        column_variances=column_squares / (rest["n"] - 1) * unit * unit,  # the square alone may overflow
        squared_variances=float(squared) if np.isfinite(squared) else None,
        directions=V * orient(V),
        **rest,
    )


def ill_conditioned(basis: LinearBasis) -> bool:
    """Whether the last of the components may have lost half its digits."""
    values = basis.eigenvalues
    return bool(values[-1] < ILL_CONDITIONED * values[0])


def _complete(V: Array, k: int) -> Array:
    """Add orthonormal directions of zero variance until there are k: any will do, so take the same each time."""
    missing = k - V.shape[1]
    if missing == 0:
        return V
    extra = np.random.default_rng(0).standard_normal((V.shape[0], missing))
    Q, _ = interruptible(np.linalg.qr, np.column_stack([V, extra]))
    return np.column_stack([V, Q[:, V.shape[1] :]])


def _check_range(singular: Array, values: Array, n: float) -> None:
    """Refuse data whose variances leave the range of double precision: they would read as infinite or as nothing."""
    if not len(values) or values[0] == 0:
        return
    with np.errstate(over="ignore", under="ignore"):
        square = singular[0] ** 2
    if not np.finfo(np.float64).tiny * (n - 1) < square < np.inf:  # a sum over rows, which must be finite too
        word, remedy = ("overflow", "Divide") if square > 1 else ("underflow", "Multiply")
        raise ValueError(
            f"the variances of X {word} double precision (largest singular value {singular[0]:.1e}). "
            f"{remedy} X by a constant, or use scale=True."
        )
