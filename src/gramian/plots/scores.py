"""Scores of rows, alone and with the columns."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import FancyArrowPatch

from gramian import charts
from gramian.charts import Biplot, Scores
from gramian.plots.display import Display, write_notes
from gramian.plots.placing import write_apart
from gramian.plots.points import MOST_NAMES, Drawn, cross, draw_points, name_groups, name_rows
from gramian.plots.style import INK, LABEL, TICK, Axes, colour, legend, literal, tidy
from gramian.results import Array

#: Arrows of columns, dark enough to stand before points of any colour.
ARROW = "#8a1601"
#: Pictures so much wider than high, or higher than wide, do not keep one scale for both axes.
FLAT = 4
#: Arrows shorter than this share of the longest have no name.
SHORT = 0.05


class ScoresDisplay(Display[Scores]):
    """Scores of rows in the plane or in space, coloured by a column, with ellipses.

    Rows from 20,000 on are counted in cells; those far outside stay points. Names of groups stand where the groups are.

    Parameters
    ----------
    chart : Scores
        From :func:`gramian.charts.scores`.

    Attributes
    ----------
    ax_, figure_
        Axes and figure.
    scatter_ : PathCollection or None
        Points drawn one by one.
    image_ : QuadMesh or None
        Cells of the density.
    colorbar_ : Colorbar or None
        Scale of numbers or counts.
    ellipses_ : list of Line2D
    texts_ : list of Text
        Names of groups and rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA
    >>> from gramian.plots import ScoresDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = ScoresDisplay.from_estimator(PCA(2).fit(X), X, colour=y)
    >>> display.ax_.get_xlabel(), len(display.ellipses_)
    ('component 1 (92.5 % of variance)', 3)
    """

    _compute = staticmethod(charts.scores)
    _takes = 1

    scatter_: Any
    image_: Any
    colorbar_: Any

    @classmethod
    def from_scores(
        cls, scores: Any, shares: Any = None, *, ax: Axes | None = None, title: str | None = None, **options: Any
    ) -> Self:
        """Draw scores that are there already, or any points; see :func:`gramian.charts.from_scores`."""
        chart: Any = charts.from_scores(scores, shares, **options)
        return cls(chart).plot(ax, title=title)

    def _in_space(self) -> bool:
        return bool(self.chart.zlabel)

    def _draw(self, ax: Axes, title: str) -> None:
        tidy(ax, title, self.chart.xlabel, self.chart.ylabel)
        if self._in_space():
            self._draw_space(ax)
        else:
            self._draw_plane(ax)

    def _keep(self, drawn: Drawn) -> None:
        self.scatter_, self.image_, self.colorbar_ = drawn.scatter, drawn.image, drawn.colorbar

    def _draw_plane(self, ax: Axes) -> None:
        chart = self.chart
        cross(ax)
        self._keep(draw_points(ax, chart.points))
        self.ellipses_ = [
            ax.plot(
                *found.outline.T,
                color=INK if found.group is None else _darker(colour(found.group)),
                linewidth=1.0,
                linestyle="--" if found.group is None else "-",
                zorder=2.5,
                label=f"{100 * found.level:.0f} % of rows" if at == 0 else None,
            )[0]
            for at, found in enumerate(chart.ellipses)
        ]
        extent = np.ptp(np.vstack([self._corners(), *(found.outline for found in chart.ellipses)]), axis=0)
        if extent.max() <= FLAT * extent.min():
            ax.set_aspect("equal", adjustable="datalim")
        write_notes(ax, chart.notes)
        self._write(ax)

    def _corners(self) -> Array:
        """Points that span the picture."""
        density = self.chart.points.density
        return self.chart.points.at if density is None else np.column_stack([density.x[[0, -1]], density.y[[0, -1]]])

    def _write(self, ax: Axes) -> None:
        self.texts_ = [*name_rows(ax, self.chart.points, self.chart.names), *name_groups(ax, self.chart.points)]

    def _draw_space(self, ax: Any) -> None:
        points, self.ellipses_, self.texts_ = self.chart.points, [], []
        self._keep(draw_points(ax, points))
        ax.set_box_aspect(None, zoom=0.84)  # or names of axes would leave the figure
        ax.view_init(elev=20, azim=-50)
        ax.set_zlabel(self.chart.zlabel, fontsize=LABEL, color=INK)
        for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
            axis.labelpad = 7
        for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
            axis.pane.set_facecolor("white")
            axis.pane.set_edgecolor("#dddddd")
        ax.grid(False)
        ax.locator_params(nbins=5)
        given = points.colouring
        for group, name in enumerate(given.groups):
            ax.scatter([], [], [], color=colour(group), label=literal(name))
        legend(ax, where="upper left")
        if self.chart.notes:
            ax.text2D(0.98, 0.0, "\n".join(self.chart.notes), transform=ax.transAxes, ha="right", fontsize=TICK)


class BiplotDisplay(ScoresDisplay):
    """Rows as points and columns as arrows, with labels that do not overlap.

    The projection of a point on an arrow shows the value of the row in that column, as far as two components hold it.

    Parameters
    ----------
    chart : Biplot
        From :func:`gramian.charts.biplot`.

    Attributes
    ----------
    arrows_ : list of FancyArrowPatch
    ax_, figure_, scatter_, image_, colorbar_, ellipses_, texts_
        As those of :class:`ScoresDisplay`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA
    >>> from gramian.plots import BiplotDisplay
    >>> X = load_iris(as_frame=True).data
    >>> display = BiplotDisplay.from_estimator(PCA(2).fit(X), X)
    >>> len(display.arrows_)
    4
    """

    _compute = staticmethod(charts.biplot)
    chart: Biplot

    def _write(self, ax: Axes) -> None:
        chart, points = self.chart, self.chart.points
        ends = chart.arrows
        self.arrows_ = draw_arrows(ax, ends, [ARROW] * len(ends))
        ax.update_datalim(1.12 * ends)
        ax.autoscale_view()
        lengths = np.linalg.norm(ends, axis=1)
        seen = np.flatnonzero(lengths > SHORT * lengths.max(initial=0.0))
        named = chart.names is not None and points.total <= MOST_NAMES
        rows = chart.names if named and chart.names is not None else ()
        free = np.vstack([points.at, along(ends)]) if points.total <= MOST_NAMES else along(ends)
        self.texts_ = [
            *name_groups(ax, points),
            *write_apart(
                ax,
                [*(chart.columns[at] for at in seen), *rows],
                np.vstack([ends[seen], points.at]) if rows else ends[seen],
                size=7.5,
                colours=[*[ARROW] * len(seen), *[INK] * len(rows)],
                towards=np.vstack([away(ends[seen]), np.zeros((len(rows), 2))]),
                posts=free,
            ),
        ]


def draw_arrows(ax: Axes, ends: Array, colours: list[str]) -> list[Any]:
    """Draw arrows from the origin."""
    drawn = []
    for end, shade in zip(ends, colours, strict=True):
        arrow = FancyArrowPatch(
            (0, 0), tuple(end), arrowstyle="-|>", mutation_scale=8, color=shade, linewidth=1.0, shrinkA=0, shrinkB=0
        )
        arrow.set_zorder(4)
        drawn.append(ax.add_patch(arrow))
    return drawn


def away(ends: Array) -> Array:
    """Where labels of arrows wish to stand: beyond the tip, in the direction of the arrow."""
    lengths = np.linalg.norm(ends, axis=1, keepdims=True)
    return np.divide(ends, lengths, out=np.zeros_like(ends), where=lengths > 0)


def along(ends: Array) -> Array:
    """Points along arrows, which labels should not cover."""
    return np.vstack([share * ends for share in (0.4, 0.6, 0.8, 1.0)])


def _darker(shade: str) -> tuple[float, ...]:
    return tuple(0.7 * part for part in to_rgb(shade))
