"""Paper, ink and colours: what all pictures share."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from gramian.charts.palette import COLOURS, INK, MUTED, colour

__all__ = ["COLOURS", "INK", "MUTED", "Axes", "Figure", "colour", "new_axes", "new_figure", "tidy"]


def new_figure(panels: int = 1) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels side by side, and their axes.

    Examples
    --------
    >>> figure, axes = new_figure(2)
    >>> len(axes), len(figure.axes)
    (2, 2)
    """
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08)
    figure = Figure(figsize=(5.4 * panels, 5.0), dpi=150, layout=layout)
    return figure, list(figure.subplots(1, panels, squeeze=False)[0])


def new_axes(ax: Axes | None) -> Axes:
    """Return the axes given, or those of a new figure."""
    return new_figure()[1][0] if ax is None else ax


def tidy(ax: Axes, title: str, xlabel: str, ylabel: str) -> None:
    """Write the title and the names of the axes, and take away lines that carry nothing."""
    ax.set_title(title, loc="left", fontsize=11, color=INK)
    ax.set_xlabel(xlabel, fontsize=9, color=INK)
    ax.set_ylabel(ylabel, fontsize=9, color=INK)
    ax.tick_params(labelsize=8, colors=MUTED, length=3)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color("#bbbbbb")
