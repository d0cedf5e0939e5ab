"""Rules of thumb on the sizes of the variances."""

from __future__ import annotations

import numpy as np

from gramian.criteria.base import Suggestion, Variances, run_length
from gramian.results import Array, percent

#: Share of the variance that the oldest rule asks for.
SHARE = 0.9


def variance_share(found: Variances, share: float = SHARE) -> Suggestion:
    """Fewest components that hold a share of the variance.

    >>> flat = Variances(np.array([6.0, 3.0, 1.0]), np.eye(3), np.array([6.0, 3.0, 1.0]), 50)
    >>> variance_share(flat).k
    2
    """
    reached = np.cumsum(found.values) >= share * found.total * (1 - 1e-12)
    name, source = f"{percent(share)} of the variance", "Jolliffe 2002"
    if not reached.any():
        return Suggestion(name, None, source, f"the first {len(found.values)} components hold less")
    return Suggestion(name, int(np.argmax(reached)) + 1, source)


def kaiser(found: Variances) -> Suggestion:
    """Components with more variance than the average column: eigenvalues above 1, of a correlation matrix."""
    mean = found.total / found.d
    k = run_length(found.values > mean * (1 + 1e-9))
    return Suggestion("above the average variance", k, "Kaiser 1960", f"average {mean:.4g}")


def broken_stick(found: Variances) -> Suggestion:
    r"""Components whose shares are above those of a stick broken at random.

    Definition
    ----------
    .. math:: \lambda_k / \sum_j \lambda_j > \tfrac1p \sum_{i=k}^{p} \tfrac1i
    """
    p = found.limit
    expected = np.cumsum(1.0 / np.arange(p, 0, -1))[::-1] / p
    values = found.leading()
    return Suggestion(
        "broken stick", run_length(values / found.total > expected[: len(values)] * (1 + 1e-9)), "Frontier 1976"
    )


def largest_gap(values: Array, source: str = "Cattell 1966", *, whole: bool = False) -> Suggestion:
    """The largest relative drop from one value to the next, in the first half of those there are.

    With ``whole`` the values are all there can be, and a fall to nothing is a gap too; without it they fade out.

    >>> largest_gap(np.array([4.0, 3.0, 2.0, 0.0, 0.0, 0.0]), whole=True).k
    3
    """
    floor = 1e-12 * values.max(initial=0.0)
    positive = np.maximum(values, floor) if whole and floor > 0 else values[values > floor]
    if len(positive) < 3:
        return Suggestion("largest gap", None, source, f"{len(positive)} values have no gap to speak of")
    seen = positive[: max(2, len(positive) // 2) + 1]
    drops = seen[:-1] / seen[1:]
    k = int(np.argmax(drops)) + 1
    return Suggestion("largest gap", k, source, f"a drop by the factor {drops[k - 1]:.3g}")
