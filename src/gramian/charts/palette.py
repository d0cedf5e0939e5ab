"""Colours of all pictures, whoever draws them; they stay apart for colour-blind readers."""

from __future__ import annotations

import numpy as np

from gramian.results import Array

__all__ = ["COLOURS", "DIVERGING", "INK", "MUTED", "PALE", "SCALE", "SEQUENTIAL", "colour", "rgb"]

#: Ten colours (Petroff, Accessible color sequences for data visualization, 2021), reordered so that the greys and the
#: browns do not follow each other.
COLOURS = ("#3f90da", "#bd1f01", "#ffa90e", "#832db6", "#717581", "#e76300", "#b9ac70", "#92dadd", "#94a4a2", "#a96b59")
INK = "#222222"
MUTED = "#666666"
PALE = "#bbbbbb"
#: From little to much: one hue that darkens evenly, so that it also prints in grey.
SEQUENTIAL = ("#e8f1fa", "#b7d3ee", "#7fb2e2", "#3f90da", "#2268a6", "#123f69")
#: Numbers on a scale: the map viridis without its yellow end, which is lost on paper.
SCALE = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30")
#: From below to above: blue, white, orange-red; never red and green.
DIVERGING = ("#1f5f9e", "#5b9bd5", "#b9d6ee", "#f7f7f7", "#f6c6a2", "#e0803f", "#a8400a")


def colour(at: int) -> str:
    """Return the colour of class or line number ``at``; they come round again after ten.

    >>> colour(0) == colour(10)
    True
    """
    return COLOURS[at % len(COLOURS)]


def rgb(text: str) -> Array:
    """Red, green and blue of a colour, each from 0 to 1.

    >>> rgb("#ff0033")
    array([1. , 0. , 0.2])
    """
    return np.array([int(text[at : at + 2], 16) for at in (1, 3, 5)]) / 255
