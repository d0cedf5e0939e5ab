"""Paper and ink: figures, axes, and what all pictures share."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpecFromSubplotSpec
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FixedLocator, MaxNLocator

from gramian.charts.palette import COLOURS, DIVERGING, INK, MUTED, PALE, SCALE, SEQUENTIAL, colour

__all__ = ["COLOURS", "INK", "MUTED", "PALE", "Axes", "Figure", "colour"]  # passed on

#: Colour maps of counts and numbers, and of what lies below and above zero.
LITTLE_TO_MUCH: Colormap = LinearSegmentedColormap.from_list("gramian_sequential", SEQUENTIAL)
SCALE_OF_NUMBERS: Colormap = LinearSegmentedColormap.from_list("gramian_scale", SCALE)
BELOW_AND_ABOVE: Colormap = LinearSegmentedColormap.from_list("gramian_diverging", DIVERGING)
#: Lines differ in shape too, for readers who do not see the colours.
LINE_MARKERS = "os^D"
#: Sizes of letters, in points.
TITLE, LABEL, TICK, SMALL = 11, 9, 8, 7.5


def new_figure(panels: int = 1) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels side by side, and their axes, without touching pyplot's state.

    Examples
    --------
    >>> figure, axes = new_figure(2)
    >>> len(axes), len(figure.axes)
    (2, 2)
    """
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08)
    figure = Figure(figsize=(5.4 * panels, 5.0), dpi=150, layout=layout)
    return figure, list(figure.subplots(1, panels, squeeze=False)[0])


def new_axes(ax: Axes | None, *, space: bool = False) -> Axes:
    """Return the axes given, or those of a new figure of pyplot, as scikit-learn's Displays do."""
    if ax is None:
        import matplotlib.pyplot as plt

        keywords = {"projection": "3d"} if space else {}
        return plt.subplots(layout="constrained", subplot_kw=keywords)[1]
    if space != (ax.name == "3d"):
        needed, remedy = ("3-D", 'subplot_kw={"projection": "3d"}') if space else ("2-D", "no projection")
        raise ValueError(f"ax is not {needed}, which these components need. Make it with {remedy}, or leave ax out.")
    return ax


def panels(ax: Axes, rows: int, columns: int, *, widths: list[float] | None = None, shared: str = "") -> list[Axes]:
    """Put panels in the place of axes, which stay as an empty frame; ``shared`` names the axes they share."""
    ax.set_axis_off()
    ax.set_title("", loc="left")
    place = ax.get_subplotspec()
    figure = ax.figure
    if place is None:
        raise ValueError("ax has no place in a grid of subplots, which several panels need. Use plt.subplots().")
    grid = GridSpecFromSubplotSpec(rows, columns, subplot_spec=place, width_ratios=widths)
    found: list[Axes] = []
    for at in range(rows * columns):
        beside = {f"share{axis}": found[0] for axis in shared if found}
        found.append(figure.add_subplot(grid[at // columns, at % columns], **beside))
    return found


def literal(name: str) -> str:
    r"""Write a name of the user's as it is: matplotlib takes what stands between two dollars for a formula.

    >>> literal("price in $")
    'price in \\$'
    """
    return name.replace("$", r"\$")


def tidy(ax: Axes, title: str, xlabel: str, ylabel: str) -> None:
    """Write the title and the names of the axes, and take away lines that carry nothing."""
    ax.set_title(title, loc="left", fontsize=TITLE, color=INK)
    ax.set_xlabel(literal(xlabel), fontsize=LABEL, color=INK)
    ax.set_ylabel(literal(ylabel), fontsize=LABEL, color=INK)
    ax.tick_params(labelsize=TICK, colors=MUTED, length=3)
    if ax.name == "3d":
        return
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(PALE)


def legend(ax: Axes, *, where: Any = "best", columns: int = 1) -> None:
    """Write a legend of what has a name, if anything has."""
    if ax.get_legend_handles_labels()[0]:
        paper = {"facecolor": "white", "edgecolor": "none", "framealpha": 0.85}
        ax.legend(fontsize=TICK, loc=where, labelcolor=INK, ncols=columns, **paper)


def whole_numbers(axis: Axis, count: int) -> None:
    """Put ticks on whole numbers: on all of few."""
    some = MaxNLocator(integer=True, steps=[1, 2, 5, 10])
    axis.set_major_locator(FixedLocator(range(count + 1)) if count <= 15 else some)


def dot_size(n: int) -> float:
    """Area of a dot, in square points: large for ten rows, small for ten thousand.

    >>> dot_size(10), dot_size(20_000)
    (40.0, 3.0)
    """
    return float(np.clip(1500 / max(n, 1) ** 0.75, 3.0, 40.0))
