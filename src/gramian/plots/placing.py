"""Labels that stand where they belong and not on top of each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.patheffects import withStroke

from gramian.plots.style import INK, MUTED, Axes, literal
from gramian.results import Array

#: Sides of its place on which a label may stand, in the order in which they are liked.
SIDES = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1], [1, 0], [-1, 0], [0, 1], [0, -1]], dtype=np.float64)


def medians(points: Array, groups: Array, count: int) -> Array:
    """Return for each group the member nearest to its median: a place where the group is, even if it is a ring."""
    places = np.empty((count, 2))
    for group in range(count):
        members = points[groups == group]
        distances = np.sum((members - np.median(members, axis=0)) ** 2, axis=1)
        places[group] = members[distances.argmin()]
    return places


def push_apart(centres: Array, sizes: Array, rounds: int = 300, *, room: Array | None = None) -> Array:
    """Move boxes by as little as it takes until none overlaps another.

    Parameters
    ----------
    centres, sizes : (k, 2) arrays
        Centres, widths and heights of the boxes, in one unit.
    rounds : int
        Limit, for crowds that have no room.
    room : (2, 2) array, optional
        Lower left and upper right corner of what boxes should not leave.

    Returns
    -------
    (k, 2) array
        New centres.
    """
    centres = np.array(centres, dtype=np.float64)
    first, second = np.triu_indices(len(centres), 1)
    for _ in range(rounds):
        if room is not None:
            centres = np.clip(centres, room[0] + sizes / 2, np.maximum(room[0] + sizes / 2, room[1] - sizes / 2))
        overlap = (sizes[first] + sizes[second]) / 2 - np.abs(centres[second] - centres[first])
        hits = np.flatnonzero((overlap > 1e-9 * sizes[first]).all(axis=1))
        if not len(hits):
            break
        for at in hits:
            _part(centres, sizes, int(first[at]), int(second[at]))
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


def beside(anchors: Array, sizes: Array, *, gap: float, posts: Array, room: Array, towards: Array) -> Array:
    """Choose for each box the side of its anchor where it covers least: other boxes first, then points.

    Parameters
    ----------
    anchors, sizes : (k, 2) arrays
        Places that boxes belong to, their widths and heights.
    gap : float
        Distance between an anchor and its box.
    posts : (m, 2) array
        Points that should stay free.
    room : (2, 2) array
        Lower left and upper right corner of what boxes should not leave.
    towards : (k, 2) array
        Side that a box likes most; zero if it has no wish.

    Returns
    -------
    (k, 2) array
        Centres of the boxes, which may still overlap a little.
    """
    centres = np.empty((len(anchors), 2))
    for i, (anchor, size) in enumerate(zip(anchors, sizes, strict=True)):
        sides = np.vstack([towards[i], SIDES]) if towards[i].any() else SIDES
        tries = np.vstack([anchor + far * sides * (size / 2 + gap) for far in (1.0, 1.6, 2.4)])
        others = (sizes[:i] + size) / 2 - np.abs(tries[:, None] - centres[None, :i])
        covered = np.where((others > 0).all(axis=2), np.prod(np.maximum(others, 0), axis=2), 0).sum(axis=1)
        hidden = (np.abs(tries[:, None] - posts) < size / 2).all(axis=2).sum(axis=1)
        outside = np.maximum(0, np.maximum(room[0] + size / 2 - tries, tries - room[1] + size / 2)).sum(axis=1)
        dislike = 0.15 * np.arange(len(tries)) / len(sides)
        cost = 4 * covered / np.prod(size) + hidden + outside / size[1] + dislike
        centres[i] = tries[int(cost.argmin())]
    return centres


def write_apart(
    ax: Axes,
    texts: Sequence[str],
    places: Array,
    *,
    size: float,
    colours: Sequence[Any] | None = None,
    bold: bool = False,
    towards: Array | None = None,
    posts: Array | None = None,
) -> list[Any]:
    """Write texts on or beside places in data units so that none covers another; return them.

    With ``towards``, a wish for each text (zero for none), texts stand beside their places, with a thin line to those
    that had to go far; without, they stand on them.
    """
    if not len(texts):
        return []
    halo = [withStroke(linewidth=2.5 if bold else 1.8, foreground="white")]
    written = [
        ax.text(
            float(x),
            float(y),
            literal(text),
            ha="center",
            va="center",
            fontsize=size,
            fontweight="bold" if bold else "normal",
            color=INK if colours is None else colours[at],
            path_effects=halo,
            zorder=5,
        )
        for at, (text, (x, y)) in enumerate(zip(texts, places, strict=True))
    ]
    for text in written:
        text.set_in_layout(False)
    # Laid out once without ink: only then the size of the axes, and with it the room for the texts, is known.
    whole: Any = ax.figure.figure  # of a part of a figure, the figure
    whole.draw_without_rendering()
    boxes = [text.get_window_extent() for text in written]
    sizes = np.array([[box.width, box.height] for box in boxes]) + 0.25 * size
    frame = ax.get_window_extent()
    room = np.array([[frame.x0, frame.y0], [frame.x1, frame.y1]])
    anchors = ax.transData.transform(np.asarray(places, dtype=np.float64))
    centres = anchors
    if towards is not None:
        stops = anchors if posts is None else ax.transData.transform(posts)
        centres = beside(anchors, sizes, gap=0.35 * size, posts=stops, room=room, towards=towards)
    centres = push_apart(centres, sizes, room=room)
    ends = ax.transData.inverted().transform(centres)
    for text, end, centre, anchor, box in zip(written, ends, centres, anchors, sizes, strict=True):
        text.set_position((float(end[0]), float(end[1])))
        gap = np.maximum(np.abs(centre - anchor) - box / 2, 0)
        if towards is not None and np.hypot(*gap) > 1.5 * size:
            edge = np.clip(anchor, centre - box / 2, centre + box / 2)
            (here, there) = ax.transData.inverted().transform([anchor, edge])
            look: dict[str, Any] = {"color": MUTED, "linewidth": 0.5, "scalex": False, "scaley": False}
            ax.plot([here[0], there[0]], [here[1], there[1]], gid="leader", zorder=3.5, **look)
    return written
