"""How well factors fit a correlation matrix, whether it is worth factoring, and whether columns have comparable scales.

Pure functions of correlation matrices and deviations. What is not defined (no degrees of freedom, a singular matrix) is
None, not NaN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import chndtr, gammaincc

from gramian.lapack import interruptible
from gramian.operators.correlation import Correlation
from gramian.results import Array
from gramian.solvers.factor import objective

Index = float | int | tuple[float, float] | None
INDICES = (
    *("chi_square", "df", "p", "rmsea", "rmsea_interval", "tli", "cfi", "bic", "srmr", "srmr_corrected"),
    *("discrepancy", "likelihood_ratio", "null_chi_square", "null_df"),
)


#: Indices of fit -> what they are called.
INDEX_WORDS = {
    "chi_square": "chi-square",
    "df": "degrees of freedom",
    "p": "p",
    "rmsea": "RMSEA",
    "cfi": "CFI",
    "tli": "TLI",
    "srmr": "SRMR",
    "bic": "BIC (to compare models: the lower the better)",
}
#: Limits of fit indices that are called good and fair (Hu, Bentler, Structural Equation Modeling 1999; Browne, Cudeck,
#: Sociological Methods and Research 1992): at most these where 0 is best, at least these where 1 is.
LIMITS = {"rmsea": (0.06, 0.08), "srmr": (0.08, 0.10), "cfi": (0.95, 0.90), "tli": (0.95, 0.90)}
GRADES = ("good", "fair", "poor")


def grade(name: str, value: float) -> str:
    """Whether a fit index is good, fair or poor, as it reads with three digits after the point."""
    good, fair = LIMITS[name]
    sign = 1 if good < fair else -1
    place = sum(sign * round(value, 3) > sign * limit for limit in (good, fair))
    return GRADES[place]


#: Standard deviations this many times apart are units that differ, not columns that matter more.
UNEVEN_RATIO = 1000
#: A column with more than this share of the variance of that many columns decides the first component.
DOMINANT_SHARE, DOMINATED_MIN_COLUMNS = 0.8, 3


class Uneven(NamedTuple):
    """Columns on very different scales: smallest and largest, their ratio; the share of the largest if it dominates."""

    low: int
    high: int
    ratio: float
    share: float | None


def uneven_scales(deviations: Array, ratio_limit: float = UNEVEN_RATIO) -> Uneven | None:
    """Whether standard deviations, all positive, are on very different scales; None if they are not.

    >>> uneven_scales(np.array([1.0, 2000.0])).ratio, uneven_scales(np.array([1.0, 2.0, 3.0]))
    (2000.0, None)
    >>> round(uneven_scales(np.array([1.0, 1.0, 8.0])).share, 2)
    0.97
    """
    if len(deviations) == 0:
        return None
    low, high = int(np.argmin(deviations)), int(np.argmax(deviations))
    ratio = float(deviations[high] / deviations[low])
    if ratio > ratio_limit:
        return Uneven(low, high, ratio, None)
    share = float((deviations[high] / np.linalg.norm(deviations)) ** 2)
    dominant = share > DOMINANT_SHARE and len(deviations) >= DOMINATED_MIN_COLUMNS
    return Uneven(low, high, ratio, share) if dominant else None


@dataclass(frozen=True)
class SamplingAdequacy:
    """Kaiser's measure of sampling adequacy: of all columns together, and of each."""

    overall: float
    columns: Array


def degrees_of_freedom(d: int, k: int) -> int:
    """Correlations of d columns less the free parameters of k factors: ``((d - k)^2 - d - k) / 2``."""
    return ((d - k) ** 2 - d - k) // 2


def most_factors(d: int) -> int:
    """Largest number of factors that leaves no negative degrees of freedom; at least one."""
    # (d - k)^2 >= d + k is m (m + 1) >= 2d with m = d - k.
    m = (math.isqrt(8 * d + 1) - 1) // 2
    return max(1, d - m - (m * (m + 1) < 2 * d))


def fit_indices(R: Array | None, implied: Array, n: float, k: int) -> dict[str, Index]:
    r"""Return the usual measures of fit of a factor model.

    Definition
    ----------
    .. math:: \chi^2 = \big(n - 1 - \tfrac{2d+5}{6} - \tfrac{2k}{3}\big) F, \qquad
              \mathrm{RMSEA} = \sqrt{\max\big(\tfrac{\chi^2}{f (n-1)} - \tfrac{1}{n-1}, 0\big)}, \qquad
              \mathrm{TLI} = \frac{\chi_0^2/f_0 - \chi^2/f}{\chi_0^2/f_0 - 1}

    with the discrepancy F, f degrees of freedom, and the index 0 for the model without factors, whose factor is
    :math:`n - 1 - (2d+5)/6`. These are the conventions of R's ``factanal`` (chi-square) and ``psych`` (the rest).
    ``srmr`` is the root mean square of the residual correlations, ``srmr_corrected`` that per degree of freedom,
    ``likelihood_ratio`` n F, chi-square without Bartlett's correction; ``rmsea_interval`` has 90 %. Without the
    correlations R of the data nothing but the degrees of freedom is known.

    References
    ----------
    Bartlett, Journal of the Royal Statistical Society B 1954; Steiger, Multivariate Behavioral Research 1990;
    Tucker, Lewis, Psychometrika 1973.
    """
    if R is None:
        return _indices(len(implied), n, k, None, None, None)
    known = Correlation.of(R).log_determinant
    F = None
    if known is not None:
        fit = interruptible(np.linalg.slogdet, implied)[1] + np.trace(interruptible(np.linalg.solve, implied, R))
        F = max(0.0, float(fit - known - len(R)))
    return _indices(len(implied), n, k, float(np.sum(np.triu(R - implied, 1) ** 2)), F, known)


