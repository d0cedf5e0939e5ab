"""The result of a path of ridges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.results import Array
from gramian.spaces.ridge_values import NEEDED, RidgeCurve

#: Deviations from the mean that are rounding, relative to the targets.
ROUNDING = 8 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class RidgePath:
    """Fits along a path of ridges, and what leaving rows out says of them; prints as a table.

    Attributes
    ----------
    ridges : (R,) array
    errors : (R,) array
        Mean squared leave-one-out residual, over rows (by their weight) and targets.
    r2 : (R,) array
        ``1 - errors / variance`` of the targets; 0 if they are constant.
    leave_one_out : (R, n) or (R, n, q) array
        Residual of each row under the fit without it.
    dual_coef : (R, n) or (R, n, q) array
    intercept : (R,) or (R, q) array
    best : float
        The ridge of least error.
    best_index : int
        Its place.
    """

    ridges: Array
    errors: Array
    r2: Array
    leave_one_out: Array
    dual_coef: Array
    intercept: Array

    @property
    def best_index(self) -> int:
        """Place of the least error; the largest ridge of several."""
        return len(self.errors) - 1 - int(np.argmin(self.errors[::-1]))

    @property
    def best(self) -> float:
        """The ridge of least error."""
        return float(self.ridges[self.best_index])

    def __str__(self) -> str:
        lines = [f"{'ridge':>12}  {'error':>12}  {'R2':>8}"]
        for k, (ridge, error, r2) in enumerate(zip(self.ridges, self.errors, self.r2, strict=True)):
            lines.append(f"{ridge:>12.4g}  {error:>12.4g}  {r2:>8.4f}" + ("  best" if k == self.best_index else ""))
        return "\n".join(lines)


def summarise_path(curve: RidgeCurve, Y: Array, weights: Array | None, *, single: bool) -> RidgePath:
    """Judge every ridge by its leave-one-out residuals."""
    size = float(np.abs(Y).max())
    if size and not 1e-140 < size < 1e140:
        raise ValueError(f"y has entries of size {size:.3g}, whose squared errors leave double precision. Rescale y.")
    for ridge, left_out in zip(curve.ridges, curve.left_out, strict=True):
        if not np.isfinite(left_out).all():
            raise ValueError(f"leave-one-out residuals are not determined at ridge={ridge:.3g}: {NEEDED}.")
    errors = np.average(np.square(curve.left_out).mean(axis=2), axis=1, weights=weights)
    level = np.average(Y, axis=0, weights=weights)
    variance = float(np.average(np.square(Y - level).mean(axis=1), weights=weights))
    shape = (lambda A: A[..., 0]) if single else (lambda A: A)
    return RidgePath(
        curve.ridges,
        errors,
        1 - errors / variance if variance > np.square(ROUNDING * size) else np.zeros_like(errors),
        shape(curve.left_out),
        shape(curve.dual),
        shape(curve.offsets[:, 0]),
    )


def check_ridge(ridge: Any) -> float:
    """Refuse what is no ridge."""
    if isinstance(ridge, (bool, np.bool_)) or not isinstance(ridge, (int, float, np.integer, np.floating)):
        raise TypeError(f"ridge={ridge!r} must be a number, 0 or more.")
    if not 0 <= ridge < np.inf:
        raise ValueError(f"ridge={ridge!r} must be a finite number, 0 or more.")
    return float(ridge)


def check_ridges(ridges: Any) -> Array:
    """Refuse what is no list of ridges."""
    try:
        values = np.asarray(ridges, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"ridges={ridges!r} must be numbers, 0 or more.") from None
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(f"ridges={ridges!r} must be a list of one or more finite numbers, 0 or more.")
    return values
