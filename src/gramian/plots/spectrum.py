"""Spectra: what each component holds."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from gramian.plots.style import INK, Axes, colour, new_axes, tidy
from gramian.results import percent

#: Lines differ in shape too, for readers who do not see the colours.
MARKERS = "os^D"


def plot_spectrum(shares: Any, ax: Axes | None = None, *, name: str = "", title: str = "") -> Axes:
    """Draw the share of the variance that each component holds (a scree plot).

    Parameters
    ----------
    shares : (k,) array
        ``explained_variance_ratio_`` of an estimator.
    ax : Axes, optional
        Where to draw; a new figure if not given. Drawing again on the same axes adds a line in the next colour.
    name : str
        Written in the legend, with the share that all k components hold.
    title : str
        What the picture shows.

    Returns
    -------
    Axes

    Examples
    --------
    >>> axes = plot_spectrum([0.6, 0.3, 0.1], name="PCA")
    >>> len(axes.lines) > 0
    True
    """
    shares = np.asarray(shares, dtype=np.float64)
    if shares.ndim != 1 or len(shares) == 0:
        raise ValueError(f"shares has shape {shares.shape}; a row of one or more numbers is expected.")
    ax = new_axes(ax)
    at = len(ax.lines)
    label = f"{name}: {percent(shares.sum())} in {len(shares)} components" if name else None
    ax.plot(
        np.arange(1, len(shares) + 1),
        100 * shares,
        color=colour(at),
        marker=MARKERS[at % len(MARKERS)],
        markersize=4,
        linewidth=1.3,
        label=label,
    )
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    ax.set_ylim(bottom=0)
    tidy(ax, title, "component", "share of variance, %")
    if name:
        ax.legend(frameon=False, fontsize=9, loc="upper right", labelcolor=INK)
    return ax
