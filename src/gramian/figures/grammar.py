"""What figures for plotly.js are made of: plain dictionaries, which report and explorer send to the browser.

Building plotly's own objects would take longer than a fit. Colours that follow the theme of a page stand as
``var(--ink)``: the report puts the colours in their place in the browser, the explorer by :func:`encoded`.
"""

from __future__ import annotations

import base64
import html
import math
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.charts import palette
from gramian.charts.palette import colour
from gramian.charts.placing import along, beside
from gramian.results import Array

#: A trace, an axis, a layout.
Part = dict[str, Any]
#: Numbers or names along an axis.
Values = Array | Sequence[object]

THEME_INK, THEME_MUTED, THEME_LINE = "var(--ink)", "var(--muted)", "var(--line)"
THEME_RAISED, THEME_PAPER = "var(--raised)", "var(--paper)"
TRANSPARENT = "rgba(0,0,0,0)"
#: The theme on white paper.
LIGHT_THEME = {
    THEME_INK: palette.INK,
    THEME_MUTED: palette.MUTED,
    THEME_LINE: "#e4e6ea",
    THEME_RAISED: "#ffffff",
    THEME_PAPER: "#ffffff",
}
#: The theme on dark paper, as the style of reports has it.
DARK_THEME = {
    THEME_INK: "#e6e9ec",
    THEME_MUTED: "#a9b3bd",
    THEME_LINE: "#3a424b",
    THEME_RAISED: "#1e2328",
    THEME_PAPER: "#14171a",
}
#: Groups differ in shape too, for readers who do not see the colours.
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down", "pentagon", "star", "hexagon")
#: Place of a legend.
_ABOVE = {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"}
#: Letters of a name that a tick or a legend shows.
NAME_MAX_LETTERS = 28
#: Width and height of a letter of 12 pixels, and the distance of a name from its point, in pixels.
LETTER_WIDTH, LETTER_HEIGHT, NAME_GAP = 7.0, 15.0, 5.0


@dataclass(frozen=True)
class Figure:
    """Traces and a layout, with the size of the picture in pixels.

    ``narrow`` takes the place of parts of the layout on a phone; a ``square`` figure is there as high as it is wide.
    """

    data: list[Part]
    layout: Part
    height: int = 420
    width: int = 960
    narrow: Part = field(default_factory=dict)
    square: bool = False


def plain(text: object, longest: int | None = None) -> str:
    """Text as it is: plotly reads markup in names, and these are none.

    >>> plain("<b>"), plain("a long name of a column", 10)
    ('&lt;b&gt;', 'a long na…')
    """
    text = str(text)
    return html.escape(text if longest is None or len(text) <= longest else text[: longest - 1] + "…", quote=False)


def number(value: float) -> str:
    """A number for people; a dash where there is none.

    >>> number(0.123456), number(1234567.0), number(float("nan")), number(12)
    ('0.1235', '1.235e+06', '–', '12')
    """
    if isinstance(value, (int, np.integer)):
        return f"{int(value):,}"
    return f"{float(value):.4g}" if math.isfinite(value) else "–"


def numbers(values: Array) -> str:
    """Coordinates of a point, for people."""
    return ", ".join(number(float(value)) for value in values)


def axis(title: str = "", **more: object) -> Part:
    """An axis with a name."""
    return {
        "title": {"text": plain(title), "font": {"size": 13}},
        "gridcolor": THEME_LINE,
        "zerolinecolor": THEME_LINE,
        "linecolor": THEME_MUTED,
        "tickfont": {"size": 12},
        "automargin": True,
        "exponentformat": "power",
        **more,
    }


def named_places(names: Sequence[str], longest: int = NAME_MAX_LETTERS, **more: object) -> Part:
    """An axis of names. Places, not names, make it: names that are cut short, or repeat, stay apart."""
    ticks = {"tickvals": np.arange(len(names)), "ticktext": [plain(name, longest) for name in names]}
    return axis("", showgrid=False, zeroline=False, tickmode="array", **ticks, **more)


def counts(title: str, count: int, **more: object) -> Part:
    """An axis of whole numbers up to a count."""
    return axis(title, dtick=max(1, -(-count // 15)), zeroline=False, **more)


def layout(x: Part | None = None, y: Part | None = None, *, legend: bool = False, **more: object) -> Part:
    """A picture with two axes; a legend stands above it."""
    return {
        **({} if x is None else {"xaxis": x}),
        **({} if y is None else {"yaxis": y}),
        "font": {"color": THEME_INK, "size": 13, "family": "system-ui, 'DejaVu Sans', sans-serif"},
        "paper_bgcolor": TRANSPARENT,
        "plot_bgcolor": TRANSPARENT,
        "margin": {"l": 60, "r": 20, "t": 12, "b": 50},
        "showlegend": legend,
        "legend": {**_ABOVE, "bgcolor": TRANSPARENT},
        "hoverlabel": {"bgcolor": THEME_RAISED, "bordercolor": THEME_LINE, "font": {"color": THEME_INK}},
        **more,
    }


def line(x: Values, y: Values, name: str = "", at: int = 0, **more: object) -> Part:
    """A line with points, in the colour and shape of number ``at``."""
    marks = {"color": colour(at), "symbol": SYMBOLS[at % len(SYMBOLS)], "size": 7}
    shown = {"mode": "lines+markers", "line": {"color": colour(at), "width": 2}, "marker": marks}
    return {"type": "scatter", "x": x, "y": y, "name": plain(name), **shown, **more}


def stroke(shade: str, width: float = 2, dash: str = "solid") -> Part:
    """The look of a line without points."""
    return {"mode": "lines", "line": {"color": shade, "width": width, "dash": dash}, "marker": {"color": shade}}


def outline(ends: Array, shade: str, dash: str = "solid") -> Part:
    """A line through points (m, 2) that needs no words."""
    quiet: Part = {"hoverinfo": "skip", "showlegend": False, "opacity": 0.9}
    return line(ends[:, 0], ends[:, 1], **stroke(shade, 1.4, dash), **quiet)


def band(x: Array, low: Array, high: Array, name: str) -> Part:
    """The room between two lines."""
    x, y = np.concatenate([x, x[::-1]]), np.concatenate([low, high[::-1]])
    filled: Part = {"fill": "toself", "fillcolor": "rgba(127,127,127,0.25)", "hoverinfo": "skip"}
    return line(x, y, name, **stroke(THEME_MUTED, 0.5), **filled)


def rule(*, x: float | None = None, y: float | None = None, dash: str = "dash", **more: object) -> Part:
    """A straight line across the picture: upright at ``x``, or level at ``y``."""
    along_y = {"x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper"}
    along_x = {"y0": y, "y1": y, "x0": 0, "x1": 1, "xref": "paper"}
    look = {"color": THEME_MUTED, "width": 1.2, "dash": dash}
    return {"type": "line", **(along_y if y is None else along_x), "line": look, **more}


def written(text: str, x: float, y: float, *, size: int = 12, **more: object) -> Part:
    """Text at a place."""
    return {"x": x, "y": y, "text": text, "showarrow": False, "font": {"size": size, "color": THEME_INK}, **more}


def arrow(end: Array, shade: str) -> Part:
    """An arrow from the middle of the axes."""
    tip = {"x": end[0], "y": end[1], "ax": 0, "ay": 0, "xref": "x", "yref": "y", "axref": "x", "ayref": "y"}
    return {**tip, "text": "", "showarrow": True, "arrowhead": 2, "arrowwidth": 1.5, "arrowcolor": shade, "standoff": 1}


def names_of_arrows(
    names: Sequence[str], ends: Array, pixels: float, reach: float = math.inf, size: int = 12
) -> list[Part]:
    """Names beyond the tips of arrows; ``reach`` is the distance from the middle, in units, that no name passes."""
    room = pixels * min(reach, 1e6) * np.array([[-1.0, -1.0], [1.0, 1.0]])
    anchors = pixels * ends
    return names_beside(names, ends, anchors, sizes=size, posts=along(anchors), towards=beyond(ends), room=room)


def beyond(ends: Array) -> Array:
    """Where names of arrows wish to stand: beyond the tip, with the whole box, as letters across a tip are not read."""
    longer = np.abs(ends).max(axis=1, keepdims=True, initial=0.0)
    return np.divide(ends, longer, out=np.zeros_like(ends), where=longer > 0)


def names_beside(
    names: Sequence[str],
    places: Array,
    anchors: Array,
    *,
    sizes: float | Array,
    posts: Array,
    towards: Array,
    room: Array,
    minor: int = 0,
) -> list[Part]:
    """Names beside places (k, 2) of the axes, whose pixels are ``anchors``, as :func:`charts.placing.beside` puts them.

    A name that would still lie on one before it is left out: it is in the table, and under the pointer. The last
    ``minor`` names are muted, and left out too where they would hide one of the ``posts`` (in pixels, as ``anchors``
    and ``room``) or stand apart from their places. ``sizes`` are those of the letters.
    """
    shown = [plain(name, NAME_MAX_LETTERS) for name in names]
    letters = np.array([min(len(name), NAME_MAX_LETTERS) for name in names])
    heights = np.broadcast_to(np.asarray(sizes, dtype=np.float64), len(names))
    boxes = heights[:, None] / 12 * np.column_stack([LETTER_WIDTH * letters, np.full(len(names), LETTER_HEIGHT)])
    centres = beside(anchors, boxes, gap=NAME_GAP, posts=posts, room=room, towards=towards)
    found, kept = [], np.empty(0, dtype=int)
    for at, (centre, anchor) in enumerate(zip(centres, anchors, strict=True)):
        clear = (np.abs(centre - centres[kept]) >= (boxes[at] + boxes[kept]) / 2).any(axis=1).all()
        inside = (centre - boxes[at] / 2 >= room[0] - 1).all() and (centre + boxes[at] / 2 <= room[1] + 1).all()
        muted = at >= len(names) - minor
        hides = muted and (np.abs(centre - posts) < boxes[at] / 2).all(axis=1).any()
        near = not muted or (np.abs(centre - anchor) <= boxes[at] / 2 + 1.5 * NAME_GAP).all()
        if clear and inside and near and not hides:
            kept = np.append(kept, at)
            font = {"size": int(heights[at]), "color": THEME_MUTED if muted else THEME_INK}
            x, y = (centre - anchor).tolist()
            found.append(written(shown[at], *places[at].tolist(), font=font, xshift=x, yshift=y))
    return found


def bars(
    names: Sequence[str],
    series: Mapping[str, Array],
    what: str,
    *,
    hover: Sequence[str] | None = None,
    limit: float | None = None,
    errors: tuple[Array, Array] | None = None,
    longest: int = NAME_MAX_LETTERS,
) -> Figure:
    """Bars from left to right, a line of them for each name; ``errors`` are the lengths below and above the first."""
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": plain(name),
            "x": values,
            "y": np.arange(len(names)),
            "hovertext": [f"{plain(each)}: {number(float(value))}" for each, value in zip(names, values, strict=True)]
            if hover is None
            else hover,
            "hoverinfo": "text",
            "marker": {"color": colour(at)},
        }
        for at, (name, values) in enumerate(series.items())
    ]
    if errors is not None:
        shown = {"type": "data", "symmetric": False, "color": THEME_INK, "thickness": 1}
        data[0]["error_x"] = {**shown, "array": errors[1], "arrayminus": errors[0]}
    frame = layout(
        axis(what, zerolinecolor=THEME_MUTED),
        named_places(names, longest, autorange="reversed"),
        shapes=[] if limit is None else [rule(x=limit)],
    )
    return Figure(data, frame, height=int(np.clip(90 + 22 * len(names), 200, 800)))


def colour_scale(shades: Sequence[str]) -> list[list[Any]]:
    """Shades as plotly takes them, evenly spaced."""
    return [[at / (len(shades) - 1), shade] for at, shade in enumerate(shades)]


def cells(kind: str, x: Values, y: Values, z: Array, limit: float, bar: Part) -> Part:
    """Numbers over the plane, below and above zero, as colours that end at a limit, with a bar of them."""
    scale = {"zmin": -limit, "zmax": limit, "colorscale": colour_scale(palette.DIVERGING)}
    return {"type": kind, "x": x, "y": y, "z": z, **scale, "colorbar": {"thickness": 12, "outlinewidth": 0, **bar}}


def backdrop(cells: Array, x: Array, y: Array) -> Part:
    """Cells (b, a, 4) of colours as an image behind the points; ``x`` and ``y`` are the ends of its sides."""
    place = {"x": x[0], "y": y[-1], "sizex": x[-1] - x[0], "sizey": y[-1] - y[0]}
    return {"source": png(cells[::-1]), "xref": "x", "yref": "y", **place, "sizing": "stretch", "layer": "below"}


def png(pixels: Array) -> str:
    """Red, green, blue and opacity from 0 to 1, (h, w, 4), as the address of an image.

    >>> png(np.zeros((1, 1, 4)))[:30]
    'data:image/png;base64,iVBORw0K'
    """
    values = (255 * np.clip(pixels, 0, 1)).round().astype(np.uint8)
    h, w = values.shape[:2]
    lines = np.concatenate([np.zeros((h, 1), dtype=np.uint8), values.reshape(h, 4 * w)], axis=1)  # 0: no filter
    parts = [
        _chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 6, 0, 0, 0)),
        _chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)),
        _chunk(b"IEND", b""),
    ]
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def packed(values: Array) -> dict[str, str]:
    """Numbers in single precision as plotly.js reads them: bytes in base 64, a tenth of the time of text.

    >>> packed(np.array([1.0]))
    {'dtype': 'f4', 'bdata': 'AACAPw=='}
    """
    sent = {"dtype": "f4", "bdata": base64.b64encode(np.asarray(values, dtype="<f4").tobytes()).decode("ascii")}
    return sent if values.ndim == 1 else {**sent, "shape": ", ".join(map(str, values.shape))}


def replaced(value: object, leaf: Callable[[Any], object]) -> Any:
    """Part of a figure in which a function takes the place of everything that is no dictionary and no list."""
    if isinstance(value, dict):
        return {key: replaced(part, leaf) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [replaced(part, leaf) for part in value]
    return leaf(value.item() if isinstance(value, np.generic) else value)


def encoded(value: object, theme: Mapping[str, str] = LIGHT_THEME) -> Any:
    """Part of a figure as the explorer sends it: arrays as bytes, colours instead of their names."""
    leaf = lambda one: packed(one) if isinstance(one, np.ndarray) else theme.get(one, one)  # noqa: E731
    return replaced(value, leaf)
