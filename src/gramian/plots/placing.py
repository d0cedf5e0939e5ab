"""Labels that stand where they belong and not on top of each other."""

from __future__ import annotations

import numpy as np

from gramian.results import Array


def medians(points: Array, groups: Array, count: int) -> Array:
    """Return for each group the member nearest to its median: a place where the group is, even if it is a ring."""
    places = np.empty((count, 2))
    for group in range(count):
        members = points[groups == group]
        distances = np.sum((members - np.median(members, axis=0)) ** 2, axis=1)
        places[group] = members[distances.argmin()]
    return places


def push_apart(centres: Array, sizes: Array, rounds: int = 300) -> Array:
    """Move boxes by as little as it takes until none overlaps another.

    Parameters
    ----------
    centres, sizes : (k, 2) arrays
        Centres, widths and heights of the boxes, in one unit.
    rounds : int
        Limit, for crowds that have no room.

    Returns
    -------
    (k, 2) array
        New centres.
    """
    centres = np.array(centres, dtype=np.float64)
    for _ in range(rounds):
        moved = False
        for i in range(len(centres)):
            for j in range(i + 1, len(centres)):
                apart = centres[j] - centres[i]
                overlap = (sizes[i] + sizes[j]) / 2 - np.abs(apart)
                if (overlap > 1e-9 * sizes[i]).all():
                    axis = int(overlap.argmin())  # the shorter way out
                    step = np.zeros(2)
                    step[axis] = overlap[axis] / 2 * (1 if apart[axis] >= 0 else -1)
                    centres[i] -= step
                    centres[j] += step
                    moved = True
        if not moved:
            break
    return centres
