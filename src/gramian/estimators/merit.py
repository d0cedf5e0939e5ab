"""How good a calibration is, in the figures chemists quote."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.results import Array

#: Which rows -> what their errors are of: calibration, cross-validation, prediction.
ROLES = {"": "", "fit": "C", "left out": "CV", "new": "P"}


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
    rows : {"", "fit", "left out", "new"}
        Which rows these are: not known; those of the fit (RMSEC, SEC: errors of calibration, smaller than those of
        new rows); each left out of the fit that predicted it (RMSECV, SECV); new ones (RMSEP, SEP).
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
        return f"RMSE{ROLES[self.rows]}"

    @property
    def spread_name(self) -> str:
        """What the same without the bias is called."""
        return f"SE{ROLES[self.rows] or 'P'}"

    def __str__(self) -> str:
        return (
            f"n = {self.n}   {self.error_name} {self.rmse:.4g}   bias {self.bias:+.3g}   "
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
    return part / whole if whole > 0 else float("inf")
