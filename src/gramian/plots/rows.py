"""Rows: scores, alone, with the columns and of two views; outliers; rows rebuilt; predictions and measurements."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from matplotlib.patches import FancyArrowPatch
from numpy.typing import ArrayLike

from gramian import charts
from gramian.charts import Biplot, Outliers, Paired, Predicted, Reconstructions, Scores
from gramian.charts.palette import INK, MUTED, PALE, colour
from gramian.charts.placing import along, away
from gramian.charts.points import EQUAL_SCALE_MAX_RATIO, SINGLE_POINTS_MAX
from gramian.plots.display import Display, write_figures, write_notes
from gramian.plots.points import (
    NAMES_MAX_ROWS,
    cross,
    draw_points,
    list_groups,
    name_groups,
    name_rows,
    shaded,
    write_apart,
)
from gramian.plots.style import LABEL, TICK, Axes, legend, literal, panels, tidy
from gramian.results import Array, plural

__all__ = ["BiplotDisplay", "OutliersDisplay", "PairedDisplay"]
__all__ += ["PredictedDisplay", "ReconstructionsDisplay", "ScoresDisplay"]

#: Arrows of columns, dark enough to stand before points of any colour.
ARROW_COLOUR = "#8a1601"
#: Arrows shorter than this share of the longest have no name.
NAMED_ARROW_MIN_SHARE = 0.05


class ScoresDisplay(Display[Scores], data=charts.scores):
    """Scores of rows in the plane or in space, coloured by a column, with ellipses.

    Rows from 20,000 on are counted in cells; those far outside stay points. Names of groups stand where the groups are.

    Attributes
    ----------
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

    @classmethod
    def from_scores(
        cls,
        scores: Any,
        shares: ArrayLike | None = None,
        *,
        ax: Axes | None = None,
        title: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw scores that are there already, or any points; see :func:`gramian.charts.from_scores`."""
        return cls(charts.from_scores(scores, shares, **options)).plot(ax, title=title)

    def _draw(self, ax: Axes, chart: Scores, title: str) -> None:
        tidy(ax, title, self.chart.xlabel, self.chart.ylabel)
        self.ellipses_: list[Any] = []
        self.texts_: list[Any] = []
        if chart.zlabel:
            self._draw_space(ax, chart)
        else:
            self._draw_plane(ax, chart)

    def _draw_plane(self, ax: Axes, chart: Scores) -> None:
        cross(ax)
        self.scatter_, self.image_, self.colorbar_ = draw_points(ax, chart.points)
        for at, found in enumerate(chart.ellipses):
            look: dict[str, Any] = {"color": INK, "linestyle": "--"}
            if found.group is not None:
                look = {"color": shaded(colour(found.group), 0.7), "linestyle": "-"}
            text = f"{100 * found.level:.0f} % of rows" if at == 0 else None
            self.ellipses_ += ax.plot(*found.outline.T, linewidth=1.0, zorder=2.5, label=text, **look)
        extent = np.ptp(np.vstack([chart.points.corners, *(found.outline for found in chart.ellipses)]), axis=0)
        if extent.max() <= EQUAL_SCALE_MAX_RATIO * extent.min():
            ax.set_aspect("equal", adjustable="datalim")
        write_notes(ax, chart.notes)
        self._write(ax)

    def _write(self, ax: Axes) -> None:
        self.texts_ = [*name_rows(ax, self.chart.points, self.chart.names), *name_groups(ax, self.chart.points)]

    def _draw_space(self, ax: Any, chart: Scores) -> None:
        self.scatter_, self.image_, self.colorbar_ = draw_points(ax, chart.points)
        ax.set_box_aspect(None, zoom=0.84)  # or names of axes would leave the figure
        ax.view_init(elev=20, azim=-50)
        ax.set_zlabel(chart.zlabel, fontsize=LABEL, color=INK)
        for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
            axis.labelpad = 7
            axis.pane.set_facecolor("white")
            axis.pane.set_edgecolor("#dddddd")
        ax.grid(False)
        ax.locator_params(nbins=5)
        for group, name in enumerate(chart.points.colouring.groups):
            ax.scatter([], [], [], color=colour(group), label=literal(name))
        legend(ax, where="upper left")
        if chart.notes:
            ax.text2D(0.98, 0.0, "\n".join(chart.notes), transform=ax.transAxes, ha="right", fontsize=TICK)


class BiplotDisplay(ScoresDisplay, data=charts.biplot):
    """Rows as points and columns as arrows, with labels that do not overlap.

    The projection of a point on an arrow shows the value of the row in that column, as far as two components hold it.

    Attributes
    ----------
    arrows_ : list of FancyArrowPatch
    ax_, figure_, scatter_, image_, colorbar_, ellipses_, texts_
        As those of :class:`ScoresDisplay`.
    """

    chart: Biplot

    def _write(self, ax: Axes) -> None:
        chart, points = self.chart, self.chart.points
        ends = chart.arrows
        self.arrows_ = draw_arrows(ax, ends, [ARROW_COLOUR] * len(ends))
        ax.update_datalim(1.12 * ends)
        ax.autoscale_view()
        lengths = np.linalg.norm(ends, axis=1)
        seen = np.flatnonzero(lengths > NAMED_ARROW_MIN_SHARE * lengths.max(initial=0.0))
        few = points.total <= NAMES_MAX_ROWS
        rows = chart.names if few and chart.names is not None else ()
        free = np.vstack([points.at, along(ends)]) if few else along(ends)
        self.texts_ = [
            *name_groups(ax, points),
            *write_apart(
                ax,
                [*(chart.columns[at] for at in seen), *rows],
                np.vstack([ends[seen], points.at]) if rows else ends[seen],
                size=7.5,
                colours=[*[ARROW_COLOUR] * len(seen), *[INK] * len(rows)],
                towards=np.vstack([away(ends[seen]), np.zeros((len(rows), 2))]),
                posts=free,
            ),
        ]


def draw_arrows(ax: Axes, ends: Array, colours: list[str]) -> list[Any]:
    """Draw arrows from the origin."""
    look: dict[str, Any] = {"mutation_scale": 8, "linewidth": 1.0, "shrinkA": 0, "shrinkB": 0, "zorder": 4}
    return [
        ax.add_patch(FancyArrowPatch((0, 0), tuple(end), arrowstyle="-|>", color=shade, **look))
        for end, shade in zip(ends, colours, strict=True)
    ]


#: Rows beyond the limits that get a name.
OUTLIERS_MAX_NAMED = 12
#: Distances of so many limits ask for a logarithmic scale.
LOG_SCALE_MIN_LIMITS = 15


class OutliersDisplay(Display[Outliers], data=charts.outliers):
    """Hotelling's T2 against the residual Q, with limits and the names of the rows farthest beyond them.

    Attributes
    ----------
    scatter_, image_, colorbar_
        Rows.
    limits_ : list of Line2D
    texts_ : list of Text
        Names, or numbers from 1, of rows beyond the limits.
    """

    def _draw(self, ax: Axes, chart: Outliers, title: str) -> None:
        self.scatter_, self.image_, self.colorbar_ = draw_points(ax, chart.points)
        self.limits_: list[Any] = []
        for at, (limit, draw) in enumerate(((chart.t2_limit, ax.axvline), (chart.q_limit, ax.axhline))):
            if limit:
                text = f"{100 * (1 - chart.alpha):g} % limit" if at == 0 else None
                self.limits_.append(draw(limit, color=MUTED, linewidth=0.9, linestyle="--", zorder=2, label=text))
        self._scale(ax, chart)
        list_groups(ax, chart.points)
        # Not over the row that lies farthest out; the search for a free place is slow for very many points.
        legend(ax, where="best" if chart.points.total <= SINGLE_POINTS_MAX else "upper right")
        write_notes(ax, chart.notes)
        self.texts_ = name_rows(ax, chart.points, chart.names, [int(at) for at in chart.beyond[:OUTLIERS_MAX_NAMED]])

    def _scale(self, ax: Axes, chart: Outliers) -> None:
        """Begin at zero; go by orders of magnitude along an axis where some rows lie very far out."""
        points = chart.points
        for axis, (limit, name) in enumerate(((chart.t2_limit, "x"), (chart.q_limit, "y"))):
            values = points.at[:, axis]
            ends = [limit or 0.0, float(values.max(initial=0.0))]
            if points.density is not None:
                ends.append(float((points.density.x, points.density.y)[axis][-1]))
            if limit and max(ends) > LOG_SCALE_MIN_LIMITS * limit and points.density is None:
                low = float(np.quantile(values[values > 0], 0.02))
                ax.set(**{f"{name}scale": "log", f"{name}lim": (low / 2, 3 * max(ends))})
            elif max(ends) > 0:
                ax.set(**{f"{name}lim": (0, 1.08 * max(ends))})


class ReconstructionsDisplay(Display[Reconstructions], data=charts.reconstructions):
    """Rows as they are, and as growing numbers of components rebuild them.

    Attributes
    ----------
    axes_ : list of Axes
        Panels, if rows are drawn as lines.
    image_ : AxesImage or None
        The strips, if rows are pictures.
    """

    def _draw(self, ax: Axes, chart: Reconstructions, title: str) -> None:
        self.image_: Any = None
        self.axes_: list[Axes] = []
        names = [plural(k, "component") for k in chart.counts]
        if chart.shape is None:
            self._draw_lines(ax, chart, title, names)
        else:
            self._draw_strips(ax, chart, names)

    def _draw_strips(self, ax: Axes, chart: Reconstructions, names: list[str]) -> None:
        mosaic = np.ma.masked_invalid(chart.mosaic)
        low, high = float(chart.originals.min()), float(chart.originals.max())
        self.image_ = ax.imshow(mosaic, cmap="gray_r", vmin=low, vmax=high, interpolation="nearest")
        across, places = chart.middles
        ax.set_yticks(places, ["rows", *names])
        ax.set_xticks(across, [str(row + 1) for row in chart.rows])
        ax.set_xlabel("row", fontsize=TICK, color=INK)
        ax.tick_params(length=0)
        beside = ax.secondary_yaxis("right")
        beside.set_yticks(places, ["RMSE", *(f"{error:.3g}" for error in chart.errors)])
        beside.tick_params(length=0, labelsize=TICK)
        for side in (*ax.spines.values(), *beside.spines.values()):
            side.set_visible(False)

    def _draw_lines(self, ax: Axes, chart: Reconstructions, title: str, names: list[str]) -> None:
        self.axes_ = panels(ax, len(chart.counts), 1, shared="xy")
        shown = zip(self.axes_, chart.rebuilt, chart.errors, names, strict=True)
        for at, (panel, rebuilt, error, name) in enumerate(shown):
            panel.plot(chart.positions, chart.originals.T, color=PALE, linewidth=2.5)
            panel.plot(chart.positions, rebuilt.T, color=colour(0), linewidth=0.9)
            last = at == len(self.axes_) - 1
            tidy(panel, title if at == 0 else "", chart.xlabel if last else "", "value")
            panel.tick_params(labelbottom=last)
            paper = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1}
            look: dict[str, Any] = {"va": "top", "fontsize": TICK, "color": INK, "bbox": paper}
            panel.annotate(f"{name}, RMSE {error:.3g}", (0.01, 0.97), xycoords="axes fraction", **look)
        first = self.axes_[0]
        first.plot([], [], color=PALE, linewidth=2.5, label="rows")
        first.plot([], [], color=colour(0), linewidth=0.9, label="rebuilt")
        first.legend(frameon=False, fontsize=TICK, loc="lower right", labelcolor=INK, ncols=2)
        first.margins(x=0.01)


class PredictedDisplay(Display[Predicted], data=charts.predicted):
    """Predicted against measured values, with the line of equality and the figures of merit.

    Attributes
    ----------
    line_ : Line2D
        The line of equality.
    scatter_, image_, colorbar_
        Rows.
    text_ : Text
        Figures of merit.
    """

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, y_pred: ArrayLike, *, ax: Axes | None = None, title: str | None = None, **options: Any
    ) -> Self:
        """Draw predictions that are there already; see :func:`gramian.charts.from_values`."""
        return cls(charts.from_values(y_true, y_pred, **options)).plot(ax, title=title)

    def _draw(self, ax: Axes, chart: Predicted, title: str) -> None:
        figures = chart.merit
        ends = [chart.low, chart.high]
        self.line_ = ax.plot(ends, ends, color=MUTED, linewidth=0.9, zorder=2)[0]
        self.scatter_, self.image_, self.colorbar_ = draw_points(ax, chart.points)
        ax.set(xlim=ends, ylim=ends)
        ax.set_aspect("equal", adjustable="box")
        list_groups(ax, chart.points)
        legend(ax, where="lower right")
        lines = [f"n = {figures.n:,}", f"{figures.error_name} {figures.rmse:.4g}"]
        lines.append(f"bias {figures.bias:+.2g}" if figures.plain_bias else "bias 0")
        lines += [f"R² {figures.r2:.3f}", f"RPD {figures.rpd:.3g}"]
        self.text_ = write_figures(ax, "\n".join(lines))
        write_notes(ax, chart.notes)


class PairedDisplay(Display[Paired], data=charts.paired):
    """Scores of one view against those of the other.

    Attributes
    ----------
    scatter_, image_, colorbar_
        Rows.
    texts_ : list of Text
        Names of rows, if they are few.
    """

    def _draw(self, ax: Axes, chart: Paired, title: str) -> None:
        self.scatter_, self.image_, self.colorbar_ = draw_points(ax, chart.points)
        write_figures(ax, f"n = {chart.points.total:,}\ncorrelation {chart.correlation:.3f}")
        list_groups(ax, chart.points)
        legend(ax, where="lower right")
        write_notes(ax, chart.notes)
        self.texts_ = name_rows(ax, chart.points, chart.names)
