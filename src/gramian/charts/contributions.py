"""What rows or columns contribute to a component, and how well it represents them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.charts.base import Chart, check_picks, column_names, last_step, need_rows, refuse, row_names
from gramian.charts.labels import label_of, noun_of
from gramian.charts.notes import note
from gramian.estimators.diagnostics import ComponentDiagnostics
from gramian.estimators.validation import check_choice
from gramian.results import Array


@dataclass(frozen=True, kw_only=True)
class Contributions(Chart):
    """Shares of rows or columns in a component, largest first.

    Attributes
    ----------
    of : {"columns", "rows"}
    names : tuple of str
    shares : (m,) array
        Shares in the component; they sum to 1 over all columns, or over all rows of the fit.
    cos2 : (m,) array
        Share of each one's own variance, or squared distance from the mean, that the component holds.
    expected : float
        What each would contribute if all contributed alike.
    above : int
        How many of all contribute more than that.
    left_out : int
        Those that contribute less and are not shown.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA, charts
    >>> chart = charts.contributions(PCA(2).fit(load_iris().data))
    >>> round(float(chart.shares.sum()), 6), chart.expected
    (1.0, 0.25)
    """

    of: str
    names: tuple[str, ...]
    shares: Array
    cos2: Array
    expected: float
    above: int = 0
    left_out: int = 0


def contributions(
    estimator: Any,
    X: Any = None,
    *,
    of: str = "columns",
    component: int = 0,
    most: int = 20,
    names: Sequence[Any] | None = None,
) -> Contributions:
    r"""Return contributions to a component, and squared cosines with it.

    Definition
    ----------
    .. math:: \text{rows: } \frac{t_{ik}^2}{(n-1) \lambda_k},\ \frac{t_{ik}^2}{\|x_i - \mu\|^2} \qquad
              \text{columns: } w_{jk}^2,\ \mathrm{corr}(x_j, t_k)^2

    Parameters
    ----------
    estimator : fitted PCA
    X : (n, d) array, data frame or sparse matrix
        Rows, if ``of="rows"``.
    of : {"columns", "rows"}
    component : int
        Which, counted from 0.
    most : int
        How many to show at the most, largest contributions first.
    names : sequence of str, optional
        Names of the rows or columns.

    Returns
    -------
    Contributions

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA, charts
    >>> X = load_iris(as_frame=True).data
    >>> charts.contributions(PCA(2).fit(X), component=1).names[0]
    'sepal width (cm)'
    """
    check_choice("of", of, ("columns", "rows"))
    model, rows = last_step(estimator, X)
    if not isinstance(model, ComponentDiagnostics):
        raise refuse(model, "contributions", "Use PCA.")
    (k,) = check_picks([component], len(model.components_), (1,), noun_of(model))
    if of == "columns":
        shares, cos2 = model.column_contributions()[:, k], model.column_cos2()[:, k]
        called = column_names(model, len(shares)) if names is None else row_names(None, len(shares), names)
        expected = 1 / len(shares)
    else:
        rows = need_rows(rows, "contributions of rows")
        shares, cos2 = model.row_contributions(rows)[:, k], model.row_cos2(rows)[:, k]
        called = row_names(X, len(shares), names) or tuple(f"row {at}" for at in range(len(shares)))
        expected = 1 / float(model.n_samples_)
    assert called is not None
    order = np.argsort(-shares, kind="stable")[:most]
    return Contributions(
        title=f"Contributions to {label_of(model, k)}".replace(" of variance", ""),
        xlabel="contribution",
        ylabel="",
        notes=(note("largest_only", shown=len(order), total=len(shares)),) if len(order) < len(shares) else (),
        of=of,
        names=tuple(called[at] for at in order),
        shares=shares[order],
        cos2=cos2[order],
        expected=expected,
        above=int((shares > expected * (1 + 1e-9)).sum()),
        left_out=len(shares) - len(order),
    )
