"""From a page to one HTML file that needs nothing else: style, scripts and plotly are inside."""

from __future__ import annotations

import json
from importlib.resources import files
from itertools import count

import numpy as np

from gramian.figures import Figure
from gramian.figures.grammar import replaced
from gramian.reports.contents import Page

#: Digits of coordinates; a screen shows no more.
COORDINATE_DIGITS = 6


def render(page: Page) -> str:
    """Write a page as HTML."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from plotly.offline import get_plotlyjs
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f'gramian.report needs {error.name}: pip install "gramian[report]"') from None
    environment = Environment(
        loader=PackageLoader("gramian.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["spec"] = spec
    numbers = count(1)
    return environment.get_template("page.html.jinja").render(
        page=page,
        style=_text("style.css"),
        script=_text("script.js"),
        plotly=get_plotlyjs() if _pictures(page) else "",
        next_id=lambda: f"part-{next(numbers)}",
    )


def spec(figure: Figure) -> str:
    """A figure as JSON that may stand inside a script element, whatever names it holds.

    >>> from gramian.figures import Figure
    >>> spec(Figure([{"name": "</script>"}], {}))
    '{"data": [{"name": "\\\\u003c/script\\\\u003e"}]}'
    """
    parts = {"data": figure.data, "layout": figure.layout, "narrow": figure.narrow}
    text = json.dumps({name: replaced(part, _plain) for name, part in parts.items() if part}, allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _plain(value: object) -> object:
    """A value that JSON knows; what is no number becomes null."""
    if isinstance(value, np.ndarray):
        return replaced(value.tolist(), _plain)
    if isinstance(value, float):
        return float(f"{value:.{COORDINATE_DIGITS}g}") if value - value == 0 else None
    return value


def _pictures(page: Page) -> bool:
    return any(part.kind == "picture" for section in page.sections for part in section.parts)


def _text(name: str) -> str:
    return (files("gramian.reports") / "templates" / name).read_text(encoding="utf-8")
