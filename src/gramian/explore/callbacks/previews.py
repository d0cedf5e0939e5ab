"""A slider moves: pictures of low rank, as many as the browser can take."""

from __future__ import annotations

from typing import Any

import numpy as np
from dash import Dash, Input, Output, Patch, State, no_update

from gramian.explore.browser import GATE
from gramian.explore.callbacks.pictures import focus_of, read_view, rows_of
from gramian.explore.explorer import CONTROLS, Explorer, read_choice
from gramian.explore.figures import rows as row_figure
from gramian.explore.figures import scores as score_figure
from gramian.explore.figures import scree as scree_figure
from gramian.explore.preview import Glimpse
from gramian.explore.session import Session
from gramian.kernels import parse

SLIDERS = ("width", "degree", "ridge", "k")


def register(app: Dash, explorer: Explorer) -> None:
    """Connect the callbacks of this file."""
    app.clientside_callback(
        GATE,
        Output("ask", "data"),
        *(Input(name, "drag_value") for name in SLIDERS),
        Input("drawn", "data"),
        prevent_initial_call=True,
    )

    @app.callback(
        Output("scores", "figure", allow_duplicate=True),
        Output("scree", "figure", allow_duplicate=True),
        Output("row", "figure", allow_duplicate=True),
        Output("kernel-says", "children", allow_duplicate=True),
        Output("drawn", "data"),
        Input("ask", "data"),
        State("page", "data"),
        *(State(name, "value") for name in CONTROLS),
        State("x", "value"),
        State("y", "value"),
        State("z", "value"),
        State("space", "value"),
        State("colour", "value"),
        State("webgl", "data"),
        State("focus", "data"),
        State("rows-as", "value"),
        prevent_initial_call=True,
    )
    def preview(ask: Any, page: Any, *values: Any) -> tuple[Any, ...]:
        session = explorer.session(page)
        moved = {name: ask[name] for name in SLIDERS if ask.get(name) is not None}
        given = {**dict(zip(CONTROLS, values, strict=False)), **moved}
        *look, webgl, focus, kind = values[len(CONTROLS) :]
        still = (no_update, no_update, no_update, no_update, ask.get("number"))
        choice = read_choice(session.data, given)
        found = session.fit
        if found is None or choice == session.choice or choice.method != found.choice.method:
            return still
        if choice.key == found.choice.key:
            return _cut(session, choice.k, focus, kind) + still[3:]
        if choice.method != "kernel-pca":
            return still
        try:
            kernel = parse(choice.kernels(session.data)[0])
            glimpse = explorer.glimpses.of(session.data, scaled=choice.scale).glimpse(kernel.resolve(session.data.X))
        except (ValueError, np.linalg.LinAlgError):
            return still  # the exact fit says what is wrong
        session.previewed = True
        view = read_view(look, webgl)
        return (
            _moved(session, glimpse, view),
            scree_figure.draw(glimpse.shares, found.measure, min(choice.k, len(glimpse.shares))),
            _rows(session, glimpse, choice.k, focus, kind),
            str(kernel),
            ask.get("number"),
        )


def _moved(session: Session, glimpse: Glimpse, view: score_figure.View) -> Patch:
    """New coordinates; nothing else is sent."""
    patch = Patch()
    signs = session.signs(glimpse.scores, glimpse.rows)
    for name, numbers in score_figure.coordinates(glimpse.scores, view).items():
        patch["data"][0][name] = numbers
    if len(glimpse.rows) < len(session.data.X):
        patch["data"][0]["marker"] = score_figure.marks(session.data, glimpse.rows, view)
    frame = patch["layout"]["scene"] if view.space and view.webgl else patch["layout"]
    for name, at in zip("xyz" if view.space and view.webgl else "xy", (view.x, view.y, view.z), strict=False):
        frame[f"{name}axis"]["autorange"] = score_figure.direction(signs, at)
    return patch


def _rows(session: Session, glimpse: Glimpse, k: int, focus: Any, kind: Any) -> Any:
    """Rows as the glimpse tells them."""
    data, places = session.data, focus_of(session, focus)
    wanted = row_figure.sample(len(data.X)) if kind == "plane" and data.X.shape[1] == 2 else np.array(places[:1])
    at = np.searchsorted(glimpse.rows, wanted)
    if at.max() >= len(glimpse.rows) or (glimpse.rows[at] != wanted).any():
        return no_update
    rebuilt = glimpse.rebuilt(at, k)
    if rebuilt is not None and session.choice.standardizes:
        rebuilt = data.standardizer.inverse_transform(rebuilt)
    return row_figure.draw(data, str(kind), places, rebuilt)


def _cut(session: Session, k: int, focus: Any, kind: Any) -> tuple[Any, ...]:
    """The cut moves: the fit is there already."""
    found = session.fit
    if found is None:
        return no_update, no_update, no_update
    drawn = scree_figure.draw(found.spectrum, found.measure, min(k, found.size))
    return no_update, drawn, rows_of(session, k, focus, kind)
