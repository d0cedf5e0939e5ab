"""Scree: variances beside those of random tables, and what the criteria say."""

from __future__ import annotations

import textwrap
from typing import Any, Self

import numpy as np
from matplotlib.ticker import MaxNLocator

from gramian import charts
from gramian.charts import Scree
from gramian.plots.display import Display
from gramian.plots.style import INK, MUTED, PALE, SMALL, TICK, Axes, colour, tidy
from gramian.results import percent

#: Lines differ in shape too, for readers who do not see the colours.
MARKERS = "os^D"
#: Letters in a line of the list of suggestions.
WIDTH = 44


class ScreeDisplay(Display[Scree]):
    """Scree plot: what each component holds.

    Filled marks are components of the fit, open ones those it left out. The grey band is where 90 % of random tables
    lie (parallel analysis). Triangles show what each criterion of :func:`gramian.selection.how_many` says; the list
    names them, the one that decides first.

    Parameters
    ----------
    chart : Scree
        From :func:`gramian.charts.scree`.
    name : str
        Written in a legend with the share of all components; drawing several on the same axes compares them.

    Attributes
    ----------
    ax_, figure_
        Axes and figure.
    line_ : Line2D
        The variances.
    band_ : PolyCollection or None
        Random tables.
    suggestions_ : Text or None
        The list of what criteria say.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from gramian import PCA
    >>> from gramian.plots import ScreeDisplay
    >>> X = load_wine().data
    >>> display = ScreeDisplay.from_estimator(PCA(3, scale=True).fit(X), X)
    >>> display.ax_.get_ylabel()
    'share of variance, %'
    """

    _compute = staticmethod(charts.scree)
    _takes = 1

    def __init__(self, chart: Scree, *, name: str = "") -> None:
        super().__init__(chart)
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        ax: Axes | None = None,
        title: str | None = None,
        name: str = "",
        **options: Any,
    ) -> Self:
        """Compute the variances of a fitted estimator and draw them; see :meth:`Display.from_estimator`."""
        return cls(charts.scree(estimator, X, **options), name=name).plot(ax, title=title)

    def _draw(self, ax: Axes, title: str) -> None:
        chart = self.chart
        shares = chart.shares is not None
        values = 100 * chart.shares if chart.shares is not None else chart.values
        unit = float(values[0] / chart.values[0]) if chart.values[0] > 0 else 1.0
        at = sum(line.get_gid() == "scree" for line in ax.lines)
        self.band_ = self._draw_band(ax, unit)
        label = None
        if self.name and chart.shares is not None:
            label = f"{self.name}: {percent(float(chart.shares[: chart.kept].sum()))} in {chart.kept} components"
        self.line_ = ax.plot(
            chart.numbers,
            values,
            color=colour(at),
            marker=MARKERS[at % len(MARKERS)],
            markersize=4.5,
            markerfacecolor="white",
            linewidth=1.3,
            gid="scree",
            zorder=3,
        )[0]
        ax.plot(
            chart.numbers[: chart.kept],
            values[: chart.kept],
            color=colour(at),
            marker=MARKERS[at % len(MARKERS)],
            markersize=4.5,
            linewidth=0,
            zorder=3.1,
            label=label or (f"fitted ({chart.kept})" if self.band_ is not None else None),
        )
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
        ax.set_ylim(bottom=0)
        tidy(ax, title, chart.xlabel, "share of variance, %" if shares else chart.ylabel)
        self.suggestions_ = self._draw_suggestions(ax)
        if label or self.band_ is not None:
            ax.legend(frameon=False, fontsize=TICK, loc="upper right", labelcolor=INK)
        if self.suggestions_ is not None:
            self._place_list(ax)

    def _draw_band(self, ax: Axes, unit: float) -> Any:
        low, middle, high = self.chart.low, self.chart.middle, self.chart.high
        if low is None or middle is None or high is None:
            return None
        x = self.chart.numbers
        ax.plot(x, unit * middle, color=MUTED, linewidth=0.8, linestyle="--", zorder=2)
        return ax.fill_between(
            x, unit * low, unit * high, color=PALE, alpha=0.6, linewidth=0, zorder=1.5, label="random tables, 5 to 95 %"
        )

    def _draw_suggestions(self, ax: Axes) -> Any:
        chart = self.chart
        if not chart.suggestions:
            return None
        votes: dict[int, list[str]] = {}
        for line in chart.suggestions:
            assert line.k is not None
            votes.setdefault(line.k, []).append(line.criterion)
        recommended = chart.recommended or 0
        if recommended:
            ax.axvline(recommended, color=INK, linewidth=0.8, linestyle=":", zorder=1)
        shown = [k for k in votes if k <= len(chart.values)]
        ax.plot(
            shown,
            np.zeros(len(shown)),
            color=INK,
            marker="^",
            linewidth=0,
            markersize=6,
            clip_on=False,
            zorder=4,
            label="suggested",
        )
        lines = [f"{recommended}: {chart.decided_by} (decides)"]
        for k in sorted(votes):
            rest = [name for name in votes[k] if name != chart.decided_by]
            if rest:
                lines += textwrap.wrap(f"{k}: {', '.join(rest)}", WIDTH, subsequent_indent="    ")
        return ax.text(1, 1, "\n".join(lines), ha="right", va="top", fontsize=SMALL, color=INK, linespacing=1.35)

    def _place_list(self, ax: Axes) -> None:
        """Put the list under the legend, and left-align its lines."""
        self.figure_.draw_without_rendering()
        legend = ax.get_legend()
        frame = ax.get_window_extent()
        box = legend.get_window_extent() if legend else None
        top = 1.0 if box is None else (box.y0 - frame.y0) / frame.height
        width = self.suggestions_.get_window_extent().width / frame.width
        self.suggestions_.set(transform=ax.transAxes, position=(max(0.99 - width, 0.02), top), ha="left")
