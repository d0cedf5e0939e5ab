"""Names beside points that do not lie on each other, as far as a few places for each allow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gramian.reports.figures.frame import INK, LONGEST, plain
from gramian.results import Array

#: Width and height of a letter, and the distance of a name from its point, in pixels.
LETTER, HEIGHT, GAP = 7.0, 15.0, 5.0
#: Where a name may stand, seen from its point: anchors of its box, the usual side first.
PLACES = (
    ("left", "bottom"),
    ("left", "middle"),
    ("left", "top"),
    ("center", "bottom"),
    ("center", "top"),
    ("right", "bottom"),
    ("right", "middle"),
    ("right", "top"),
)
ACROSS = {"left": 0.0, "center": -0.5, "right": -1.0}
UP = {"bottom": 0.0, "middle": -0.5, "top": -1.0}

Box = tuple[float, float, float, float]


def names_beside(
    names: Sequence[str], points: Array, pixels: float, reach: float = float("inf"), size: int = 12
) -> list[dict[str, Any]]:
    """Annotations for points, each at the first of eight places that is free, those before it having chosen.

    A name for which no place is free is left out: it is in the table, and under the pointer.

    Parameters
    ----------
    names : sequence of str
    points : (m, 2) array
    pixels : float
        Pixels for one unit of the axes, about.
    reach : float
        Distance from the middle, in units of the axes, beyond which no name may go.
    size : int
        Of the letters.
    """
    taken: list[Box] = [(x * pixels - 3, y * pixels - 3, x * pixels + 3, y * pixels + 3) for x, y in points]
    found = []
    for name, (x, y) in zip(names, points, strict=True):
        width, height = LETTER * size / 12 * min(len(name), LONGEST), HEIGHT * size / 12
        for across, up in sorted(PLACES, key=lambda place: _inwards(place, x, y)):
            shift = ({"left": GAP, "right": -GAP}.get(across, 0.0), {"bottom": GAP, "top": -GAP}.get(up, 0.0))
            low = (x * pixels + shift[0] + ACROSS[across] * width, y * pixels + shift[1] + UP[up] * height)
            box = (*low, low[0] + width, low[1] + height)
            inside = max(-box[0], box[2]) <= reach * pixels
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                found.append(_annotation(name, (x, y), (across, up), shift, size))
                break
    return found


def _inwards(place: tuple[str, str], x: float, y: float) -> int:
    """How much a place lies towards the middle of the picture: names stand outside if they can."""
    across, up = place
    outside = ("left" if x >= 0 else "right", "bottom" if y >= 0 else "top")
    return (across != outside[0]) + (across not in (outside[0], "center")) + (up != outside[1])


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _annotation(
    name: str, at: tuple[float, float], place: tuple[str, str], shift: tuple[float, float], size: int
) -> dict[str, Any]:
    shown = {"showarrow": False, "font": {"size": size, "color": INK}, "xanchor": place[0], "yanchor": place[1]}
    return {"x": at[0], "y": at[1], "text": plain(name, LONGEST), "xshift": shift[0], "yshift": shift[1], **shown}


def arrow(end: Array, shade: str) -> dict[str, Any]:
    """An arrow from the middle of the axes."""
    tip = {"x": end[0], "y": end[1], "ax": 0, "ay": 0, "xref": "x", "yref": "y", "axref": "x", "ayref": "y"}
    return {**tip, "text": "", "showarrow": True, "arrowhead": 2, "arrowwidth": 1.5, "arrowcolor": shade, "standoff": 1}
