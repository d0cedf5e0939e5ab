"""Two views of the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian import charts
from gramian.charts import Correlations, Paired
from gramian.estimators.cca_tests import at_least
from gramian.plots.display import Display, write_figures, write_notes
from gramian.plots.points import draw_points, list_groups, name_rows
from gramian.plots.style import INK, MUTED, PALE, SMALL, Axes, colour, legend, tidy, whole_numbers
from gramian.results import Array


class CorrelationsDisplay(Display[Correlations], data=charts.correlations):
    """Canonical correlations with the band of rows paired at random.

    Attributes
    ----------
    line_ : Line2D
        The correlations.
    band_ : PolyCollection or None
        What chance gives, up to its 95 % quantile.
    held_out_ : Line2D or None
        Correlations of rows left out.
    """

    def _draw(self, ax: Axes, title: str) -> None:
        chart = self.chart
        tidy(ax, title, chart.xlabel, chart.ylabel)
        pairs = np.arange(1, len(chart.values) + 1)
        self.band_: Any = None
        self.held_out_: Any = None
        if chart.high is not None and chart.middle is not None:
            x, high = _widened(pairs, chart.high)
            paper: dict[str, Any] = {"color": PALE, "alpha": 0.6, "linewidth": 0}
            self.band_ = ax.fill_between(x, 0, high, label="rows paired at random, to 95 %", **paper)
            ax.plot(*_widened(pairs, chart.middle), color=MUTED, linewidth=0.8, linestyle="--")
        if chart.plain is not None:
            text = "correlation of the scores"
            ax.plot(pairs, chart.plain, "s-", color=colour(2), linewidth=1.3, markersize=5, label=text)
        text = "fitted" if chart.plain is None else "regularised: with the ridge"
        self.line_ = ax.plot(pairs, chart.values, "o-", color=colour(0), linewidth=1.3, markersize=5, label=text)[0]
        if chart.held_out is not None:
            shown = chart.held_out[: len(pairs)]
            open_: dict[str, Any] = {"color": colour(1), "markerfacecolor": "white", "markersize": 5}
            self.held_out_ = ax.plot(pairs[: len(shown)], shown, "D--", label="rows left out", **open_)[0]
        if chart.p_values is not None and len(pairs) <= 10:
            look: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "fontsize": SMALL, "color": INK}
            for at, value, p in zip(pairs, chart.values, chart.p_values, strict=True):
                sign = "≤" if p <= at_least(chart.shuffles) else "="
                ax.annotate(f"p {sign} {p:.2g}", (at, value), (0, 7), **look)
        whole_numbers(ax.xaxis, len(pairs))
        lowest = 0.0 if chart.held_out is None else float(min(chart.held_out.min(initial=0.0), 0.0))
        ax.set(ylim=(1.1 * lowest, 1.08), xlim=(0.5, len(pairs) + 0.5))
        legend(ax)
        write_notes(ax, chart.notes)


def _widened(pairs: Array, values: Array) -> tuple[Array, Array]:
    """A line that reaches half a pair further to both sides, so that a single pair has a band too."""
    return np.concatenate([[0.5], pairs, [pairs[-1] + 0.5]]), np.concatenate([values[:1], values, values[-1:]])


class PairedDisplay(Display[Paired], data=charts.paired):
    """Scores of one view against those of the other.

    Attributes
    ----------
    scatter_, image_, colorbar_
        Rows.
    texts_ : list of Text
        Names of rows, if they are few.
    """

    def _draw(self, ax: Axes, title: str) -> None:
        chart = self.chart
        tidy(ax, title, chart.xlabel, chart.ylabel)
        self.scatter_, self.image_, self.colorbar_ = draw_points(ax, chart.points)
        write_figures(ax, f"n = {chart.points.total:,}\ncorrelation {chart.correlation:.3f}")
        list_groups(ax, chart.points)
        legend(ax, where="lower right")
        write_notes(ax, chart.notes)
        self.texts_ = name_rows(ax, chart.points, chart.names)