def factor_fit(R: Correlation | None, loadings: Array, psi: Array, n: float) -> dict[str, Index]:
    """The same of factors with these loadings and uniquenesses."""
    d, k = loadings.shape
    if R is None:
        return _indices(d, n, k, None, None, None)
    known = R.log_determinant
    F = None if known is None else max(0.0, objective(R, loadings, psi) - known - d)
    return _indices(d, n, k, R.squares_beside(loadings), F, known)


def _indices(
    d: int, n: float, k: int, squares: float | None, F: float | None, log_determinant: float | None
) -> dict[str, Index]:
    """Indices from the sum of squared residual correlations, the discrepancy, and ``log |R|``."""
    df, null_df = degrees_of_freedom(d, k), d * (d - 1) // 2
    found: dict[str, Index] = dict.fromkeys(INDICES)
    found |= {"df": df, "null_df": null_df}
    if squares is None:
        return found
    found["srmr"] = float(np.sqrt(squares / null_df)) if null_df else None
    found["srmr_corrected"] = float(np.sqrt(squares / df)) if df > 0 else None
    found["discrepancy"] = F
    null_chi = found["null_chi_square"] = _sphericity(d, log_determinant, n)["chi_square"]
    factor = n - 1 - (2 * d + 5) / 6 - 2 * k / 3
    if F is None or factor <= 0 or df < 0:
        return found
    found["likelihood_ratio"] = float(n * F)
    chi = found["chi_square"] = float(factor * F)
    if df == 0:
        return found
    found["p"] = _chi_square_tail(chi, df)
    found["rmsea"] = float(np.sqrt(max(chi / (df * (n - 1)) - 1 / (n - 1), 0.0)))
    found["rmsea_interval"] = _rmsea_interval(chi, df, n)
    found["bic"] = float(chi - df * np.log(n))
    if null_chi is not None and null_chi > null_df:
        found["tli"] = (null_chi / null_df - chi / df) / (null_chi / null_df - 1)
        found["cfi"] = 1 - max(chi - df, 0.0) / max(null_chi - null_df, chi - df)
    return found


def kmo(R: Array | Correlation) -> SamplingAdequacy | None:
    r"""Share of correlation that is common rather than between two columns alone; None where R is singular.

    Definition
    ----------
    .. math:: \frac{\sum_{i \ne j} r_{ij}^2}{\sum_{i \ne j} r_{ij}^2 + \sum_{i \ne j} q_{ij}^2}, \qquad
              q_{ij} = \frac{-(R^{-1})_{ij}}{\sqrt{(R^{-1})_{ii} (R^{-1})_{jj}}}

    over all pairs, and over those of each column. Below 0.5 there is little to factor, from 0.8 on much.

    References
    ----------
    Kaiser, An index of factorial simplicity, Psychometrika 1974.
    """
    C = Correlation.of(R)
    if C.d < 2 or (inverse := C.inverse()) is None:
        return None
    size = np.sqrt(np.diag(inverse))
    plain, partial = C.R**2, (inverse / np.outer(size, size)) ** 2
    np.fill_diagonal(plain, 0.0)
    np.fill_diagonal(partial, 0.0)
    rows, others = plain.sum(axis=1), partial.sum(axis=1)
    total = rows + others
    # Columns without any correlation have nothing in common: the limit of their measure is a half.
    columns = np.divide(rows, total, out=np.full(C.d, 0.5), where=total > 0)
    return SamplingAdequacy(float(rows.sum() / total.sum()) if total.sum() > 0 else 0.5, columns)


def bartlett_sphericity(R: Array | Correlation, n: float) -> dict[str, float | None]:
    r"""Test whether any columns are correlated at all.

    Definition
    ----------
    .. math:: \chi^2 = -\big(n - 1 - \tfrac{2d+5}{6}\big) \log |R|, \qquad \tfrac{d(d-1)}{2} \text{ degrees of freedom}

    Chi-square is None where R is singular or rows are too few.

    References
    ----------
    Bartlett, The effect of standardization on a chi-square approximation in factor analysis, Biometrika 1951.
    """
    C = Correlation.of(R)
    return _sphericity(C.d, C.log_determinant, n)


def _sphericity(d: int, log_determinant: float | None, n: float) -> dict[str, float | None]:
    df, factor = d * (d - 1) // 2, n - 1 - (2 * d + 5) / 6
    if log_determinant is None or factor <= 0:
        return {"chi_square": None, "df": df, "p": None}
    chi = float(factor * max(0.0, -log_determinant))
    return {"chi_square": chi, "df": df, "p": _chi_square_tail(chi, df) if df else None}


def _chi_square_tail(chi: float, df: int) -> float:
    return float(gammaincc(df / 2, chi / 2))


def _rmsea_interval(chi: float, df: int, n: float, level: float = 0.9) -> tuple[float, float]:
    """Interval from the noncentralities under which chi-square would be in its upper or lower tail."""

    def end(probability: float) -> float:
        if chndtr(chi, df, 0.0) <= probability:
            return 0.0
        most = chi + 10.0
        while chndtr(chi, df, most) > probability:
            most *= 2
        noncentrality = brentq(lambda c: chndtr(chi, df, c) - probability, 0.0, most, xtol=1e-10 * max(chi, 1.0))
        return float(np.sqrt(noncentrality / (df * (n - 1))))

    return end((1 + level) / 2), end((1 - level) / 2)
