"""T2 against Q."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian import charts
from gramian.charts import Outliers
from gramian.charts.points import SOME
from gramian.plots.display import Display, write_notes
from gramian.plots.points import draw_points, list_groups, name_rows
from gramian.plots.style import MUTED, Axes, legend, tidy

#: Rows beyond the limits that get a name.
MOST_NAMED = 12
#: Distances of so many limits ask for a logarithmic scale.
FAR = 15


class OutliersDisplay(Display[Outliers]):
    """Hotelling's T2 against the residual Q, with limits and the names of the rows farthest beyond them.

    Parameters
    ----------
    chart : Outliers
        From :func:`gramian.charts.outliers`.

    Attributes
    ----------
    ax_, figure_
        Axes and figure.
    scatter_, image_, colorbar_
        Rows.
    limits_ : list of Line2D
    texts_ : list of Text
        Names, or numbers from 0, of rows beyond the limits.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from gramian import PCA
    >>> from gramian.plots import OutliersDisplay
    >>> X = load_wine().data
    >>> len(OutliersDisplay.from_estimator(PCA(3, scale=True).fit(X), X).limits_)
    2
    """

    _compute = staticmethod(charts.outliers)
    _takes = 1

    def _draw(self, ax: Axes, title: str) -> None:
        chart = self.chart
        tidy(ax, title, chart.xlabel, chart.ylabel)
        drawn = draw_points(ax, chart.points)
        self.scatter_, self.image_, self.colorbar_ = drawn.scatter, drawn.image, drawn.colorbar
        self.limits_: list[Any] = []
        for at, (limit, draw) in enumerate(((chart.t2_limit, ax.axvline), (chart.q_limit, ax.axhline))):
            if limit:
                text = f"passed by {100 * chart.alpha:g} % of good rows" if at == 0 else None
                self.limits_.append(draw(limit, color=MUTED, linewidth=0.9, linestyle="--", zorder=2, label=text))
        self._scale(ax)
        list_groups(ax, chart.points)
        # Not over the row that lies farthest out; the search for a free place is slow for very many points.
        legend(ax, where="best" if chart.points.total <= SOME else "upper right")
        write_notes(ax, chart.notes)
        self.texts_ = name_rows(ax, chart.points, chart.names, [int(at) for at in chart.beyond[:MOST_NAMED]])

    def _scale(self, ax: Axes) -> None:
        """Begin at zero; go by orders of magnitude along an axis where some rows lie very far out."""
        points = self.chart.points
        for axis, (limit, name) in enumerate(((self.chart.t2_limit, "x"), (self.chart.q_limit, "y"))):
            values = points.at[:, axis]
            ends = [limit or 0.0, float(values.max(initial=0.0))]
            if points.density is not None:
                ends.append(float((points.density.x, points.density.y)[axis][-1]))
            if limit and max(ends) > FAR * limit and points.density is None:
                low = float(np.quantile(values[values > 0], 0.02))
                ax.set(**{f"{name}scale": "log", f"{name}lim": (low / 2, 3 * max(ends))})
            elif max(ends) > 0:
                ax.set(**{f"{name}lim": (0, 1.08 * max(ends))})
