"""Columns: loadings as arrows, lines or a heat map; contributions; what a regression rests on."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.patches import Circle

from gramian import charts
from gramian.charts import Contributions, Heat, Importance, Loadings
from gramian.charts.placing import along, away
from gramian.plots.display import Display, write_notes
from gramian.plots.points import colour_bar, cross, write_apart
from gramian.plots.rows import draw_arrows
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
    panels,
    tidy,
)

#: Arrows that get a name: the longest ones.
ARROWS_MAX_NAMED = 30
#: Rows of a heat map up to which numbers are written into it.
NUMBERS_MAX_ROWS = 40
VIEW_COLOURS = ("#23639f", "#8a1601")
LINE_STYLES = ("-", "--", "-.", ":")


class LoadingsDisplay(Display[Loadings], data=charts.loadings):
    """Columns along components: arrows for few columns, lines for channels of a spectrum.

    Arrows that are correlations of columns with scores stay in the unit circle; one that reaches it is held by these
    two components alone.

    Attributes
    ----------
    arrows_ : list of FancyArrowPatch
    lines_ : list of Line2D
    circle_ : Circle or None
    texts_ : list of Text
    """

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
            style = LINE_STYLES[at % len(LINE_STYLES)]
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
        views = [VIEW_COLOURS[0]] * (len(ends) - chart.second) + [VIEW_COLOURS[1]] * chart.second
        order = np.argsort(-np.linalg.norm(ends, axis=1), kind="stable")[: ARROWS_MAX_NAMED if len(ends) <= 40 else 20]
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
            for name, shade in zip(("columns of X", "columns of Y"), VIEW_COLOURS, strict=True):
                ax.plot([], [], color=shade, label=name)
            legend(ax, where="upper left")
        if len(order) < len(ends):
            write_notes(ax, (f"{len(ends) - len(order)} shorter arrows (pale) have no name",), "lower left")


class HeatDisplay(Display[Heat], data=charts.heat):
    """Loadings as a table of colours, with their numbers.

    Attributes
    ----------
    image_ : AxesImage
    colorbar_ : Colorbar
    texts_ : list of Text
        Numbers of loadings that count.
    """

    def _draw(self, ax: Axes, title: str) -> None:
        chart = self.chart
        p, k = chart.values.shape
        tidy(ax, title, "", "")
        self.image_ = ax.imshow(chart.values, cmap=BELOW_AND_ABOVE, vmin=-chart.limit, vmax=chart.limit, aspect="auto")
        ax.set_xticks(range(k), [_short(label) for label in chart.labels])
        step = -(-p // NUMBERS_MAX_ROWS)
        ax.set_yticks(range(0, p, step), [literal(name) for name in chart.columns[::step]])
        size = TICK if p <= 25 else 6.5
        ax.tick_params(axis="y", labelsize=size, length=0)
        ax.tick_params(axis="x", labelsize=TICK if k <= 5 else SMALL, length=0, rotation=0 if k <= 5 else 90)
        for side in ax.spines.values():
            side.set_visible(False)
        self.texts_ = self._write_numbers(ax) if p <= NUMBERS_MAX_ROWS and k <= 12 else []
        if chart.communalities is not None and p <= NUMBERS_MAX_ROWS:
            self._write_communalities(ax, size)
        self.colorbar_ = colour_bar(ax, self.image_, chart.what, 0.7)

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


class ContributionsDisplay(Display[Contributions], data=charts.contributions):
    """Bars of contributions, and squared cosines beside them.

    The dashed line is what each would contribute if all contributed alike. A squared cosine (cos2) is the share of a
    column's variance, or of a row's squared distance from the mean, that the component holds.

    Attributes
    ----------
    axes_ : list of two Axes
    bars_ : BarContainer
        Contributions, in percent.
    cos2_ : BarContainer
    """

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


#: Columns without an order that get a bar: the largest ones.
BARS_MAX_COLUMNS = 30


class ImportanceDisplay(Display[Importance], data=charts.importance):
    """VIP, coefficients or selectivity ratios: lines over a spectrum, bars for columns without an order.

    Attributes
    ----------
    line_ : Line2D or None
    bars_ : BarContainer or None
    band_ : PolyCollection or None
        Jackknife intervals, over a spectrum.
    limit_ : Line2D or None
    """

    line_: Any
    bars_: Any
    band_: Any
    limit_: Any

    def _draw(self, ax: Axes, title: str) -> None:
        self.line_ = self.bars_ = self.band_ = self.limit_ = None
        if self.chart.positions is None:
            self._draw_bars(ax, title)
        else:
            self._draw_line(ax, title)

    def _draw_line(self, ax: Axes, title: str) -> None:
        chart = self.chart
        tidy(ax, title, chart.xlabel, chart.ylabel)
        ax.axhline(0, color=PALE, linewidth=0.6, zorder=0.5)
        assert chart.positions is not None
        self.line_ = ax.plot(chart.positions, chart.values, color=colour(0), linewidth=1.5)[0]
        if chart.low is not None and chart.high is not None:
            self.band_ = ax.fill_between(
                chart.positions, chart.low, chart.high, color=colour(0), alpha=0.25, linewidth=0, label=chart.notes[0]
            )
        if chart.limit is not None:
            self.limit_ = ax.axhline(chart.limit, color=MUTED, linewidth=0.9, linestyle="--", label="important above 1")
        ax.margins(x=0.01)
        legend(ax)

    def _draw_bars(self, ax: Axes, title: str) -> None:
        chart = self.chart
        names, values, errors = chart.largest(BARS_MAX_COLUMNS)
        at, spread = np.arange(len(names)), None if errors is None else np.abs(np.vstack(errors))
        keywords = {"elinewidth": 0.9, "capsize": 2, "ecolor": INK}
        self.bars_ = ax.barh(at, values, color=colour(0), height=0.7, xerr=spread, error_kw=keywords)
        ax.axvline(0, color=PALE, linewidth=0.6, zorder=0.5)
        if chart.limit is not None:
            self.limit_ = ax.axvline(chart.limit, color=MUTED, linewidth=0.9, linestyle="--", label="important above 1")
        ax.set_yticks(at, [literal(name) for name in names])
        ax.invert_yaxis()
        tidy(ax, title, chart.ylabel, "")
        ax.tick_params(axis="y", labelsize=TICK if len(names) <= 15 else SMALL, length=0)
        legend(ax, where="lower right")
        left = len(chart.values) - len(names)
        write_notes(ax, (*chart.notes, *([f"the largest {len(names)} of {len(chart.values)}"] if left else [])))
