"""Points are chosen: their rows, their neighbours, a file of them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from dash import Dash, Input, Output, State, dcc, html
from dash.exceptions import PreventUpdate

from gramian.explore.browser import PICKED
from gramian.explore.drawing import NEIGHBOURS
from gramian.explore.explorer import Explorer
from gramian.explore.session import Session
from gramian.results import Array
from gramian.tables import write_scores

#: Rows and columns of the table on the page.
LONGEST, WIDEST = 50, 12


def register(app: Dash, explorer: Explorer) -> None:
    """Connect the callbacks of this file."""
    app.clientside_callback(PICKED, Output("picked", "data"), Input("scores", "selectedData"))

    @app.callback(
        Output("chosen", "children"),
        Output("export", "disabled"),
        Input("picked", "data"),
        Input("shown", "data"),
        State("page", "data"),
        prevent_initial_call=True,
    )
    def list_rows(picked: Any, shown: Any, page: Any) -> tuple[Any, bool]:
        session = explorer.session(page)
        rows = read_rows(picked, session)
        return as_table(session, rows), not len(rows)

    @app.callback(
        Output("file", "data"),
        Input("export", "n_clicks"),
        State("picked", "data"),
        State("page", "data"),
        prevent_initial_call=True,
    )
    def export(clicks: Any, picked: Any, page: Any) -> Any:
        session = explorer.session(page)
        rows = read_rows(picked, session)
        if not len(rows):
            raise PreventUpdate
        return dcc.send_string(as_csv(session, rows), "rows.csv", type="text/csv")

    @app.callback(
        Output("scores", "selectedData"),
        Output("scores", "clickData"),
        Output("focus", "data", allow_duplicate=True),
        Input("loaded", "data"),
        prevent_initial_call=True,
    )
    def forget(loaded: Any) -> tuple[None, None, None]:
        return None, None, None  # rows of another table

    @app.callback(
        Output("focus", "data"),
        Input("scores", "clickData"),
        State("page", "data"),
        prevent_initial_call=True,
    )
    def click(clicked: Any, page: Any) -> dict[str, Any]:
        session = explorer.session(page)
        row = clicked_row(clicked, len(session.data.X))
        if row is None:
            raise PreventUpdate
        return {"rows": [row, *neighbours(session, row)], "of": session.data.serial}


def read_rows(picked: Any, session: Session) -> Array:
    """Numbers of rows, whatever was sent."""
    if not isinstance(picked, list):
        return np.empty(0, dtype=int)
    n = len(session.data.X)
    whole = (
        at for at in picked if isinstance(at, (int, float)) and not isinstance(at, bool) and float(at).is_integer()
    )
    return np.array(sorted({int(at) for at in whole if 0 <= at < n}), dtype=int)


def clicked_row(clicked: Any, n: int) -> int | None:
    """The row of a point that was clicked."""
    try:
        point = clicked["points"][0]
        row = int(point.get("customdata", point["pointNumber"]))
    except (TypeError, KeyError, IndexError, ValueError, AttributeError):
        return None
    return row if 0 <= row < n else None


def neighbours(session: Session, row: int) -> list[int]:
    """Rows nearest to a row, in the columns as the method sees them."""
    X = session.data.scaled if session.choice.scale else session.data.X
    # Differences in tiles would save memory for very wide tables; expanded squares do with one product.
    distances = np.einsum("ij,ij->i", X, X) - 2 * (X @ X[row])
    count = min(NEIGHBOURS + 1, len(X))
    nearest = np.argpartition(distances, count - 1)[:count]
    order = nearest[np.argsort(distances[nearest], kind="stable")]
    return [int(at) for at in order if at != row][:NEIGHBOURS]


def as_table(session: Session, rows: Array) -> Any:
    """The rows chosen, as many as fit on a page."""
    if not len(rows):
        return html.P("Draw a lasso in the scores; the rows inside are listed here.", className="hint")
    table = session.data.table
    names = list(table.columns[:WIDEST])
    heads = ["row", *table.labels, *names]
    lines = [
        html.Tr(
            [
                html.Th(session.data.names[at], scope="row"),
                *(html.Td(cells[at]) for cells in table.labels.values()),
                *(html.Td(f"{value:.5g}") for value in table.values[at, : len(names)]),
            ]
        )
        for at in rows[:LONGEST].tolist()
    ]
    shown = f"{len(rows):,} rows" if len(rows) <= LONGEST else f"{len(rows):,} rows; the first {LONGEST} are shown"
    head = html.Thead(html.Tr([html.Th(name, scope="col") for name in heads]))
    return [html.P(f"{shown}.", className="hint"), html.Table([head, html.Tbody(lines)])]


def as_csv(session: Session, rows: Array) -> str:
    """The rows chosen, all columns and the scores."""
    table, found = session.data.table, session.fit
    values, names = [table.values[rows]], list(table.columns)
    if found is not None:
        views = [("score", found.scores)] if found.second is None else [("x", found.scores), ("y", found.second)]
        for word, scores in views:
            values.append(scores[rows].astype(np.float64))
            names += [f"{word}_{at + 1}" for at in range(scores.shape[1])]
    labels = {"row": [str(at) for at in rows.tolist()]}
    labels |= {name: [cells[at] for at in rows.tolist()] for name, cells in table.annotations.items()}
    with tempfile.TemporaryDirectory(prefix="gramian-") as folder:
        path = Path(folder, "rows.csv")
        write_scores(path, np.hstack(values), names, labels)
        return path.read_text(encoding="utf-8")
