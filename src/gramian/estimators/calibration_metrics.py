"""How good a calibration is, in the figures chemists quote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gramian.results import Array

#: Which rows -> what their errors are of: calibration, cross-validation, prediction.
ERROR_SUFFIXES = {"": "", "mixed": "", "fit": "C", "left out": "CV", "new": "P"}
#: Which rows -> what they are called.
ROLE_WORDS = {
    "": "rows given",
    "fit": "rows of the fit",
    "mixed": "rows of the fit and new rows",
    "left out": "rows left out",
    "new": "new rows",
}


@dataclass(frozen=True)
class Merit:
    r"""Figures of merit of predictions of one target.

    Definition
    ----------
    With residuals :math:`e = \hat y - y` of n rows:

    .. math:: \mathrm{RMSE} = \sqrt{\overline{e^2}}, \quad \text{bias} = \bar e, \quad
              \mathrm{SEP} = \sqrt{\tfrac{1}{n-1}\textstyle\sum (e - \bar e)^2}, \quad
              \mathrm{RPD} = \mathrm{sd}(y)/\mathrm{SEP}, \quad \mathrm{RER} = \mathrm{range}(y)/\mathrm{SEP}

    Attributes
    ----------
    n : int
    rmse, bias, sep, r2, rpd, rer : float
        Errors in the units of the target; the share of its variance predicted; its spread, and its range, in units of
        the error.
    slope, intercept : float
        Of the line of predicted on measured values.
    rows : {"", "mixed", "fit", "left out", "new"}
        Which rows these are: not known, or some of the fit and some new (RMSE); those of the fit (RMSEC, SEC: errors of
        calibration, smaller than those of new rows); each left out of the fit that predicted it (RMSECV,
        SECV); new ones (RMSEP, SEP).
    """

    n: int
    rmse: float
    bias: float
    sep: float
    r2: float
    rpd: float
    rer: float
    slope: float
    intercept: float
    rows: str = ""

    @property
    def error_name(self) -> str:
        """What the root of the mean squared error of such rows is called."""
        return f"RMSE{ERROR_SUFFIXES[self.rows]}"

    @property
    def spread_name(self) -> str:
        """What the same without the bias is called."""
        return f"SE{ERROR_SUFFIXES[self.rows] or 'P'}"

    @property
    def plain_bias(self) -> float:
        """The bias; what rounding leaves of zero, below 1e-9 of the error, is zero."""
        return self.bias if abs(self.bias) > 1e-9 * self.rmse else 0.0

    def __str__(self) -> str:
        bias = f"{self.plain_bias:+.3g}" if self.plain_bias else "0"
        return (
            f"n = {self.n}   {self.error_name} {self.rmse:.4g}   bias {bias}   "
            f"{self.spread_name} {self.sep:.4g}   R2 {self.r2:.4f}   "
            f"RPD {self.rpd:.3g}   RER {self.rer:.3g}   predicted = {self.slope:.4f} measured {self.intercept:+.3g}"
        )


def merit(measured: Array, predicted: Array, rows: str = "") -> Merit:
    """Return the figures of merit of predictions (n,) of measured values (n,); ``rows`` says which rows they are.

    >>> round(merit(np.array([1.0, 2.0, 3.0]), np.array([1.1, 2.1, 3.1])).rmse, 3)
    0.1
    """
    y, e = measured, predicted - measured
    n, squares = len(y), float(((y - y.mean()) ** 2).sum())
    sep = float(np.sqrt(((e - e.mean()) ** 2).sum() / (n - 1))) if n > 1 else float("nan")
    slope = float((y - y.mean()) @ (predicted - predicted.mean())) / squares if squares > 0 else float("nan")
    spread = float(np.sqrt(squares / (n - 1))) if n > 1 else float("nan")
    return Merit(
        n=n,
        rmse=float(np.sqrt((e**2).mean())),
        bias=float(e.mean()),
        sep=sep,
        r2=1 - float((e**2).sum()) / squares if squares > 0 else float("nan"),
        rpd=_ratio(spread, sep),
        rer=_ratio(float(np.ptp(y)), sep),
        slope=slope,
        intercept=float(predicted.mean() - slope * y.mean()),
        rows=rows,
    )


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else part + float("inf")  # NaN of one row stays NaN


def confusion(truth: Array, guesses: Array, classes: Sequence[str]) -> Array:
    """Return how many rows of each class (a row) were predicted as each (a column); one class is as good as many.

    >>> confusion(np.array(["a", "b", "b"]), np.array(["a", "a", "b"]), ["a", "b"])
    array([[1, 0],
           [1, 1]])
    """
    counts = np.zeros((len(classes), len(classes)), dtype=np.int64)
    place = {name: at for at, name in enumerate(classes)}
    for true, guess in zip(truth, guesses, strict=True):
        counts[place[true], place[guess]] += 1
    return counts
