"""Loadings of columns: arrows in a circle, lines over a spectrum, a table of colours."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.patches import Circle

from gramian import charts
from gramian.charts import Heat, Loadings
from gramian.plots.display import Display, write_notes
from gramian.plots.placing import write_apart
from gramian.plots.points import cross
from gramian.plots.scores import along, away, draw_arrows
from gramian.plots.style import (
    BELOW_AND_ABOVE,
    INK,
    LABEL,
    MUTED,
    PALE,
    SMALL,
    TICK,
    Axes,
    colour,
    legend,
    literal,
    tidy,
)

#: Arrows that get a name: the longest ones.
MOST_NAMED = 30
#: Rows of a heat map up to which numbers are written into it.
MOST_NUMBERS = 40
DARK = ("#23639f", "#8a1601")
STYLES = ("-", "--", "-.", ":")


class LoadingsDisplay(Display[Loadings]):
    """Columns along components: arrows for few columns, lines for channels of a spectrum.

    Arrows that are correlations of columns with scores stay in the unit circle; one that reaches it is held by these
    two components alone.

    Parameters
    ----------
    chart : Loadings
        From :func:`gramian.charts.loadings`.

    Attributes
    ----------
    ax_, figure_
        Axes and figure.
    arrows_ : list of FancyArrowPatch
    lines_ : list of Line2D
    circle_ : Circle or None
    texts_ : list of Text

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from gramian import PCA
    >>> from gramian.plots import LoadingsDisplay
    >>> display = LoadingsDisplay.from_estimator(PCA(2, scale=True).fit(load_wine(as_frame=True).data))
    >>> len(display.arrows_)
    13
    """

    _compute = staticmethod(charts.loadings)

    def _draw(self, ax: Axes, title: str) -> None:
        self.arrows_: list[Any] = []
        self.lines_: list[Any] = []
        self.texts_: list[Any] = []
        self.circle_: Any = None
        tidy(ax, title, self.chart.xlabel, self.chart.ylabel)
        if self.chart.kind == "lines":
            self._draw_lines(ax)
        else:
            self._draw_arrows(ax)

    def _draw_lines(self, ax: Axes) -> None:
        chart = self.chart
        assert chart.positions is not None
        ax.axhline(0, color=PALE, linewidth=0.6, zorder=0.5)
        for at, (label, values) in enumerate(zip(chart.labels, chart.values.T, strict=True)):
            style = STYLES[at % len(STYLES)]
            self.lines_ += ax.plot(chart.positions, values, style, color=colour(at), linewidth=1.5, label=label)
        ax.margins(x=0.01, y=0.08)
        legend(ax)

    def _draw_arrows(self, ax: Axes) -> None:
        chart = self.chart
        cross(ax)
        ends = chart.values
        reach = 1.0 if chart.circle else float(np.abs(ends).max(initial=0.0)) or 1.0
        if chart.circle:
            self.circle_ = ax.add_patch(Circle((0, 0), 1, fill=False, edgecolor=MUTED, linewidth=0.8))
        ax.update_datalim(1.15 * reach * np.array([[-1, -1], [1, 1]]))
        ax.margins(0)
        ax.autoscale_view()
        ax.set_aspect("equal", adjustable="datalim")
        views = [DARK[0]] * (len(ends) - chart.second) + [DARK[1]] * chart.second
        order = np.argsort(-np.linalg.norm(ends, axis=1), kind="stable")[: MOST_NAMED if len(ends) <= 40 else 20]
        self.arrows_ = draw_arrows(ax, ends, views)
        for at in set(range(len(ends))) - set(order.tolist()):
            self.arrows_[at].set_alpha(0.25)
        self.texts_ = write_apart(
            ax,
            [chart.columns[at] for at in order],
            ends[order],
            size=8 if len(order) <= 15 else 7,
            colours=[views[at] for at in order],
            towards=away(ends[order]),
            posts=along(ends),
        )
        if chart.second:
            for name, shade in zip(("columns of X", "columns of Y"), DARK, strict=True):
                ax.plot([], [], color=shade, label=name)
            legend(ax, where="upper left")
        if len(order) < len(ends):
            write_notes(ax, (f"{len(ends) - len(order)} shorter arrows (pale) have no name",), "lower left")


class HeatDisplay(Display[Heat]):
    """Loadings as a table of colours, with their numbers.

    Parameters
    ----------
    chart : Heat
        From :func:`gramian.charts.heat`.

    Attributes
    ----------
    ax_, figure_
        Axes and figure.
    image_ : AxesImage
    colorbar_ : Colorbar
    texts_ : list of Text
        Numbers of loadings that count.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from gramian import FactorAnalysis
    >>> from gramian.plots import HeatDisplay
    >>> model = FactorAnalysis(3, rotation="varimax").fit(load_wine(as_frame=True).data)
    >>> HeatDisplay.from_estimator(model).image_.get_array().shape
    (13, 3)
    """

    _compute = staticmethod(charts.heat)

    def _draw(self, ax: Axes, title: str) -> None:
        chart = self.chart
        p, k = chart.values.shape
        tidy(ax, title, "", "")
        self.image_ = ax.imshow(
            chart.values,
            cmap=BELOW_AND_ABOVE,
            vmin=-chart.limit,
            vmax=chart.limit,
            aspect="auto",
        )
        ax.set_xticks(range(k), [_short(label) for label in chart.labels])
        step = -(-p // MOST_NUMBERS)
        ax.set_yticks(range(0, p, step), [literal(name) for name in chart.columns[::step]])
        size = TICK if p <= 25 else 6.5
        ax.tick_params(axis="y", labelsize=size, length=0)
        ax.tick_params(axis="x", labelsize=TICK if k <= 5 else SMALL, length=0, rotation=0 if k <= 5 else 90)
        for side in ax.spines.values():
            side.set_visible(False)
        self.texts_ = self._write_numbers(ax) if p <= MOST_NUMBERS and k <= 12 else []
        if chart.communalities is not None and p <= MOST_NUMBERS:
            self._write_communalities(ax, size)
        self.colorbar_ = ax.figure.colorbar(self.image_, ax=ax, shrink=0.7, pad=0.02)
        self.colorbar_.set_label(chart.what, fontsize=LABEL, color=INK)
        self.colorbar_.ax.tick_params(labelsize=TICK, colors=MUTED, length=3)
        self.colorbar_.outline.set_visible(False)

    def _write_numbers(self, ax: Axes) -> list[Any]:
        chart, written = self.chart, []
        for (i, j), value in np.ndenumerate(chart.values):
            if abs(value) >= chart.cut * (1 if chart.limit >= 1 else chart.limit):
                shade = "white" if abs(value) > 0.65 * chart.limit else INK
                written.append(ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=SMALL, color=shade))
        return written

    def _write_communalities(self, ax: Axes, size: float) -> None:
        """Write the share of each column that the factors hold, to the right of the table."""
        assert self.chart.communalities is not None
        beside = ax.secondary_yaxis("right")
        ticks = range(len(self.chart.values))
        beside.set_yticks(ticks, [f"{value:.2f}" for value in self.chart.communalities])
        beside.tick_params(labelsize=size, length=0, colors=MUTED)
        beside.spines["right"].set_visible(False)
        beside.set_ylabel("communality", fontsize=LABEL, color=MUTED)


def _short(label: str) -> str:
    """The name of a component over two or three lines, for narrow columns."""
    return label.replace(" of variance", "").replace(" (", "\n(").replace(", ", ",\n")
