"""The card of a fitted estimator in a notebook: its summary as a table, and a small picture of its components.

Written as SVG from numbers, without a drawing package. scikit-learn's diagram stays above it.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from gramian.results import Array, FitSummary, percent

#: Size of the picture and of its margins in pixels, bars at the most, and their colour.
_WIDTH, _HEIGHT, _LEFT, _BELOW = 300, 110, 46, 18
_MAX_BARS, _BAR_COLOUR = 20, "#3f90da"


@dataclass(frozen=True)
class Bars:
    """Heights of bars, what they are, a sentence for those who cannot see them, and whether they are shares."""

    values: Array
    label: str
    description: str
    share: bool = False


def card(summary: FitSummary, bars: Bars | None) -> str:
    """Write a summary, and bars if there are any, as HTML."""
    shown = f'<div style="overflow-x:auto">{summary._repr_html_()}</div>'
    drawn = "" if bars is None or not len(bars.values) else picture(bars)
    return f'<div class="gramian-card" style="margin-top:.5em">{drawn}{shown}</div>'


def picture(bars: Bars) -> str:
    """Write bars as SVG."""
    values = bars.values[:_MAX_BARS]
    top = float(values.max(initial=0.0)) or 1.0
    step = (_WIDTH - _LEFT) / len(values)
    base = _HEIGHT - _BELOW
    drawn = ""
    for at, value in enumerate(values):
        y = 6 + (base - 6) * (1 - max(value, 0.0) / top)
        drawn += (
            f'<rect x="{_LEFT + at * step + 0.1 * step:.1f}" y="{y:.1f}" width="{0.8 * step:.1f}" '
            f'height="{base - y:.1f}" fill="{_BAR_COLOUR}"/>'
        )
    text = 'fill="currentColor" font-size="11" font-family="sans-serif"'
    words = (
        f'<text x="{_LEFT - 5}" y="14" text-anchor="end" {text}>{percent(top) if bars.share else f"{top:.3g}"}</text>'
        f'<text x="{_LEFT - 5}" y="{base}" text-anchor="end" {text}>0</text>'
        f'<text x="{_LEFT}" y="{_HEIGHT - 4}" {text}>{escape(bars.label)}</text>'
    )
    line = f'<path d="M{_LEFT} {base}H{_WIDTH}" stroke="currentColor" stroke-width="1" fill="none"/>'
    size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(bars.description)}">'
    return f"{head}{drawn}{line}{words}</svg>"
