"""What all pictures share: axes, ink, and text that plotly must not take for markup."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

from gramian.charts.palette import colour
from gramian.reports.contents import brief
from gramian.reports.sentences import noted, say
from gramian.results import Sentence

INK, MUTED, LINE, RAISED = "var(--ink)", "var(--muted)", "var(--line)", "var(--raised)"
CLEAR = "rgba(0,0,0,0)"
#: Groups differ in shape too, for readers who do not see the colours.
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down", "pentagon", "star", "hexagon")
#: Signs of a name that a tick or a legend shows.
LONGEST = 28


def plain(text: Any, longest: int | None = None) -> str:
    """Text as it is: plotly reads markup in names, and these are none.

    >>> plain("<b>"), plain("a long name of a column", 10)
    ('&lt;b&gt;', 'a long na…')
    """
    text = str(text)
    return html.escape(text if longest is None or len(text) <= longest else text[: longest - 1] + "…", quote=False)


def axis(title: str = "", **more: Any) -> dict[str, Any]:
    """An axis with a name."""
    return {
        "title": {"text": plain(title), "font": {"size": 13}},
        "gridcolor": LINE,
        "zerolinecolor": LINE,
        "linecolor": MUTED,
        "tickfont": {"size": 12},
        "automargin": True,
        "exponentformat": "power",
        **more,
    }


def layout(x: dict[str, Any], y: dict[str, Any], *, legend: bool = False, **more: Any) -> dict[str, Any]:
    """A picture with two axes; a legend stands above it."""
    return {
        "xaxis": x,
        "yaxis": y,
        "font": {"color": INK, "size": 13, "family": "system-ui, 'DejaVu Sans', sans-serif"},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "margin": {"l": 60, "r": 20, "t": 12, "b": 50},
        "showlegend": legend,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom", "bgcolor": CLEAR},
        "hoverlabel": {"bgcolor": RAISED, "bordercolor": LINE, "font": {"color": INK}},
        **more,
    }


def line(x: Any, y: Any, name: str = "", at: int = 0, **more: Any) -> dict[str, Any]:
    """A line with points, in the colour and shape of number ``at``."""
    marks = {"color": colour(at), "symbol": SYMBOLS[at % len(SYMBOLS)], "size": 7}
    shown = {"mode": "lines+markers", "line": {"color": colour(at), "width": 2}, "marker": marks}
    return {"type": "scatter", "x": x, "y": y, "name": plain(name), **shown, **more}


def rule(*, x: float | None = None, y: float | None = None, dash: str = "dash") -> dict[str, Any]:
    """A straight line across the picture: upright at ``x``, or level at ``y``."""
    place = (
        {"x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper"}
        if y is None
        else {"y0": y, "y1": y, "x0": 0, "x1": 1, "xref": "paper"}
    )
    return {"type": "line", **place, "line": {"color": MUTED, "width": 1.2, "dash": dash}}


def listed(things: Iterable[Any], most: int = 3) -> str:
    """The first few of many, for a sentence.

    >>> listed(["a", "b"]), listed("abcdef")
    ('a and b', 'a, b, c and 3 more')
    """
    all_of = [str(thing) for thing in things]
    if len(all_of) > most:
        return f"{', '.join(all_of[:most])} and {len(all_of) - most:,} more"
    return all_of[0] if len(all_of) == 1 else f"{', '.join(all_of[:-1])} and {all_of[-1]}" if all_of else "none"


def leading(names: Sequence[str], values: Any, most: int = 3) -> str:
    """The names of the largest magnitudes, with their values; nothing that is zero.

    >>> leading(["a", "b", "c"], [0.1, -0.9, 0.5], 2), leading(["a", "b"], [0.0, 2.0])
    ('b (-0.9) and c (0.5)', 'b (2)')
    """
    order = sorted(range(len(names)), key=lambda at: -abs(values[at]))[:most]
    return listed([f"{names[at]} ({brief(values[at])})" for at in order if values[at] != 0], most)


def largest(labels: Sequence[str], names: Sequence[str], values: Any) -> list[Sentence]:
    """What each component is made of, a sentence each."""
    return [
        say("largest", label=short_label(label), columns=leading(names, values[:, at]))
        for at, label in enumerate(labels)
        if values[:, at].any()
    ]


def with_notes(says: Iterable[Sentence], notes: Iterable[Sentence]) -> list[Sentence]:
    """Sentences, and what the chart says beside them."""
    return [*says, *(noted(note) for note in notes)]


def short_label(label: str) -> str:
    """The name of a component without what it holds, to begin a sentence with.

    >>> short_label("factor 1 (31 % of variance)")
    'Factor 1'
    """
    name = label.partition(" (")[0]
    return name[:1].upper() + name[1:]
