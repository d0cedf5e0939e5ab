"""Scores as points in the plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patheffects import withStroke

from gramian.plots.placing import medians, push_apart
from gramian.plots.style import Axes, colour, new_axes, tidy
from gramian.results import Array, percent

#: More classes than this are row names rather than classes, and get neither colours nor labels.
MOST_CLASSES = 30
FONT = 12.0


def plot_scores(
    scores: Any,
    labels: Sequence[str] | None = None,
    shares: Any = None,
    ax: Axes | None = None,
    *,
    title: str = "",
) -> Axes:
    """Draw the first two columns of scores as points, one colour for each label.

    Parameters
    ----------
    scores : (n, k) array
        At least two columns.
    labels : sequence of str, optional
        The class of each row; its name stands at the median of its points. More than 30 classes are not told apart.
    shares : (k,) array, optional
        Shares of the variance, for the names of the axes; ``explained_variance_ratio_`` is meant.
    ax : Axes, optional
        Where to draw; a new figure if not given.
    title : str
        What the picture shows.

    Returns
    -------
    Axes

    Examples
    --------
    >>> axes = plot_scores([[0.0, 1.0], [2.0, 0.0], [4.0, 1.0]], ["a", "b", "b"], [0.6, 0.3])
    >>> axes.get_xlabel()
    'component 1 (60 % of variance)'
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] < 2:
        raise ValueError(f"scores has shape {scores.shape}; a plane needs at least two columns.")
    if labels is not None and len(labels) != len(scores):
        raise ValueError(f"labels has {len(labels)} entries for {len(scores)} rows of scores.")
    ax = new_axes(ax)
    points = scores[:, :2]
    names, groups = np.unique([] if labels is None else np.asarray(labels, dtype=str), return_inverse=True)
    told_apart = 1 < len(names) <= MOST_CLASSES
    colours = [colour(group) for group in groups] if told_apart else [colour(0)] * len(points)
    # In random order, so that no class lies on top of the others because it came last.
    order = np.random.default_rng(0).permutation(len(points))
    ax.scatter(points[order, 0], points[order, 1], s=9, c=[colours[at] for at in order], alpha=0.75, linewidths=0)
    ax.set_aspect("equal", adjustable="datalim")
    tidy(ax, title, *(_axis_name(at, shares) for at in (0, 1)))
    if told_apart:
        _write_names(ax, names, medians(points, groups, len(names)))
    return ax


def _axis_name(at: int, shares: Any) -> str:
    return f"component {at + 1}" + ("" if shares is None else f" ({percent(shares[at])} of variance)")


def _write_names(ax: Axes, names: Array, places: Array) -> None:
    ax.apply_aspect()
    to_pixels = ax.transData
    height = FONT * ax.figure.dpi / 72
    sizes = np.array([[height * (0.65 * len(name) + 0.35), 1.15 * height] for name in names])
    centres = push_apart(to_pixels.transform(places), sizes)
    halo = [withStroke(linewidth=3, foreground="white")]
    for name, group, at in zip(names, range(len(names)), to_pixels.inverted().transform(centres), strict=True):
        shade = tuple(0.62 * part for part in to_rgb(colour(group)))
        ax.annotate(
            name, at, ha="center", va="center", fontsize=FONT, fontweight="bold", color=shade, path_effects=halo
        )
