"""Labels that stand where they belong and not on top of each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.patheffects import withStroke

from gramian.plots.style import INK, MUTED, Axes
from gramian.results import Array


def medians(points: Array, groups: Array, count: int) -> Array:
    """Return for each group the member nearest to its median: a place where the group is, even if it is a ring."""
    places = np.empty((count, 2))
    for group in range(count):
        members = points[groups == group]
        distances = np.sum((members - np.median(members, axis=0)) ** 2, axis=1)
        places[group] = members[distances.argmin()]
    return places


def push_apart(
    centres: Array, sizes: Array, rounds: int = 300, *, room: Array | None = None, posts: Array | None = None
) -> Array:
    """Move boxes by as little as it takes until none overlaps another.

    Parameters
    ----------
    centres, sizes : (k, 2) arrays
        Centres, widths and heights of the boxes, in one unit.
    rounds : int
        Limit, for crowds that have no room.
    room : (2, 2) array, optional
        Lower left and upper right corner of what boxes should not leave.
    posts : (m, 2) array, optional
        Points that boxes should not cover; they do not move.

    Returns
    -------
    (k, 2) array
        New centres.
    """
    centres = np.array(centres, dtype=np.float64)
    upper = np.triu_indices(len(centres), 1)
    for _ in range(rounds):
        apart = centres[upper[1]] - centres[upper[0]]
        overlap = (sizes[upper[0]] + sizes[upper[1]]) / 2 - np.abs(apart)
        hits = np.flatnonzero((overlap > 1e-9 * sizes[upper[0]]).all(axis=1))
        for at in hits:
            _part(centres, sizes, int(upper[0][at]), int(upper[1][at]))
        moved = bool(len(hits))
        if posts is not None:
            moved |= _leave(centres, sizes, posts)
        if room is not None:
            centres = np.clip(centres, room[0] + sizes / 2, np.maximum(room[0] + sizes / 2, room[1] - sizes / 2))
        if not moved:
            break
    return centres


def _part(centres: Array, sizes: Array, i: int, j: int) -> None:
    """Push two boxes apart, each by half, if they still overlap."""
    apart = centres[j] - centres[i]
    overlap = (sizes[i] + sizes[j]) / 2 - np.abs(apart)
    if (overlap <= 1e-9 * sizes[i]).any():
        return
    axis = int(overlap.argmin())  # the shorter way out
    step = np.zeros(2)
    step[axis] = overlap[axis] / 2 * (1 if apart[axis] >= 0 else -1)
    centres[i] -= step
    centres[j] += step


def _leave(centres: Array, sizes: Array, posts: Array) -> bool:
    """Push boxes off points, a little further than the edge; return whether any had to."""
    moved = False
    for i, (centre, size) in enumerate(zip(centres, sizes, strict=True)):
        apart = centre - posts
        overlap = size / 2 - np.abs(apart)
        inside = np.flatnonzero((overlap > 1e-9 * size).all(axis=1))
        if len(inside):
            at = inside[overlap[inside].max(axis=1).argmin()]
            axis = int(overlap[at].argmin())
            centres[i, axis] += 1.02 * overlap[at, axis] * (1 if apart[at, axis] >= 0 else -1)
            moved = True
    return moved


def write_apart(
    ax: Axes,
    texts: Sequence[str],
    places: Array,
    *,
    size: float,
    colours: Sequence[Any] | None = None,
    bold: bool = False,
    offsets: Array | None = None,
    posts: Array | None = None,
    leaders: bool = False,
) -> list[Any]:
    """Write texts near places in data units so that none covers another; return them.

    ``offsets`` are wishes, in units of the height of a letter; ``leaders`` draws a thin line to the place of a text
    that had to move far.
    """
    if not len(texts):
        return []
    ax.apply_aspect()
    to_pixels = ax.transData
    height = size * ax.figure.dpi / 72
    sizes = np.array([[height * (0.62 * len(text) + 0.35), 1.15 * height] for text in texts])
    anchors = to_pixels.transform(np.asarray(places, dtype=np.float64))
    wishes = anchors if offsets is None else anchors + height * offsets + np.sign(offsets) * sizes / 2 * [1, 0]
    frame = ax.get_window_extent()
    room = np.array([[frame.x0, frame.y0], [frame.x1, frame.y1]])
    stops = None if posts is None else to_pixels.transform(posts)
    centres = push_apart(wishes, sizes, room=room, posts=stops)
    ends = to_pixels.inverted().transform(centres)
    halo = [withStroke(linewidth=2.5 if bold else 1.8, foreground="white")]
    written = []
    for at, text in enumerate(texts):
        gap = np.abs(centres[at] - anchors[at]) - sizes[at] / 2
        if leaders and gap.max() > 0.9 * height:
            ax.plot(*np.array([places[at], ends[at]]).T, color=MUTED, linewidth=0.5, zorder=3.5)
        written.append(
            ax.text(
                ends[at, 0],
                ends[at, 1],
                text,
                ha="center",
                va="center",
                fontsize=size,
                fontweight="bold" if bold else "normal",
                color=INK if colours is None else colours[at],
                path_effects=halo,
                zorder=5,
                clip_on=False,
            )
        )
    return written
