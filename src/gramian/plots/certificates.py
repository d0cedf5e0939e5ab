"""How a fit came to its answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from gramian import charts
from gramian.charts import Likelihood, Residuals
from gramian.plots.display import Display, write_figures
from gramian.plots.style import MUTED, Axes, colour, legend, panels, tidy, whole_numbers


class LikelihoodDisplay(Display[Likelihood]):
    """Log-likelihood of every step, and what was still to gain, by orders of magnitude.

    Parameters
    ----------
    chart : Likelihood
        From :func:`gramian.charts.likelihood`.

    Attributes
    ----------
    ax_, figure_
        The axes in whose place the panels stand, and the figure.
    axes_ : list of two Axes
    lines_ : list of two Line2D

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import ProbabilisticPCA
    >>> from gramian.plots import LikelihoodDisplay
    >>> display = LikelihoodDisplay.from_estimator(ProbabilisticPCA(2, method="em").fit(load_iris().data))
    >>> len(display.lines_)
    2
    """

    _compute = staticmethod(charts.likelihood)

    def _draw(self, ax: Axes, title: str) -> None:
        chart = self.chart
        self.axes_ = above, below = panels(ax, 2, 1, shared="x")
        few = len(chart.steps) <= 30
        style: dict[str, Any] = {"linewidth": 1.4, "marker": "o" if few else "", "markersize": 3.5}
        self.lines_ = above.plot(chart.steps, chart.values, color=colour(0), **style)
        self.lines_ += below.semilogy(chart.steps[:-1], chart.left, color=colour(1), **style)
        tidy(above, title, "", chart.ylabel)
        tidy(below, "", chart.xlabel, "still to gain")
        above.tick_params(labelbottom=False)
        below.xaxis.set_major_locator(MaxNLocator(integer=True))
        write_figures(above, f"{chart.values[-1]:.6g} after {len(chart.steps):,} steps", "lower right")


class ResidualsDisplay(Display[Residuals]):
    """The certificate of a spectrum: residuals, gaps, and how far directions can be off.

    Parameters
    ----------
    chart : Residuals
        From :func:`gramian.charts.residuals`.

    Attributes
    ----------
    ax_, figure_
        Axes and figure.
    lines_ : list of three Line2D
        Gaps, bounds on angles, residuals.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA
    >>> from gramian.plots import ResidualsDisplay
    >>> ResidualsDisplay.from_estimator(PCA(3).fit(load_iris().data)).ax_.get_yscale()
    'log'
    """

    _compute = staticmethod(charts.residuals)

    def _draw(self, ax: Axes, title: str) -> None:
        chart = self.chart
        tidy(ax, title, chart.xlabel, chart.ylabel)
        floor = np.finfo(np.float64).eps
        ax.axhline(floor, color=MUTED, linewidth=0.8, linestyle=":", label="rounding of double precision")
        parts = [
            (chart.gaps, "s-", colour(2), "gap to the next eigenvalue"),
            (chart.angles, "^-", colour(1), "angle of the direction, at most"),
            (chart.residuals, "o-", colour(0), "residual"),
        ]
        look: dict[str, Any] = {"markersize": 4, "linewidth": 1.1}
        self.lines_: list[Any] = []
        for values, style, shade, name in parts:
            shown = np.maximum(values, floor / 4)  # a residual of zero has a place too
            self.lines_ += ax.plot(chart.numbers, shown, style, color=shade, label=name, **look)
        ax.set_yscale("log")
        ax.set_ylim(floor / 10, 30)
        whole_numbers(ax.xaxis, len(chart.numbers))
        legend(ax)
