"""Columns: loadings as arrows, lines or a heat map; contributions; what a regression rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.patches import Circle

from gramian import charts
from gramian.charts import Contributions, Heat, Importance, Loadings
from gramian.charts.palette import INK, MUTED, PALE, colour
from gramian.charts.placing import along, away
from gramian.plots.display import Display, write_notes
from gramian.plots.points import colour_bar, cross, write_apart
from gramian.plots.rows import draw_arrows
from gramian.plots.style import BELOW_AND_ABOVE, LABEL, SMALL, TICK, Axes, legend, literal, panels, tidy

__all__ = ["ContributionsDisplay", "HeatDisplay", "ImportanceDisplay", "LoadingsDisplay"]

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

    def _draw(self, ax: Axes, chart: Loadings, title: str) -> None:
        self.arrows_: list[Any] = []
        self.lines_: list[Any] = []
        self.texts_: list[Any] = []
        self.circle_: Any = None
        if chart.kind == "lines":
            self._draw_lines(ax, chart)
        else:
            self._draw_arrows(ax, chart)

    def _draw_lines(self, ax: Axes, chart: Loadings) -> None:
        assert chart.positions is not None
        ax.axhline(0, color=PALE, linewidth=0.6, zorder=0.5)
        for at, (label, values) in enumerate(zip(chart.labels, chart.values.T, strict=True)):
            style = LINE_STYLES[at % len(LINE_STYLES)]
            self.lines_ += ax.plot(chart.positions, values, style, color=colour(at), linewidth=1.5, label=label)
        ax.margins(x=0.01, y=0.08)
        legend(ax)

    def _draw_arrows(self, ax: Axes, chart: Loadings) -> None:
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

    def _draw(self, ax: Axes, chart: Heat, title: str) -> None:
        p, k = chart.values.shape
        self.image_ = ax.imshow(chart.values, cmap=BELOW_AND_ABOVE, vmin=-chart.limit, vmax=chart.limit, aspect="auto")
        labels = [label.replace(" of variance", "") for label in chart.labels]
        ax.set_xticks(range(k), [label.replace(" (", "\n(").replace(", ", ",\n") for label in labels])
        step = -(-p // NUMBERS_MAX_ROWS)
        ax.set_yticks(range(0, p, step), [literal(name) for name in chart.columns[::step]])
        size = TICK if p <= 25 else 6.5
        ax.tick_params(axis="y", labelsize=size, length=0)
        ax.tick_params(axis="x", labelsize=TICK if k <= 5 else SMALL, length=0, rotation=0 if k <= 5 else 90)
        for side in ax.spines.values():
            side.set_visible(False)
        centred: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL}
        least = chart.cut * min(chart.limit, 1.0)
        self.texts_ = [
            ax.text(j, i, f"{v:.2f}", **centred, color="white" if abs(v) > 0.65 * chart.limit else INK)
            for (i, j), v in np.ndenumerate(chart.values)
            if abs(v) >= least and p <= NUMBERS_MAX_ROWS and k <= 12
        ]
        if chart.communalities is not None and p <= NUMBERS_MAX_ROWS:
            beside = ax.secondary_yaxis("right")
            beside.set_yticks(range(p), [f"{value:.2f}" for value in chart.communalities])
            beside.tick_params(labelsize=size, length=0, colors=MUTED)
            beside.spines["right"].set_visible(False)
            beside.set_ylabel("communality", fontsize=LABEL, color=MUTED)
        self.colorbar_ = colour_bar(ax, self.image_, chart.what, 0.7)


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

    def _draw(self, ax: Axes, chart: Contributions, title: str) -> None:
        self.axes_ = left, right = panels(ax, 1, 2, widths=[1.3, 1], shared="y")
        at = np.arange(len(chart.names))
        self.bars_ = left.barh(at, 100 * chart.shares, color=colour(0), height=0.7)
        left.axvline(100 * chart.expected, color=INK, linewidth=0.9, linestyle="--", label="if all were alike")
        self.cos2_ = right.barh(at, chart.cos2, color=colour(2), height=0.7)
        right.set_xlim(0, 1)
        tidy(left, title, "contribution, %", "")
        tidy(right, "", "cos2", "")
        name_bars(left, chart.names)
        right.tick_params(axis="y", labelleft=False, length=0)
        legend(left, where="lower right")
        write_notes(right, chart.notes, "lower right")


def name_bars(ax: Axes, names: Sequence[str]) -> None:
    """Write names beside bars, the first at the top."""
    ax.set_yticks(range(len(names)), [literal(name) for name in names])
    ax.invert_yaxis()
    ax.tick_params(axis="y", labelsize=TICK if len(names) <= 15 else SMALL, length=0)


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

    def _draw(self, ax: Axes, chart: Importance, title: str) -> None:
        self.line_: Any = None
        self.bars_: Any = None
        self.band_: Any = None
        self.limit_: Any = None
        if chart.positions is None:
            self._draw_bars(ax, chart, title)
        else:
            self._draw_line(ax, chart)
        rule: Any = ax.axvline if chart.positions is None else ax.axhline
        rule(0, color=PALE, linewidth=0.6, zorder=0.5)
        if chart.limit is not None:
            self.limit_ = rule(chart.limit, color=MUTED, linewidth=0.9, linestyle="--", label="important above 1")
        legend(ax, where="lower right" if chart.positions is None else "best")

    def _draw_line(self, ax: Axes, chart: Importance) -> None:
        assert chart.positions is not None
        self.line_ = ax.plot(chart.positions, chart.values, color=colour(0), linewidth=1.5)[0]
        if chart.low is not None and chart.high is not None:
            self.band_ = ax.fill_between(
                chart.positions, chart.low, chart.high, color=colour(0), alpha=0.25, linewidth=0, label=chart.notes[0]
            )
        ax.margins(x=0.01)

    def _draw_bars(self, ax: Axes, chart: Importance, title: str) -> None:
        names, values, errors = chart.largest(BARS_MAX_COLUMNS)
        at, spread = np.arange(len(names)), None if errors is None else np.abs(np.vstack(errors))
        keywords = {"elinewidth": 0.9, "capsize": 2, "ecolor": INK}
        self.bars_ = ax.barh(at, values, color=colour(0), height=0.7, xerr=spread, error_kw=keywords)
        tidy(ax, title, chart.ylabel, "")
        name_bars(ax, names)
        left = len(chart.values) - len(names)
        write_notes(ax, (*chart.notes, *([f"the largest {len(names)} of {len(chart.values)}"] if left else [])))
