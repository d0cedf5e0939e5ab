"""Components and classes over the plane of two columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap, to_rgb

from gramian import charts
from gramian.charts import Contours, Regions
from gramian.charts.palette import INK, colour
from gramian.plots.display import Display, write_notes
from gramian.plots.points import draw_points, shape_of
from gramian.plots.style import BELOW_AND_ABOVE, LABEL, TICK, Axes, legend, literal, panels, tidy

__all__ = ["ContoursDisplay", "RegionsDisplay"]


class ContoursDisplay(Display[Contours], data=charts.contours):
    """Scores of components as contours over the plane, a panel for each.

    Blue is negative, orange positive; lines join points of the same score.

    Attributes
    ----------
    axes_ : list of Axes
    contours_ : list of QuadContourSet
    """

    def _draw(self, ax: Axes, chart: Contours, title: str) -> None:
        m = len(chart.values)
        columns = _columns(m, float(np.ptp(chart.x) / np.ptp(chart.y)))
        rows = -(-m // columns)
        grid = panels(ax, rows, columns, shared="xy")
        for empty in grid[m:]:
            empty.remove()
        self.axes_ = grid[:m]
        self.contours_: list[Any] = []
        few = chart.points.density is None
        for at, (panel, values) in enumerate(zip(self.axes_, chart.values, strict=True)):
            reach = float(np.abs(values).max()) or 1.0
            levels = np.linspace(-reach, reach, 13)
            panel.contourf(chart.x, chart.y, values, levels, cmap=BELOW_AND_ABOVE, alpha=0.75)
            lines: dict[str, Any] = {"colors": INK, "linewidths": 0.4, "linestyles": "solid"}
            self.contours_.append(panel.contour(chart.x, chart.y, values, levels, **lines))
            draw_points(panel, chart.points, scale=False, alpha=0.9 if few else 0.4, plain=INK, size=0.5)
            panel.set_aspect("equal", adjustable="box")
            below, beside = at + columns >= m, at % columns == 0
            tidy(panel, "", chart.xlabel if below else "", chart.ylabel if beside else "")
            name = chart.labels[at].replace(" of variance", "")
            if at == 0 and title not in ("", chart.title):  # panels say what they are: only another title is news
                name = f"{title}\n{name}"
            panel.set_title(name, loc="left", fontsize=LABEL if columns < 3 else TICK, color=INK)
            panel.tick_params(labelbottom=below, labelleft=beside)
            panel.set(xlim=chart.x[[0, -1]], ylim=chart.y[[0, -1]])
        write_notes(self.axes_[-1], chart.notes, "lower right")


def _columns(m: int, ratio: float) -> int:
    """Columns of a grid of m panels of this ratio of width to height that makes them largest on a page of 4 to 3."""
    return max(range(1, m + 1), key=lambda columns: min(4 / columns / ratio, 3 / -(-m // columns)))


class RegionsDisplay(Display[Regions], data=charts.regions):
    """Classes over the plane, with the border, the margin and the support vectors.

    Attributes
    ----------
    surface_ : QuadMesh
        Regions.
    border_ : list of QuadContourSet
        Border, and margin of two classes.
    scatter_, image_
        Rows.
    support_ : PathCollection or None
        Rings about support vectors.
    """

    def _draw(self, ax: Axes, chart: Regions, title: str) -> None:
        count = len(chart.classes)
        shades = ListedColormap([tuple(0.72 + 0.28 * part for part in to_rgb(colour(at))) for at in range(count)])
        self.surface_ = ax.pcolormesh(
            chart.x, chart.y, chart.codes, cmap=shades, vmin=-0.5, vmax=count - 0.5, shading="nearest", rasterized=True
        )
        self.border_ = self._draw_borders(ax, chart)
        self.scatter_, self.image_, _ = draw_points(ax, chart.points, scale=False, alpha=0.9, plain=INK)
        self.support_ = None
        if chart.support is not None:
            ring: dict[str, Any] = {"s": 38, "facecolors": "none", "edgecolors": INK, "linewidths": 0.8, "zorder": 3.5}
            self.support_ = ax.scatter(*chart.support.T, label=f"support vectors ({len(chart.support):,})", **ring)
        for at, name in enumerate(chart.classes):
            ax.scatter([], [], s=20, color=colour(at), marker=shape_of(at), label=literal(name))
        ax.set(xlim=chart.x[[0, -1]], ylim=chart.y[[0, -1]])
        legend(ax)
        write_notes(ax, chart.notes)

    def _draw_borders(self, ax: Axes, chart: Regions) -> list[Any]:
        if chart.decision is not None:
            margin = [([-1, 1], 0.8, "--")] if chart.support is not None else []  # others know of no margin
            lines = [*margin, ([0], 1.4, "-")]
            return [
                ax.contour(chart.x, chart.y, chart.decision, at, colors=INK, linewidths=width, linestyles=style)
                for at, width, style in lines
                if chart.decision.min() < max(at) and min(at) < chart.decision.max()
            ]
        inside = [(chart.codes == at).astype(float) for at in range(len(chart.classes))]
        parts = [part for part in inside if 0 < part.mean() < 1]
        return [ax.contour(chart.x, chart.y, part, [0.5], colors=INK, linewidths=0.8) for part in parts]
