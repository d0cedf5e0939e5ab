"""A tab opens; a table is chosen or sent; controls appear and disappear."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, ctx, no_update
from dash.exceptions import PreventUpdate

from gramian.explore.browser import NAMES, STANDS, WEBGL
from gramian.explore.choice import EXACT_ROWS, kernels_listed
from gramian.explore.datasets import Dataset, from_upload
from gramian.explore.explorer import CONTROLS, LOOKS, Explorer, read_choice
from gramian.explore.fitting import most_components
from gramian.explore.notes import in_controls
from gramian.explore.presets import PRESETS, preset
from gramian.explore.session import Session


def register(app: Dash, explorer: Explorer) -> None:
    """Connect the callbacks of this file."""

    @app.callback(
        Output("page", "data"),
        Output("tab", "data"),
        Input("tab", "modified_timestamp"),
        State("tab", "data"),
        State("page", "data"),
    )
    def begin(stamp: Any, known: Any, page: Any) -> tuple[str, str]:
        if page is not None:
            raise PreventUpdate  # the store tells of what we wrote there ourselves
        session = explorer.sessions.open(known)
        return session.key, session.key

    app.clientside_callback(WEBGL, Output("webgl", "data"), Input("page", "data"))
    app.clientside_callback(
        STANDS,
        *(Output(f"{name}-label", "children") for name in ("width", "degree", "ridge", "k")),
        *(Input(name, "drag_value") for name in ("width", "degree", "ridge", "k")),
        prevent_initial_call=True,
    )
    app.clientside_callback(NAMES, Output("send", "title"), Input("page", "data"))

    @app.callback(
        Output("model-says", "children"),
        Output("upload", "contents"),
        *controls_of(),
        Input("page", "data"),
        Input("data", "value"),
        Input("columns", "value"),
        Input("upload", "contents"),
        State("upload", "filename"),
        prevent_initial_call=True,
    )
    def load(page: Any, chosen: Any, columns: Any, contents: Any, name: Any) -> tuple[Any, ...]:
        session = explorer.session(page)
        values = dict(session.controls)
        if ctx.triggered_id == "upload":
            if not isinstance(contents, str):
                raise PreventUpdate
            try:
                session.use(from_upload(str(name), contents))
            except ValueError as error:
                return (in_controls(str(error)), None, *((no_update,) * len(controls_of())))
            values = {}
        elif ctx.triggered_id == "data":
            if chosen in (None, session.base.key):
                raise PreventUpdate
            session.use(explorer.named(chosen, session))
            values = {}
        elif ctx.triggered_id == "columns":
            names = tuple(name for name in session.base.table.columns if name in set(columns or ()))
            if len(names) < 2 or set(names) == set(session.data.table.columns):
                raise PreventUpdate
            session.use(session.base, session.base.only(names))
            values |= {"second": list(session.data.half()), "rows-as": session.data.rows_as}
        return "", None, *filled(explorer, session, values or first_values(session.data))

    @app.callback(
        Output("second-box", "hidden"),
        Output("kernel-box", "hidden"),
        Output("width-box", "hidden"),
        Output("degree-box", "hidden"),
        Output("ridge-box", "hidden"),
        Output("k-box", "hidden"),
        Output("exact", "style"),
        Output("k", "max"),
        Input("loaded", "data"),
        Input("method", "value"),
        Input("kernel", "value"),
        Input("text", "value"),
        Input("second", "value"),
        State("page", "data"),
        prevent_initial_call=True,
    )
    def arrange(loaded: Any, method: Any, kernel: Any, text: Any, second: Any, page: Any) -> tuple[Any, ...]:
        data = explorer.session(page).data
        choice = read_choice(data, {"method": method, "kernel": kernel, "text": text, "second": second})
        most = most_components(data, choice)
        sliders = () if choice.text else kernels_listed()[choice.kernel].sliders()
        wide, curved = "width" not in sliders, "degree" not in sliders
        few = {} if len(data.X) > EXACT_ROWS else {"display": "none"}
        return not choice.pair, not choice.row.has("kernel"), wide, curved, not choice.pair, most < 2, few, max(most, 2)

    @app.callback(Output("z-box", "hidden"), Input("space", "value"))
    def deep(space: Any) -> bool:
        return not space


def controls_of(*, duplicate: bool = False) -> list[Output]:
    """All that changes with a table, in the order of :func:`filled`."""
    places = [("loaded", "data"), ("about", "children"), ("data", "options"), ("data", "value"), ("columns", "options")]
    places += [("columns", "value"), ("colour", "options"), ("second", "options")]
    places += [(name, "value") for name in (*CONTROLS, *LOOKS)]
    return [Output(*place, allow_duplicate=duplicate) for place in places]


def filled(explorer: Explorer, session: Session, values: dict[str, Any]) -> tuple[Any, ...]:
    """Controls for the table of a session."""
    data = session.data
    return (
        {"of": data.serial, "version": session.version},
        about(data),
        tables(explorer, session),
        session.base.key,
        list(session.base.table.columns),
        list(data.table.columns),
        colours(data),
        list(data.table.columns),
        *(values[name] for name in (*CONTROLS, *LOOKS)),
    )


def about(data: Dataset) -> str:
    """What the table is, and what was left out of it."""
    n, d = data.X.shape
    said = [in_controls(note) for note in data.table.dropped if "kept as a label" not in note]
    return f"{data.title}: {n:,} rows, {d:,} columns. {' '.join(f'{note}.' for note in said[:3])}".strip()


def tables(explorer: Explorer, session: Session) -> list[dict[str, str]]:
    """Tables to choose from."""
    listed = {explorer.first.key: explorer.first.title}
    if session.base.key == "upload":
        listed["upload"] = session.base.title
    listed |= {key: preset(key).title for key in PRESETS}
    return [{"label": title, "value": key} for key, title in listed.items()]


def colours(data: Dataset) -> list[dict[str, str]]:
    """What points may be coloured by."""
    groups = [{"label": name, "value": f"group:{name}"} for name in data.groups]
    columns = [{"label": name, "value": f"column:{name}"} for name in data.table.columns[:200]]
    return [{"label": "one colour", "value": "one"}, *groups, *columns]


def first_values(data: Dataset) -> dict[str, Any]:
    """Controls for a table that nobody has looked at yet."""
    group = next(iter(data.groups), None)
    plain = {
        "method": "pca",
        "second": list(data.half()),
        "scale": data.advice.get("scale"),
        "kernel": "rbf",
        "width": 0.0,
        "degree": 3,
        "text": "",
        "ridge": -2.0,
        "k": min(2, data.X.shape[1]),
        "exact": False,
        "x": 0,
        "y": 1,
        "z": 2,
        "space": False,
        "colour": "one" if group is None else f"group:{group}",
        "rows-as": data.rows_as,
    }
    values = {**plain, **data.advice}
    return {name: _ticked(value) if name in ("scale", "exact", "space") else value for name, value in values.items()}


def _ticked(value: Any) -> list[str]:
    return ["on"] if value else []
