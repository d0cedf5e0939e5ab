"""The card of a fitted estimator in a notebook: its summary as a table, and a small picture of its components.

Drawn as SVG from chart data, without matplotlib. scikit-learn's diagram stays above it.
"""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from gramian import charts
from gramian.charts.palette import colour
from gramian.results import Array, percent

#: Size of the picture, of its margins, and bars at the most.
WIDTH, HEIGHT, LEFT, BELOW, MOST = 300, 110, 46, 18, 20


def card(estimator: Any) -> str:
    """Write the card of a fitted estimator as HTML.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA
    >>> text = card(PCA(2).fit(load_iris().data))
    >>> "<svg" in text, "<table" in text
    (True, True)
    """
    shown = f'<div style="overflow-x:auto">{estimator.summary_._repr_html_()}</div>'
    return f'<div class="gramian-card" style="margin-top:.5em">{picture(estimator)}{shown}</div>'


def picture(estimator: Any) -> str:
    """Write a small picture of what the components hold; nothing for estimators that have no components."""
    found = _bars(estimator)
    if found is None:
        return ""
    values, what, says = found
    values = values[:MOST]
    top = float(values.max(initial=0.0)) or 1.0
    step = (WIDTH - LEFT) / len(values)
    bars = "".join(
        f'<rect x="{LEFT + at * step + 0.1 * step:.1f}" y="{_height(value, top):.1f}" width="{0.8 * step:.1f}" '
        f'height="{HEIGHT - BELOW - _height(value, top):.1f}" fill="{colour(0)}"/>'
        for at, value in enumerate(values)
    )
    text = 'fill="currentColor" font-size="11" font-family="sans-serif"'
    words = (
        f'<text x="{LEFT - 5}" y="14" text-anchor="end" {text}>{escape(_tick(top, what))}</text>'
        f'<text x="{LEFT - 5}" y="{HEIGHT - BELOW}" text-anchor="end" {text}>0</text>'
        f'<text x="{LEFT}" y="{HEIGHT - 4}" {text}>{escape(what)}</text>'
    )
    line = f'<path d="M{LEFT} {HEIGHT - BELOW}H{WIDTH}" stroke="currentColor" stroke-width="1" fill="none"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'{head} role="img" aria-label="{escape(says)}">{bars}{line}{words}</svg>'


def _bars(estimator: Any) -> tuple[Array, str, str] | None:
    """Heights of the bars, what they are, and what they say."""
    if hasattr(estimator, "correlations_"):
        pairs = charts.correlations(estimator)
        values, what = pairs.values, pairs.ylabel
        return (
            values,
            f"{what} of each pair",
            f"{what.capitalize()}s of {len(values)} pairs, the first {values[0]:.2f}.",
        )
    try:
        chart = charts.scree(estimator)
    except TypeError:  # it has no components
        return None
    if chart.shares is None:
        values = np.asarray(chart.values, dtype=np.float64)
        return values, chart.ylabel, f"{chart.title}: {len(values)} bars, the first {values[0]:.3g}."
    total = percent(float(chart.shares.sum()))
    says = f"{chart.title}: {len(chart.shares)} bars, together {total} of the variance."
    return chart.shares, f"share of each {chart.xlabel}, {total} in all", says


def _height(value: float, top: float) -> float:
    return 6 + (HEIGHT - BELOW - 6) * (1 - max(value, 0.0) / top)


def _tick(top: float, what: str) -> str:
    return percent(top) if what.startswith("share") else f"{top:.3g}"
