"""A slider moves: quick fits are made on the way, kernel PCA with few landmarks; others wait until it is let go."""

from __future__ import annotations

from typing import Any

import numpy as np
from dash import Dash, Input, Output, Patch, State, no_update
from dash.exceptions import PreventUpdate

from gramian.explore import drawing
from gramian.explore.browser import GATE, OPEN
from gramian.explore.callbacks.pictures import focus_of, kernel_words, points_of, read_view, rows_of
from gramian.explore.explorer import CONTROLS, Explorer, read_choice
from gramian.explore.fitting import fit
from gramian.explore.preview import Glimpse
from gramian.explore.session import Session
from gramian.kernels import parse
from gramian.results import percent

SLIDERS = ("width", "degree", "ridge", "k")


def register(app: Dash, explorer: Explorer) -> None:
    """Connect the callbacks of this file."""
    app.clientside_callback(
        GATE,
        Output("ask", "data"),
        *(Input(name, "drag_value") for name in SLIDERS),
        prevent_initial_call=True,
    )
    app.clientside_callback(OPEN, Output("send", "name"), Input("drawn", "data"), prevent_initial_call=True)

    @app.callback(
        Output("scores", "figure", allow_duplicate=True),
        Output("kernel-says", "children", allow_duplicate=True),
        Output("drawn", "data"),
        Input("ask", "data"),
        State("page", "data"),
        *(State(name, "value") for name in CONTROLS),
        *(State(name, "value") for name in ("x", "y", "z", "space", "colour")),
        State("webgl", "data"),
        State("focus", "data"),
        prevent_initial_call=True,
    )
    def preview(ask: Any, page: Any, *values: Any) -> tuple[Any, ...]:
        session = explorer.session(page)
        moved = {name: ask[name] for name in SLIDERS if ask.get(name) is not None}
        choice = read_choice(session.data, {**dict(zip(CONTROLS, values, strict=False)), **moved})
        *look, webgl, focus = values[len(CONTROLS) :]
        still = (no_update, no_update, ask.get("number"))
        session.glimpse = None
        found = session.fit
        if found is None or choice == session.choice or choice.method != found.choice.method:
            return still
        view = read_view(look, webgl)
        try:
            if choice.key == found.choice.key:  # the cut moves, the points do not
                session.glimpse = choice, found, None
                return still
            if choice.method == "kernel-pca":
                glimpses = explorer.glimpses.of(session.data, scaled=choice.scale)
                glimpse = glimpses.glimpse(parse(choice.kernels(session.data)[0]).resolve(glimpses.X))
                session.glimpse = choice, found, glimpse
                figure: Any = _moved(session, glimpse, view, focus)
            elif found.quick:
                trial = fit(session.data, choice)
                session.glimpse = choice, trial, None
                figure, _ = points_of(session, trial, session.directions(trial), view, focus)
            else:
                return still
        except (ValueError, np.linalg.LinAlgError):
            return still  # the fit says what is wrong when the slider is let go
        session.previewed = True
        return figure, kernel_words(session, choice), ask.get("number")

    @app.callback(
        Output("scree", "figure", allow_duplicate=True),
        Output("row", "figure", allow_duplicate=True),
        Output("loadings", "figure", allow_duplicate=True),
        Input("drawn", "data"),
        State("page", "data"),
        State("x", "value"),
        State("y", "value"),
        State("focus", "data"),
        State("rows-as", "value"),
        prevent_initial_call=True,
    )
    def follow(drawn: Any, page: Any, x: Any, y: Any, focus: Any, kind: Any) -> tuple[Any, ...]:
        session = explorer.session(page)
        found, seen = session.fit, session.glimpse
        if found is None or seen is None or seen[0] == session.choice:
            raise PreventUpdate
        choice, shown, glimpse = seen
        view = read_view([x, y, 0, None, None], True)
        if glimpse is None:
            k = min(choice.k, shown.size)
            new = no_update if shown is found else drawing.loadings(session.data, shown, [view.x, view.y])[0]
            spectrum = drawing.scree(shown.spectrum, shown.measure, k)
            return spectrum, rows_of(session, shown, k, focus, kind), new
        k = min(choice.k, len(glimpse.shares))
        return (
            drawing.scree(glimpse.shares, "share of variance in %", k),
            _rows(session, glimpse, k, focus, kind),
            drawing.glimpsed_loadings(session.data, glimpse.rows, glimpse.scores, [view.x, view.y]),
        )


def _moved(session: Session, glimpse: Glimpse, view: drawing.View, focus: Any) -> Patch:
    """New coordinates and names of axes; nothing else is sent."""
    patch = Patch()
    signs = session.signs(glimpse.scores, glimpse.rows)
    for name, numbers in drawing.coordinates(glimpse.scores, view).items():
        patch["data"][0][name] = numbers
    places = focus_of(session, focus) if focus and not view.space else []
    rings = np.searchsorted(glimpse.rows, places)
    if len(rings) and rings.max() < len(glimpse.rows) and (glimpse.rows[rings] == places).all():
        for name, numbers in drawing.coordinates(glimpse.scores[rings], view).items():
            patch["data"][1][name] = numbers
    if len(glimpse.rows) < len(session.data.X):
        patch["data"][0]["marker"] = drawing.marks(session.data, glimpse.rows, view)
    solid = view.space and view.webgl
    frame = patch["layout"]["scene"] if solid else patch["layout"]
    for name, at in zip("xyz" if solid else "xy", (view.x, view.y, view.z), strict=False):
        frame[f"{name}axis"]["autorange"] = drawing.direction(signs, at)
        if at < len(glimpse.shares) and not solid:
            share = percent(glimpse.shares[at] / 100)
            frame[f"{name}axis"]["title"]["text"] = f"component {at + 1} ({share} of variance)"
    return patch


def _rows(session: Session, glimpse: Glimpse, k: int, focus: Any, kind: Any) -> Any:
    """Rows as the glimpse tells them."""
    data, places = session.data, focus_of(session, focus)
    wanted = drawing.sample(len(data.X)) if kind == "plane" and data.X.shape[1] == 2 else np.array(places[:1])
    at = np.searchsorted(glimpse.rows, wanted)
    if at.max() >= len(glimpse.rows) or (glimpse.rows[at] != wanted).any():
        return no_update
    rebuilt = glimpse.rebuilt(at, k)
    if rebuilt is not None and session.choice.standardizes:
        rebuilt = data.standardizer.inverse_transform(rebuilt)
    return drawing.row(data, str(kind), places, rebuilt)
