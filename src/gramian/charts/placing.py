"""Places of labels, so that none covers another: geometry alone, for whoever draws."""

from __future__ import annotations

import numpy as np

from gramian.results import Array

#: Sides of its place on which a label may stand, in the order in which they are liked.
LABEL_SIDES = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1], [1, 0], [-1, 0], [0, 1], [0, -1]], dtype=np.float64)


def medians(points: Array, groups: Array, count: int) -> Array:
    """Return for each group the member nearest to its median: a place where the group is, even if it is a ring."""
    places = np.empty((count, 2))
    for group in range(count):
        members = points[groups == group]
        distances = np.sum((members - np.median(members, axis=0)) ** 2, axis=1)
        places[group] = members[distances.argmin()]
    return places


def push_apart(centres: Array, sizes: Array, rounds: int = 300, *, room: Array | None = None) -> Array:
    """Move boxes (k, 2) of given centres and sizes by as little as it takes until none overlaps another.

    ``rounds`` ends it for crowds that have no room; ``room``, a lower left and an upper right corner, is not left.
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
    """Choose for each box (k, 2) the side of its anchor where it covers least: other boxes first, then points.

    Boxes stand ``gap`` away from their anchors, inside ``room`` (two corners), and do not hide ``posts`` (m, 2).
    ``towards`` is the side that a box likes most, zero if it has no wish. The centres may still overlap a little.
    """
    centres = np.empty((len(anchors), 2))
    for i, (anchor, size) in enumerate(zip(anchors, sizes, strict=True)):
        sides = np.vstack([towards[i], LABEL_SIDES]) if towards[i].any() else LABEL_SIDES
        tries = np.vstack([anchor + far * sides * (size / 2 + gap) for far in (1.0, 1.6, 2.4)])
        others = (sizes[:i] + size) / 2 - np.abs(tries[:, None] - centres[None, :i])
        covered = np.where((others > 0).all(axis=2), np.prod(np.maximum(others, 0), axis=2), 0).sum(axis=1)
        hidden = (np.abs(tries[:, None] - posts) < size / 2).all(axis=2).sum(axis=1)
        outside = np.maximum(0, np.maximum(room[0] + size / 2 - tries, tries - room[1] + size / 2)).sum(axis=1)
        dislike = 0.15 * np.arange(len(tries)) / len(sides)
        cost = 4 * covered / np.prod(size) + hidden + outside / size[1] + dislike
        centres[i] = tries[int(cost.argmin())]
    return centres


def away(ends: Array) -> Array:
    """Where labels of arrows wish to stand: beyond the tip, in the direction of the arrow."""
    lengths = np.linalg.norm(ends, axis=1, keepdims=True)
    return np.divide(ends, lengths, out=np.zeros_like(ends), where=lengths > 0)


def along(ends: Array) -> Array:
    """Points along arrows, which labels should not cover."""
    return np.vstack([share * ends for share in (0.4, 0.6, 0.8, 1.0)])
