"""What a factor analysis refuses, what it warns of, and what it leaves to criteria."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gramian.adequacy import degrees_of_freedom, most_factors
from gramian.criteria import Suggestion
from gramian.estimators.n_components import choose_from_moments
from gramian.estimators.validation import ComponentCount, check_components, check_squares, is_auto
from gramian.estimators.warnings import ConvergenceWarning, GramianWarning, HeywoodWarning, RankWarning, warn
from gramian.operators import Moments
from gramian.operators.moments import ColumnSums
from gramian.results import Array
from gramian.solvers.factor import EXACT_MAX_COLUMNS
from gramian.solvers.rotation import ROTATIONS, Rotation
from gramian.spaces.gaussian import Climb, FactorModel


def count_factors(n_components: ComponentCount, d: int) -> int:
    """Number of factors, if d columns can tell that many apart; the most that they can, if criteria are to decide."""
    if n_components is None:
        raise TypeError("n_components=None must be the number of factors, a whole number of 1 or more.")
    most = most_factors(d)
    why = f"{most}, the most factors that {d} columns leave degrees of freedom for"
    return check_components(n_components, most, why, fractions=False, auto=True) or most


def choose_factors(
    n_components: ComponentCount, d: int, moments: Callable[[], Moments]
) -> tuple[int, Suggestion | None]:
    """Number of factors, and the criterion that chose it from the moments of the columns, if one did."""
    k = count_factors(n_components, d)
    return choose_from_moments(moments(), k) if is_auto(n_components) else (k, None)


def are_wide(n: int, d: int, n_components: ComponentCount) -> bool:
    """Whether rows in memory are fewer than the columns, and those many: then correlations are not formed.

    A criterion that chooses the number of factors looks at the whole matrix.
    """
    return n < d and d > EXACT_MAX_COLUMNS and not is_auto(n_components)


def constant_columns(moments: Moments | ColumnSums) -> Array:
    """Columns without variance, beyond what rounding leaves."""
    spread = np.sqrt(np.maximum(moments.squares, 0.0) / moments.weight)
    return np.flatnonzero(spread <= 1e-14 * np.abs(moments.mean))


def refuse_constant(moments: Moments | ColumnSums, names: Sequence[str]) -> None:
    """Refuse columns that have no correlations."""
    check_squares(moments)
    constant = constant_columns(moments)
    if len(constant):
        raise ValueError(
            f"{names[constant[0]]} is constant ({len(constant)} of {moments.d} columns are): it has zero variance and "
            "no correlations. Drop it."
        )


def check_correlation(R: Array) -> Array:
    """Return a correlation or covariance matrix in double precision, symmetric to the last bit."""
    C = np.asarray(R, dtype=np.float64)
    if C.shape[0] != C.shape[1] or (np.diag(C) <= 0).any():
        raise ValueError(
            f"R has shape {C.shape}; a square correlation or covariance matrix with a positive diagonal is expected. "
            "Use fit(X) for rows."
        )
    size = np.sqrt(np.diag(C))
    difference = float((np.abs(C - C.T) / np.outer(size, size)).max())
    if difference > 1e-6:
        raise ValueError(f"R is not symmetric: it differs from its transpose by up to {difference:.3g} correlation.")
    if (np.abs(C) > np.outer(size, size) * (1 + 1e-6)).any():
        raise ValueError("R has a correlation beyond 1. Check that it is a correlation or covariance matrix.")
    return (C + C.T) / 2


def warn_of(found: Climb[FactorModel], n: float, names: Sequence[str]) -> list[str]:
    """Warn of what a fit lacks, and return the same for the summary."""
    factors, d = found.state.factors, len(names)
    notes: list[tuple[str, type[GramianWarning]]] = []
    if not found.converged:
        notes.append((f"the iteration over missing entries stopped early ({found.stopped})", ConvergenceWarning))
    if not factors.converged:
        text = f"the likelihood was not brought to its maximum in {factors.iterations} Newton steps"
        notes.append((text, ConvergenceWarning))
    if factors.at_bound.any():
        held = [name for name, bound in zip(names, factors.at_bound, strict=True) if bound]
        some = ", ".join(held[:5]) + (f" and {len(held) - 5} more" if len(held) > 5 else "")
        text = f"Heywood case: the uniqueness of {some} is held at its bound; fewer factors may be enough"
        notes.append((text, HeywoodWarning))
    if degrees_of_freedom(d, factors.loadings.shape[1]) < 0:
        notes.append((f"one factor of {d} columns is not determined: many loadings fit alike", RankWarning))
    elif n <= d:
        text = f"{n:g} rows are no more than {d} columns: chi-square and what follows from it are not defined"
        notes.append((text, RankWarning))
    for text, category in notes:
        warn(text, category)
    return [text for text, _ in notes]


def turn(loadings: Array, rotation: str | None) -> Rotation:
    """Turn loadings towards simple structure, if asked; say so where that did not settle."""
    if rotation is None:
        k = loadings.shape[1]
        return Rotation(loadings, np.eye(k), np.eye(k), 0.0, True)
    turned = ROTATIONS[rotation](loadings)
    if not turned.converged:
        warn(f"the {rotation} rotation did not settle; its loadings are near the best.", ConvergenceWarning)
    return turned
