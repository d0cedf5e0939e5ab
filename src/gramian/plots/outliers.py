"""T2 against Q."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian import charts
from gramian.charts import Outliers
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
        legend(ax, where="upper right")
        write_notes(ax, chart.notes)
        self.texts_ = name_rows(ax, chart.points, chart.names, [int(at) for at in chart.beyond[:MOST_NAMED]])

    def _scale(self, ax: Axes) -> None:
        """Begin at zero; go by orders of magnitude along an axis where some rows lie very far out."""
        at, density = self.chart.points.at, self.chart.points.density
        for axis, (limit, name) in enumerate(((self.chart.t2_limit, "x"), (self.chart.q_limit, "y"))):
            ends = [] if density is None else [float((density.x, density.y)[axis][-1])]
            farthest = max([*ends, float(at[:, axis].max(initial=0.0))])
            if limit and farthest > FAR * limit and density is None:
                getattr(ax, f"set_{name}scale")("symlog", linthresh=limit)
            if farthest > 0:
                ax.set(**{f"{name}lim": (0, float(np.multiply(1.08, max(farthest, limit or 0.0))))})
