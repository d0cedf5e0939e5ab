"""Models are saved to the working folder, and opened from there."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, no_update

from gramian.explore.callbacks.choosing import controls_of, filled, first_values
from gramian.explore.explorer import Explorer
from gramian.explore.notes import in_controls
from gramian.explore.opening import open_model, save_model
from gramian.explore.paths import inside, models_in

#: Seconds that a page waits for a model to be saved.
LONGEST_SAVE = 600.0


def register(app: Dash, explorer: Explorer) -> None:
    """Connect the callbacks of this file."""

    @app.callback(
        Output("model-says", "children", allow_duplicate=True),
        Output("models", "options", allow_duplicate=True),
        Input("save", "n_clicks"),
        State("name", "value"),
        State("page", "data"),
        running=[(Output("save", "disabled"), True, False)],
        prevent_initial_call=True,
    )
    def keep(clicks: Any, name: Any, page: Any) -> tuple[Any, Any]:
        session = explorer.session(page)
        try:
            path = inside(explorer.folder, name)
        except ValueError as error:
            return in_controls(str(error)), no_update
        data, choice, found = session.data, session.choice, session.fit
        if found is not None and found.source:
            return f"The model on the screen is that of {found.source}; it is saved already.", no_update
        # A job of its own: moving a slider must not give it up.
        job = explorer.worker.submit(f"{session.key} saves", lambda: save_model(data, choice, path))
        if not job.wait(LONGEST_SAVE):
            return f"{path.name} is not saved yet; the fit goes on.", no_update
        return job.result or job.error, models_in(explorer.folder)

    @app.callback(
        Output("models", "options"),
        Input("page", "data"),
        prevent_initial_call=True,
    )
    def list_models(page: Any) -> list[str]:
        explorer.session(page)
        return models_in(explorer.folder)

    @app.callback(
        Output("model-says", "children", allow_duplicate=True),
        *controls_of(duplicate=True),
        Input("open", "n_clicks"),
        State("models", "value"),
        State("page", "data"),
        running=[(Output("open", "disabled"), True, False)],
        prevent_initial_call=True,
    )
    def fetch(clicks: Any, name: Any, page: Any) -> tuple[Any, ...]:
        session = explorer.session(page)
        unchanged = (no_update,) * len(controls_of())
        values = session.controls or first_values(session.data)
        try:
            path = inside(explorer.folder, name)
            data, found, values = open_model(session.base, path, values)
        except (ValueError, OSError) as error:
            return (in_controls(str(error)), *unchanged)
        session.use(session.base, data)
        session.show(found)
        return (f"{path.name} is open: {type(found.estimator).__name__}.", *filled(explorer, session, values))
