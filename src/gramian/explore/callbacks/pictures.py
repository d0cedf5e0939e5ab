"""A fit is there: all its pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from dash import Dash, Input, Output, State
from dash.exceptions import PreventUpdate

from gramian.charts.labels import label_of
from gramian.explore import drawing
from gramian.explore.choice import Choice
from gramian.explore.code import code_for
from gramian.explore.explorer import Explorer
from gramian.explore.fitting import Fit
from gramian.explore.session import Session
from gramian.results import Array


def register(app: Dash, explorer: Explorer) -> None:
    """Connect the callbacks of this file."""

    @app.callback(
        Output("scores", "figure"),
        Output("scores-hint", "children"),
        Input("shown", "data"),
        Input("x", "value"),
        Input("y", "value"),
        Input("z", "value"),
        Input("space", "value"),
        Input("colour", "value"),
        Input("webgl", "data"),
        Input("focus", "data"),
        State("page", "data"),
        prevent_initial_call=True,
    )
    def draw_scores(shown: Any, *values: Any) -> tuple[Any, str]:
        *look, webgl, focus, page = values
        session, found = _shown(explorer, page)
        return points_of(session, found, session.turned, read_view(look, webgl), focus)

    @app.callback(
        Output("scree", "figure"),
        Input("cut", "data"),
        State("page", "data"),
        prevent_initial_call=True,
    )
    def draw_scree(cut: Any, page: Any) -> Any:
        _, found = _shown(explorer, page)
        return drawing.scree(found.spectrum, found.measure, int(cut["k"]))

    # A callback of its own: plotly.js tells of every change of size too, and a new question ends the one before.
    @app.callback(
        Output("scree", "figure", allow_duplicate=True),
        Output("k", "value", allow_duplicate=True),
        Input("scree", "relayoutData"),
        State("page", "data"),
        prevent_initial_call=True,
    )
    def drag_cut(changed: Any, page: Any) -> tuple[Any, int]:
        _, found = _shown(explorer, page)
        k = drawing.dragged_to(changed, found.size)
        if k is None:
            raise PreventUpdate
        return drawing.scree(found.spectrum, found.measure, k), k

    @app.callback(
        Output("loadings", "figure"),
        Output("loadings-hint", "children"),
        Input("shown", "data"),
        Input("x", "value"),
        Input("y", "value"),
        State("page", "data"),
        prevent_initial_call=True,
    )
    def draw_loadings(shown: Any, x: Any, y: Any, page: Any) -> tuple[Any, str]:
        session, found = _shown(explorer, page)
        view = read_view([x, y, 0, None, None], True)
        return drawing.loadings(session.data, found, [view.x, view.y])

    @app.callback(
        Output("row", "figure"),
        Output("row-hint", "children"),
        Input("cut", "data"),
        Input("focus", "data"),
        Input("rows-as", "value"),
        State("page", "data"),
        prevent_initial_call=True,
    )
    def draw_row(cut: Any, focus: Any, kind: Any, page: Any) -> tuple[Any, str]:
        session, found = _shown(explorer, page)
        k = min(session.choice.k, found.size)
        return rows_of(session, found, k, focus, kind), row_words(found, k)

    @app.callback(
        Output("code", "children"),
        Output("summary", "children"),
        Output("kernel-says", "children"),
        Output("slider-says", "children"),
        Input("cut", "data"),
        State("page", "data"),
        prevent_initial_call=True,
    )
    def tell(cut: Any, page: Any) -> tuple[str, ...]:
        session, found = _shown(explorer, page)
        choice = session.choice
        done = found.summary(min(choice.k, found.size))
        return code_for(session.data, choice, found.source), done, kernel_words(session, choice), slider_words(found)


def _shown(explorer: Explorer, page: Any) -> tuple[Session, Fit]:
    session = explorer.session(page)
    if session.fit is None:
        raise PreventUpdate
    return session, session.fit


def read_view(look: list[Any], webgl: Any) -> drawing.View:
    """How the points are looked at, whatever was sent."""
    x, y, z = (at if isinstance(at, int) and 0 <= at < 1000 else number for number, at in enumerate(look[:3]))
    colour = look[4] if isinstance(look[4], str) else ""
    return drawing.View(x, y, z, bool(look[3]), colour, webgl is not False)


def focus_of(session: Session, focus: Any) -> list[int]:
    """A row and its neighbours; the first row until somebody clicks."""
    n = len(session.data.X)
    given = focus.get("rows") if isinstance(focus, dict) and focus.get("of") == session.data.serial else None
    places = [at for at in given or [0] if isinstance(at, int) and 0 <= at < n]
    return places or [0]


def points_of(session: Session, found: Fit, turned: Array, view: drawing.View, focus: Any) -> tuple[drawing.Part, str]:
    """The scores of a fit, and what can be done with them."""
    titles = [label_of(found.estimator, at) for at in range(found.size)]
    cloud = drawing.Cloud(found.scores, found.second, np.arange(len(found.scores)), turned, titles)
    thin = drawing.thinned(cloud, view)
    places = focus_of(session, focus) if focus else []
    return drawing.scores(session.data, thin, view, places), hint(view, len(thin.rows), len(cloud.rows))


def rows_of(session: Session, found: Fit, k: int, focus: Any, kind: Any) -> Any:
    """Rows and what k components make of them."""
    data, places = session.data, focus_of(session, focus)
    if found.choice.pair:
        y = data.views(found.choice.second)[1]
        guess = found.rebuilt(data, np.array(places[:1]), k)
        return drawing.second_row(y.columns, y.values, places[0], guess, data.names[places[0]])
    plane = kind == "plane" and data.X.shape[1] == 2
    wanted = drawing.sample(len(data.X)) if plane else np.array(places[:1])
    return drawing.row(data, str(kind), places, found.rebuilt(data, wanted, k))


def row_words(found: Fit, k: int) -> str:
    """What the picture of rows shows."""
    if found.choice.pair:
        return "The second view of a row, and what the first says of it."
    way = "Pre-images of" if found.choice.row.has("kernel") else "Rows rebuilt from"
    return f"{way} {k} component{'s' if k > 1 else ''}. Click a point of the scores to see another row."


def kernel_words(session: Session, choice: Choice) -> str:
    """The kernels of a choice, as they are written."""
    return " and ".join(dict.fromkeys(choice.kernels(session.data))) if choice.row.has("kernel") else ""


def slider_words(found: Fit) -> str:
    """When pictures follow a slider, where that is not at once."""
    if found.quick or found.choice.method in ("pca", "kernel-pca"):
        return ""
    took = f": a fit takes {found.seconds:.2g} s" if found.seconds else ""
    return f"Points follow when you let a slider go{took}."


def hint(view: drawing.View, drawn: int, n: int) -> str:
    """What can be done with the points."""
    if view.space and view.webgl:
        return "Drag to turn; click a point for its neighbours."
    words = "Draw a lasso around points to see their rows; click one for its neighbours."
    if view.space:
        words = f"Three dimensions need WebGL, which this browser has not. {words}"
    return words if drawn == n else f"{drawn:,} of {n:,} points, as there is no WebGL. {words}"
