"""Contributions to a component, and how well it represents what contributes."""

from __future__ import annotations

import numpy as np

from gramian import charts
from gramian.charts import Contributions
from gramian.plots.display import Display, write_notes
from gramian.plots.style import INK, SMALL, TICK, Axes, colour, legend, literal, panels, tidy


class ContributionsDisplay(Display[Contributions]):
    """Bars of contributions, and squared cosines beside them.

    The dashed line is what each would contribute if all contributed alike. A squared cosine (cos2) is the share of a
    column's variance, or of a row's squared distance from the mean, that the component holds.

    Parameters
    ----------
    chart : Contributions
        From :func:`gramian.charts.contributions`.

    Attributes
    ----------
    ax_, figure_
        The axes in whose place the panels stand, and the figure.
    axes_ : list of two Axes
    bars_ : BarContainer
        Contributions, in percent.
    cos2_ : BarContainer

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA
    >>> from gramian.plots import ContributionsDisplay
    >>> display = ContributionsDisplay.from_estimator(PCA(2).fit(load_iris(as_frame=True).data))
    >>> round(float(sum(bar.get_width() for bar in display.bars_)), 6)
    100.0
    """

    _compute = staticmethod(charts.contributions)
    _takes = 1

    def _draw(self, ax: Axes, title: str) -> None:
        chart = self.chart
        m = len(chart.names)
        self.axes_ = left, right = panels(ax, 1, 2, widths=[1.3, 1], shared="y")
        at = np.arange(m)
        self.bars_ = left.barh(at, 100 * chart.shares, color=colour(0), height=0.7)
        left.axvline(100 * chart.expected, color=INK, linewidth=0.9, linestyle="--", label="if all were alike")
        self.cos2_ = right.barh(at, chart.cos2, color=colour(2), height=0.7)
        right.set_xlim(0, 1)
        left.set_yticks(at, [literal(name) for name in chart.names])
        left.invert_yaxis()
        tidy(left, title, "contribution, %", "")
        tidy(right, "", "cos2", "")
        for side in (left, right):
            side.tick_params(axis="y", labelsize=TICK if m <= 15 else SMALL, length=0)
        right.tick_params(labelleft=False)
        legend(left, where="lower right")
        write_notes(right, chart.notes, "lower right")
