"""Strips of rows and of what their components rebuild."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian import charts
from gramian.charts import Reconstructions
from gramian.plots.display import Display
from gramian.plots.style import INK, PALE, TICK, Axes, colour, panels, tidy
from gramian.results import Array


class ReconstructionsDisplay(Display[Reconstructions]):
    """Rows as they are, and as growing numbers of components rebuild them.

    Parameters
    ----------
    chart : Reconstructions
        From :func:`gramian.charts.reconstructions`.

    Attributes
    ----------
    ax_, figure_
        Axes and figure.
    axes_ : list of Axes
        Panels, if rows are drawn as lines.
    image_ : AxesImage or None
        The strips, if rows are pictures.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from gramian import PCA
    >>> from gramian.plots import ReconstructionsDisplay
    >>> X = load_digits().data
    >>> display = ReconstructionsDisplay.from_estimator(PCA(30).fit(X), X, shape=(8, 8))
    >>> [text.get_text() for text in display.ax_.get_yticklabels()][:2]
    ['rows', '1 component']
    """

    _compute = staticmethod(charts.reconstructions)
    _takes = 1

    def _draw(self, ax: Axes, title: str) -> None:
        self.image_: Any = None
        self.axes_: list[Axes] = []
        if self.chart.shape is None:
            self._draw_lines(ax, title)
        else:
            self._draw_strips(ax, title)

    def _names(self) -> list[str]:
        return [f"{k} component" + ("s" if k > 1 else "") for k in self.chart.counts]

    def _draw_strips(self, ax: Axes, title: str) -> None:
        chart = self.chart
        assert chart.shape is not None
        strips = np.concatenate([chart.originals[None], chart.rebuilt])
        mosaic = _mosaic(strips, chart.shape)
        low, high = float(chart.originals.min()), float(chart.originals.max())
        self.image_ = ax.imshow(mosaic, cmap="gray_r", vmin=low, vmax=high, interpolation="nearest")
        tidy(ax, title, "", "")
        height, width = chart.shape
        places = (np.arange(len(strips)) + 0.5) * (height + 1) - 1
        ax.set_yticks(places, ["rows", *self._names()])
        ax.set_xticks((np.arange(len(chart.rows)) + 0.5) * (width + 1) - 1, [str(at) for at in chart.rows])
        ax.set_xlabel("row", fontsize=TICK, color=INK)
        ax.tick_params(length=0)
        beside = ax.secondary_yaxis("right")
        beside.set_yticks(places, ["RMSE", *(f"{error:.3g}" for error in chart.errors)])
        beside.tick_params(length=0, labelsize=TICK)
        for side in (*ax.spines.values(), *beside.spines.values()):
            side.set_visible(False)

    def _draw_lines(self, ax: Axes, title: str) -> None:
        chart = self.chart
        self.axes_ = panels(ax, len(chart.counts), 1, shared="xy")
        shown = zip(self.axes_, chart.rebuilt, chart.errors, self._names(), strict=True)
        for at, (panel, rebuilt, error, name) in enumerate(shown):
            panel.plot(chart.positions, chart.originals.T, color=PALE, linewidth=2.5)
            panel.plot(chart.positions, rebuilt.T, color=colour(0), linewidth=0.9)
            last = at == len(self.axes_) - 1
            tidy(panel, title if at == 0 else "", chart.xlabel if last else "", "value")
            panel.tick_params(labelbottom=last)
            panel.annotate(
                f"{name}, RMSE {error:.3g}",
                (0.01, 0.97),
                xycoords="axes fraction",
                va="top",
                fontsize=TICK,
                color=INK,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1},
            )
        first = self.axes_[0]
        first.plot([], [], color=PALE, linewidth=2.5, label="rows")
        first.plot([], [], color=colour(0), linewidth=0.9, label="rebuilt")
        first.legend(frameon=False, fontsize=TICK, loc="lower right", labelcolor=INK, ncols=2)
        first.margins(x=0.01)


def _mosaic(strips: Array, shape: tuple[int, int]) -> Array:
    """Pictures side by side, strips below each other, with empty lines between them."""
    count, m, _ = strips.shape
    height, width = shape
    out = np.full((count * (height + 1) - 1, m * (width + 1) - 1), np.nan)
    for i in range(count):
        for j in range(m):
            top, left = i * (height + 1), j * (width + 1)
            out[top : top + height, left : left + width] = strips[i, j].reshape(shape)
    return np.ma.masked_invalid(out)
